"""Batches of data sets on a rank's device, and the position of an iteration that copies ahead."""

import contextlib
import gc
import itertools
import weakref
from typing import NamedTuple

import headway
import headway.data
import pytest
from headway import train


@pytest.fixture(autouse=True, scope="module")
def the_data_process_ends():
    yield
    headway.shutdown()


def test_tensors_in_what_a_collate_function_makes_are_on_the_device():
    torch = pytest.importorskip("torch")

    class Pair(NamedTuple):
        numbers: object
        rest: list

    def collate(arrays):
        numbers = torch.from_numpy(arrays["id"])
        return {"pair": Pair(numbers, [numbers, "text"]), "rows": len(numbers)}

    batches = headway.data.range(8).iter_torch_batches(batch_size=4, collate_fn=collate, device="meta")
    for batch in batches:
        assert type(batch["pair"]) is Pair
        assert [tensor.device.type for tensor in (batch["pair"].numbers, batch["pair"].rest[0])] == ["meta", "meta"]
        assert (batch["pair"].rest[1], batch["rows"]) == ("text", 4)


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("gpu", "device is 'gpu'; allowed: \"auto\", a torch.device or its name"),
        ("cuda:99", r"device is 'cuda:99', and torch sees \d+ GPUs here"),
    ],
)
def test_a_device_that_is_not_there_is_named(device, words):
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match=words):
        next(iter(headway.data.range(8).iter_torch_batches(device=device)))


def test_truth_values_with_nulls_are_said_to_be_no_tensor():
    pytest.importorskip("torch")
    rows = headway.data.from_items([{"b": True}, {"b": None}])
    with pytest.raises(TypeError, match="column 'b' is truth values with nulls, which is no tensor"):
        next(iter(rows.iter_torch_batches()))


def one_ahead(stream):
    """As copies to a GPU are made: the next batch is taken from the stream before one is given."""
    batches = iter(stream)
    made = [[batch.place, batch.to_numpy()["id"].tolist()] for batch in itertools.islice(batches, 1)]
    for batch in batches:
        made.append([batch.place, batch.to_numpy()["id"].tolist()])
        yield made.pop(0)
    yield from made


def test_the_position_is_behind_what_was_given_where_batches_are_copied_ahead():
    from headway.data._epochs import checked_consumption

    iterator = headway.data.range(40).iterator()
    consumption = checked_consumption(1, 8, False, None, None)
    given, states = [], []
    for rows in iterator._epoch_of(consumption, one_ahead):
        given.append(rows)
        states.append(iterator.state_dict())
    assert list(itertools.chain(*given)) == list(range(40))
    for index, state in enumerate(states):
        resumed = headway.data.range(40).iterator()
        resumed.load_state_dict(state)
        rest = [row["id"] for row in resumed.iter_rows()]
        assert rest == list(range(8 * (index + 1), 40))


def test_a_batch_is_begun_early_where_it_is_there():
    pytest.importorskip("torch")
    from headway._values.device_copies import begun_early

    seen, there = [], {0: True, 1: False, 2: True, 3: True}

    def begin(batch):
        seen.append(f"begin {batch}")
        return lambda: batch

    given = begun_early(iter(range(4)), begin, lambda: there.get(len(seen), False))
    for batch in given:
        seen.append(f"give {batch}")
    #: The second is not there when the first is given.
    assert seen == ["begin 0", "give 0", "begin 1", "begin 2", "give 1", "give 2", "begin 3", "give 3"]


def test_what_is_begun_early_fails_behind_the_batches_before_it():
    pytest.importorskip("torch")
    from headway._values.device_copies import begun_early

    def begin(batch):
        return lambda: 1 // (2 - batch)

    given = begun_early(iter(range(4)), begin, lambda: True)
    assert list(itertools.islice(given, 2)) == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(given)

    def batches():
        yield 0
        yield 1
        raise ValueError("no more")

    given = begun_early(batches(), lambda batch: lambda: batch, lambda: True)
    assert list(itertools.islice(given, 2)) == [0, 1]
    with pytest.raises(ValueError, match="no more"):
        next(given)


def test_a_failure_of_what_was_begun_early_keeps_no_batches():
    """Not even until the collector comes by."""
    pytest.importorskip("torch")
    from headway._values.device_copies import begun_early

    class Batches:
        left = 2

        def __iter__(self):
            return self

        def __next__(self):
            self.left -= 1
            return 1 // (self.left + 1)

    batches = Batches()
    lives = weakref.ref(batches)
    gc.disable()
    try:
        with contextlib.suppress(ZeroDivisionError):
            list(begun_early(batches, lambda batch: lambda: batch, lambda: True))
        del batches
        assert lives() is None
    finally:
        gc.enable()


@pytest.mark.gpu
# Large batches are copied by another thread.
@pytest.mark.parametrize("rows_each", [64, 1024])
@pytest.mark.parametrize("pin_memory", [True, False])
def test_batches_come_whole_and_in_order_on_a_gpu(fit_torch, pin_memory, rows_each):
    rows, width, size = 64 * rows_each, 1024, rows_each

    def loop(config):
        import torch
        from headway.train.torch import get_device

        shard = train.get_dataset_shard("train")
        sums, before = [], torch.cuda.current_stream()
        stream = torch.cuda.Stream()
        for batch in shard.iter_torch_batches(batch_size=size, pin_memory=config["pin_memory"]):
            assert batch["data"].device == get_device()
            assert torch.cuda.current_stream() == before
            # Work that is still under way on the batch's memory when the next ones arrive.
            with torch.cuda.stream(stream):
                stream.wait_stream(before)
                sums.append(batch["data"].double().sum())
                batch["data"].record_stream(stream)
        torch.cuda.synchronize()
        expected = [sum(width * row for row in range(begin, begin + size)) for begin in range(0, rows, size)]
        assert [total.item() for total in sums] == expected

    fit_torch(
        loop,
        1,
        config={"pin_memory": pin_memory},
        scaling_config=train.ScalingConfig(num_workers=1, use_gpu=True),
        datasets={"train": headway.data.range_tensor(rows, shape=(width,))},
    )


def test_batches_before_one_that_is_no_tensor_are_given():
    pytest.importorskip("torch")
    rows = [{"id": row, "list": [0.0] * (2 if row < 9 or row % 2 else 3)} for row in range(16)]
    batches = iter(headway.data.from_items(rows).iter_torch_batches(batch_size=4))
    given = [batch["id"].tolist() for batch in itertools.islice(batches, 2)]
    assert given == [[0, 1, 2, 3], [4, 5, 6, 7]]
    with pytest.raises(TypeError, match="column 'list' is lists of different lengths"):
        next(batches)


def test_a_collate_function_is_called_for_batches_that_are_wanted():
    pytest.importorskip("torch")
    called = []
    batches = headway.data.range(64).iter_torch_batches(batch_size=4, collate_fn=called.append)
    for count, _ in enumerate(batches, 1):
        assert len(called) == count
    assert len(called) == 16
