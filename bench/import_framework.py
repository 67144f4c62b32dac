"""The limit of a start with a framework: its import alone, from the start of the process.

import_framework.py lightning|transformers|xgboost|lightgbm
"""

import sys
import time

import program
from frameworks import ALONE, train_function

train_function(sys.argv[1], ALONE)
program.finish(first_step_s=program.since_start_s(time.time()))
