"""Kernels before Linux 5.3, as that of RHEL 8, have no pidfd_open: here seccomp takes it away."""

import subprocess
import sys

# pidfd_open has this number on all machines. The filter stays with all that the process starts.
WITHOUT_PIDFD_OPEN = """
import ctypes, os, runpy, struct, sys

LOAD, EQUALS, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 38
steps = [(LOAD, 0, 0, 0), (EQUALS, 0, 1, 434), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
assert libc.prctl(22, 2, program, 0, 0) == 0, os.strerror(ctypes.get_errno())  # PR_SET_SECCOMP
try:
    os.pidfd_open(os.getpid())
except OSError:
    runpy.run_path(sys.argv[1], run_name="__main__")
"""

SCRIPT = """
import os, signal, sys, tempfile
import headway
from headway import _core, train

def loop():
    start = train.get_checkpoint().to_dict()["step"] + 1 if train.get_checkpoint() else 0
    for step in range(start, 3):
        if start == 0 and step == 1 and train.get_context().get_world_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        train.report({"step": step}, train.Checkpoint.from_dict({"step": step}))

def fit(folder):
    return train.DataParallelTrainer(
        loop,
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(
            name="run", storage_path=folder, verbose=0, failure_config=train.FailureConfig(max_failures=1)
        ),
    ).fit()

if __name__ == "__main__":
    headway.init(num_cpus=2)
    folder = tempfile.mkdtemp()
    print("step", fit(folder).metrics["step"])
    # Nobody has the run at work any more.
    print("summary", _core.run_summary(folder + "/run"))
    headway.shutdown()
"""


def test_a_run_recovers_without_descriptors_of_processes(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-c", WITHOUT_PIDFD_OPEN, str(tmp_path / "script.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    step, summary = done.stdout.splitlines()[-2:]
    assert step == "step 2"
    assert '"attempt":2' in summary
    assert '"state":"finished"' in summary
