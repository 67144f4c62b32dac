"""Prepared data loaders: what is left alone, and batches on their way to a device."""

import collections

import pytest
from headway import train
from headway.train.torch import get_device, prepare_data_loader

Pair = collections.namedtuple("Pair", ["x", "y"])


def test_loaders_that_are_left_alone(fit_torch):
    def loop():
        import torch
        from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, IterableDataset, SequentialSampler

        class Stream(IterableDataset):
            def __iter__(self):
                return iter(range(4))

        class Pairs(BatchSampler):
            pass

        data = list(range(8))
        for loader in (
            DataLoader(Stream(), batch_size=2),
            DataLoader(data, batch_sampler=Pairs(SequentialSampler(data), 2, False)),
            DataLoader(data, sampler=DistributedSampler(data, 2, 0, seed=5)),
        ):
            assert prepare_data_loader(loader) is loader
        with pytest.raises(TypeError, match=r"auto_transfer is 1 \(int\); allowed: True or False"):
            prepare_data_loader(DataLoader(data), auto_transfer=1)
        # A data set that yields whole batches: no batch size, one index at a time.
        whole = prepare_data_loader(DataLoader(data, batch_size=None))
        assert isinstance(whole.sampler, DistributedSampler)
        assert len(list(whole)) == 4
        assert torch.utils.data.get_worker_info() is None

    fit_torch(loop)


def test_a_loader_with_processes_keeps_their_settings_and_its_generator(fit_torch):
    def loop():
        import torch
        from torch.utils.data import DataLoader

        def seed_note(worker):
            return None

        original = DataLoader(
            torch.arange(12), batch_size=3, num_workers=1, multiprocessing_context="fork", worker_init_fn=seed_note,
            persistent_workers=True, prefetch_factor=4, generator=torch.Generator().manual_seed(9), in_order=False,
        )  # fmt: skip
        prepared = prepare_data_loader(original)
        assert prepared is not original
        for name in ("multiprocessing_context", "worker_init_fn", "persistent_workers", "prefetch_factor", "generator",
                     "in_order", "num_workers", "batch_size"):  # fmt: skip
            assert getattr(prepared, name) == getattr(original, name), name
        return sorted(number for batch in prepared for number in batch.tolist())

    assert fit_torch(loop).return_value == [0, 2, 4, 6, 8, 10]


def test_a_loader_of_a_class_of_its_own_stays_one(fit_torch):
    def loop():
        import torch
        from torch.utils.data import DataLoader

        class Doubling(DataLoader):
            def __init__(self, *args, factor, **kwargs):
                super().__init__(*args, **kwargs)
                self.factor = factor

            def __iter__(self):
                for batch in super().__iter__():
                    yield batch * self.factor

        original = Doubling(torch.arange(8), batch_size=2, factor=2, drop_last=True)
        assert [batch.tolist() for batch in original] == [[0, 2], [4, 6], [8, 10], [12, 14]]
        prepared = prepare_data_loader(original)
        assert isinstance(prepared, Doubling)
        assert type(prepared).__name__ == "Doubling"
        made_anew = type(prepared)(range(4), factor=2)  # As some frameworks do.
        assert len(list(made_anew)) == 4
        assert (prepared.factor, prepared.batch_size, prepared.drop_last, len(prepared)) == (2, 2, True, 2)
        assert len(original) == 4, "the user's own stays as it was"
        return [batch.tolist() for batch in prepared]

    assert fit_torch(loop).return_value == [[0, 4], [8, 12]]


def test_batches_are_moved_whatever_holds_the_tensors():
    import torch
    from headway.train.torch._device_loader import DeviceLoader
    from torch.utils.data import DataLoader

    class Own:
        def __init__(self, device="cpu"):
            self.device = device

        def to(self, device):
            return Own(device.type)

    one = torch.zeros(1)
    batch = {"pair": Pair(one, [one, (one,)]), "text": "as it is", "own": Own(), "count": 3}
    loader = DataLoader([batch, batch, batch], batch_size=None, collate_fn=lambda batch: batch)
    on_device = DeviceLoader(loader, torch.device("meta"), auto_transfer=True)
    assert isinstance(on_device, DataLoader)
    assert len(on_device) == 3
    assert on_device.dataset is loader.dataset
    assert on_device.sampler is loader.sampler
    assert on_device.num_workers == 0
    moved = list(on_device)
    assert len(moved) == 3
    for got in moved:
        assert type(got["pair"]) is Pair
        tensors = [got["pair"].x, got["pair"].y[0], got["pair"].y[1][0]]
        assert [tensor.device.type for tensor in tensors] == ["meta"] * 3
        assert (type(got["pair"].y), type(got["pair"].y[1])) == (list, tuple)
        assert (got["text"], got["own"].device, got["count"]) == ("as it is", "meta", 3)
    with pytest.raises(AttributeError, match="no_such"):
        on_device.no_such  # noqa: B018
    with pytest.raises(ValueError, match="batch_size"):
        on_device.batch_size = 3


@pytest.mark.gpu
@pytest.mark.parametrize("ahead", [True, False])
def test_batches_come_whole_and_in_order_on_a_gpu(fit_torch, ahead):
    def loop():
        import torch
        from torch.nn.utils.rnn import pack_sequence
        from torch.utils.data import DataLoader

        data = torch.arange(64 * 1000, dtype=torch.float32).reshape(64, 1000)

        def collate(rows):
            return {"rows": torch.stack(rows), "packed": pack_sequence([rows[0]])}

        loader = prepare_data_loader(DataLoader(data, batch_size=4, collate_fn=collate), auto_transfer=ahead)
        sums = []
        stream = torch.cuda.Stream()
        for batch in loader:
            assert batch["rows"].device == batch["packed"].data.device == get_device()
            # Work that is still under way on the batch's memory when the next ones arrive.
            with torch.cuda.stream(stream):
                stream.wait_stream(torch.cuda.default_stream())
                sums.append(batch["rows"].double().sum() + batch["packed"].data.double().sum() * 0)
                batch["rows"].record_stream(stream)
        torch.cuda.synchronize()
        expected = [rows.double().sum().item() for rows in data.split(4)]
        assert [total.item() for total in sums] == expected

    fit_torch(loop, 1, scaling_config=train.ScalingConfig(num_workers=1, use_gpu=True))


@pytest.mark.parametrize("workers", [0, 1, 2, 3])
def test_one_loop_sets_epochs_with_any_number_of_ranks(fit_torch, workers):
    def loop():
        import torch
        from headway.train import collective
        from torch.utils.data import DataLoader

        torch.manual_seed(0)
        ranks = train.get_context().get_world_size()
        loader = prepare_data_loader(DataLoader(torch.arange(30), batch_size=4, shuffle=True))
        orders = []
        for epoch in range(3):
            loader.set_epoch(epoch)
            loader.sampler.set_epoch(epoch)
            orders.append([number for batch in loader for number in batch.tolist()])
        assert len({tuple(order) for order in orders}) == 3
        assert len(orders[0]) == 30 // ranks
        collective.barrier()

    fit_torch(loop, workers)


def test_epochs_are_counted_when_nobody_sets_them(fit_torch):
    def loop():
        import torch
        from torch.utils.data import DataLoader

        def passes(named):
            loader = prepare_data_loader(DataLoader(torch.arange(16), batch_size=4, shuffle=True))
            orders = []
            for epoch in named:
                if epoch is not None:
                    loader.set_epoch(epoch)
                orders.append([number for batch in loader for number in batch.tolist()])
            return orders

        counted = passes([0, 1, 2, 3])
        assert passes([None] * 4) == counted
        assert passes([2, None]) == counted[2:]
        assert passes([None, 3, 0, None]) == [counted[0], counted[3], counted[0], counted[1]]

    fit_torch(loop)


@pytest.mark.parametrize("workers", [0, 1, 2, 3])
@pytest.mark.parametrize("shuffle", [True, False])
def test_an_evaluation_sees_each_sample_once(fit_torch, workers, shuffle):
    def loop(config):
        import torch
        from torch.utils.data import DataLoader

        context = train.get_context()
        data = torch.arange(10)
        even = prepare_data_loader(DataLoader(data, batch_size=4, shuffle=config["shuffle"]))
        exact = prepare_data_loader(DataLoader(data, batch_size=4, shuffle=config["shuffle"]), even=False)
        seen = [number for batch in exact for number in batch.tolist()]
        assert len(exact.sampler) == len(seen)
        assert len(exact) == len(list(exact))
        rank, ranks = context.get_world_rank(), context.get_world_size()
        train.report({"seen": seen}, checkpoint=None)
        assert sum(len(batch) for batch in even) == -(-10 // ranks)
        assert len(seen) == len(range(rank, 10, ranks))
        everyone = [None] * ranks
        if ranks > 1:
            torch.distributed.all_gather_object(everyone, seen)
        else:
            everyone = [seen]
        assert sorted(number for numbers in everyone for number in numbers) == list(range(10))

    fit_torch(loop, workers, config={"shuffle": shuffle})


def test_set_epoch_takes_numbers_alone(fit_torch):
    def loop():
        import numpy
        from torch.utils.data import DataLoader

        for shuffle in (True, False):
            loader = prepare_data_loader(DataLoader(range(4), shuffle=shuffle))
            for call in (loader.set_epoch, loader.sampler.set_epoch):
                for wrong in ("x", 1.5, None, True):
                    with pytest.raises(TypeError, match=r"^epoch is .*; allowed: the number of an epoch, an int$"):
                        call(wrong)
                call(numpy.int64(3))

    for workers in (1, 2):
        fit_torch(loop, workers=workers)


def test_set_epoch_reaches_what_the_user_brought(fit_torch):
    def loop():
        from torch.utils.data import DataLoader, IterableDataset, Sampler

        class Stream(IterableDataset):
            epoch = None

            def set_epoch(self, epoch):
                self.epoch = epoch

            def __iter__(self):
                return iter(range(4))

        class Own(Sampler):
            epoch = None

            def set_epoch(self, epoch):
                self.epoch = epoch

            def __iter__(self):
                return iter([1, 0])

            def __len__(self):
                return 2

        stream, own = Stream(), Own()
        prepare_data_loader(DataLoader(stream)).set_epoch(5)
        prepare_data_loader(DataLoader([1, 2], sampler=own)).set_epoch(6)
        assert (stream.epoch, own.epoch) == (5, 6)
        with pytest.raises(TypeError, match=r"even is 1 \(int\)"):
            prepare_data_loader(DataLoader([1]), even=1)

    fit_torch(loop)


def test_the_line_is_named_whose_loader_loses_a_process(fit_torch):
    """Its error is raised again and again while it is described, by torch's handler of SIGCHLD."""

    def loop():
        import os
        import signal

        import torch
        from headway.train.torch import prepare_data_loader

        class Killed(torch.utils.data.Dataset):
            def __len__(self):
                return 10

            def __getitem__(self, index):
                if index == 7:
                    os.kill(os.getpid(), signal.SIGKILL)
                return index

        for _ in prepare_data_loader(torch.utils.data.DataLoader(Killed(), num_workers=1)):
            pass

    for _ in range(3):
        with pytest.raises(train.WorkerGroupError, match=r"line \d+, in loop"):
            fit_torch(loop, workers=1)


def test_the_line_is_named_where_a_signal_comes_with_its_exception(fit):
    """The handler of a signal that comes just then runs once the training function has ended."""

    def loop():
        import ctypes
        import signal

        def handler(number, frame):
            raise RuntimeError("a child was killed")

        signal.signal(signal.SIGCHLD, handler)
        come = ctypes.PyDLL(None).PyErr_SetInterruptEx
        come.errcheck = int  # It raises a TypeError, before Python sees the signal.
        come(signal.SIGCHLD)

    with pytest.raises(train.WorkerGroupError, match=r"^TypeError: .*\n.*\n.*line \d+, in loop"):
        fit(loop, workers=1)
