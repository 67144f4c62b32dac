"""A backend's clean_up: called for each group that ended without on_shutdown."""

import os
import threading

import pytest
from headway import train
from headway.train._run import clean_up as module


class Backend(train.Backend):
    """Notes what is called, and whether a rank's process is there."""

    def on_start(self, worker_group, backend_config):
        self.pids = worker_group.execute(os.getpid)
        backend_config.seen.append("start")

    def on_shutdown(self, worker_group, backend_config):
        backend_config.seen.append("shutdown")

    def clean_up(self, backend_config):
        backend_config.seen.append("clean up")
        backend_config.alive += [pid for pid in self.pids if os.path.exists(f"/proc/{pid}")]
        backend_config.then()


class Config(train.BackendConfig):
    backend_cls = Backend

    def __init__(self, then=lambda: None):
        self.seen = []
        self.alive = []
        self.then = then


def fails_once():
    if train.get_checkpoint() is None:
        if train.get_context().get_world_rank() == 0:
            os.makedirs("state", exist_ok=True)
        train.collective.barrier()
        train.report({}, checkpoint=train.Checkpoint("state"))
        raise ValueError("bad batch")


def always_fails():
    raise ValueError("bad batch")


def test_it_is_called_between_a_group_that_failed_and_the_next_one(fit):
    config = Config()
    fit(fails_once, backend_config=config, max_failures=1)
    assert config.seen == ["start", "clean up", "start", "shutdown"]
    assert config.alive == [], "the ranks are gone"


def test_it_is_called_for_the_last_group_too(fail):
    config = Config()
    fail(always_fails, backend_config=config)
    assert config.seen == ["start", "clean up"]
    assert config.alive == []


def test_it_is_called_where_on_start_raised(fit):
    class Broken(Backend):
        def on_start(self, worker_group, backend_config):
            super().on_start(worker_group, backend_config)
            raise OSError("no port")

    config = Config()
    config.backend_cls = Broken
    with pytest.raises(train.ControllerError, match="no port"):
        fit(always_fails, backend_config=config)
    assert config.seen == ["start", "clean up"]


def test_it_is_called_for_a_run_that_is_stopped(storage):
    config = Config()
    trainer = train.DataParallelTrainer(
        lambda: [train.report({"round": n}) for n in range(10**9)],
        backend_config=config,
        run_config=train.RunConfig(storage_path=storage, stop={"training_iteration": 3}),
    )
    assert trainer.fit().metrics["training_iteration"] == 3
    assert config.seen == ["start", "clean up"]


def test_one_that_raises_is_a_warning(fit, capsys):
    config = Config(then=lambda: [][0])
    fit(fails_once, backend_config=config, max_failures=1)
    assert config.seen == ["start", "clean up", "start", "shutdown"]
    assert "the backend's clean_up failed: IndexError: list index out of range" in capsys.readouterr().err


@pytest.fixture
def end():
    """An event that is set when the test ends, so that no thread stays."""
    event = threading.Event()
    yield event
    event.set()


def test_one_that_hangs_is_left_behind(fit, capsys, monkeypatch, end):
    monkeypatch.setattr(module, "LIMIT_S", 0.2)
    config = Config(then=end.wait)
    fit(fails_once, backend_config=config, max_failures=1)
    assert config.seen == ["start", "clean up", "start", "shutdown"]
    warned = capsys.readouterr().err
    assert "the backend's clean_up has not returned within 0.2 s and is left behind, in:" in warned
    assert "backend_config.then()" in warned
