"""How far a long piece of work is: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import shutil
import sys
from types import TracebackType
from typing import Any

from headway._command.text import in_bytes


class Progress:
    """Shows the progress of one piece of work on the error stream; to be called with what the core
    tells.

    Args:
        title: What is being worked on.
        shown: False shows nothing.
    """

    _steps = (0.25, 0.5, 0.75)
    _told_bytes_min = 10_000_000

    def __init__(self, title: str, shown: bool = True):
        self._title = title
        self._shown = shown and sys.stderr is not None
        self._on_terminal = self._shown and sys.stderr.isatty()
        self._bar: Any = None
        self._steps_told = 0

    def __call__(self, done: int, total: int, files: int, files_total: int) -> None:
        """``done`` of ``total`` bytes and ``files`` of ``files_total`` files are through."""
        if self._on_terminal:
            self._draw(done, total, files, files_total)
        elif self._shown and total >= self._told_bytes_min:
            self._tell(done, total)

    def _draw(self, done: int, total: int, files: int, files_total: int) -> None:
        if self._bar is None:
            import tqdm

            # Its own look at the terminal's size gives nothing to draw on where the terminal does
            # not know it.
            size = shutil.get_terminal_size()
            self._bar = tqdm.tqdm(
                desc=self._title,
                total=total,
                unit="B",
                unit_scale=True,
                leave=False,
                file=sys.stderr,
                ncols=size.columns,
                nrows=size.lines,
            )
        self._bar.set_postfix_str(f"{files} of {files_total} files", refresh=False)
        self._bar.update(done - self._bar.n)

    def _tell(self, done: int, total: int) -> None:
        """A line for every quarter but the last, which the result tells."""
        passed = sum(done >= step * total for step in self._steps)
        if passed > self._steps_told and done < total:
            self._steps_told = passed
            print(f"{self._title}: {in_bytes(done)} of {in_bytes(total)}", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
