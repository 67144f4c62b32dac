"""How many nodes a demand needs, and what Slurm's commands say."""

import pytest
from headway._engines.demand import Shape, matches, needed, shares
from headway._engines.slurm_allocation import counts
from headway._engines.slurm_commands import reason
from headway._engines.slurm_options import check_slurm


def part(workers=1, placement="PACK", each=None, times=1, least=None, beside=None, selectors=()):
    return {
        "times": times,
        "workers_min": least or workers,
        "workers_max": workers,
        "each": each or {"CPU": 1.0},
        "advised_cpus": 0.0,
        "selectors": list(selectors),
        "placement": placement,
        "beside": beside or {},
    }


NODE = Shape({"CPU": 4.0, "GPU": 2.0}, labels={"zone": "a"})


@pytest.mark.parametrize(
    ("parts", "nodes"),
    [
        ([], 0),
        ([part(4)], 1),
        ([part(5)], 2),
        ([part(3, "SPREAD")], 3),
        ([part(3, "STRICT_SPREAD")], 3),
        ([part(4, "STRICT_PACK")], 1),
        ([part(8, each={"CPU": 1.0, "GPU": 1.0})], 4),
        # Requests share nodes.
        ([part(1, times=10)], 3),
        ([part(3, "STRICT_SPREAD", times=2)], 3),
        ([part(3, "STRICT_PACK", times=2)], 2),
        ([part(2, "STRICT_PACK", times=4)], 2),
        ([part(3), part(1, each={"GPU": 1.0})], 2),
        # An elastic group is best off with all that it can use.
        ([part(8, least=1)], 2),
        # What is beside the workers takes a worker's place.
        ([part(4, beside={"CPU": 1.0})], 2),
        ([part(3, beside={"CPU": 1.0})], 1),
        ([part(2, selectors=[{"zone": "a"}])], 1),
        # Amounts that binary fractions only come near to.
        ([part(40, each={"CPU": 0.1})], 1),
        ([part(1, each={"CPU": 1.0, "memory": 1e9})], 1),
    ],
)
def test_a_demand_needs_so_many_nodes(parts, nodes):
    assert needed(parts, NODE) == nodes
    assert shares(parts, [NODE]).cannot is None


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (part(2, each={"far": 1.0}), "2 workers with {far: 1} each"),
        (part(1, each={"GPU": 3.0}), "1 worker with {GPU: 3} each"),
        (part(5, "STRICT_PACK"), "5 workers with {CPU: 1} each on one node"),
        (part(1, selectors=[{"zone": "b"}]), "1 worker with {CPU: 1} each on nodes with {'zone': 'b'}"),
    ],
)
def test_what_no_node_could_serve_is_named_and_asks_for_none(wanted, words):
    assert needed([wanted, part(1)], NODE) == 1
    assert shares([wanted, part(1)], [NODE]).cannot == words


def test_a_node_of_unknown_size_gets_one_worker():
    assert needed([part(3)], Shape({}, frozenset({"CPU"}))) == 3


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ({"zone": "a"}, True),
        ({"zone": "!a"}, False),
        ({"zone": "in(b, a)"}, True),
        ({"zone": "!in(b, a)"}, False),
        ({"other": "!x"}, True),
        ({"other": "x"}, False),
    ],
)
def test_selectors_match_as_the_driver_matches_them(selector, found):
    assert matches(NODE.labels, selector) is found


def test_cpus_by_node_are_read_as_slurm_writes_them():
    assert list(counts("2(x3),4")) == [2, 2, 2, 4]
    assert list(counts("")) == []


def test_the_reason_is_the_last_line_without_the_command():
    said = (
        "sbatch: error: invalid partition specified: x\n"
        "sbatch: error: Batch job submission failed: Invalid partition name specified\n"
    )
    assert reason(said) == "Invalid partition name specified"
    assert reason("") == ""


@pytest.mark.parametrize(
    ("arguments", "gpus", "cpus"),
    [
        (["--gres=gpu:a100:4"], 4, None),
        (["--gres=gpu:2", "--mem=4G"], 2, None),
        (["--gres=gpu"], 1, None),
        (["--gpus-per-node=3"], 3, None),
        (["--gpus-per-node=h100:8", "-c16"], 8, 16),
        (["--cpus-per-task=8"], None, 8),
        ([], None, None),
    ],
)
def test_what_arguments_of_sbatch_ask_for_is_known(arguments, gpus, cpus):
    pool = check_slurm("slurm", {"sbatch_args": arguments})["pools"][""]
    assert (pool["gpus"], pool["cpus"]) == (gpus, cpus)


def test_a_pool_of_slurms_has_what_is_given_for_all_unless_it_says_otherwise():
    pools = check_slurm(
        "slurm",
        {
            "time": 30,
            "setup": "module load all",
            "pools": {
                "cpu": {"partition": "small", "cpus_per_node": 4},
                "gpu": {"gpus_per_node": 2, "accelerator_type": "A100", "setup": "module load cuda", "nodes": 2},
            },
        },
    )["pools"]
    assert list(pools) == ["cpu", "gpu"]
    assert [each["time"] for each in pools.values()] == ["30", "30"]
    assert [each["setup"] for each in pools.values()] == ["module load all", "module load cuda"]
    assert pools["cpu"]["partition"] == "small"
    assert pools["gpu"]["partition"] is None
    assert pools["gpu"]["resources_per_node"] == {"accelerator_type:A100": 1.0}
    assert pools["gpu"]["nodes"] == [2, 2]
