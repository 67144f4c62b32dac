"""How data sets are split over ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headway._values.arguments import check_bool, check_texts, refuse

if TYPE_CHECKING:  # Data sets are imported by the trainings that have some.
    from headway.data import DataIterator, Dataset, ExecutionOptions

_OPTIONS = "None, ExecutionOptions, or a dict of them by data set"


class DataConfig:
    """How data sets are split over ranks.

    Args:
        datasets_to_split: ``"all"``, or the names of those that are split; of the others every rank
            gets all rows.
        execution_options: Of all data sets, or by name.
        enable_shard_locality: Kept for scripts that give it: each rank reads on its own machine.

    Example:
        >>> from headway import train
        >>> config = train.DataConfig(datasets_to_split=["train"])
    """

    def __init__(
        self,
        datasets_to_split: str | Sequence[str] = "all",
        execution_options: ExecutionOptions | Mapping[str, ExecutionOptions] | None = None,
        enable_shard_locality: bool = True,
    ):
        self._to_split: str | list[str] = "all"
        if datasets_to_split != "all":
            allowed = '"all" or a list of names'
            self._to_split = check_texts("DataConfig.datasets_to_split", datasets_to_split, allowed)
        given = execution_options.values() if isinstance(execution_options, Mapping) else [execution_options]
        for each in given:
            if each is not None and not _are_options(each):
                refuse("DataConfig.execution_options", execution_options, _OPTIONS)
        self._execution_options = execution_options
        self._enable_shard_locality = check_bool("DataConfig.enable_shard_locality", enable_shard_locality)

    @staticmethod
    def default_ingest_options() -> ExecutionOptions:
        """The options that data sets of a training have, unless others are given."""
        from headway.data import DataContext

        return DataContext.get_current().copy().execution_options

    def configure(
        self,
        datasets: dict[str, Dataset],
        world_size: int,
        worker_handles: list[Any] | None = None,
        worker_node_ids: list[str] | None = None,
        **kwargs: Any,
    ) -> list[dict[str, DataIterator]]:
        """What each rank gets. A subclass may do it in another way; it is called in rank 0, at the
        start of each attempt.

        Args:
            datasets: Those of the trainer.
            world_size: Ranks of the group.
            worker_handles: None: there are no actors.
            worker_node_ids: The nodes of the ranks, by rank.
            kwargs: For newer arguments.
        """
        shards: list[dict[str, DataIterator]] = [{} for _ in range(world_size)]
        for name, dataset in datasets.items():
            prepared = self._prepared(name, dataset, world_size)
            splits = (
                prepared.streaming_split(world_size, equal=True, locality_hints=worker_node_ids)
                if self._splits(name)
                else [prepared.iterator() for _ in range(world_size)]
            )
            for rank, iterator in enumerate(splits):
                shards[rank][name] = iterator
        return shards

    def _splits(self, name: str) -> bool:
        return self._to_split == "all" or name in self._to_split

    def _prepared(self, name: str, dataset: Dataset, world_size: int) -> Dataset:
        """The data set with the options that it has in this training."""
        from headway.data import ExecutionResources

        given = self._execution_options
        options = given.get(name) if isinstance(given, Mapping) else given
        made = dataset.copy()
        made.context = dataset.context.copy()
        if options is not None:
            made.context.execution_options = options
        own = made.context.execution_options
        own.exclude_resources = own.exclude_resources.add(ExecutionResources(cpu=world_size))
        return made

    def _check_names(self, names: Sequence[str]) -> None:
        """Raises ValueError for a data set that the trainer does not have."""
        for name in self._to_split if self._to_split != "all" else ():
            if name not in names:
                raise ValueError(
                    f"DataConfig.datasets_to_split has {name!r}; allowed: names of datasets: {', '.join(names)}"
                )


def _are_options(given: object) -> bool:
    from headway.data import ExecutionOptions

    return isinstance(given, ExecutionOptions)
