"""Checkpoints behind a URL, read through Arrow's filesystems. The library that does it is loaded on first use."""

from __future__ import annotations

import atexit
import importlib.util
import os

from headway import _core

_used = False


def is_url(location: str) -> bool:
    """``s3://bucket/path`` and the like, as against a path."""
    return "://" in location


def download(url: str, target: str) -> None:
    """Copies the files below ``url`` into the directory ``target``.

    Raises:
        FileNotFoundError: there is no such directory.
        ValueError: a URL of no known kind.
        OSError: network, credentials, or no pyarrow of the version that Headway was built with.
    """
    global _used
    pyarrow = importlib.util.find_spec("pyarrow")
    if pyarrow is None or not pyarrow.submodule_search_locations:
        series = _core.pyarrow_version.split(".")[0]
        raise OSError(f"reading {url} needs pyarrow, which is not installed: pip install 'pyarrow=={series}.*'")
    if not _used:
        _used = True
        # Arrow's S3 threads must be ended before the interpreter is; and nothing may be opened afterwards.
        atexit.register(_core.finish_remote)
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    library = os.path.join(package, "lib", "libheadway_arrow.so")
    _core.download_url(url, target, library, pyarrow.submodule_search_locations[0])
