"""Which rank goes to which node, by what the nodes' labels say."""

from test_nodes import pytestmark  # noqa: F401

PLACES = """
    def loop():
        from headway import _session as session

        place = session.current("the test").context["plan"]["slot"]["node_id"]
        context = train.get_context()
        print("PLACE", context.get_world_rank(), place, context.get_local_world_size(), flush=True)

    wait_for_nodes(2)
    for selectors in ([{"region": "eu"}, {"region": "!eu"}], [{"region": "!eu"}, {"region": "eu"}]):
        scaling = train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 1}, label_selector=selectors)
        train.DataParallelTrainer(loop, scaling_config=scaling).fit()
        print("RUN OVER", flush=True)
"""


def test_each_rank_goes_to_a_node_that_its_own_selector_means(nodes):
    nodes.start(PLACES)
    there = nodes.agent("--labels", '{"region": "eu"}').join()
    for expected in ([there, "local"], ["local", there]):
        said = nodes.script.wait_for("RUN OVER")
        for rank, place in enumerate(expected):
            assert f"PLACE {rank} {place} 1\n" in said
    assert nodes.script.finish()[0] == 0
