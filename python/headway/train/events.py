"""What happens in a run, as :meth:`headway.train.RunHandle.events` yields it.

Each class has read-only attributes, which type checkers know:

- ``RankLine``: ``rank``, ``line`` (bytes, without its end). A rank printed a line.
- ``HelperLine``: ``helper`` (such as ``"validation of checkpoint_000003"``), ``line``. A process of
  the run that is no rank printed one.
- ``Notice``: ``text``. Something to show to the user.
- ``RunWarning``: ``text``. The same, and the user may have to act.
- ``ReportRecorded``: ``line``. A report, as a dict, as ``result.json`` has it.
- ``AttemptFailed``: ``attempt``, ``failure`` (``kind``, ``message``, ``ranks``). Another attempt
  may follow.
- ``Finished``: ``outcome`` (``state``, ``failure``, ``checkpoints``, ``attempts``). The last event.
"""

from headway._core import AttemptFailed as AttemptFailed
from headway._core import Finished as Finished
from headway._core import HelperLine as HelperLine
from headway._core import Notice as Notice
from headway._core import RankLine as RankLine
from headway._core import ReportRecorded as ReportRecorded
from headway._core import RunWarning as RunWarning
