"""Where an experiment's own files are: in its folder, or, where that is in remote storage, in a
local folder whose files a thread copies there.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import shutil
import tempfile
import threading
import time

from headway._storage import locations
from headway._values.log import warn

JOURNAL = "experiment.journal"
#: Files are copied not more often than this, and copying takes at most one part in so many of the
#: time.
_PAUSE_S, _SHARE = 2.0, 20


class ExperimentFolder:
    """The folder of one experiment.

    Trials write to storage themselves. The journal, the tuner and the searcher are small and change
    all the time, which object storage does not allow for: their files are written locally.

    Args:
        location: Where the experiment is.
    """

    def __init__(self, location: str):
        #: Where the experiment is.
        self.location = location
        #: Where its own files are: the same, or a local copy.
        self.local = _copy_of(location) if locations.is_remote(location) else locations.local_path(location)
        self._is_copied = locations.is_remote(location)
        self._known: dict[str, tuple[int, int]] = {}
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None
        self._said = False

    def fetch(self) -> None:
        """Has the files of remote storage here, unless a driver of this machine came further.

        Raises:
            OSError: storage cannot be read.
        """
        if not self._is_copied:
            return
        stored = _read(locations.join(self.location, JOURNAL))
        journal = os.path.join(self.local, JOURNAL)
        if stored is None:
            shutil.rmtree(self.local, ignore_errors=True)
            return
        if os.path.exists(journal):
            with open(journal, "rb") as file:
                if file.read(len(stored)) == stored:
                    return
        shutil.rmtree(self.local, ignore_errors=True)
        os.makedirs(self.local, mode=0o700)
        for name in locations.files_in(self.location):
            content = _read(locations.join(self.location, name))
            if content is not None:
                with open(os.path.join(self.local, name), "wb") as file:
                    file.write(content)

    def begin(self) -> None:
        """Makes the folder, and has the files of earlier drivers in it."""
        self.fetch()
        os.makedirs(self.local, mode=0o700 if self._is_copied else 0o777, exist_ok=True)

    def start(self) -> None:
        """Copies files from now on, the first time before it returns.

        Raises:
            OSError: storage cannot be written.
        """
        if not self._is_copied:
            return
        self._copy()
        self._thread = threading.Thread(target=self._serve, name="headway-experiment-files")
        self._thread.start()

    def close(self) -> None:
        """Copies files a last time. What cannot be copied stays here, with a warning."""
        if self._thread is None:
            return
        self._ends.set()
        self._thread.join()
        self._thread = None
        if self._try():
            shutil.rmtree(self.local, ignore_errors=True)
        else:
            warn(f"files of the experiment in {locations.shown(self.location)} stay in {self.local}")

    def _serve(self) -> None:
        pause = _PAUSE_S
        while not self._ends.wait(pause):
            begun = time.monotonic()
            self._try()
            pause = max(_PAUSE_S, _SHARE * (time.monotonic() - begun))

    def _try(self) -> bool:
        try:
            self._copy()
        except OSError as error:
            if not self._said:
                self._said = True
                warn(f"files of the experiment cannot be written to {locations.shown(self.location)}: {error}")
            return False
        self._said = False
        return True

    def _copy(self) -> None:
        """What has changed since it was copied."""
        found = [(os.curdir, name) for name in os.listdir(self.local)]
        for directory, name in found:
            path = os.path.join(self.local, directory, name)
            if os.path.isdir(path):
                found += [(name, inner) for inner in os.listdir(path)]
                continue
            if name.startswith(".") or name.endswith(".tmp") or not os.path.exists(path):
                continue
            status = os.stat(path)
            stamp = (status.st_size, status.st_mtime_ns)
            if self._known.get(path) == stamp:
                continue
            with open(path, "rb") as file:
                content = file.read()
            names = [name] if directory == os.curdir else [directory, name]
            locations.replace_file(locations.join(self.location, *names), content)
            self._known[path] = stamp


def _copy_of(location: str) -> str:
    """The local folder for an experiment in remote storage."""
    base = os.environ.get("HEADWAY_STAGING_DIR") or os.path.join(
        tempfile.gettempdir(), f"headway-experiments-{getpass.getuser()}"
    )
    # The query has how the storage is reached, and maybe secrets.
    place = location.partition("?")[0]
    key = hashlib.blake2b(place.encode(), digest_size=8).hexdigest()
    return os.path.join(base, "experiments", f"{locations.name_of(location)}-{key}")


def _read(location: str) -> bytes | None:
    try:
        return locations.read_file(location)
    except FileNotFoundError:
        return None
