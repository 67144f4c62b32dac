"""The next epoch of an iterator is begun while the last rows of the one before are used."""

from __future__ import annotations

import ctypes
import itertools
import os
import pickle
import queue
import re
import select
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from headway import data, train
from headway.data import _client, _waits

pytestmark = pytest.mark.usefixtures("the_engine_ends")

IN_OPEN = 0x20
#: A hang ends the test.
LONGEST_S = 60


class Opened:
    """Counts how often files of a folder are opened, by any process."""

    def __init__(self, folder) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert libc.inotify_add_watch(self.fd, os.fsencode(folder), IN_OPEN) >= 0
        self.count = 0

    def so_far(self) -> int:
        while select.select([self.fd], [], [], 0)[0]:
            events = os.read(self.fd, 1 << 16)
            while events:
                length = int.from_bytes(events[12:16], "little")
                self.count += events[16 : 16 + length].rstrip(b"\0").endswith(b".parquet")
                events = events[16 + length :]
        return self.count

    def wait_for_more_than(self, count: int) -> None:
        while self.so_far() <= count:
            assert select.select([self.fd], [], [], LONGEST_S)[0], "nothing was opened"


@pytest.fixture
def table(tmp_path):
    """A folder with ten row groups of 100 rows in one file."""
    pq.write_table(pa.table({"id": list(range(1000))}), tmp_path / "ids.parquet", row_group_size=100)
    return tmp_path


@pytest.fixture
def opened(table):
    watch = Opened(table)
    yield watch
    os.close(watch.fd)


def ids(batches):
    return [row for batch in batches for row in batch["id"].tolist()]


@pytest.mark.parametrize("shuffled", [False, True])
def test_from_the_second_epoch_on_the_next_one_is_opened_while_the_last_batch_is_used(table, opened, shuffled):
    rows = data.read_parquet(str(table))
    if shuffled:
        rows = rows.random_shuffle(seed=data.RandomSeedConfig(3))
    iterator = rows.iterator()
    before = opened.so_far()
    assert sorted(ids(iterator.iter_batches(batch_size=100))) == list(range(1000))
    each = opened.so_far() - before
    assert each > 0
    for number in range(2, 5):
        found = []
        for batch in iterator.iter_batches(batch_size=100):
            found += batch["id"].tolist()
            if len(found) == 1000:
                # This epoch's files and those of the epochs before were opened; then one more is.
                opened.wait_for_more_than(before + number * each)
        assert sorted(found) == list(range(1000))


def wait_with_the_last_batch(config):
    """One epoch of a rank, which does not let its last batch go before the test says so."""
    found = []
    for batch in train.get_dataset_shard("train").iter_batches(batch_size=100):
        found += batch["id"].tolist()
        if len(found) == 1000:
            with open(config["reached"], "w"):
                pass
            with open(config["seen"]) as seen:
                seen.read()


def test_in_a_training_the_second_epoch_too_is_opened_while_the_last_batch_is_used(table, opened, tmp_path):
    pipes = {name: str(tmp_path / name) for name in ("reached", "seen")}
    for path in pipes.values():
        os.mkfifo(path)
    before = opened.so_far()
    list(data.read_parquet(str(table)).iterator().iter_batches(batch_size=100))
    each = opened.so_far() - before
    trainer = train.DataParallelTrainer(
        wait_with_the_last_batch,
        train_loop_config=pipes,
        datasets={"train": data.read_parquet(str(table))},
        scaling_config=train.ScalingConfig(num_workers=1),
        run_config=train.RunConfig(storage_path=str(tmp_path / "runs")),
    )
    fitting = threading.Thread(target=trainer.fit, daemon=True)
    fitting.start()
    with open(pipes["reached"]):
        pass
    opened.wait_for_more_than(before + 2 * each)
    with open(pipes["seen"], "w"):
        pass
    fitting.join(timeout=LONGEST_S)
    assert not fitting.is_alive()


def test_the_order_of_epochs_is_that_of_epochs_read_alone():
    rows = data.range(5000).random_shuffle(seed=data.RandomSeedConfig(4))
    iterator = rows.iterator()
    orders = [ids(iterator.iter_batches(batch_size=70)) for _ in range(4)]
    alone = []
    for epoch in range(4):
        other = rows.iterator()
        other.load_state_dict({"version": 1, "epoch": epoch, "cursor": None})
        alone.append(ids(other.iter_batches(batch_size=70)))
    assert orders == alone
    assert len({tuple(order) for order in orders}) == 4


@pytest.mark.parametrize("blocks", [False, True])
def test_an_epoch_that_is_left_or_read_otherwise_is_followed_by_the_next_one(table, blocks):
    def rows():
        read = data.read_parquet(str(table))
        seed = data.RandomSeedConfig(9)
        return (read.randomize_block_order(seed=seed) if blocks else read.random_shuffle(seed=seed)).iterator()

    wanted = [ids(rows_of.iter_batches(batch_size=100)) for rows_of in [rows()] for _ in range(6)]
    again = rows()
    epochs = again.iter_batches(batch_size=100)
    assert ids(epochs) == wanted[0]
    for batch in epochs:
        assert batch["id"].tolist() == wanted[1][:100]
        break
    assert ids(epochs) == wanted[2]
    assert ids(again.iter_batches(batch_size=77)) == wanted[3]
    state = None
    for batch in epochs:
        state = again.state_dict()
        assert batch["id"].tolist() == wanted[4][:100]
        break
    again.load_state_dict(state)
    assert ids(epochs) == wanted[4][100:]
    assert ids(epochs) == wanted[5]


def test_the_next_epoch_is_likely_after_one_that_was_read_to_its_end(monkeypatch):
    likely = []
    made = _client.Stream

    def stream(plan, asked, *args, **named):
        likely.append(asked["more"])
        return made(plan, asked, *args, **named)

    monkeypatch.setattr(_client, "Stream", stream)
    epochs = data.range(30).iterator().iter_batches(batch_size=10)
    for is_left in [False, True, True, False, False]:
        for _ in epochs:
            if is_left:
                break
    assert likely == [False, True, False, False, True]


def test_all_who_share_read_on_together(table):
    shares = data.read_parquet(str(table)).random_shuffle(seed=data.RandomSeedConfig(2)).streaming_split(2, equal=True)
    found: list[list[list[int]]] = [[], []]

    def read(rank):
        for epoch in range(4):
            size = 30 if epoch < 3 else 40  # What was begun for batches of 30 is dropped.
            found[rank].append(ids(shares[rank].iter_batches(batch_size=size)))

    threads = [threading.Thread(target=read, args=(rank,), daemon=True) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive()
    for epoch in range(4):
        assert sorted(found[0][epoch] + found[1][epoch]) == list(range(1000))
    assert len({tuple(found[0][epoch]) for epoch in range(4)}) == 4


@pytest.mark.parametrize(
    ("has_begun", "why"),
    [
        (False, "not begun this epoch; consume all shares at the same time, each in its own thread or process"),
        (True, "taken none of its batches for [0-9]+ s"),
    ],
)
def test_one_of_those_who_share_that_waits_for_another_warns(monkeypatch, has_begun, why):
    """In one thread they would wait forever: ``zip(a.iter_batches(), b.iter_batches())``."""
    warned = queue.SimpleQueue()
    monkeypatch.setattr(_waits, "warn", warned.put)
    monkeypatch.setattr(_waits, "_WARNED_AFTER_S", LONGEST_S if has_begun else 0.0)
    # More batches than may wait for their consumer.
    first, second = data.range(4000).streaming_split(2, equal=True)
    found = []
    alone = threading.Thread(target=lambda: found.append(ids(second.iter_batches(batch_size=10))), daemon=True)
    alone.start()
    batches = iter(first.iter_batches(batch_size=10))
    if has_begun:
        found.append(next(batches)["id"].tolist())
        monkeypatch.setattr(_waits, "_WARNED_AFTER_S", 0.0)
    assert re.fullmatch(
        rf"rank 1 of the 2 that share a data set has waited for a batch for [0-9]+ s, because rank 0 has {why}",
        warned.get(timeout=LONGEST_S),
    )
    found += [batch["id"].tolist() for batch in batches]
    alone.join(timeout=LONGEST_S)
    assert sorted(itertools.chain(*found)) == list(range(4000))


def test_functions_are_not_called_for_an_epoch_that_nobody_reads(tmp_path):
    calls = tmp_path / "calls"

    def note(batch):
        with open(calls, "a") as file:
            file.write(".")
        return batch

    iterator = data.range(4).map_batches(note).iterator()
    for _ in range(3):
        assert ids(iterator.iter_batches(batch_size=4)) == [0, 1, 2, 3]
    # While others call theirs, a fourth epoch would be well under way.
    assert data.range(100).map_batches(lambda batch: batch, batch_size=1).count() == 100
    assert calls.read_text() == "..."


def test_an_iterator_is_pickled_without_what_it_has_begun():
    iterator = data.range(3).iterator()
    for _ in range(2):
        ids(iterator.iter_batches())
    copy = pickle.loads(pickle.dumps(iterator))
    assert ids(copy.iter_batches()) == [0, 1, 2]
    assert ids(iterator.iter_batches()) == [0, 1, 2]


def test_many_small_files_are_read_epoch_after_epoch(tmp_path):
    for number in range(200):
        pq.write_table(pa.table({"id": [number]}), tmp_path / f"{number:03}.parquet")
    iterator = data.read_parquet(str(tmp_path)).randomize_block_order(seed=data.RandomSeedConfig(5)).iterator()
    orders = [ids(iterator.iter_batches(batch_size=8)) for _ in range(5)]
    assert [sorted(order) for order in orders] == [list(range(200))] * 5
