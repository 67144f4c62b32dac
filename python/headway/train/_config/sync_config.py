"""When files that ranks write are brought to the run's folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from headway import _core
from headway._values.arguments import check_bool, check_number


@dataclass
class SyncConfig:
    """When what the ranks write into their working directory is brought to ``artifacts/`` in the
    run's folder.

    Each copy brings what is new or has changed since the one before; nothing is deleted there. It
    is made beside training, by one copier a node. One that fails or takes too long is warned of,
    and ends no run.

    Attributes:
        sync_period: Seconds between copies; 300 by default.
        sync_timeout: Seconds that a copy may take before it is stopped; 1800 by default.
        sync_artifacts: Whether there are copies at all; no by default. The last one is made when
            the ranks have ended, after which the working directory is removed.
        sync_artifacts_on_checkpoint: Whether each committed checkpoint begins one too; yes by
            default.

    Raises:
        TypeError, ValueError: a bad argument, named.

    Example:
        >>> from headway import train
        >>> train.RunConfig(sync_config=train.SyncConfig(sync_artifacts=True)).sync_config.sync_period
        300
    """

    sync_period: float = 300
    sync_timeout: float = 1800
    sync_artifacts: bool = False
    sync_artifacts_on_checkpoint: bool = True

    def __post_init__(self) -> None:
        check_number("SyncConfig.sync_period", self.sync_period, "seconds, above 0")
        check_number("SyncConfig.sync_timeout", self.sync_timeout, "seconds, above 0")
        check_bool("SyncConfig.sync_artifacts", self.sync_artifacts)
        check_bool("SyncConfig.sync_artifacts_on_checkpoint", self.sync_artifacts_on_checkpoint)
        _core.check_sync_config(json.dumps(asdict(self)))
