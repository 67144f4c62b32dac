"""What training shares with tuning: callbacks, loggers, stop conditions and progress reporters of ``RunConfig``.

Tuning itself (``Tuner``, search spaces, schedulers) is not there yet.
"""

from __future__ import annotations

from typing import NoReturn

from headway.tune.callback import Callback
from headway.tune.progress_reporter import CLIReporter, JupyterNotebookReporter, ProgressReporter
from headway.tune.stopper import Stopper

__all__ = ["CLIReporter", "Callback", "JupyterNotebookReporter", "ProgressReporter", "Stopper"]


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(
        f"headway.tune.{name}: Headway has no tuning yet; call fit() for each configuration. Of headway.tune there is "
        "what RunConfig takes: Callback, logger, stopper, CLIReporter"
    )
