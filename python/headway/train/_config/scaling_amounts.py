"""What a ScalingConfig comes to: amounts of a worker, and of all together."""

from __future__ import annotations

from collections.abc import Mapping


class ScalingAmounts:
    """Amounts by resource, as the fields of a ``ScalingConfig`` say them."""

    num_workers: int | tuple[int, int]
    use_gpu: bool
    resources_per_worker: Mapping[str, float] | None
    trainer_resources: Mapping[str, float] | None

    @property
    def elasticity_enabled(self) -> bool:
        """Whether ``num_workers`` is a range."""
        return isinstance(self.num_workers, tuple)

    @property
    def min_workers(self) -> int:
        """The fewest workers that the run continues with."""
        return self.num_workers[0] if isinstance(self.num_workers, tuple) else self.num_workers

    @property
    def max_workers(self) -> int:
        """The most workers that it has."""
        return self.num_workers[1] if isinstance(self.num_workers, tuple) else self.num_workers

    def _of_a_worker(self) -> dict[str, float]:
        named = dict(self.resources_per_worker or {})
        named.setdefault("CPU", 1.0)  # The implied one.
        if self.use_gpu:
            named.setdefault("GPU", 1.0)
        return named

    @property
    def num_cpus_per_worker(self) -> float:
        """CPUs of each worker; one that names none counts as one."""
        return self._of_a_worker()["CPU"]

    @property
    def num_gpus_per_worker(self) -> float:
        """GPUs of each worker."""
        return self._of_a_worker().get("GPU", 0.0)

    @property
    def additional_resources_per_worker(self) -> dict[str, float]:
        """What each worker has beside CPUs and GPUs, by name."""
        return {name: amount for name, amount in self._of_a_worker().items() if name not in ("CPU", "GPU")}

    @property
    def total_resources(self) -> dict[str, float]:
        """What the run claims in all, ``trainer_resources`` too, by name; an elastic one at its
        largest.
        """
        total = {name: amount * self.max_workers for name, amount in self._of_a_worker().items()}
        for name, amount in (self.trainer_resources or {}).items():
            total[name] = total.get(name, 0.0) + amount
        return total
