"""How a rank failed, as an exception with attributes: what the core describes, and pickles of
it.
"""

import pickle
import signal
from types import SimpleNamespace

import cloudpickle
import pytest
from headway import train
from headway.train._errors.worker_failures import failure_of

WHO = {"rank": 1, "attempt": 2, "pid": 4711, "host": "node-a.example", "node_id": "node-2"}


def described(kind, text="how it went", **more):
    """As the core describes a rank's failure."""
    own = {"rank": 1, "attempt": 2, "pid": 4711, "hostname": "node-a.example", "node_id": "node-2"}
    return SimpleNamespace(kind=kind, text=text, **{"exception": None, "exit": None, "last_lines": None, **own, **more})


def ended(code, *, signaled=False, detail=""):
    return SimpleNamespace(code=code, signaled=signaled, detail=detail)


CASES = [
    (
        described("death", exit=ended(9, signaled=True), last_lines="step 40\nstep 41\n"),
        train.WorkerDied,
        {"signal": signal.SIGKILL, "exit_code": None, "last_lines": ["step 40", "step 41"], "detail": ""},
    ),
    (
        described("death", exit=ended(3, detail="its worker factory died"), last_lines=""),
        train.WorkerDied,
        {"signal": None, "exit_code": 3, "last_lines": [], "detail": "its worker factory died"},
    ),
    (described("death", exit=ended(40, signaled=True)), train.WorkerDied, {"signal": 40, "last_lines": []}),
    (described("start", exit=ended(1)), train.WorkerNotStarted, {"exit_code": 1}),
    (described("hang"), train.WorkerHung, {}),
    (described("lost_node"), train.NodeLost, {}),
    (described("preemption"), train.NodePreempted, {}),
    (described("unmatched_report"), train.UnmatchedCall, {"call": "report"}),
    (described("unmatched_collective"), train.UnmatchedCall, {"call": "collective"}),
    (described("different_collective"), train.UnmatchedCall, {"call": "collective"}),
    (
        described("exception", exception=SimpleNamespace(type="m.Bad", message="batch", traceback="Traceback")),
        train.WorkerRaised,
        {"exception_type": "m.Bad", "exception_message": "batch", "exception_traceback": "Traceback"},
    ),
]


@pytest.mark.parametrize(("core", "kind", "attributes"), CASES, ids=lambda case: getattr(case, "kind", None))
@pytest.mark.parametrize("pickled", [False, True])
def test_each_kind_of_failure_has_its_class_and_attributes(core, kind, attributes, pickled):
    failure = failure_of(core, None)
    if pickled:
        failure = pickle.loads(cloudpickle.dumps(failure))
    assert type(failure) is kind
    assert isinstance(failure, train.WorkerFailure)
    assert isinstance(failure, RuntimeError), "as it was before there were kinds"
    assert str(failure) == "how it went"
    for name, value in {**WHO, **attributes}.items():
        assert getattr(failure, name) == value, name


def test_what_an_older_version_has_stored_has_a_rank_and_a_text():
    old = described(None, attempt=None, pid=None, hostname=None, node_id=None)
    failure = failure_of(old, None)
    assert type(failure) is train.WorkerFailure
    assert (failure.rank, failure.host, str(failure)) == (1, None, "how it went")


class OwnRank(Exception):
    """Says something else with the same name."""

    rank = "general"


class Frozen(Exception):
    """Takes no attributes."""

    def __setattr__(self, name, value):
        raise AttributeError(name)


def test_what_was_raised_is_the_exception_itself_with_the_rank():
    raised = ValueError("bad batch")
    assert failure_of(described("exception"), raised) is raised
    assert {name: getattr(raised, name) for name in WHO} == WHO
    assert vars(pickle.loads(pickle.dumps(raised))) == WHO


def test_an_exception_keeps_its_own_attributes():
    own = failure_of(described("exception"), OwnRank())
    assert (own.rank, own.host) == ("general", "node-a.example")
    assert type(failure_of(described("exception"), Frozen())) is Frozen


def test_the_group_s_error_is_pickled_with_its_failures():
    failures = {1: failure_of(CASES[0][0], None)}
    error = pickle.loads(pickle.dumps(train.WorkerGroupError("rank 1 died", failures)))
    assert error.worker_failures[1].last_lines == ["step 40", "step 41"]
