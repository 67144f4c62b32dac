"""The thread on which a tracker's calls are made: nothing that a tracker does holds a run up or
fails it.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable

from headway._trackers.run_ids import read_id, write_id
from headway._trackers.tracker import TrackedRun, Tracker

# Reports and checkpoints that wait for a slow tracker.
ENTRIES_MAX = 10_000

Entry = Callable[[Tracker], None]


class Sender:
    """Opens a run at its tracker, passes entries on in order, and closes it. The driver's thread
    calls the methods; none of them waits, but for ``end`` with its limit.

    Args:
        label: The tracker's name for people, such as ``"W&B"``.
        key: Tells the run at this tracker from those at others, in the run's folder.
        tracker: The tracker; used on the sender's thread only.
        run: The run.
    """

    def __init__(self, label: str, key: str, tracker: Tracker, run: TrackedRun):
        self._label = label
        self._key = key
        self._tracker = tracker
        self._run = run
        self._changed = threading.Condition()
        # Under the condition's lock:
        self._entries: collections.deque[Entry] = collections.deque()
        self._ended: bool | None = None
        self._gave_up = False
        self._problem: str | None = None
        self._warned = False
        self._thread = threading.Thread(target=self._serve, name=f"headway tracker {label}", daemon=True)
        self._thread.start()

    def put(self, entry: Entry) -> None:
        """Has the tracker's thread call ``entry``. Left out when too many wait."""
        with self._changed:
            if self._gave_up:
                return
            if len(self._entries) >= ENTRIES_MAX:
                self._note(f"{ENTRIES_MAX} reports wait for {self._label}; further ones are not logged there")
                return
            self._entries.append(entry)
            self._changed.notify()

    def end(self, *, failed: bool, limit_s: float) -> None:
        """Closes the run at the tracker after the entries that wait, and returns when that is done,
        at the latest after ``limit_s``.
        """
        with self._changed:
            self._ended = failed
            self._changed.notify()
        self._thread.join(limit_s)
        with self._changed:
            if self._thread.is_alive():
                self._gave_up = True
                self._entries.clear()
                self._note(f"{self._label} had not taken everything {limit_s:g} s after the run's end")

    def take_problem(self) -> str | None:
        """What has gone wrong, the first time that it is asked for; the run itself is not
        concerned.
        """
        with self._changed:
            if self._problem is None or self._warned:
                return None
            self._warned = True
            return self._problem

    def _note(self, problem: str) -> None:
        self._problem = self._problem or f"{problem}; the run itself is not affected"

    def _serve(self) -> None:
        try:
            identity = self._tracker.open(self._run, read_id(self._run.location, self._key))
            write_id(self._run.location, self._key, identity)
        # A library that is asked to end the process by it must not end this thread in silence.
        except (Exception, SystemExit) as error:
            with self._changed:
                self._gave_up = True
                self._entries.clear()
                self._note(f"nothing of this run is logged to {self._label}: {_words(error)}")
            return
        while self._pass_on():
            pass

    def _pass_on(self) -> bool:
        """Waits for an entry, or for the end; False after it."""
        with self._changed:
            self._changed.wait_for(lambda: self._entries or self._ended is not None)
            entry = self._entries.popleft() if self._entries else None
            if self._gave_up:
                return False
        try:
            if entry is None:
                self._tracker.close(failed=bool(self._ended))
            else:
                entry(self._tracker)
        except (Exception, SystemExit) as error:
            with self._changed:
                self._note(f"a part of this run is not logged to {self._label}: {_words(error)}")
        return entry is not None


def _words(error: BaseException) -> str:
    """The exception's type and the first line of its text."""
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
