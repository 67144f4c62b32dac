"""Environments with packages of a run's own: made once by venv and pip, and kept for the next run."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_WHOLE = ".headway-complete"
_TOLD_LINES_MAX = 20


@dataclass(frozen=True)
class PipEnvironment:
    """An environment that is there.

    Attributes:
        interpreter: Its Python.
        site_packages: Where its packages are.
    """

    interpreter: str
    site_packages: str


def pip_environment(requirements: Sequence[str]) -> PipEnvironment:
    """The environment with these requirements over this interpreter's packages; makes it when it is not there.

    It lies in ``HEADWAY_CACHE_DIR``, or in ``~/.cache/headway``, under a hash of the requirements, of this interpreter
    and of the local files that the requirements name. Two processes that want the same make it once.

    Raises:
        RuntimeError: pip could not install them; with pip's last words.
    """
    folder = _cache() / "environments" / _fingerprint(requirements)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_suffix(".lock")):
        if not (folder / _WHOLE).exists():
            _make(folder, requirements)
    return _at(folder)


def _at(folder: Path) -> PipEnvironment:
    # Python 3.10 has no scheme of that name; the other is the same below a folder of its own.
    scheme = "venv" if "venv" in sysconfig.get_scheme_names() else "posix_prefix"
    where = sysconfig.get_path("purelib", scheme, {"base": str(folder), "platbase": str(folder)})
    return PipEnvironment(str(folder / "bin" / "python"), where)


def _cache() -> Path:
    given = os.environ.get("HEADWAY_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    return Path(given or os.path.join(base, "headway")).expanduser().absolute()


def _fingerprint(requirements: Sequence[str]) -> str:
    digest = hashlib.sha256(f"{sys.version}\n{sys.executable}\n{sysconfig.get_path('purelib')}\n".encode())
    for requirement in requirements:
        digest.update(requirement.encode() + b"\n")
        path = Path(requirement).expanduser()
        if path.exists():
            about = path.stat()
            digest.update(f"{path.absolute()} {about.st_size} {about.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:24]


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The kernel takes the lock back from a process that dies."""
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(folder: Path, requirements: Sequence[str]) -> None:
    if folder.exists():  # What a process left that died over it.
        shutil.rmtree(folder)
    print(f"headway: installing {', '.join(requirements)} for the workers (once)", file=sys.stderr, flush=True)
    # This interpreter's pip does it, through the import path below, where it has one.
    venv.EnvBuilder(symlinks=True, with_pip=importlib.util.find_spec("pip") is None).create(folder)
    environment = _at(folder)
    # This interpreter's packages come behind the environment's own; Headway and torch are among them.
    parents = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    Path(environment.site_packages, "headway-parents.pth").write_text("".join(f"{parent}\n" for parent in parents))
    command = [environment.interpreter, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    done = subprocess.run(
        [*command, *requirements], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode != 0:
        shutil.rmtree(folder, ignore_errors=True)
        words = "\n".join((done.stdout + done.stderr).splitlines()[-_TOLD_LINES_MAX:])
        raise RuntimeError(f"runtime_env['pip'] asks for {', '.join(requirements)}, which pip cannot install:\n{words}")
    (folder / _WHOLE).touch()
