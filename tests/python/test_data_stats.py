"""What a user sees of a data set at work: its stages' table, a moving line, a verdict, a hang's
words.
"""

import json
import os
import re
import threading

import headway
import pytest
from headway import data, train
from headway.data import _client
from headway.data.expressions import col
from headway.train import DataParallelTrainer, FailureConfig, Result, RunConfig, ScalingConfig
from terminal import Terminal


@pytest.fixture(autouse=True)
def one_runtime_a_test():
    yield
    headway.shutdown()


def table(text):
    """The lines of a table of stages: by stage, its cells."""
    lines = [re.split(r"  +", line) for line in text.splitlines()[:-1]]
    return {line[0]: dict(zip(lines[0][1:], line[1:], strict=True)) for line in lines[1:]}


def seconds(cell):
    return float(cell.removesuffix(" s"))


def at_pace(pause_s):
    """A function that takes that long for a batch."""

    def paced(batch):
        threading.Event().wait(pause_s)  # Its work.
        return batch

    return paced


def pieces(count, rows=10):
    """A data set of so many pieces, each of which a function gets by itself."""
    return data.range(count * rows).repartition(target_num_rows_per_block=rows)


def test_a_table_has_a_line_a_stage_with_its_rows_and_time():
    rows = pieces(5).map_batches(at_pace(0.1), concurrency=1)
    assert rows.count() == 50
    iterator = rows.iterator()
    assert sum(len(batch["id"]) for batch in iterator.iter_batches(batch_size=10)) == 50
    for text in (rows.stats(), iterator.stats()):
        stages = table(text)
        assert list(stages) == ["range", "repartition", "map_batches(paced)", "deal"]
        slow = stages["map_batches(paced)"]
        assert (slow["rows"], slow["bytes"], slow["workers"]) == ("50", "400 B", "1")
        assert seconds(slow["working"]) >= 0.5
        assert seconds(stages["deal"]["waits for input"]) >= 0.4
        assert seconds(stages["deal"]["working"]) < 0.4
        assert re.search(r"50 rows in [\d.]+ s; the data process has held at most .+ of its memory budget of .+$", text)


def test_a_count_that_runs_a_function_has_statistics():
    rows = pieces(2).map_batches(at_pace(0.1), concurrency=1)
    assert rows.count() == 20
    stages = table(rows.stats())
    assert list(stages) == ["range", "repartition", "map_batches(paced)", "count"]
    assert (stages["map_batches(paced)"]["rows"], stages["count"]["rows"]) == ("20", "20")
    known = pieces(3)
    assert known.count() == 30
    assert known.stats() == "there are no statistics yet: nothing was run to its end"


def test_a_slow_consumer_is_what_stages_wait_for():
    iterator = data.range_tensor(40, shape=(4096,)).iterator()  # Of small batches several wait.
    for _ in iterator.iter_batches(batch_size=10, prefetch_batches=0):
        threading.Event().wait(0.05)  # A step of the training.
    stages = table(iterator.stats())
    assert seconds(stages["deal"]["waits for output"]) >= 0.1


def test_writes_and_what_is_kept_have_statistics(tmp_path):
    rows = data.range(1000)
    rows.write_parquet(str(tmp_path / "out"))
    assert list(table(rows.stats())) == ["range", "write parquet"]
    kept = data.range(1000).filter(expr=col("id") > 10).materialize()
    assert list(table(kept.stats())) == ["range", "filter", "deal"]
    assert table(kept.stats())["filter"]["rows"] == "989"


MATERIALIZE = """
import os
import threading
from headway import data

def hold(batch):
    while not os.path.exists({path!r}):
        threading.Event().wait(0.02)
    return batch

{context}
kept = data.range(30).map_batches(hold).materialize()
print("rows:", kept.count())
"""


def test_a_line_moves_while_a_data_set_runs_and_is_gone_at_the_end(release):
    path, let_go = release
    terminal = Terminal(MATERIALIZE.format(path=path, context=""), 100)
    line = terminal.wait_for("materialize · range: 30 rows")
    assert re.search(r"materialize · range: 30 rows · [\d,]+ rows/s → map_batches\(hold\) · [\d.]+ s · .+ held", line)
    let_go(line)
    assert terminal.finish() == 0
    assert terminal.lines == ["rows: 30"]


def test_nothing_moves_where_a_user_wants_none_or_output_is_no_terminal(release, script):
    path, let_go = release
    let_go("")
    quiet = "data.DataContext.get_current().enable_progress_bars = False"
    terminal = Terminal(MATERIALIZE.format(path=path, context=quiet), 100)
    assert terminal.finish() == 0
    assert b"\x1b" not in terminal.seen
    assert b"materialize" not in terminal.seen
    assert script.run(MATERIALIZE.format(path=path, context="")) == (0, "rows: 30\n")


def read_all(config):
    """Trains on nothing: only data is waited for, but for the time of a step."""
    for batch in train.get_dataset_shard("train").iter_batches(batch_size=10):
        threading.Event().wait(config["step_s"])
        del batch
    train.report({"done": 1})


def fitted(tmp_path, rows, step_s, **options):
    return DataParallelTrainer(
        read_all,
        train_loop_config={"step_s": step_s},
        datasets={"train": rows},
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(storage_path=str(tmp_path), name="run", **options),
    ).fit()


def test_a_run_that_waits_for_a_slow_function_says_so_and_names_it(tmp_path, capsys):
    result = fitted(tmp_path, pieces(16, rows=20).map_batches(at_pace(0.15), concurrency=1), step_s=0)
    waits = json.loads((tmp_path / "run" / "data_waits.json").read_text())
    assert waits["verdict"]["is_data_bound"]
    assert waits["verdict"]["stage"] == "map_batches(paced)"
    assert waits["dataset"] == "train"
    assert waits["datasets"]["train"]["ranks"]["waiting_s"] > 1
    assert result.data_waits == waits == Result.from_path(result.path).data_waits
    shown = capsys.readouterr()
    assert re.search(
        r"; data-bound by stage map_batches\(paced\): ranks waited \d+ % of the time for data;", shown.out + shown.err
    )


def test_a_run_with_fast_data_is_not_data_bound(tmp_path, capsys):
    result = fitted(tmp_path, data.range(400), step_s=0.1)
    assert not result.data_waits["verdict"]["is_data_bound"]
    assert "stage" not in result.data_waits["verdict"] or result.data_waits["verdict"]["stage"] is None
    shown = capsys.readouterr()
    assert re.search(r"; not data-bound \(ranks waited [0-4] %\);", shown.out + shown.err)


def test_a_run_without_data_sets_says_nothing_of_data(tmp_path, capsys):
    trainer = DataParallelTrainer(
        lambda: train.report({"x": 1}), run_config=RunConfig(storage_path=str(tmp_path), name="run")
    )
    assert trainer.fit().data_waits is None
    shown = capsys.readouterr()
    assert "data-bound" not in shown.out + shown.err


def test_the_words_of_a_hang_name_the_stage_that_has_no_output(tmp_path, hears, release):
    path, let_go = release

    def stuck(batch):
        while batch["id"][0] >= 40 and not os.path.exists(path):
            threading.Event().wait(0.02)
        return batch

    ear = hears("for data for", let_go)
    fitted(tmp_path, pieces(8).map_batches(stuck, concurrency=1), 0, failure_config=FailureConfig(hang_warn_s=1.5))
    assert re.search(
        r"(ranks 0, 1 wait|rank [01] waits) for data for [\d.]+ s: stage map_batches\(stuck\) has had no output for",
        ear.heard,
    )
    assert re.search(r"the ranks that waited for data have it, after [\d.]+ s", ear.heard)


class Interrupts:
    """What hears of a wait, and is interrupted by Ctrl-C in it."""

    def begin(self):
        pass

    def end(self, stream):
        raise AssertionError("the wait went on")

    def lasts(self, counters):
        assert "stages" in json.loads(counters)
        raise KeyboardInterrupt("within what is shown")


@pytest.mark.parametrize("waits_for", ["a batch", "an answer"])
def test_ctrl_c_within_what_shows_progress_ends_the_wait(release, waits_for):
    path, let_go = release

    def stuck(batch):
        while not os.path.exists(path):
            threading.Event().wait(0.02)
        return batch

    rows = data.range(10).map_batches(stuck, concurrency=1)
    if waits_for == "an answer":
        with pytest.raises(KeyboardInterrupt, match="within what is shown"):
            _client._asked(rows._plan, "count", rows.context, Interrupts().lasts)
    else:
        stream = _client.Stream(rows._plan, {**_client._WHOLE}, rows.context, waits=Interrupts())
        with pytest.raises(KeyboardInterrupt, match="within what is shown"):
            next(iter(stream))
        stream.close()
    let_go("go")
    assert rows.count() == 10


def test_a_rank_that_begins_an_epoch_alone_hears_who_is_missing(tmp_path, hears, release):
    path, let_go = release

    def loop():
        shard = train.get_dataset_shard("train")
        if train.get_context().get_world_rank() == 0:
            while not os.path.exists(path):
                threading.Event().wait(0.02)
        train.report({"rows": sum(len(batch["id"]) for batch in shard.iter_batches(batch_size=10))})

    ear = hears("waits for data", let_go)
    DataParallelTrainer(
        loop,
        datasets={"train": data.range(40)},
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(storage_path=str(tmp_path), failure_config=FailureConfig(hang_warn_s=1.5)),
    ).fit()
    assert re.search(r"rank 1 waits for data for [\d.]+ s: rank 0 has not begun this epoch", ear.heard)


def test_the_wait_for_a_later_epochs_first_batch_counts(tmp_path):
    def slow(batch):
        threading.Event().wait(0.2)
        return batch

    def loop():
        for _ in range(2):
            for _ in train.get_dataset_shard("train").iter_batches(batch_size=4):
                pass
        train.report({})

    # One piece: all batches of an epoch come at once, after 0.6 s.
    rows = data.range(12, override_num_blocks=1).map_batches(slow, batch_size=4, concurrency=1)
    result = DataParallelTrainer(
        loop,
        datasets={"train": rows},
        scaling_config=ScalingConfig(num_workers=1),
        run_config=RunConfig(storage_path=str(tmp_path), verbose=0),
    ).fit()
    assert result.data_waits["datasets"]["train"]["ranks"]["waiting_s"] >= 0.5
    assert result.data_waits["verdict"]["stage"] == "map_batches(slow)"
