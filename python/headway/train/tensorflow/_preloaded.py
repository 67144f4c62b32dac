"""What worker factories import: TensorFlow, which decides at its import which Keras it has."""

from __future__ import annotations

import os

from headway.train.tensorflow._package import LEGACY_KERAS, has_legacy_keras

if has_legacy_keras():
    os.environ.setdefault(LEGACY_KERAS, "1")

import tensorflow  # noqa: F401
