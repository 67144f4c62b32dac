"""What workers' environment has that the driver's has not: variables, directories on the import
path, packages.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import ModuleType
from typing import Any

from headway import _core
from headway import _session as worker_session
from headway._runtime.packages import package_of
from headway._runtime.pip_environment import PipEnvironment, PipRequest, pip_environment
from headway._runtime.pip_request import check_pip
from headway._values.arguments import check_str, check_texts, is_utf8, refuse

_KEYS = ("env_vars", "pip", "py_modules", "working_dir")
# What other machines do not get of working_dir and py_modules.
_EXCLUDES = "excludes"


@dataclass(frozen=True)
class RuntimeEnv:
    """A checked ``runtime_env``.

    Attributes:
        env_vars: Environment variables, set before workers' interpreters start.
        working_dir: An absolute directory: on the import path, and where ranks work with
            ``HEADWAY_CHDIR_TO_TRIAL_DIR=0``; None: the driver's.
        py_modules: Absolute paths of packages, of directories, of modules' files and of wheels:
            what has to be imported from comes first on the import path.
        pip: What is installed into a separate environment; None: nothing.
        excludes: Patterns of what other machines do not get of the directories.
    """

    env_vars: dict[str, str] = field(default_factory=dict)
    working_dir: str | None = None
    py_modules: tuple[str, ...] = ()
    pip: PipRequest | None = None
    excludes: tuple[str, ...] = ()
    _installed: PipEnvironment | None = field(default=None, compare=False)
    _carried: frozenset[str] | None = field(default=None, compare=False)

    def prepare(self) -> RuntimeEnv:
        """The same with its packages installed.

        Raises:
            RuntimeError: pip could not install them.
        """
        return replace(self, _installed=pip_environment(self.pip) if self.pip else None)

    def for_nodes(self, carried: Iterable[str]) -> RuntimeEnv:
        """The same for a driver that other machines may join.

        Args:
            carried: Paths that somebody else brings there.
        """
        return replace(self, _carried=frozenset(carried))

    def paths(self) -> list[str]:
        """All that has to be where ranks are."""
        return [*self.py_modules, *([self.working_dir] if self.working_dir else [])]

    def start_arguments(self, surroundings: dict[str, Any]) -> dict[str, Any]:
        """What ``Runtime.start_run`` takes about the environment of a run's workers.

        Args:
            surroundings: The driver's own (``env``, ``sys_path``, ``cwd``, ...), and what else
                workers receive.
        """
        told = self._over(surroundings)
        arguments: dict[str, Any] = {"worker_setup_json": json.dumps(told)}
        if self.has_own_factory():
            interpreter = self._installed.interpreter if self._installed is not None else sys.executable
            arguments["factory_command"] = factory_command(interpreter, told["sys_path"], sys.argv)
            arguments["factory_env"] = self.env_vars
        if self._carried is not None:
            recipe, packages = self._recipe(told["sys_path"], self._carried)
            if packages or self._installed is not None:
                arguments["factory_recipe"] = json.dumps(recipe)
                arguments["factory_packages"] = packages
        return arguments

    def _recipe(self, path: list[str], carried: frozenset[str]) -> tuple[dict[str, Any], list[_core.Package]]:
        """What another machine makes this environment by (``node_environment.py``), and of what."""
        wanted = [("py_modules", importable(each), each) for each in self.py_modules]
        if self.working_dir is not None:
            wanted.append(("working_dir", self.working_dir, self.working_dir))
        wanted += [("pip", each, each) for each in (self.pip.local_paths() if self.pip else ())]
        places, packages = [], {}
        for key, place, given in wanted:
            if given in carried:
                continue
            excludes = () if key == "pip" else self.excludes
            package = package_of(f"runtime_env['{key}']", given, excludes, by_name=place != given)
            packages[package.hash] = package
            is_file = place == given and not os.path.isdir(given)
            places.append([key, place, package.hash, os.path.basename(given) if is_file else ""])
        recipe = {
            "places": places,
            "pip": asdict(self.pip) if self.pip is not None else None,
            "environment": self._installed.folder if self._installed is not None else "",
            "sys_path": path,
            "argv": sys.argv,
        }
        return recipe, list(packages.values())

    def has_own_factory(self) -> bool:
        """Whether workers come from another factory than those without a ``runtime_env``.

        The workers of a validation's trainer come from the existing factory and set variables
        themselves.
        """
        return self._installed is not None or (bool(self.env_vars) and not worker_session.is_host())

    def _over(self, surroundings: dict[str, Any]) -> dict[str, Any]:
        path = list(surroundings["sys_path"])
        if self._installed is not None:
            # What the script has beside it comes before installed packages, as in any interpreter.
            installed = (
                index for index, entry in enumerate(path) if entry.endswith(("site-packages", "dist-packages"))
            )
            path.insert(next(installed, len(path)), self._installed.site_packages)
        # Where an interpreter has them: behind what lies beside the script.
        path[1:1] = [os.path.abspath(entry) for entry in self.env_vars.get("PYTHONPATH", "").split(os.pathsep) if entry]
        own = list(dict.fromkeys(importable(each) for each in self.paths()))
        variables = {**surroundings["env"], **self.env_vars}
        if self._installed is not None:
            # As when it is activated: the programs that its packages bring, and its Python, are
            # found first.
            variables["VIRTUAL_ENV"] = self._installed.folder
            variables["PATH"] = os.pathsep.join([self._installed.programs, variables.get("PATH", os.defpath)])
        if own:
            variables["PYTHONPATH"] = os.pathsep.join([*own, *filter(None, [variables.get("PYTHONPATH")])])
        return {
            **surroundings,
            "env": variables,
            "sys_path": list(dict.fromkeys([*own, *path])),
            "cwd": self.working_dir or surroundings["cwd"],
            "must_be_there": own,
            "keeps_tmpdir": "TMPDIR" in self.env_vars,
        }

    def as_dict(self) -> dict[str, Any]:
        """As a user gives it, with paths that are absolute, and only what it has."""
        found = {
            "env_vars": self.env_vars,
            "pip": self.pip.as_given() if self.pip is not None else None,
            "py_modules": list(self.py_modules),
            "working_dir": self.working_dir,
            _EXCLUDES: list(self.excludes),
        }
        return {name: value for name, value in found.items() if value}

    def with_more(self, other: RuntimeEnv) -> RuntimeEnv:
        """``other`` over this one: its variables win one by one, and what else it has replaces what
        is here.
        """
        return RuntimeEnv(
            {**self.env_vars, **other.env_vars},
            other.working_dir or self.working_dir,
            other.py_modules or self.py_modules,
            other.pip or self.pip,
            other.excludes or self.excludes,
        )


def without_secrets(runtime_env: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What of a ``runtime_env`` may be stored: its variables may be keys and passwords."""
    return {name: value for name, value in (runtime_env or {}).items() if name != "env_vars"} or None


def factory_command(interpreter: str, path: Sequence[str], argv: Sequence[str]) -> list[str]:
    """What starts a worker factory.

    Args:
        interpreter: The Python that its workers have.
        path: Their import path.
        argv: The arguments of the driver's script, which modules may look at as they are imported.
    """
    code = f"import json, sys; sys.path[:] = json.loads({json.dumps(list(path))!r}); "
    call = f"from headway._worker.factory import main; main(json.loads({json.dumps(list(argv))!r}))"
    return [interpreter, "-c", code + call]


def check_runtime_env(argument: str, value: object) -> RuntimeEnv:
    """``value`` as a user gave it for ``argument``.

    Raises:
        TypeError, ValueError, FileNotFoundError, NotADirectoryError: what is wrong, by its key.
    """
    if value is None:
        return RuntimeEnv()
    if not isinstance(value, Mapping):
        refuse(argument, value, f"None or a dict with {', '.join(_KEYS)}")
    for key in value:
        if key not in (*_KEYS, _EXCLUDES):
            raise ValueError(f"{argument} has {key!r}; allowed: {', '.join(_KEYS)}")
    working_dir = value.get("working_dir")
    return RuntimeEnv(
        _variables(f"{argument}['env_vars']", value.get("env_vars")),
        None if working_dir is None else _directory(f"{argument}['working_dir']", working_dir),
        _modules(f"{argument}['py_modules']", value.get("py_modules")),
        check_pip(f"{argument}['pip']", value.get("pip")),
        _patterns(f"{argument}['{_EXCLUDES}']", value.get(_EXCLUDES)),
    )


def _patterns(argument: str, patterns: object) -> tuple[str, ...]:
    if patterns is None:
        return ()
    allowed = "a list of patterns, such as ['*.ckpt', 'data/']"
    texts = check_texts(argument, patterns, allowed)
    for index, each in enumerate(texts):
        if not each.strip("/") or each.startswith("!"):
            raise ValueError(f"{argument}[{index}] is {each!r}; allowed: {allowed}, none of which begins with '!'")
    return tuple(texts)


def _variables(argument: str, variables: object) -> dict[str, str]:
    if variables is None:
        return {}
    allowed = "a dict from names to strings"
    if not isinstance(variables, Mapping):
        refuse(argument, variables, allowed)
    for name, text in variables.items():
        check_str(f"a name in {argument}", name, allowed)
        check_str(f"{argument}[{name!r}]", text, "a string")
        if not name or "=" in name or "\0" in name + text or not is_utf8(name + text):
            raise ValueError(
                f"{argument} has {name!r}: {text!r:.100}; allowed: names without '=', and text that UTF-8 has, "
                "without null characters"
            )
    return dict(variables)


def _directory(argument: str, path: object) -> str:
    allowed = "the path of a directory of this machine"
    if not isinstance(path, (str, os.PathLike)):
        refuse(argument, path, allowed)
    text = os.fspath(path)
    if isinstance(text, str) and "://" in text:
        raise ValueError(f"{argument} is {text!r}; allowed: {allowed}")
    absolute = os.path.abspath(os.path.expanduser(text))
    if not os.path.exists(absolute):
        raise FileNotFoundError(f"{argument} is {text!r}, which is not there; allowed: {allowed}")
    if not os.path.isdir(absolute):
        raise NotADirectoryError(f"{argument} is {text!r}, which is no directory; allowed: {allowed}")
    return absolute


def _modules(argument: str, modules: object) -> tuple[str, ...]:
    if modules is None:
        return ()
    if isinstance(modules, (str, bytes)) or not isinstance(modules, Sequence):
        refuse(argument, modules, "a list of directories, of packages, of modules' files or of wheels")
    return tuple(dict.fromkeys(_importable(f"{argument}[{index}]", each) for index, each in enumerate(modules)))


def _importable(argument: str, module: object) -> str:
    """The absolute path of a module that is given as an object or as a path."""
    given = module
    if isinstance(module, ModuleType):
        packages = list(getattr(module, "__path__", ()))
        given = packages[0] if packages else getattr(module, "__file__", None)
    if not isinstance(given, (str, os.PathLike)):
        refuse(argument, module, "a directory, a package, a module's .py file or a wheel")
    path = os.fspath(given)
    if isinstance(path, str) and path.endswith(".whl"):
        return _file(argument, path, "a wheel's file")
    if isinstance(path, str) and path.endswith(".py"):
        return _file(argument, path, "a module's file")
    return _directory(argument, path)


def importable(path: str) -> str:
    """What has to be on the import path for a path of ``py_modules``: for a package or a module of
    one file that is the directory that holds it.
    """
    is_package = os.path.exists(os.path.join(path, "__init__.py"))
    return os.path.dirname(path) if is_package or path.endswith(".py") else path


def _file(argument: str, path: str, allowed: str) -> str:
    """A file that is there. A wheel of pure Python is importable as it is: it is a zip file."""
    absolute = os.path.abspath(os.path.expanduser(path))
    if not os.path.isfile(absolute):
        raise FileNotFoundError(f"{argument} is {path!r}, which is not there; allowed: {allowed}")
    return absolute
