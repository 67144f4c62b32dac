"""Which bundles the Ray engine asks for, and how it says why Ray has no room: without Ray."""

from headway._engines.ray_plan import (
    Bundle,
    Need,
    Room,
    bundles,
    bundles_that_fit,
    elsewhere,
    matches,
    missing,
    needs_of,
    serve,
)
from headway._engines.ray_words import why_it_waits


def need(workers=2, most=None, cpus=1.0, placement="PACK", selectors=(), beside=()):
    return Need(
        workers, most or workers, (("CPU", cpus),), tuple(tuple(each.items()) for each in selectors), placement, beside
    )


def rooms(*cpus, **labels):
    return [Room({"CPU": float(amount)}, labels, f"n{index}") for index, amount in enumerate(cpus)]


def cpus_of(found):
    return [bundle.amounts["CPU"] for bundle in found]


def test_a_bundle_is_what_a_node_has_room_for():
    assert cpus_of(bundles_that_fit(need(6), rooms(1, 4, 4))) == [4, 2]


def test_workers_that_are_spread_have_a_bundle_each():
    assert cpus_of(bundles_that_fit(need(3, placement="SPREAD"), rooms(4, 4))) == [1, 1, 1]


def test_workers_on_nodes_of_their_own_do_not_fit_on_two_nodes():
    strict = need(3, placement="STRICT_SPREAD")
    assert bundles_that_fit(strict, rooms(4, 4)) == []
    assert cpus_of(bundles(strict, 3)) == [1, 1, 1]


def test_workers_that_must_be_together_are_one_bundle_with_what_is_beside_them():
    together = need(3, placement="STRICT_PACK", beside=(("CPU", 1.0),))
    assert cpus_of(bundles_that_fit(together, rooms(3, 4))) == [4]
    assert bundles_that_fit(together, rooms(3, 3)) == []


def test_an_elastic_group_takes_what_there_is():
    assert cpus_of(bundles_that_fit(need(1, 8), rooms(2, 1))) == [2, 1]


def test_many_trials_share_agents():
    part = {"times": 100, "workers_min": 1, "workers_max": 1, "each": {"CPU": 1}, "placement": "PACK"}
    [(one, count)] = needs_of([part])
    assert (one.workers_min, one.workers_max, count) == (1, 100, 1)
    assert cpus_of(bundles_that_fit(one, rooms(2, 2))) == [2, 2]


def test_a_worker_that_claims_nothing_takes_a_cpu():
    part = {"workers_min": 1, "workers_max": 1, "each": {}, "placement": "PACK"}
    [(one, _)] = needs_of([part])
    assert cpus_of(bundles(one, 1)) == [1]


def test_each_worker_has_its_selector_and_labels_of_headway_are_those_of_ray():
    selectors = [{"headway.io/accelerator-type": "A100"}, {"zone": "!in(a, b)"}]
    part = {"workers_min": 2, "workers_max": 2, "each": {"CPU": 1}, "placement": "PACK", "selectors": selectors}
    [(one, _)] = needs_of([part])
    assert [bundle.selector for bundle in bundles(one, 2)] == [
        {"ray.io/accelerator-type": "A100"},
        {"zone": "!in(a, b)"},
    ]
    there = [Room({"CPU": 1.0}, {"ray.io/accelerator-type": "A100"}), Room({"CPU": 1.0}, {"zone": "c"})]
    assert len(bundles_that_fit(one, there)) == 2
    assert bundles_that_fit(one, there[:1]) == []


def test_selectors_are_read_as_ray_reads_them():
    assert matches({"zone": "a"}, {"zone": "in(a, b)"})
    assert not matches({"zone": "a"}, {"zone": "!in(a, b)"})
    assert matches({}, {"zone": "!a"})
    assert not matches({}, {"zone": "a"})


def test_what_agents_have_room_for_is_not_asked_for_again():
    strict = need(3, placement="STRICT_SPREAD")
    present, left, counts = serve(strict, rooms(1, 1))
    assert (present, counts) == (2, [1, 1])
    assert [room.amounts["CPU"] for room in left] == [0, 0]
    lacking = missing(strict, present)
    assert lacking.workers_min == 1
    assert missing(strict, 3) is None
    assert elsewhere(bundles(lacking, 1)[0], ["n1", "n0"]) == Bundle({"CPU": 1.0}, {"ray.io/node-id": "!in(n0,n1)"})


def test_fractions_of_cpus_fit_as_often_as_they_are_there():
    assert cpus_of(bundles_that_fit(need(10, cpus=0.1), rooms(1))) == [1.0]


def test_why_it_waits_says_what_would_help():
    nodes = [Room({"CPU": 2.0, "memory": 1e9, "node:10.0.0.1": 1.0}, {"zone": "a"}, "n0")]
    large, labelled, many = need(1, cpus=64.0), need(1, selectors=[{"zone": "b"}]), need(3)
    assert why_it_waits(large, bundles(large, 1), nodes) == (
        "1 worker with {CPU: 64} waits for Ray: it has no node that is large enough for {CPU: 64}, until one is added "
        "(its nodes have {CPU: 2})"
    )
    assert why_it_waits(labelled, bundles(labelled, 1), nodes) == (
        "1 worker with {CPU: 1} waits for Ray: it has no node with labels as {'zone': 'b'}, until one is added"
    )
    assert "3 workers with {CPU: 1} wait for Ray: its nodes do not suffice" in why_it_waits(
        many, bundles(many, 3), nodes
    )
    assert "others use its nodes" in why_it_waits(need(2), bundles(need(2), 2), nodes)
