"""Functions of a training's data sets on CPUs of another node: a driver whose rank reads, and an
agent that has CPUs to spare. Both are this machine.
"""

import contextlib
import os
import re
import signal

import network
import processes
import pytest

import cluster

pytestmark = cluster.needs_tls

FUNCTIONS = """
    import json
    import headway.data
    import pyarrow as pa
    import pyarrow.parquet

    FILES, ROWS = 60, 40
    CALLS_OF_A_PIECE = 10  # Four files are read together.
    calls = []
    os.environ["FLAVOUR"] = " with sugar in "  # What ranks find, functions find, wherever they run.
    os.mkdir(os.path.join(FOLDER, "data"))
    for number in range(FILES):
        ids = list(range(number * ROWS, (number + 1) * ROWS))
        table = pa.table({"id": ids, "text": [f"row {each}".ljust(8_000, ".") for each in ids]})
        pyarrow.parquet.write_table(table, os.path.join(FOLDER, "data", f"{number:02}.parquet"))

    def agent_above():
        # The pid of the agent that this process runs below; 0: of none.
        pid = os.getpid()
        while pid > 1:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if b"headway.agent" in file.read():
                    return pid
            with open(f"/proc/{pid}/stat") as file:
                pid = int(file.read().rsplit(")", 1)[1].split()[1])
        return 0

    held = []

    def meet(agent):
        # This machine's own workers wait until one of another node has begun.
        gate, opened = os.path.join(FOLDER, "gate"), os.path.join(FOLDER, "opened")
        if agent and not held:
            open(opened, "w").close()
            held.append(os.open(gate, os.O_RDWR))
        elif not agent and not os.path.exists(opened):
            os.close(os.open(gate, os.O_RDONLY))

    def doubled(batch):
        agent = agent_above()
        meet(agent)
        hold(batch, agent)
        return {
            "id": batch["id"],
            "twice": batch["id"] * 2,
            "text": [text.rstrip(".") + os.environ["FLAVOUR"] for text in batch["text"]],
            "agent": batch["id"] * 0 + agent,
        }

    def hold(batch, agent):
        pass

    def rows(**options):
        read = headway.data.read_parquet(os.path.join(FOLDER, "data")).randomize_block_order(seed=5)
        return read.map_batches(doubled, batch_size=16, **options)

    def loop(config):
        try:
            with open(os.path.join(FOLDER, config["to"]), "w") as file:
                for batch in train.get_dataset_shard("train").iter_batches(batch_size=16):
                    for row in zip(*(batch[name].tolist() for name in ("id", "twice", "text", "agent"))):
                        print(json.dumps(row), file=file)
        except ArithmeticError as error:
            print("RAISED", type(error).__name__, error, flush=True)
            import traceback
            print("FRAME", "in doubled" in "".join(traceback.format_exception(error)), flush=True)

    def fit_on(dataset, name, labels=None):
        options = headway.data.ExecutionOptions(label_selector=labels)
        train.DataParallelTrainer(
            loop,
            train_loop_config={"to": name},
            datasets={"train": dataset},
            dataset_config=train.DataConfig(execution_options=options),
            scaling_config=train.ScalingConfig(num_workers=1, resources_per_worker={"CPU": 1}),
            run_config=train.RunConfig(name=name, storage_path=os.path.join(FOLDER, "storage")),
        ).fit()

    def read(name):
        return [json.loads(line) for line in open(os.path.join(FOLDER, name))]

    def tell(name):
        # What the training got, beside what this process gets, whose functions run here.
        got = read(name)
        here = [[row["id"], row["twice"], row["text"]] for row in rows().iter_rows()]
        print("ROWS", len(got), "EQUAL", [row[:3] for row in got] == here, flush=True)
        print("AGENTS", json.dumps(sorted({row[3] for row in got})), flush=True)

    wait_for_nodes(2)
"""


def make_pipes(folder, *names):
    """Pipes in which the driver's script, its functions and the test wait for each other."""
    for name in names:
        os.mkfifo(folder / name)


def run(nodes, tmp_path, code, *options):
    """Starts the driver, and an agent with two CPUs that nobody claims; the agent."""
    make_pipes(tmp_path, "gate")
    nodes.start(FUNCTIONS.replace("FOLDER", repr(str(tmp_path))) + code.replace("FOLDER", repr(str(tmp_path))))
    agent = nodes.agent("--num-cpus", "2", *options)
    assert agent.join() == "node-1"
    return agent


def finished(nodes, agent):
    """What the driver has printed; nothing is left of anybody."""
    status, output = nodes.script.finish()
    assert status == 0, output
    assert nodes.left() == {}
    return output, agents_in(output)


def agents_in(output):
    """Below which agents the training's functions ran; 0: below none."""
    told = re.search(r"AGENTS (\[.*\])", output)
    return [] if told is None else [int(each) for each in re.findall(r"\d+", told[1])]


LABELLED = """
    fit_on(rows(), "run", {"kind": "cpu"})
    tell("run")
"""

BEYOND_CORES = """
    fit_on(rows(concurrency=len(os.sched_getaffinity(0)) + 2), "run")
    tell("run")
"""


@pytest.mark.parametrize("code", [LABELLED, BEYOND_CORES], ids=["by a label", "beyond this machine's cores"])
def test_functions_run_on_the_other_node_and_the_rows_are_those_of_a_run_on_one(nodes, tmp_path, code):
    agent = run(nodes, tmp_path, code, "--labels", '{"kind": "cpu"}')
    output, agents = finished(nodes, agent)
    assert "ROWS 2400 EQUAL True" in output, output
    assert agent.process.pid in agents, output
    assert "function workers for data sets that" in output
    assert agent.end() == 0


# The other node's workers do a piece, and then come to one that they never end.
HELD = """
    def hold(batch, agent):
        calls.append(batch)
        if agent and len(calls) > CALLS_OF_A_PIECE:
            os.close(os.open(os.path.join(FOLDER, "reached"), os.O_WRONLY))
            os.close(os.open(os.path.join(FOLDER, "never"), os.O_RDONLY))

    fit_on(rows(), "run", {"kind": "cpu"})
    tell("run")
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_node_that_goes_in_the_middle_of_a_unit_costs_no_row(nodes, tmp_path, number):
    make_pipes(tmp_path, "reached", "never")
    agent = run(nodes, tmp_path, HELD, "--labels", '{"kind": "cpu"}')
    with open(tmp_path / "reached") as reached:
        reached.read(0)
        agent.signal(number)
        status, output = nodes.script.finish()
    assert status == 0, output
    assert "ROWS 2400 EQUAL True" in output, output
    agents = agents_in(output)
    assert agents[0] == 0, "what was under way there was done here"
    assert agent.process.pid in agents, output
    agent.signal(signal.SIGCONT)
    agent.end()
    assert nodes.left() == {}


def test_a_node_that_is_cut_off_costs_no_row(nodes, tmp_path):
    make_pipes(tmp_path, "gate", "reached", "never")
    with contextlib.ExitStack() as stack:
        try:
            lab = network.Lab(stack)
        except network.Unavailable as error:
            pytest.skip(str(error))
        lab.start(nodes, (FUNCTIONS + HELD).replace("FOLDER", repr(str(tmp_path))), cluster.LEASE_S)
        [link] = lab.links(nodes, 1)
        agent = link.agent(nodes, "--num-cpus", "2", "--labels", '{"kind": "cpu"}')
        assert agent.join() == "node-1"
        with open(tmp_path / "reached") as reached:
            reached.read(0)
            link.cut()
            status, output = nodes.script.finish()
        assert status == 0, output
        assert "ROWS 2400 EQUAL True" in output, output
        agents = agents_in(output)
        assert agents[0] == 0
        assert agent.process.pid in agents
        agent.end()
        nodes.script.close()
        nodes.stack.close()
        assert lab.left() == {}


def test_a_worker_that_is_killed_is_replaced_and_costs_no_row(nodes, tmp_path):
    make_pipes(tmp_path, "reached", "never")
    once = HELD.replace("if agent and", 'if agent and not os.path.exists(os.path.join(FOLDER, "killed")) and')
    agent = run(nodes, tmp_path, once, "--labels", '{"kind": "cpu"}')
    with open(tmp_path / "reached") as reached:
        reached.read(0)
        (tmp_path / "killed").touch()
        workers = [pid for pid, line in processes.descendants(agent.process.pid).items() if "function" in line]
        assert workers
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        output, agents = finished(nodes, agent)
    assert "ROWS 2400 EQUAL True" in output, output
    assert agent.process.pid in agents
    assert "done again elsewhere" in output
    assert agent.end() == 0


# An epoch is broken off while the other node's workers are in the middle of a unit that never ends.
# The unit with the first batch is not one of those: the rank waits for it.
BROKEN_OFF = """
    opened, over, alive = (os.path.join(FOLDER, name) for name in ("opened", "over", "alive"))
    unchanged = headway.data.read_parquet(os.path.join(FOLDER, "data")).randomize_block_order(seed=5)
    first = {row["id"] for row in unchanged.take(16 * CALLS_OF_A_PIECE)}

    def hold(batch, agent):
        calls.append(batch)
        is_first = batch["id"][0] in first
        if agent and len(calls) > CALLS_OF_A_PIECE and not is_first and not os.path.exists(over):
            held.append(os.open(alive, os.O_WRONLY))
            os.close(os.open(os.path.join(FOLDER, "never"), os.O_RDONLY))

    def loop(config):
        shard = train.get_dataset_shard("train")
        epoch = iter(shard.iter_batches(batch_size=16))
        next(epoch)
        with open(alive, "rb") as those:
            open(over, "w").close()
            os.remove(opened)
            epoch.close()
            those.read()  # Until none of them is left.
        with open(os.path.join(FOLDER, config["to"]), "w") as file:
            for batch in shard.iter_batches(batch_size=16):
                for row in zip(*(batch[name].tolist() for name in ("id", "twice", "text", "agent"))):
                    print(json.dumps(row), file=file)

    fit_on(rows(), "run", {"kind": "cpu"})
    tell("run")
"""


def test_an_epoch_that_is_broken_off_ends_its_workers_and_the_next_one_has_others(nodes, tmp_path):
    make_pipes(tmp_path, "alive", "never")
    agent = run(nodes, tmp_path, BROKEN_OFF, "--labels", '{"kind": "cpu"}')
    output, agents = finished(nodes, agent)
    assert "ROWS 2400 EQUAL True" in output, output
    assert agent.process.pid in agents, output
    assert agent.end() == 0


RAISES = """
    class Overdrawn(ArithmeticError):
        pass

    def hold(batch, agent):
        if agent:
            raise Overdrawn("no more of it")

    fit_on(rows(), "run", {"kind": "cpu"})
"""


def test_an_exception_of_the_other_node_has_its_class_and_its_frames(nodes, tmp_path):
    agent = run(nodes, tmp_path, RAISES, "--labels", '{"kind": "cpu"}')
    output, _ = finished(nodes, agent)
    assert re.search(r"RAISED Overdrawn .*no more of it", output), output
    assert "FRAME True" in output
    assert agent.end() == 0


UNMEANT = """
    open(os.path.join(FOLDER, "opened"), "w").close()
    fit_on(rows(), "run", {"kind": "none has it"})
    tell("run")
"""


def test_without_a_node_that_a_selector_means_all_is_done_here(nodes, tmp_path):
    agent = run(nodes, tmp_path, UNMEANT, "--labels", '{"kind": "cpu"}')
    output, agents = finished(nodes, agent)
    assert "ROWS 2400 EQUAL True" in output, output
    assert agents == [0]
    assert agent.end() == 0


# A second run claims the other node's CPUs. Those that come back after it hold nothing.
CLAIMED = """
    def hold(batch, agent):
        calls.append(batch)
        if agent and len(calls) > CALLS_OF_A_PIECE and not os.path.exists(os.path.join(FOLDER, "over")):
            os.close(os.open(os.path.join(FOLDER, "reached"), os.O_WRONLY))
            os.close(os.open(os.path.join(FOLDER, "never"), os.O_RDONLY))

    def claims(config):
        print("CLAIMED", flush=True)

    first = threading.Thread(target=fit_on, args=(rows(), "run", {"kind": "cpu"}))
    first.start()
    os.close(os.open(os.path.join(FOLDER, "reached"), os.O_RDONLY))
    open(os.path.join(FOLDER, "over"), "w").close()
    train.DataParallelTrainer(
        claims,
        train_loop_config={},
        scaling_config=train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 1}),
        run_config=train.RunConfig(name="second", storage_path=os.path.join(FOLDER, "storage")),
    ).fit()
    first.join()
    tell("run")
"""


def test_function_workers_make_way_for_a_run_that_claims_their_cpus(nodes, tmp_path):
    make_pipes(tmp_path, "reached", "never")
    agent = run(nodes, tmp_path, CLAIMED, "--labels", '{"kind": "cpu"}')
    output, agents = finished(nodes, agent)
    assert "CLAIMED" in output
    assert "ROWS 2400 EQUAL True" in output, output
    assert agents[0] == 0
    assert agent.process.pid in agents
    assert agent.end() == 0


# Two machines read; each has its part of the third one's CPUs.
SHARED = """
    def shares(config):
        rank = train.get_context().get_world_rank()
        with open(os.path.join(FOLDER, f"rank {rank}"), "w") as file:
            for epoch in range(2):
                for batch in train.get_dataset_shard("train").iter_batches(batch_size=16):
                    for row in zip(*(batch[name].tolist() for name in ("id", "twice", "agent"))):
                        print(json.dumps([epoch, *row]), file=file)

    wait_for_nodes(3)
    options = headway.data.ExecutionOptions(label_selector={"kind": "cpu"})
    train.DataParallelTrainer(
        shares,
        train_loop_config={},
        datasets={"train": rows()},
        dataset_config=train.DataConfig(execution_options=options),
        scaling_config=train.ScalingConfig(
            num_workers=2, resources_per_worker={"CPU": 1}, label_selector={"kind": "!cpu"}
        ),
        run_config=train.RunConfig(name="run", storage_path=os.path.join(FOLDER, "storage")),
    ).fit()
    ranks = [read("rank 0"), read("rank 1")]
    for epoch in range(2):
        got = [row[1:] for rank in ranks for row in rank if row[0] == epoch]
        print("EPOCH", len(got), len({row[0] for row in got}), all(row[1] == 2 * row[0] for row in got), flush=True)
    print("AGENTS", json.dumps(sorted({row[3] for rank in ranks for row in rank})), flush=True)
"""


def test_two_machines_that_read_share_the_cpus_of_a_third_one(nodes, tmp_path):
    make_pipes(tmp_path, "gate")
    code = (FUNCTIONS + SHARED).replace("    wait_for_nodes(2)\n", "").replace("FOLDER", repr(str(tmp_path)))
    nodes.start(code)
    assert nodes.agent().join() == "node-1"
    spare = nodes.agent("--num-cpus", "2", "--labels", '{"kind": "cpu"}')
    assert spare.join() == "node-2"
    output, agents = finished(nodes, spare)
    assert output.count("EPOCH 2400 2400 True") == 2, output
    assert spare.process.pid in agents
    assert len(re.findall(r"function workers for data sets that \S+ reads: 1 on", output)) == 2, output
