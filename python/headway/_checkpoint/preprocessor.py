"""What prepares data for a checkpoint's model, pickled in the checkpoint's metadata."""

from __future__ import annotations

import base64
from typing import Any

import cloudpickle

from headway._checkpoint.checkpoint import Checkpoint

_KEY = "preprocessor_pickled"


def keep_preprocessor(checkpoint: Checkpoint, preprocessor: Any) -> None:
    """Adds it to the metadata.

    Raises:
        TypeError: it cannot be pickled.
    """
    try:
        pickled = cloudpickle.dumps(preprocessor)
    except Exception as error:
        raise TypeError(
            f"preprocessor is {preprocessor!r:.100}, which cannot be pickled ({error}); "
            "allowed: an object that can be pickled"
        ) from error
    checkpoint.update_metadata({_KEY: base64.b64encode(pickled).decode()})


def kept_preprocessor(checkpoint: Checkpoint) -> Any:
    """What has been added; None when nothing was. Loading runs code that the metadata names."""
    pickled = checkpoint.get_metadata().get(_KEY)
    return None if pickled is None else cloudpickle.loads(base64.b64decode(pickled))
