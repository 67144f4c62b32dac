"""What tuning raises."""

from __future__ import annotations


class TuneError(Exception):
    """Trials have failed, or could not be started.

    Example:
        >>> from headway import tune
        >>> issubclass(tune.TuneError, Exception)
        True
    """
