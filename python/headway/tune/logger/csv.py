"""The logger of progress.csv: the run writes it by itself."""

from __future__ import annotations

from headway.tune.logger.logger import LoggerCallback


class CSVLoggerCallback(LoggerCallback):
    """Asks for progress.csv, which every run writes into its folder: giving it changes nothing.

    Example:
        >>> from headway import train
        >>> from headway.tune.logger import CSVLoggerCallback
        >>> config = train.RunConfig(callbacks=[CSVLoggerCallback()])
    """
