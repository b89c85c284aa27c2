"""A progress bar for people who call from Python: on a terminal, and as a widget in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from focusedcleaner.registry import Progress


@contextmanager
def progress_reporter(progress: Progress | bool | None, title: str) -> Iterator[Progress | None]:
    """Yield the function that a long computation reports to.

    Args:
        progress: such a function, which is yielded as it is; True for a tqdm bar; False or None for silence.
        title: what the bar says in front of the stage.

    >>> with progress_reporter(None, "Training") as report:
    ...     print(report)
    None
    """
    if not isinstance(progress, bool):
        yield progress
        return
    if not progress:
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(desc=title) as bar:

        def report(done: int, total: int, stage: str = "", /) -> None:
            bar.total = total
            bar.set_description(f"{title}: {stage}" if stage else title, refresh=False)
            bar.update(done - bar.n)
            bar.refresh()

        yield report
