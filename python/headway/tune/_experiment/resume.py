"""What becomes of an earlier driver's trials."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from headway._values.arguments import check_bool, refuse

_WORDS = ("ERRORED", "ERRORED_ONLY", "RESTART_ERRORED", "RESTART_ERRORED_ONLY")
_ALLOWED = 'False, True, "AUTO" or "LOCAL", these with "+ERRORED", "+RESTART_ERRORED" or either with "_ONLY"'


class _ResumeType(enum.Enum):
    RESUME = "resume"
    RESTART = "restart"
    SKIP = "skip"


@dataclass
class ResumeConfig:
    """What ``tune.run(resume_config=...)`` does with trials of an experiment that is resumed.

    ``ResumeConfig.ResumeType`` has ``RESUME`` (from the newest checkpoint), ``RESTART`` (the
    configuration is tried once more, from the start) and ``SKIP`` (they stay as they are).

    Attributes:
        finished: Those that had ended: ``SKIP`` or ``RESTART``.
        unfinished: Those that had not.
        errored: Those that had failed.

    Example:
        >>> from headway import tune
        >>> config = tune.ResumeConfig(errored=tune.ResumeConfig.ResumeType.RESTART)
    """

    ResumeType = _ResumeType

    finished: _ResumeType = _ResumeType.SKIP
    unfinished: _ResumeType = _ResumeType.RESUME
    errored: _ResumeType = _ResumeType.SKIP

    def __post_init__(self) -> None:
        for name in ("finished", "unfinished", "errored"):
            if not isinstance(getattr(self, name), _ResumeType):
                refuse(f"ResumeConfig.{name}", getattr(self, name), "a value of ResumeConfig.ResumeType")
        if self.finished is _ResumeType.RESUME:
            raise ValueError(
                "ResumeConfig.finished is ResumeType.RESUME; allowed: SKIP or RESTART, since a trial that has returned "
                "has nothing left to do"
            )

    def restarted(self) -> set[str]:
        """The states of those that are tried once more."""
        states = {
            "terminated": self.finished,
            "errored": self.errored,
            **dict.fromkeys(("waiting", "running", "paused", "unfinished"), self.unfinished),
        }
        return {state for state, what in states.items() if what is _ResumeType.RESTART}


def parsed(resume: object) -> tuple[str, ResumeConfig]:
    """``tune.run(resume=...)``: ``"never"``, ``"auto"`` or ``"must"``, and what is resumed.

    Raises:
        TypeError, ValueError: it is none of the allowed ones.
    """
    if not isinstance(resume, str):
        if resume is not None:
            check_bool("resume", resume)
        return ("must" if resume else "never"), ResumeConfig()
    where, *words = resume.upper().split("+")
    if where in _WORDS and not words:  # "ERRORED_ONLY" alone
        where, words = "LOCAL", [where]
    if where not in ("AUTO", "LOCAL") or len(words) > 1 or not set(words) <= set(_WORDS):
        raise ValueError(f"resume is {resume!r}; allowed: {_ALLOWED}")
    word = words[0] if words else ""
    kind = _ResumeType
    errored = kind.SKIP if not word else kind.RESTART if word.startswith("RESTART") else kind.RESUME
    unfinished = kind.SKIP if word.endswith("ONLY") else kind.RESUME
    return ("auto" if where == "AUTO" else "must"), ResumeConfig(errored=errored, unfinished=unfinished)
