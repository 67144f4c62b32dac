"""GPUs of function workers, which need not exist: a worker's CUDA_VISIBLE_DEVICES names them."""

import os
import signal

import headway
import pytest
from headway import data

TWO = "4,GPU-a"


@pytest.fixture
def visible(monkeypatch):
    """Sets the GPUs of this machine, for a data process that starts then."""
    headway.shutdown()
    yield lambda gpus: monkeypatch.setenv("CUDA_VISIBLE_DEVICES", gpus)
    headway.shutdown()


@pytest.fixture
def two_gpus(visible):
    visible(TWO)


@pytest.fixture
def meeting(tmp_path):
    """Where workers wait for each other; its path."""
    os.mkfifo(tmp_path / "second_is_there")
    return str(tmp_path)


class Seen:
    """What a worker sees, once two workers have begun."""

    def __init__(self, meeting=None):
        self.meeting = meeting

    def __call__(self, row):
        if self.meeting is not None:
            gate = os.path.join(self.meeting, "second_is_there")
            try:
                os.close(os.open(os.path.join(self.meeting, "first"), os.O_CREAT | os.O_EXCL))
                os.close(os.open(gate, os.O_RDONLY))
            except FileExistsError:
                os.close(os.open(gate, os.O_WRONLY))
            self.meeting = None
        return {"pid": os.getpid(), "gpus": os.environ.get("CUDA_VISIBLE_DEVICES")}


def seen(rows, meeting=None, **arguments):
    """The GPUs of each worker, by its pid."""
    arguments = {"fn_constructor_kwargs": {"meeting": meeting}, **arguments}
    return {row["pid"]: row["gpus"] for row in rows.map(Seen, **arguments).take_all()}


def test_each_worker_has_a_gpu_that_no_other_has(two_gpus, meeting):
    assert sorted(seen(data.range(64), meeting, num_gpus=1, concurrency=2).values()) == ["4", "GPU-a"]


def test_there_are_no_more_workers_than_gpus_for_them(two_gpus):
    assert list(seen(data.range(64), num_gpus=2, concurrency=4).values()) == [TWO]
    halves = seen(data.range(256), num_gpus=0.5, concurrency=8)
    assert len(halves) <= 4
    assert set(halves.values()) <= {"4", "GPU-a"}


def test_functions_of_one_plan_have_different_gpus(two_gpus):
    rows = data.range(4).map(Seen, num_gpus=1, concurrency=1).materialize()
    first = {row["gpus"] for row in rows.take_all()}
    # The workers of both are there: the first ones wait for another epoch.
    second = set(seen(rows, num_gpus=1, concurrency=1, fn_constructor_args=[None], fn_constructor_kwargs=None).values())
    assert first | second == {"4", "GPU-a"}


def test_the_worker_after_a_dead_one_has_its_gpu(two_gpus, tmp_path):
    died = str(tmp_path / "died")

    def dies_once(row):
        if not os.path.exists(died):
            os.close(os.open(died, os.O_CREAT))
            os.kill(os.getpid(), signal.SIGKILL)
        return {"gpus": os.environ["CUDA_VISIBLE_DEVICES"]}

    assert {row["gpus"] for row in data.range(8).map(dies_once, num_gpus=2, concurrency=1).take_all()} == {TWO}


def test_workers_without_num_gpus_see_all(two_gpus):
    assert set(seen(data.range(8)).values()) == {TWO}


@pytest.mark.parametrize(("gpus", "words"), [(TWO, "which are 2"), ("", "which are 0")])
def test_too_few_gpus_are_an_error(visible, gpus, words):
    visible(gpus)
    rows = data.range(8).map(Seen, num_gpus=3)
    with pytest.raises(ValueError, match=rf"num_gpus of map\(Seen\) is 3; allowed: .*{words}"):
        rows.take_all()
