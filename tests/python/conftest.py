"""Fixtures of the Python tests: storage, fit() in short, driver scripts, and that nothing is left
behind.
"""

import contextlib
import functools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import uuid
from pathlib import Path

import headway
import hearing
import kubernetes_cluster
import kubernetes_driver
import processes
import pytest
import slurm_cluster
import slurm_driver
from headway import train
from headway._runtime import early_factory

import cluster

# Tests say what runs below their own process; drivers of other processes have early factories.
early_factory.drop()

PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(headway.__file__)))
TEST_LIMIT_S = 120


def pytest_collection_modifyitems(items):
    by_exec = os.environ.get("HEADWAY_WORKER_START", "fork") == "exec"
    for item in items:
        if by_exec and item.get_closest_marker("fork_only"):
            item.add_marker(pytest.mark.skip(reason="workers are started by exec"))
        if item.get_closest_marker("gpu") and not _has_gpu():
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))


def _has_gpu():
    torch = pytest.importorskip("torch")
    return torch.cuda.is_available()


@pytest.fixture(autouse=True)
def time_limit():
    """No wait is without a bound: a test that hangs fails."""

    def expire(signum, frame):
        pytest.fail(f"the test was not through after {TEST_LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, expire)
    signal.alarm(TEST_LIMIT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


TRACKER = "multiprocessing.resource_tracker"
GPU_WATCH = "nvidia-smi"


def _strays():
    """This process's descendants other than guards and factories (guards' children): workers, and
    what they started. The watch of the GPUs stays as long as the driver.
    """
    lasting = (TRACKER, GPU_WATCH)
    found = {pid: line for pid, line in processes.descendants().items() if not any(each in line for each in lasting)}
    guards = {pid for pid, line in found.items() if processes.is_guard_line(line)}
    factories = {child for guard in guards for child in processes.children(guard)}
    return {pid: line for pid, line in found.items() if pid not in guards | factories}


@pytest.fixture(autouse=True, scope="module")
def nothing_left():
    """After each file's tests no worker, nor what a worker has started, is alive."""
    yield
    assert processes.wait_gone(_strays, 5) == {}


@pytest.fixture
def nothing_runs():
    """Ends what tests before this one have started."""
    headway.shutdown()


@pytest.fixture(scope="module")
def the_engine_ends():
    """For files whose tests use data sets in their own process."""
    yield
    headway.shutdown()


@pytest.fixture(autouse=True, scope="session")
def shut_down_at_the_end():
    """After headway.shutdown() nothing at all is left."""
    yield
    headway.shutdown()

    def left():
        return {pid: line for pid, line in processes.descendants().items() if TRACKER not in line}

    assert processes.wait_gone(left, 5) == {}


@pytest.fixture(autouse=True, scope="session")
def check_loop():
    """A process ends when its event loop is about to open a file or to wait."""
    os.environ["HEADWAY_CHECK_LOOP"] = "1"


@pytest.fixture(autouse=True, scope="session")
def staging(tmp_path_factory):
    """Where ranks work, instead of a directory of the user's that outlives the tests."""
    path = str(tmp_path_factory.mktemp("staging"))
    os.environ["HEADWAY_STAGING_DIR"] = path
    return path


@pytest.fixture
def hears(monkeypatch):
    """``hears(word, then)``: an ``hearing.Ear`` in place of the error stream."""

    def listen(word, then=lambda text: None):
        ear = hearing.Ear(word, then)
        monkeypatch.setattr(sys, "stderr", ear)
        return ear

    return listen


@pytest.fixture
def release(tmp_path):
    """A file that a loop waits for, and what makes it."""
    path = tmp_path / "release"
    return str(path), lambda text: path.touch()


@pytest.fixture
def nodes(script, tmp_path):
    """A driver that other nodes join, and their agents: cluster.py."""
    with contextlib.ExitStack() as stack:
        yield cluster.Nodes(script, tmp_path / "token", stack)


@pytest.fixture
def storage(tmp_path):
    """A fresh storage path."""
    return str(tmp_path / "storage")


@pytest.fixture
def fit(storage):
    """``fit(loop, workers=2, ...)``: builds a trainer and runs it; 2 workers, a fresh storage
    path.
    """

    def run(loop, workers=2, *, trainer=train.DataParallelTrainer, config=None, name=None, keep=None, **options):
        failure = options.pop("failure", None) or train.FailureConfig(options.pop("max_failures", 0))
        options.setdefault("scaling_config", train.ScalingConfig(num_workers=workers))
        return trainer(
            loop,
            train_loop_config=config,
            run_config=train.RunConfig(
                name=name,
                storage_path=storage,
                checkpoint_config=keep,
                failure_config=failure,
            ),
            **options,
        ).fit()

    return run


@pytest.fixture
def fit_torch(fit):
    """``fit_torch(loop, workers=2, ...)``: the same with a TorchTrainer."""
    from headway.train.torch import TorchTrainer

    return functools.partial(fit, trainer=TorchTrainer)


@pytest.fixture
def fail(fit):
    """``fail(loop, ...)``: like ``fit``, for a run that must fail; returns the WorkerGroupError."""

    def run(loop, *args, **options):
        with pytest.raises(train.WorkerGroupError) as caught:
            fit(loop, *args, **options)
        return caught.value

    return run


class Script:
    """A driver script in a separate process, whose descendants can be found by a mark."""

    def __init__(self, folder):
        self.folder = folder
        self.storage = str(folder / "storage")
        self.mark = uuid.uuid4().hex
        self.process = None

    def start(self, code, **env):
        """Starts the script in a new session; stdout and stderr come in one pipe."""
        path = self.folder / "script.py"
        path.write_text(textwrap.dedent(code))
        self.process = subprocess.Popen(
            [sys.executable, str(path)],
            env={**self._environment(), **env},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            # Who runs the tests in the background of a shell has them ignore Ctrl-C; a script is to
            # hear it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        return self

    def _environment(self):
        return {
            **os.environ,
            "PYTHONPATH": PACKAGES,
            "HEADWAY_STORAGE": self.storage,
            processes.MARK: self.mark,
        }

    def wait_for(self, text, count=1):
        """Reads the output until ``count`` of its lines hold ``text``; returns what was read."""
        lines = []
        while sum(text in line for line in lines) < count:
            line = self.process.stdout.readline()
            assert line, "the script has ended:\n" + "".join(lines)
            lines.append(line)
        return "".join(lines)

    def finish(self, limit_s=240):
        """Waits for the end; returns (exit status as a shell says it, rest of the output)."""
        # communicate() with a limit would lose the lines that wait_for has read ahead.
        late = threading.Timer(limit_s, self._kill)
        late.start()
        output = self.process.stdout.read()
        code = self.process.wait()
        assert late.is_alive(), f"the script has not ended after {limit_s} s:\n{output}"
        late.cancel()
        return (code if code >= 0 else 128 - code), output

    def run(self, code, limit_s=240, **env):
        """Starts the script and waits for its end."""
        return self.start(code, **env).finish(limit_s)

    def processes(self):
        """All that is left of it, wherever it hides."""
        return processes.marked(self.mark)

    def _kill(self):
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def close(self):
        self._kill()
        if self.process is not None:
            self.process.stdout.close()
            self.process.wait(timeout=10)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """``installed(name=source)``: modules where Python has a user's packages."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder = tmp_path / "base" / "lib" / version / "site-packages"
    folder.mkdir(parents=True)

    def install(**modules):
        for name, source in modules.items():
            Path(folder, f"{name}.py").write_text(textwrap.dedent(source))
        return {"PYTHONUSERBASE": str(tmp_path / "base"), "PYTHONPATH": f"{PACKAGES}:{folder}"}

    return install


@pytest.fixture
def script(tmp_path):
    """A driver script to be started; whatever a failed test leaves of it is killed."""
    script = Script(tmp_path)
    yield script
    script.close()


@pytest.fixture
def another_script(tmp_path):
    """A second driver script beside ``script``, with a separate folder and storage."""
    folder = tmp_path / "another"
    folder.mkdir()
    script = Script(folder)
    yield script
    script.close()


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """A Slurm cluster for a file's tests: slurm_cluster.py."""
    slurm_cluster.needed()
    with slurm_cluster.SlurmCluster(tmp_path_factory.mktemp("slurm")) as running:
        yield running


@pytest.fixture
def driver(script, tmp_path, slurm):
    """A driver's script on that cluster: slurm_driver.py."""
    return slurm_driver.SlurmDriver(script, tmp_path, slurm)


@pytest.fixture(scope="module")
def kubernetes_servers(tmp_path_factory):
    """A Kubernetes cluster for a file's tests: kubernetes_cluster.py."""
    programs = kubernetes_cluster.needed()
    with kubernetes_cluster.KubernetesCluster(tmp_path_factory.mktemp("kubernetes"), programs) as running:
        yield running


@pytest.fixture
def pods(script, tmp_path, kubernetes_servers):
    """A driver's script on that cluster: kubernetes_driver.py."""
    yield kubernetes_driver.KubernetesDriver(script, tmp_path, kubernetes_servers, kubernetes_cluster.NAMESPACE)
    script.close()
    kubernetes_servers.clean()
