"""How long each file of tests may take, so that ``make test`` stays as quick as it is.

``--budget`` fails the run when a file takes longer, and names it. Budgets are seconds on a machine
that imports torch in 1.9 s; on a slower one they are longer by as much. They are generous: on
two cores, beside lint and packaging, a file takes up to three times as long as by itself.
"""

import collections
import subprocess
import sys
import time

import pytest

QUICK_IMPORT_S = 1.9
FILE_S = 120
LONGER_S = {
    "tests/package/test_benchmarks.py": 240,
    "tests/python/test_documents.py": 420,
    # Rows of 100 MB through every step.
    "tests/python/test_data_large_rows.py": 240,
    # Workers that are started by exec import the framework, one by one.
    "tests/python/test_deepspeed.py": 600,
    "tests/python/test_examples.py": 600,
    "tests/python/test_framework_nodes.py": 300,
    "tests/python/test_lightning.py": 300,
    "tests/python/test_tensorflow.py": 420,
    "tests/python/test_transformers.py": 300,
    "tests/python/test_ray_accelerate.py": 300,
    "tests/python/test_ray_lightning.py": 300,
    "tests/python/test_ray_tensorflow.py": 300,
    "tests/python/test_ray_trackers.py": 300,
    "tests/python/test_ray_transformers.py": 300,
    "tests/python/test_remote_storage.py": 180,
    "tests/python/test_kubernetes.py": 300,
    "tests/python/test_kubernetes_faults.py": 240,
    # Slurm notices what dies in its own time: a minute's job, and a node that does not answer.
    "tests/python/test_slurm.py": 240,
    "tests/python/test_slurm_faults.py": 360,
}


def import_seconds(times):
    """How long this machine takes to import torch: the best of so many times, as the first may
    compile modules.
    """
    seconds = []
    for _ in range(times):
        started = time.monotonic()
        subprocess.run([sys.executable, "-c", "import torch, torch._dynamo"], check=False, stderr=subprocess.DEVNULL)
        seconds.append(time.monotonic() - started)
    return min(seconds)


class Budget:
    """Adds up what the tests of each file take; the machine's speed is asked before and after
    them.
    """

    def __init__(self):
        self.spent = collections.Counter()
        self.over = []
        self.import_s = import_seconds(2)

    def pytest_report_header(self):
        return f"importing torch takes {self.import_s:.1f} s here ({QUICK_IMPORT_S} s on a quick machine)"

    def pytest_runtest_logreport(self, report):
        self.spent[report.nodeid.partition("::")[0]] += report.duration

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        self.import_s = max(self.import_s, import_seconds(1))
        scale = max(1.0, self.import_s / QUICK_IMPORT_S)
        for file, seconds in self.spent.most_common():
            budget = LONGER_S.get(file, FILE_S) * scale
            if seconds > budget:
                self.over.append(f"{file} took {seconds:.0f} s, of {budget:.0f} s that it may take here")
        if self.over and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("seconds per file")
        for file, seconds in self.spent.most_common(40):
            terminalreporter.line(f"{seconds:6.1f} s  {file}")
        for line in self.over:
            terminalreporter.line(f"over its budget: {line}; make it quicker (tests/budget.py)", red=True)


def pytest_addoption(parser):
    parser.addoption("--budget", action="store_true", help="fail when a file of tests takes longer than it may")


def pytest_configure(config):
    if config.getoption("--budget") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Budget(), "headway-budget")
