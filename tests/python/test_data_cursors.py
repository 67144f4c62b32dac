"""Positions in data sets: into the manifest of a checkpoint with rank 0's report, and back in the
next attempt.
"""

import json
import os


def train_from_cursor(config):
    """Counts rows in steps of 10 from the cursor's position; the last rank gives the checkpoints.
    Rank 0 fails once, when two steps have been made.
    """
    import json
    import os
    import tempfile

    from headway import _session, train

    core = _session.current("train").core
    context = train.get_context()
    found = json.loads(core.data_cursors())
    position = found.get("train", {"rows_before": 0})["rows_before"]
    failed = os.path.join(context.get_trial_dir(), "failed")
    for step in range(config["steps"]):
        if context.get_world_rank() == 0 and step == 2 and not os.path.exists(failed):
            open(failed, "w").close()
            raise ValueError("after two steps")
        position += 10
        core.set_data_cursors(json.dumps({"train": {"rows_before": position + context.get_world_rank()}}))
        is_last = context.get_world_rank() == context.get_world_size() - 1
        with tempfile.TemporaryDirectory() as directory:
            train.report({"position": position}, checkpoint=train.Checkpoint(directory) if is_last else None)
    return position


def positions(path):
    """The cursors in the manifests, in order."""
    names = sorted(name for name in os.listdir(path) if name.startswith("checkpoint_"))
    found = []
    for name in names:
        with open(os.path.join(path, name, ".headway.json")) as manifest:
            found.append(json.load(manifest)["data"])
    return found


def test_an_attempt_and_a_resumed_run_have_the_positions_of_their_checkpoint(fit):
    result = fit(train_from_cursor, 2, config={"steps": 3}, max_failures=1, name="counts")
    assert result.return_value == 50
    assert positions(result.path) == [{"train": {"rows_before": rows}} for rows in (10, 20, 30, 40, 50)]
    resumed = fit(train_from_cursor, 3, config={"steps": 1}, name="counts")
    assert resumed.return_value == 60


def test_a_checkpoint_of_another_run_gives_no_position(fit):
    pretrained = fit(train_from_cursor, 1, config={"steps": 1})
    result = fit(train_from_cursor, 1, config={"steps": 1}, resume_from_checkpoint=pretrained.checkpoint)
    assert result.return_value == 10


def test_a_report_before_the_first_batch_keeps_the_position(fit):
    def only_report():
        import json

        from headway import _session, train

        json.loads(_session.current("train").core.data_cursors())
        train.report({}, checkpoint=train.Checkpoint.from_dict({"weights": 1}))

    fit(train_from_cursor, 1, config={"steps": 1}, name="counts")
    result = fit(only_report, 1, name="counts")
    assert positions(result.path)[-1] == {"train": {"rows_before": 10}}
