"""What the examples lose a rank with: ``HEADWAY_EXAMPLE_KILL=1 python examples/NAME.py`` kills the
last rank once, in the middle of the training, as the failure of its machine would. The run then
resumes from its newest checkpoint.
"""

import os
import signal
from pathlib import Path

from headway import train


def lose_a_rank(now=True):
    """Kills the last rank, if the time is now, the environment asks for it, and it is the first
    time in the run.
    """
    context = train.get_context()
    last = context.get_world_size() > 1 and context.get_world_rank() == context.get_world_size() - 1
    if now and last and os.environ.get("HEADWAY_EXAMPLE_KILL") == "1":
        killed = Path(context.get_storage().trial_fs_path, "killed")
        if not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
