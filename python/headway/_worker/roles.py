"""What a worker process is for: an entry for each role of the core
(``src/wire/worker_role.hpp``).
"""

from __future__ import annotations

import json
from typing import Any

import cloudpickle

from headway import _core
from headway import _session as worker_session
from headway._worker.exceptions import describe, pickle_exception
from headway._worker.loading import load
from headway._worker.outcome import Raised, outcome_of
from headway._worker.validation import validate


class Role:
    """What a worker does; a worker makes one, from its first message.

    Args:
        session: The worker's.
        context: Who the worker is; see :func:`headway._session.context_of`.
        setup: What the driver's front end tells all workers of the run.
    """

    def __init__(self, session: _core.Session, context: dict[str, Any], setup: dict[str, Any]):
        self.session = session
        self.context = context
        self.setup = setup

    def settle_in(self) -> None:
        """Once the process has the driver's environment."""

    def begin(self) -> None:
        """Once the process is set up."""

    def run(self, pickled: bytes) -> None:
        """Does the task that the driver has sent."""


class RankRole(Role):
    """A rank of the worker group."""

    def settle_in(self) -> None:
        """Enters the ranks' working directory."""
        self.session.settle_in()

    def begin(self) -> None:
        """From here on ``report`` and the like work."""
        worker_session.begin(self.session, self.context, self.setup["validates"])

    def run(self, pickled: bytes) -> None:
        """Runs the training function, and tells the driver what it returned or raised."""
        outcome = outcome_of(lambda: self._train(pickled))
        if not isinstance(outcome, Raised):
            self.session.training_returned(outcome)
        elif isinstance(outcome.error, SystemExit):  # It ends the process, as it does in a script.
            raise outcome.error
        else:
            self.session.training_raised(json.dumps(describe(outcome.error)), pickle_exception(outcome.error))

    def _train(self, pickled: bytes) -> bytes:
        train_loop, *args = load(pickled)
        value = train_loop(*args)
        worker_session.check_rank()
        if self.context["plan"]["rank"] != 0:
            value = None  # fit() returns rank 0's; another's need not travel, nor be picklable.
        try:
            return cloudpickle.dumps(value)
        except Exception as error:
            raise TypeError(
                f"the training function returned a {type(value).__name__} that cannot be pickled: {error}"
            ) from error


class ValidationRole(Role):
    """Validates one checkpoint."""

    def begin(self) -> None:
        """From here on a trainer in this process is a guest of the driver."""
        worker_session.begin_validation(self.session)

    def run(self, pickled: bytes) -> None:
        """Calls the validation function, and tells the driver what it returned or raised."""
        validate(self.session, self.context, pickled)


class ArtifactRole(Role):
    """Copies artifacts; the session does that itself."""

    def begin(self) -> None:
        """From here on this process is a worker."""
        worker_session.begin_copying()


class FunctionRole(Role):
    """Calls Python functions for the data process of another node."""

    def begin(self) -> None:
        """From here on this process is a worker."""
        worker_session.begin_copying()

    def run(self, pickled: bytes) -> None:
        """Until that data process needs it no more."""
        from headway._worker.functions.frames import adopted
        from headway._worker.functions.worker import work

        slot = self.context["plan"]["slot"]
        try:
            seat = _core.FunctionSeat(
                self.context["host"], self.context["port"], slot["hostname"], self.context["token"], IDLE_LIMIT_S
            )
        except Exception as error:
            raise SystemExit(
                f"the data process at {self.context['host']} cannot be reached from {slot['hostname']}: {error}"
            ) from None
        work(adopted(seat.release_socket()))


#: So long a function worker stays on a node whose functions nobody calls.
IDLE_LIMIT_S = 60.0

#: By the role's name. A new role gets a class here.
ROLES: dict[str, type[Role]] = {
    "RankRole": RankRole,
    "ValidationRole": ValidationRole,
    "ArtifactRole": ArtifactRole,
    "FunctionRole": FunctionRole,
}
