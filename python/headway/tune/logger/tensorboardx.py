"""The logger of events.out.tfevents.*, for TensorBoard: the run writes it by itself."""

from __future__ import annotations

from headway.tune.logger.logger import LoggerCallback


class TBXLoggerCallback(LoggerCallback):
    """Asks for TensorBoard's events.out.tfevents.*, which every run writes into its folder: giving it changes nothing.

    Example:
        >>> from headway import train
        >>> from headway.tune.logger import TBXLoggerCallback
        >>> config = train.RunConfig(callbacks=[TBXLoggerCallback()])
    """
