"""Files of one folder written and removed together, whatever happens in between; locks that end with their process.

A file is written to a temporary sibling (``.NAME.HEX.part``), synced and renamed. Several files are committed by a
journal, ``.focusedcleaner.commit``, which lists the renames and removals: once it is complete on the disk they happen,
if need be in the process that next opens the folder (`recover`). It holds its own inode number, so that a copy, such
as one from a stranger's archive, is never carried out. A process locks its temporary files and its journal, so that
those of a killed process can be told from those in use. Windows has no such locks and goes without them.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from focusedcleaner.errors import InputError, prefix_errors

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

JOURNAL = ".focusedcleaner.commit"
_LONGEST_JOURNAL = 2**20
_NEW = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
_OLD = os.O_RDONLY
for _flag in ("O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"):  # of these, Windows has the first
    _OLD |= getattr(os, _flag, 0)


def write_files(contents: Mapping[Path, bytes], remove: Iterable[Path] = ()) -> None:
    """Write and remove files of one folder: all of it is done or nothing, even if the process is killed meanwhile.

    Raises:
        InputError: a file can't be written. If that shows only while files are being renamed, `recover` does the rest.
    """
    removed = [path for path in remove if path.is_symlink() or path.is_file()]
    if not contents and not removed:
        return
    (folder,) = {path.parent for path in (*contents, *removed)}
    with ExitStack() as open_files:
        parts: dict[Path, Path] = {}
        try:
            for path, content in contents.items():
                with prefix_errors(path):
                    if path.is_dir():
                        raise InputError("is a folder, not a file")
                    if not folder.is_dir():
                        raise InputError(f"there is no folder {folder}")
                    recover(folder, only=path.name)
                    remove_litter(folder, path.name)
                    _stage(path, content, parts, open_files)
            if len(parts) == 1 and not removed:
                (path,) = parts
                with prefix_errors(path):
                    os.replace(parts[path], path)
                    sync_folder(folder)
                return
            plan = {
                "renamed": {part.name: path.name for path, part in parts.items()},
                "removed": [path.name for path in removed],
            }
            with prefix_errors(folder):
                _write_journal(folder, plan, open_files)
        except BaseException:
            for part in parts.values():
                part.unlink(missing_ok=True)
            raise
        with prefix_errors(folder):
            _carry_out(folder, plan)


def recover(folder: Path, only: str | None = None) -> None:
    """Complete a transaction that was cut off after its commit; drop a journal that was cut off before.

    With the name of a file, ``only``, other files' transactions are left alone: a reader need not care about them.
    """
    journal = folder / JOURNAL
    while os.path.lexists(journal):
        with prefix_errors(journal), ExitStack() as open_files:
            try:
                about = os.lstat(journal)
                file = os.open(journal, _OLD) if stat.S_ISREG(about.st_mode) else None
            except FileNotFoundError:
                return
            plan, mine = None, not hasattr(os, "getuid") or about.st_uid == os.getuid()
            if file is not None:
                open_files.callback(os.close, file)
                _lock(file)  # waits while its process is alive
                if not _is_still(file, journal):
                    continue
                plan = _checked_plan(os.read(file, _LONGEST_JOURNAL), about.st_ino)
                if plan is None and mine:
                    journal.unlink()
                    continue
            if only is not None and (plan is None or only not in plan["renamed"].values()):
                return
            if plan is None or not mine:
                raise InputError("was left by somebody else: let them complete what it began, or remove it")
            _carry_out(folder, plan)


def remove_litter(folder: Path, name: str | None = None) -> None:
    """Remove the temporary files that killed processes left of one file, or of all files in the folder."""
    if fcntl is None:
        return
    for part in folder.glob(f".{'*' if name is None else glob.escape(name)}.????????.part"):
        with suppress(FileNotFoundError), ExitStack() as open_files:
            file = os.open(part, _OLD)
            open_files.callback(os.close, file)
            # A dead process whose journal is not there has never committed.
            if _lock(file, wait=False) and not (folder / JOURNAL).exists():
                part.unlink()


@contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[bool]:
    """Lock a file or folder that exists; yields False if it was moved meanwhile, so that it has to be looked up again.

    Raises:
        InputError: another process uses it; if ``shared``, another process has it for itself alone.
    """
    if fcntl is None:
        yield True
        return
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    try:
        if not _lock(file, shared=shared, wait=False):
            raise InputError("is in use by another focusedcleaner process: wait until that has ended")
        yield _is_still(file, path)
    finally:
        os.close(file)


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Lock a place by a hidden file ``.NAME.lock`` beside it, which is removed afterwards."""
    lock = path.with_name(f".{path.name}.lock")
    while True:
        with prefix_errors(path):
            os.close(os.open(lock, os.O_CREAT | os.O_RDWR, 0o666))
        with ExitStack() as stack:
            with prefix_errors(path):
                held = stack.enter_context(locked(lock))
            if held:
                stack.callback(lock.unlink, missing_ok=True)
                yield
                return


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can do that."""
    if os.name == "nt":
        return
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(file)


def _stage(path: Path, content: bytes, parts: dict[Path, Path], open_files: ExitStack) -> None:
    """Write a temporary file, locked until ``open_files`` is closed."""
    while True:
        part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        file = os.open(part, _NEW, 0o666)
        parts[path] = part
        if _lock(file, wait=False) and _is_still(file, part):
            break
        os.close(file)  # another process took it for litter
    _write_and_keep(file, content, open_files)


def _write_journal(folder: Path, plan: Mapping[str, Any], open_files: ExitStack) -> None:
    journal = folder / JOURNAL
    while True:
        try:
            file = os.open(journal, _NEW, 0o666)
        except FileExistsError:
            recover(folder)
            continue
        _lock(file)
        if _is_still(file, journal):
            break
        os.close(file)
    try:
        _write_and_keep(file, json.dumps({**plan, "inode": os.fstat(file).st_ino}).encode(), open_files)
        sync_folder(folder)
    except BaseException:
        journal.unlink()
        raise


def _write_and_keep(file: int, content: bytes, open_files: ExitStack) -> None:
    """Write and sync; the file stays open, and with it locked, where there are locks."""
    if fcntl is not None:
        open_files.callback(os.close, file)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    finally:
        if fcntl is None:
            os.close(file)


def _carry_out(folder: Path, plan: Mapping[str, Any]) -> None:
    """Do what a journal says, as far as it has not been done, and remove it."""
    first = True
    for part, name in plan["renamed"].items():
        try:
            os.replace(folder / part, folder / name)
        except FileNotFoundError:  # done before
            pass
        except OSError:
            if first:  # nothing has changed yet, so this can still be undone
                (folder / JOURNAL).unlink()
                for other in plan["renamed"]:
                    (folder / other).unlink(missing_ok=True)
            raise
        first = False
    for name in plan["removed"]:
        (folder / name).unlink(missing_ok=True)
    sync_folder(folder)
    (folder / JOURNAL).unlink()


def _checked_plan(text: bytes, inode: int) -> dict[str, Any] | None:
    """The content of a journal; None if it was cut off, is a copy, or names anything but files of its folder."""
    try:
        plan = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(plan, dict) or plan.get("inode") != inode:
        return None
    renamed, removed = plan.get("renamed"), plan.get("removed")
    if not isinstance(renamed, dict) or not isinstance(removed, list):
        return None
    if not all(part.startswith(".") and part.endswith(".part") for part in renamed):
        return None
    plain = all(isinstance(name, str) and _is_name(name) for name in (*renamed, *renamed.values(), *removed))
    return plan if plain else None


def _is_name(text: str) -> bool:
    return text not in ("", ".", "..", JOURNAL) and not any(mark in text for mark in ("/", "\\", "\0"))


def _lock(file: int, *, shared: bool = False, wait: bool = True) -> bool:
    """Lock an open file; False if another process has it. A file system without locks counts as locked."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL):
            raise
    return True


def _is_still(file: int, path: Path) -> bool:
    """Whether a path leads to this open file."""
    try:
        return os.path.samestat(os.fstat(file), os.lstat(path))
    except FileNotFoundError:
        return False
