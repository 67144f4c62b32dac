"""The logger of result.json and params.json: the run writes it by itself."""

from __future__ import annotations

from headway.tune.logger.logger import LoggerCallback


class JsonLoggerCallback(LoggerCallback):
    """Asks for result.json and params.json, which every run writes into its folder: giving it changes nothing.

    Example:
        >>> from headway import train
        >>> from headway.tune.logger import JsonLoggerCallback
        >>> config = train.RunConfig(callbacks=[JsonLoggerCallback()])
    """
