"""Events of a run as the bindings hand them over: classes with the names and fields of the core's
structs.
"""

import json

import pytest
from headway import _core


def test_a_failure_has_its_fields_as_attributes():
    failure = _core.RunFailure.from_json(
        json.dumps(
            {
                "kind": "preempted",
                "message": "node-2 is taken away",
                "ranks": [{"rank": 1, "text": "its node is taken away"}],
                "in_collective": False,
                "source": "group",
                "preemption": {
                    "info": {"deadline_ms": 5, "preempted_node_to_ranks": {"node-2": [1]}},
                    "timed_out": True,
                },
            }
        )
    )
    assert failure.kind == "preempted"
    assert [(each.rank, each.text) for each in failure.ranks] == [(1, "its node is taken away")]
    assert failure.preemption is not None
    assert failure.preemption.timed_out
    assert failure.preemption.info.preempted_node_to_ranks == {"node-2": [1]}
    with pytest.raises(AttributeError):
        failure.message = "another"  # type: ignore[misc]


def test_a_runs_end_travels_as_json_and_metrics_stay_what_they_were():
    metrics = {"loss": 0.5, "nested": {"list": [1, None, True, 2**63, "größe"]}, "bad": float("inf")}
    outcome = {"state": "finished", "checkpoints": [{"name": "checkpoint_000000", "index": 0, "metrics": metrics}]}
    end = _core.Finished.from_json(
        json.dumps({"outcome": {**outcome, "attempts": 2, "dropped_checkpoints": 0}, "last_report_json": ""})
    )
    again = _core.Finished.from_json(end.to_json())
    assert again.outcome.state == "finished"
    assert again.outcome.failure is None
    assert again.outcome.checkpoints[0].metrics == metrics
    assert repr(again.outcome).startswith("RunOutcome(state='finished', failure=None, checkpoints=[KeptCheckpoint(")
