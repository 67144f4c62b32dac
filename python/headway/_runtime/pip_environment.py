"""Environments with per-run packages: made once by venv and pip, and kept for the next run."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway._values import log

_WHOLE = ".headway-complete"
_TOLD_LINES_MAX = 20


# Of how an environment is made: another number makes those anew that an older Headway has made.
_FORM = 2


@dataclass(frozen=True)
class PipRequest:
    """What ``runtime_env["pip"]`` asks for.

    Attributes:
        packages: The lines of a requirements file.
        options: Further options of ``pip install``.
        version: Of pip itself, such as ``"==25.0"``; empty: this interpreter's pip.
        check: Whether ``pip check`` has to find nothing wrong.
    """

    packages: tuple[str, ...]
    options: tuple[str, ...] = ()
    version: str = ""
    check: bool = False

    def local_paths(self) -> list[str]:
        """Files and directories of this machine that it names: wheels, projects, constraints."""
        lines = (*self.packages, *self.options)
        words = (word for line in lines for word in re.split("[ =]", line) if os.sep in word)
        return list(dict.fromkeys(word for word in words if os.path.exists(word)))

    def as_given(self) -> list[str] | dict[str, Any]:
        """As a user may give it: a list, where there are packages alone."""
        packages = list(self.packages)
        if self == PipRequest(self.packages):
            return packages
        settings = {"pip_install_options": list(self.options), "pip_version": self.version, "pip_check": self.check}
        return {"packages": packages, **{name: value for name, value in settings.items() if value}}


@dataclass(frozen=True)
class PipEnvironment:
    """An environment that is there.

    Attributes:
        folder: Where it is.
        site_packages: Where its packages are.
    """

    folder: str
    site_packages: str

    @property
    def programs(self) -> str:
        """The directory of its Python and of the programs that its packages bring."""
        return os.path.join(self.folder, "bin")

    @property
    def interpreter(self) -> str:
        """Its Python."""
        return os.path.join(self.programs, "python")


def pip_environment(request: PipRequest) -> PipEnvironment:
    """The environment with what is asked for over this interpreter's packages; makes it when it is
    not there.

    It lies in ``HEADWAY_CACHE_DIR``, or in ``~/.cache/headway``, under a hash of the request, of
    this interpreter and of the local files that the request names. Two processes that want the same
    make it once.

    Raises:
        RuntimeError: pip could not install them; with pip's last words.
    """
    folder = cache_directory() / "environments" / _fingerprint(request)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_suffix(".lock")):
        if not (folder / _WHOLE).exists():
            _make(folder, request)
    return _at(folder)


def _at(folder: Path) -> PipEnvironment:
    # Python 3.10 has no scheme of that name; the other is the same below a separate folder.
    scheme = "venv" if "venv" in sysconfig.get_scheme_names() else "posix_prefix"
    where = sysconfig.get_path("purelib", scheme, {"base": str(folder), "platbase": str(folder)})
    return PipEnvironment(str(folder), where)


def cache_directory() -> Path:
    """Where this machine keeps what later runs use again."""
    given = os.environ.get("HEADWAY_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    return Path(given or os.path.join(base, "headway")).expanduser().absolute()


def _fingerprint(request: PipRequest) -> str:
    about = (_FORM, sys.version, sys.executable, sysconfig.get_path("purelib"), request.version, request.check)
    import hashlib  # Here, as in locations.py.

    digest = hashlib.sha256("\n".join(map(str, about)).encode())
    for line in (*request.packages, *request.options):
        digest.update(b"\n" + line.encode())
        # A wheel, a project's folder, a file of constraints.
        for word in {line, *re.split("[ =]", line)}:
            path = Path(word).expanduser()
            if word and path.exists():
                found = path.stat()
                digest.update(f"\n{path.absolute()} {found.st_size} {found.st_mtime_ns}".encode())
    return digest.hexdigest()[:24]


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The kernel takes the lock back from a process that dies."""
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(folder: Path, request: PipRequest) -> None:
    if folder.exists():  # What a process left that died over it.
        shutil.rmtree(folder)
    wanted = _shown(request.packages)
    log.notice(f"installing {wanted} for the workers (once)")
    import venv  # Here: few programs need it, and all would wait for it.

    # This interpreter's pip does it, through the import path below, where it has one.
    venv.EnvBuilder(symlinks=True, with_pip=importlib.util.find_spec("pip") is None).create(folder)
    environment = _at(folder)
    # This interpreter's packages come behind the environment's own; Headway and torch are among
    # them. As a directory of packages rather than a plain one: what is installed there editably is
    # found by its .pth files.
    parents = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    lines = (f"import site; site.addsitedir({parent!r})\n" for parent in parents)
    Path(environment.site_packages, "headway-parents.pth").write_text("".join(lines))
    # A file, since a line of it may have more than pip takes on its command line: comments,
    # options, markers.
    requirements = folder / "headway-requirements.txt"
    requirements.touch(mode=0o600)
    requirements.write_text("".join(f"{line}\n" for line in request.packages))
    steps = [["install", "-r", str(requirements), *request.options]]
    if request.version:
        steps.insert(0, ["install", f"pip{request.version}"])
    if request.check:
        steps.append(["check"])
    for step in steps:
        _run_pip(environment, step, folder, wanted)
    (folder / _WHOLE).touch()


def _shown(packages: Iterable[str]) -> str:
    """What is installed, without options."""
    return _without_passwords(", ".join(line for line in packages if not line.startswith("-")))


def _without_passwords(text: str) -> str:
    return re.sub(r"//[^/@\s]+@", "//****@", text)


def _run_pip(environment: PipEnvironment, step: list[str], folder: Path, wanted: str) -> None:
    command = [environment.interpreter, "-m", "pip", "--no-input", "--disable-pip-version-check", *step]
    import subprocess  # Here: few programs need it, and all would wait for it.

    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode == 0:
        return
    shutil.rmtree(folder, ignore_errors=True)
    what = f"which pip cannot {step[0]}" if step[0] == "install" else "in which `pip check` finds something wrong"
    words = _without_passwords("\n".join((done.stdout + done.stderr).splitlines()[-_TOLD_LINES_MAX:]))
    raise RuntimeError(f"runtime_env['pip'] asks for {wanted}, {what}:\n{words}")
