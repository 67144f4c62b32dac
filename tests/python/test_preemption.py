"""Nodes that are taken away with notice: every rank can know it, and the group goes elsewhere. See
cluster.py.
"""

import pickle
import re
import signal

import pytest
from headway import train

import cluster

# Ranks train until they hear of a preemption, save once, and train on. The next attempt returns
# what it began with.
LEAVING = """
    def loop():
        context = train.get_context()
        rank, first = context.get_world_rank(), first_step()
        if first > 0:
            return {"first": first, "ranks": context.get_world_size(), "info": train.get_preemption_info()}
        saved, step = False, 0
        while True:
            info = train.get_preemption_info()
            if info is not None and not saved:
                told = (info.preempted_ranks, info.preempted_node_ids, info.deadline_ms > 10**12)
                print("TOLD", rank, *told, flush=True)
                train.report({"step": step}, checkpoint=save_step(step) if rank == 0 else None)
                saved = True
                print("SAVED", step, flush=True)
            if step == 0:
                print("AT WORK", flush=True)
            threading.Event().wait(0.01)
            step += 1
"""


def leaving(nodes, tmp_path, call):
    """Ranks 0 and 1 are at work, rank 1 on the first agent's node, which has a minute to go; that
    agent.
    """
    nodes.start_steps(tmp_path, LEAVING + call)
    first = nodes.agent("--grace-s", "60")
    assert first.join() == "node-1"
    nodes.script.wait_for("AT WORK", count=2)
    return first


def take_away(nodes, agent):
    """The node gets its notice, its ranks save, and it goes before its time has passed; what was
    said meanwhile.
    """
    agent.signal(signal.SIGTERM)
    said = nodes.script.wait_for("SAVED", count=2)
    agent.signal(signal.SIGTERM)
    assert agent.end() == 0
    return said


@cluster.needs_tls
def test_every_rank_hears_of_a_preemption_and_the_group_goes_elsewhere_from_what_it_saved(nodes, tmp_path):
    first = leaving(
        nodes,
        tmp_path,
        """
    wait_for_nodes(2)
    result = run(loop, 2)
    print("RESULT", result.return_value, result.metrics["step"] + 1 == result.return_value["first"], flush=True)
    """,
    )
    second = nodes.agent()
    assert second.join() == "node-2"
    said = take_away(nodes, first)
    status, output = nodes.script.finish()
    said += output
    assert status == 0, said
    assert "(rank 0) TOLD 0 [1] ['node-1'] True" in said
    assert "(rank 1) TOLD 1 [1] ['node-1'] True" in said
    assert re.search(r"node node-1 \(\S+\) will be taken away in 60\.0 s, and rank 1 with it", said)
    assert "Restarting the worker group (preemption 1, no limit) from checkpoint_000000" in said
    assert re.search(r"RESULT \{'first': \d+, 'ranks': 2, 'info': None\} True", said), said
    assert second.end() == 0
    journal = cluster.journal_of(tmp_path)
    assert (journal["preemptions"], journal["failures"]) == (1, 0)
    assert journal["attempt_ends"][0].startswith("preempted: node node-1 (")
    assert nodes.left() == {}


@cluster.needs_tls
def test_more_preemptions_than_are_allowed_end_the_run(nodes, tmp_path):
    first = leaving(
        nodes,
        tmp_path,
        """
    wait_for_nodes(2)
    try:
        run(loop, 2, max_preemption_failures=0, max_failures=5)
    except train.PreemptionError as error:
        info = error.preemption_info
        print("ERROR", str(error).splitlines()[0])
        print("INFO", info.preempted_node_to_ranks, error.drain_timed_out, flush=True)
    stored = train.Result.from_path(os.path.join(STORAGE, "run")).error
    print("STORED", type(stored).__name__, stored.preemption_info == info, stored.drain_timed_out)
    """.replace("STORAGE", repr(str(tmp_path / "storage"))),
    )
    take_away(nodes, first)
    status, output = nodes.script.finish()
    assert status == 0, output
    assert re.search(r"ERROR preempted: node node-1 \(\S+\) with rank 1 is taken away, in attempt 1", output), output
    assert "INFO {'node-1': [1]} True" in output
    assert "STORED PreemptionError True True" in output


@cluster.needs_tls
def test_an_elastic_group_shrinks_at_the_deadline_of_a_node(nodes, tmp_path):
    nodes.start_steps(
        tmp_path,
        """
    from headway.train import collective

    def loop():
        if os.path.exists(BEFORE):
            return train.get_context().get_world_size()
        collective.barrier()
        open(BEFORE, "w").close()
        print("AT WORK", flush=True)
        threading.Event().wait()

    wait_for_nodes(2)
    print("RESULT", run(loop, (1, 2)).return_value, flush=True)
    """.replace("BEFORE", repr(str(tmp_path / "before"))),
    )
    agent = nodes.agent("--grace-s", "1")
    agent.join()
    nodes.script.wait_for("AT WORK", count=2)
    agent.signal(signal.SIGTERM)
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "RESULT 1" in output
    assert "(preemption 1, no limit)" in output
    assert "The worker group has 1 worker now, 2 before (num_workers is 1 to 2)" in output
    assert agent.end() == 0
    assert "the notice period has passed" in agent.said


@cluster.needs_tls
def test_nobody_sits_out_the_grace_in_a_report_to_which_a_lost_rank_never_comes(nodes, tmp_path):
    nodes.start_steps(
        tmp_path,
        """
    def loop():
        context = train.get_context()
        if context.get_world_size() == 1:
            return "elsewhere"
        print("AT WORK", flush=True)
        if context.get_world_rank() == 0:
            train.report({"step": 0})
        threading.Event().wait()

    wait_for_nodes(2)
    print("RESULT", run(loop, (1, 2), preemption_grace_s=3600, hang_warn_s=5).return_value, flush=True)
    """,
    )
    agent = nodes.agent("--grace-s", "2")
    agent.join()
    nodes.script.wait_for("AT WORK", count=2)
    agent.signal(signal.SIGTERM)
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "RESULT elsewhere" in output
    assert "(preemption 1, no limit)" in output
    assert "has not come" not in output
    assert agent.end() == 0


@cluster.needs_tls
def test_an_agent_without_a_grace_goes_at_once_and_that_is_a_preemption_too(nodes, tmp_path):
    nodes.start_steps(
        tmp_path,
        """
    def loop():
        print("AT WORK", flush=True)
        threading.Event().wait()

    wait_for_nodes(2)
    try:
        run(loop, 2, max_preemption_failures=0, max_failures=5)
    except train.PreemptionError as error:
        print("ERROR", error.preemption_info.preempted_ranks, flush=True)
    """,
    )
    agent = nodes.agent("--grace-s", "0")
    agent.join()
    nodes.script.wait_for("AT WORK", count=2)
    agent.signal(signal.SIGTERM)
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "ERROR [1]" in output


@cluster.needs_tls
def test_a_run_that_returns_before_the_deadline_has_finished(nodes, tmp_path):
    nodes.start_steps(
        tmp_path,
        """
    def loop():
        print("AT WORK", flush=True)
        while train.get_preemption_info() is None:
            threading.Event().wait(0.01)
        return "through"

    wait_for_nodes(2)
    print("RESULT", run(loop, 2, max_preemption_failures=0).return_value, flush=True)
    """,
    )
    agent = nodes.agent("--grace-s", "60")
    agent.join()
    nodes.script.wait_for("AT WORK", count=2)
    agent.signal(signal.SIGTERM)
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "RESULT through" in output
    assert agent.end() == 0


def test_without_a_preemption_there_is_none(fit):
    assert fit(lambda: train.get_preemption_info(), workers=2).return_value is None
    assert fit(lambda: train.get_preemption_info(), workers=0).return_value is None


def test_outside_of_a_training_function_nothing_is_known_of_preemptions():
    with pytest.raises(RuntimeError, match=r"get_preemption_info\(\)"):
        train.get_preemption_info()


def test_a_rank_that_does_not_ask_is_named(fit):
    def loop():
        if train.get_context().get_world_rank() == 0:
            train.get_preemption_info()

    with pytest.raises(train.WorkerGroupError, match=r"rank 1 finished .* rank 0 waits in get_preemption_info\(\)"):
        fit(loop)


def test_the_names_of_a_preemption():
    info = train.PreemptionInfo(5, {"b": [3, 1], "a": [2]})
    assert info.preempted_node_ids == ["a", "b"]
    assert info.preempted_ranks == [1, 2, 3]
    error = train.PreemptionError(info, drain_timed_out=True)
    assert isinstance(error, train.TrainingFailedError)
    assert "1, 2, 3" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (again.preemption_info, again.drain_timed_out, str(again)) == (info, True, str(error))
