"""``runtime_env["pip"]`` as a user gives it: a list, a requirements file, or a dict with settings
of pip's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from headway._runtime.pip_environment import PipRequest
from headway._values.arguments import check_bool, check_str, check_texts, refuse

_ALLOWED = "a list of requirements, the path of a requirements.txt, or a dict with packages"
_SETTINGS = ("pip_check", "pip_install_options", "pip_version")
_REQUIREMENT = "a requirement, such as 'einops==0.8.0' or the path of a wheel"
# As pip reads such files.
_COMMENT = re.compile(r"(^|\s+)#.*$")
_CONTINUED = re.compile(r"\\\n")
_OTHER_FILE = re.compile(r"(-r|--requirement|-c|--constraint)(?:\s+|=|(?<=-[rc]))\s*(.+)")


def check_pip(argument: str, pip: object) -> PipRequest | None:
    """What is asked for; None when it is nothing.

    Raises:
        TypeError, ValueError, FileNotFoundError: what is wrong, by its place.
    """
    if pip is None:
        return None
    if not isinstance(pip, Mapping):
        packages = tuple(_packages(argument, pip))
        return PipRequest(packages) if packages else None
    others = sorted(set(pip) - {"packages", *_SETTINGS}, key=str)
    if others or "packages" not in pip:
        raise ValueError(f"{argument} is {dict(pip)!r}; allowed: a dict with packages (and {', '.join(_SETTINGS)})")
    packages = tuple(_packages(f"{argument}['packages']", pip["packages"]))
    options = pip.get("pip_install_options")
    version = pip.get("pip_version")
    request = PipRequest(
        packages,
        tuple(check_texts(f"{argument}['pip_install_options']", () if options is None else options, "a list of texts")),
        check_str(f"{argument}['pip_version']", "" if version is None else version, "a version, such as '==25.0'"),
        check_bool(f"{argument}['pip_check']", pip.get("pip_check", False)),
    )
    return request if packages else None


def _packages(argument: str, pip: object) -> Iterator[str]:
    if isinstance(pip, (str, os.PathLike)):
        yield from _lines_of(argument, os.fspath(pip), ())
        return
    if isinstance(pip, bytes):
        refuse(argument, pip, _ALLOWED)
    for index, each in enumerate(check_texts(argument, pip, _ALLOWED if not _is_list(pip) else _REQUIREMENT)):
        if not each.strip() or "\n" in each:
            raise ValueError(f"{argument}[{index}] is {each!r}; allowed: {_REQUIREMENT}")
        yield from _with_other_files(argument, each, os.getcwd(), ())


def _is_list(pip: object) -> bool:
    return isinstance(pip, (list, tuple))


def _lines_of(argument: str, path: str | bytes, outer: tuple[str, ...]) -> Iterator[str]:
    """The lines of a requirements file, those of others that it names among them: it may not be
    there for a restore.
    """
    absolute = os.path.abspath(os.path.expanduser(os.fsdecode(path)))
    if not os.path.isfile(absolute):
        raise FileNotFoundError(f"{argument} is {os.fsdecode(path)!r}, which is no file; allowed: {_ALLOWED}")
    if absolute in outer:
        return
    with open(absolute, encoding="utf-8") as file:
        text = _CONTINUED.sub("", file.read())
    for line in text.splitlines():
        if stripped := _COMMENT.sub("", line).strip():
            yield from _with_other_files(argument, stripped, os.path.dirname(absolute), (*outer, absolute))


def _with_other_files(argument: str, line: str, folder: str, outer: tuple[str, ...]) -> Iterator[str]:
    """The line; where it names another file, that file's lines, or the place of a file of
    constraints made absolute.
    """
    other = _OTHER_FILE.fullmatch(line.strip())
    if other is None or "://" in other[2]:
        yield line
        return
    path = os.path.join(folder, os.path.expanduser(other[2]))
    if other[1] in ("-r", "--requirement"):
        yield from _lines_of(argument, path, outer)
    elif os.path.isfile(path):
        yield f"-c {path}"
    else:
        raise FileNotFoundError(f"{argument} has {line!r}, which is no file; allowed: a file of constraints")
