"""What of the driver's surroundings its workers get: environment, import path, arguments, working
directory.
"""

from __future__ import annotations

import linecache
import os
import sys
from types import CodeType
from typing import Any

from headway import _core
from headway._worker.threads import own_variables

_SOURCES_CHARACTERS_MAX = 1 << 20


def surroundings() -> dict[str, Any]:
    """For a worker's set-up.

    Ranks work in another directory: entries of the import path that are relative to the driver's
    become absolute.
    """
    try:
        cwd = os.getcwd()
    except FileNotFoundError as error:
        raise FileNotFoundError(
            "the working directory of this process is gone, and workers would look there for the script's modules; "
            "os.chdir() to one that exists"
        ) from error
    # A trainer within a validation function: how many threads the function was given is nothing to
    # its workers.
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in own_variables and not _core.tells_of_a_task(name)
    }
    if "PYTHONPATH" in env:
        env["PYTHONPATH"] = os.pathsep.join(_absolute(entry) for entry in env["PYTHONPATH"].split(os.pathsep))
    return {
        "env": env,
        "sys_path": [_absolute(entry) for entry in sys.path],
        "cwd": cwd,
        "argv": sys.argv,
        "sources": _typed_sources(),
    }


def _typed_sources() -> dict[str, str]:
    """What was typed rather than read from a file, such as a notebook's cells, by the name that its
    code has: the functions and classes that are there now. Ranks show its lines in tracebacks.
    """
    names: dict[str, None] = {}
    for thing in list(vars(sys.modules["__main__"]).values()):
        things = list(vars(thing).values()) if isinstance(thing, type) else [thing]
        for code in (getattr(each, "__code__", None) for each in things):
            if isinstance(code, CodeType) and code.co_filename in linecache.cache:
                names[code.co_filename] = None
    sources: dict[str, str] = {}
    left = _SOURCES_CHARACTERS_MAX
    for name in names:
        source = "" if os.path.exists(name) else "".join(linecache.getlines(name))
        if source and len(source) <= left:
            sources[name] = source
            left -= len(source)
    return sources


def _absolute(entry: str) -> str:
    # What is no path (the finders of editable installs stand there by a special name) stays as it
    # is.
    return os.path.abspath(entry) if not entry or os.path.exists(entry) else entry
