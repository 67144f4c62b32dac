"""What each rank gets of the data sets of its trainer."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import cloudpickle

from headway import _session as worker_session
from headway._values.arguments import refuse
from headway._worker.in_context import InContext
from headway.data import DataContext, DataIterator, Dataset, from_ray
from headway.data._column_check import check_columns
from headway.data._epochs import Share, lanes_for
from headway.data._frames import is_of_ray
from headway.train._training_function.data_config import DataConfig


@dataclass
class Shares:
    """The context of a training function: called in a rank, it gives the rank its shares of the
    data sets.

    Attributes:
        datasets: By name.
        config: How they are split.
        context: The driver's settings.
    """

    datasets: dict[str, Dataset]
    config: DataConfig
    context: DataContext

    def __call__(self) -> AbstractContextManager[None]:
        """Nothing is to be done behind the function."""
        session = worker_session.current("the data sets")
        DataContext._set_current(self.context)
        session.shards = self._shards(session)
        for name, position in _positions(session).items():
            if name in session.shards:
                session.shards[name].load_state_dict(position)
        return nullcontext()

    def check_columns(self) -> None:
        """Raises ValueError for a data set that names columns which its files do not have, as far
        as that can be known without running a function. What a user's ``configure`` makes of data
        sets is not known.
        """
        if type(self.config).configure is DataConfig.configure:
            for name, dataset in self.datasets.items():
                try:
                    check_columns(dataset._plan, dataset.context)
                except ValueError as error:
                    raise ValueError(f"data set {name!r}: {error}") from None

    def _shards(self, session: worker_session.WorkerSession) -> dict[str, DataIterator]:
        context = session.context
        world_size, rank = context["world_size"], context["plan"]["rank"]
        if type(self.config).configure is DataConfig.configure:
            made = self.config.configure(self.datasets, world_size, None, None)[rank]
        else:
            made = self._of_user(session, world_size, rank)
        lanes = _lanes(session)
        return {name: _named(each, name, context, lanes) for name, each in made.items()}

    def _of_user(self, session: worker_session.WorkerSession, world_size: int, rank: int) -> dict[str, DataIterator]:
        """What a user's ``configure`` gives: rank 0 calls it for all."""
        if rank == 0:
            nodes = [str(session.context["plan"]["slot"]["hostname"])] * world_size
            made = self.config.configure(self.datasets, world_size, worker_handles=None, worker_node_ids=nodes)
            if len(made) != world_size:
                raise ValueError(
                    f"{type(self.config).__name__}.configure returned {len(made)} dicts; allowed: one for each of the "
                    f"{world_size} ranks"
                )
            session.core.collective("broadcast", cloudpickle.dumps(made))
            return made[0]
        message = session.core.collective("broadcast", None)
        assert message is not None
        return cloudpickle.loads(message)[rank]


def with_shares(function: Callable[..., Any], datasets: dict[str, Any], config: DataConfig) -> Callable[..., Any]:
    """A training function with its trainer's data sets."""
    made = {name: _made(name, each) for name, each in datasets.items()}
    return InContext(function, Shares(made, config, DataContext.get_current().copy()))


def _made(name: str, given: Any) -> Dataset:
    if isinstance(given, Dataset):
        return given
    if is_of_ray(given):
        return from_ray(given)
    dataset = given()
    if not isinstance(dataset, Dataset):
        refuse(f"what datasets[{name!r}] returned", dataset, "a headway.data.Dataset")
    return dataset


def _lanes(session: worker_session.WorkerSession) -> int:
    """Into how many lanes epochs are cut: one for each machine, or a few more. Ranks know how many
    of them are on their own machine, so all take what rank 0 makes of that.
    """
    context = session.context
    world_size, here = context["world_size"], context["plan"]["local_world_size"]
    if here == world_size:
        return 1
    if context["plan"]["rank"] == 0:
        lanes = lanes_for(math.ceil(world_size / here))
        session.core.collective("broadcast", str(lanes).encode())
        return lanes
    message = session.core.collective("broadcast", None)
    assert message is not None
    return int(bytes(message))


def _named(iterator: DataIterator, name: str, context: dict[str, Any], lanes: int) -> DataIterator:
    """The iterator under its data set's name, with a group and a seed that all ranks have alike."""
    iterator._name = name
    if iterator._share.world_size > 1 or iterator._share.group:
        here = context["plan"]["local_world_size"]
        iterator._share = replace(iterator._share, group=name, clients_here=here, lanes=lanes)
    else:
        iterator._share = Share()
    # The same after a restart, and in each rank.
    digest = hashlib.blake2b(f"{context['trial_id']}/{name}".encode(), digest_size=8).digest()
    iterator._seed = int.from_bytes(digest, "little") >> 2
    return iterator


def _positions(session: worker_session.WorkerSession) -> dict[str, Any]:
    """Where the data sets stood in the checkpoint that the run resumes from. A checkpoint of
    another run is for its model alone.
    """
    checkpoint, run = session.context.get("checkpoint"), session.context["run_directory"]
    if not checkpoint or not checkpoint.startswith(run):
        return {}
    return json.loads(session.core.data_cursors())
