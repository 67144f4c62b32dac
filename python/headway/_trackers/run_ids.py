"""The ids that a run has at its trackers, in the file ``trackers/ids.json`` of its folder: a later
driver resumes the same runs there.
"""

from __future__ import annotations

import json
import os
import threading

from headway._storage import locations
from headway._storage.json_file import read_object

# In a separate folder: a new attempt removes unfinished files that are directly in the run's.
_FOLDER, _FILE = "trackers", "ids.json"
# Each tracker has a thread, and all of them write to one file.
_lock = threading.Lock()


def read_id(location: str, key: str) -> str | None:
    """The id under a key in the run's folder; None when there is none."""
    found = (read_object(locations.join(location, _FOLDER, _FILE), OSError) or {}).get(key)
    return found if isinstance(found, str) else None


def write_id(location: str, key: str, identity: str) -> None:
    """Keeps the id under a key in the run's folder."""
    folder = locations.join(location, _FOLDER)
    file = locations.join(folder, _FILE)
    with _lock:
        if not locations.is_remote(folder):
            os.makedirs(locations.local_path(folder), exist_ok=True)
        ids = read_object(file, OSError) or {}
        if ids.get(key) != identity:
            locations.replace_file(file, json.dumps({**ids, key: identity}, indent=2).encode())
