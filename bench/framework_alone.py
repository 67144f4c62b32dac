"""The limit of a start with a framework: its import and the first step of one rank, without a
library, from the start of the process.

framework_alone.py lightning|transformers|xgboost|lightgbm
"""

from __future__ import annotations

import sys
import time

import program
from frameworks import ALONE, Place, train_function

steps = []
train_function(sys.argv[1], ALONE)(ALONE, Place(0, 1), 1, lambda: steps.append(time.time()))
program.finish(first_step_s=program.since_start_s(steps[0]))
