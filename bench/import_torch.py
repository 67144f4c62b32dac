"""The limit of a cold start with torch: the imports alone, from the start of the process."""

import time

import program
import torch
import torch._dynamo  # noqa: F401  DDP imports it with its first model.

program.finish(first_step_s=program.since_start_s(time.time()))
