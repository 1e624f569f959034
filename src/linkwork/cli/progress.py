"""Signs of life on a terminal while something takes its time; nothing anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from linkwork.cli import output


@contextmanager
def busy(text: str) -> Generator[None, None, None]:
    """A turning sign on a terminal's standard error while the body runs."""
    screen = output.console(stderr=True)
    if screen.is_terminal:
        with screen.status(text):
            yield
    else:
        yield


@contextmanager
def progress_of(text: str) -> Generator[Callable[[int, int], None] | None, None, None]:
    """A bar on a terminal's standard error; the body calls it with (done, total)."""
    screen = output.console(stderr=True)
    if not screen.is_terminal:
        yield None
        return
    columns = (TextColumn(text), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True) as shown:
        task = shown.add_task(text, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)
