"""Ctrl-C, SIGTERM and SIGHUP end a command in the same way: one `KeyboardInterrupt`, and time to save."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interruption:
    """The signal that ends this command, if one came. Those that come later, while it saves, change nothing."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.saving = False
        self.process = os.getpid()

    @property
    def exit_code(self) -> int | None:
        """128 + number for SIGTERM and SIGHUP; None for Ctrl-C or if no signal came."""
        return None if self.signal in (None, signal.SIGINT) else 128 + int(self.signal)

    def receive(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self.process:  # a forked worker: as if nothing had been installed
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif self.signal is None:
            self.signal = number
            if not self.saving:
                raise KeyboardInterrupt


_current = Interruption()


@contextmanager
def handled() -> Iterator[Interruption]:
    """Handle the signals of one command; those that are ignored, as SIGHUP under nohup, stay ignored."""
    global _current
    _current = Interruption()
    before = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                    before[number] = signal.signal(number, _current.receive)
        yield _current
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def deferred() -> Iterator[None]:
    """Save undisturbed: a signal inside the block raises `KeyboardInterrupt` at its end."""
    pending = _current.signal
    _current.saving = True
    try:
        yield
    finally:
        _current.saving = False
    if _current.signal != pending:
        raise KeyboardInterrupt
