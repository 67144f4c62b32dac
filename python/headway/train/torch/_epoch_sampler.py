"""The sampler of a prepared loader. Imports torch: imported on use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DistributedSampler

from headway._values.arguments import check_epoch


class EpochSampler(DistributedSampler[Any]):
    """A ``DistributedSampler`` that counts epochs and can leave out its padding.

    Each pass over it is one epoch later than the pass before, unless :meth:`set_epoch` named the
    epoch in between. So a loop that never calls ``set_epoch`` still sees another order in each
    epoch.

    Args:
        dataset: The data set, with a length.
        num_replicas: Number of ranks.
        rank: This rank.
        shuffle: Whether each epoch has a random order, the same one in all ranks.
        even: True pads with samples from the start of the order until all ranks have equally many,
            as ``DistributedSampler`` does. False gives each sample to exactly one rank: the first
            ranks may have one more.
    """

    def __init__(self, dataset: Any, num_replicas: int, rank: int, shuffle: bool, even: bool):
        super().__init__(dataset, num_replicas, rank, shuffle=shuffle)
        self._even = even
        self._named = True  # The first pass is epoch 0.
        if not even:
            self.num_samples = len(range(rank, len(dataset), num_replicas))
            self.total_size = len(dataset)

    def set_epoch(self, epoch: int) -> None:
        """Names the epoch of the next pass.

        Args:
            epoch: Its number. The order is a function of the seed and of this number.

        Raises:
            TypeError, ValueError: it is none.
        """
        super().set_epoch(check_epoch(epoch))
        self._named = True

    def __iter__(self) -> Iterator[Any]:
        if not self._named:
            self.epoch += 1
        self._named = False
        return super().__iter__() if self._even else iter(self._order()[self.rank :: self.num_replicas])

    def _order(self) -> list[int]:
        """All indices in this epoch's order: that of ``DistributedSampler`` for the same seed and
        epoch.
        """
        count = len(self.dataset)
        if not self.shuffle:
            return list(range(count))
        generator = torch.Generator()
        generator.manual_seed(self.seed + self.epoch)
        return torch.randperm(count, generator=generator).tolist()
