"""Spans of OpenTelemetry, as its SDK's exporter receives them."""

import os
import signal
import sys
from pathlib import Path

import pytest
from headway import train
from headway._values import spans

pytestmark = pytest.mark.heavy
export = pytest.importorskip("opentelemetry.sdk.trace.export")
in_memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")


@pytest.fixture(scope="module")
def exporter():
    """A process has one provider for its life."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

    exporter = in_memory.InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


def loop(config):
    import opentelemetry.trace
    from opentelemetry.sdk.trace import TracerProvider

    started = train.get_checkpoint() is not None
    rank = train.get_context().get_world_rank()
    with Path(config["folder"], f"rank_{rank}_{started}").open("w") as file:
        console = export.ConsoleSpanExporter(out=file, formatter=lambda of: of.name + "\n")
        provider = TracerProvider()
        provider.add_span_processor(export.SimpleSpanProcessor(console))
        # In place of the one that a fork has brought.
        opentelemetry.trace._TRACER_PROVIDER = provider
        train.report({"step": 1}, train.Checkpoint.from_dict({"step": 1}))
        if not started and rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        train.report({"step": 2})


def test_a_run_is_a_trace_with_start_recovery_and_commits(exporter, storage, tmp_path):
    failures = train.FailureConfig(max_failures=1)
    result = train.DataParallelTrainer(
        loop,
        train_loop_config={"folder": str(tmp_path)},
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(name="traced", storage_path=storage, failure_config=failures, verbose=0),
    ).fit()
    found = exporter.get_finished_spans()
    by_name = {}
    for each in found:
        by_name.setdefault(each.name, []).append(each)
    (run,), (start,), (recovery,) = (by_name[f"headway.{name}"] for name in ("run", "start", "recovery"))
    assert dict(run.attributes) == {
        "headway.run": "traced",
        "headway.path": result.path,
        "headway.state": "finished",
        "headway.attempts": 2,
    }
    assert [each.name for each in run.events] == ["headway.failure"]
    assert all(each.parent.span_id == run.context.span_id for each in found if each is not run)
    assert dict(start.attributes) == {"headway.attempt": 1, "headway.workers": 2}
    assert recovery.attributes["headway.attempt"] == 2
    assert "was killed by SIGKILL" in recovery.attributes["headway.failure"]
    assert run.start_time <= start.start_time < start.end_time < recovery.start_time < recovery.end_time < run.end_time
    commits = by_name["headway.commit"]
    assert [each.attributes["headway.name"] for each in commits] == ["checkpoint_000000", "checkpoint_000001"]
    assert all(run.start_time < each.start_time < each.end_time < run.end_time for each in commits)
    assert (tmp_path / "rank_0_True").read_text().splitlines() == ["headway.report"] * 2


def test_a_run_that_fails_says_so_in_its_span(exporter, storage):
    exporter.clear()

    def fails():
        raise ValueError("bad batch")

    with pytest.raises(train.WorkerGroupError):
        train.DataParallelTrainer(fails, run_config=train.RunConfig(storage_path=storage, verbose=0)).fit()
    run = next(each for each in exporter.get_finished_spans() if each.name == "headway.run")
    assert (run.attributes["headway.state"], run.status.status_code.name) == ("errored", "ERROR")


def test_a_program_without_opentelemetry_makes_no_spans(monkeypatch):
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    assert spans.tracer() is None
    with spans.span("report", rank=0):
        pass
    assert "opentelemetry.trace" not in sys.modules
