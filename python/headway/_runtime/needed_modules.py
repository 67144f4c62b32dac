"""Which installed modules a training function needs: worker factories import them once, before they
fork workers.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import site
import sys
import sysconfig
import types
from collections.abc import Iterable, Iterator
from typing import Any

from headway._runtime.framework_imports import framework_imports, instructions, may_set_variables

# Headway's own, and what starts a thread when it is imported.
_LEFT_OUT = frozenset({"headway", "ray", "pyarrow", "wandb", "mlflow", "comet_ml", "aim"})
# What is imported, for seconds, when a module is used: DeepSpeed by Accelerate, wherever it is
# installed.
_LATER = {
    "accelerate": "deepspeed",
    "deepspeed": "deepspeed.runtime.zero.muon.muon_optimizer",
    "transformers.trainer": "accelerate",
    "transformers:Trainer": "accelerate",
}
_DEFINED = (types.FunctionType, types.MethodType, type, functools.partial)
# A function that reaches more than this is not looked at to its end.
_LOOKED_AT_MAX = 2000


def needed_modules(function: object) -> list[str]:
    """The installed modules that a function's code names, and that this process has imported; those
    that it imports of known frameworks (``"module:name"`` for ``from module import name``); and
    those that Headway's packages for frameworks need.

    Functions and classes of other modules are looked into; these modules themselves are
    not named, as their code may change between two runs, and may do anything when it is imported.

    Where the user's code may set variables, it may do so before it imports: then only what this
    process has imported is named.
    """
    found: dict[str, None] = {}
    seen: set[int] = set()
    todo: list[object] = [function]
    imports_itself = False
    while todo and len(seen) < _LOOKED_AT_MAX:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, types.FunctionType):
            imports_itself = imports_itself or _sets_variables(each)
            imports = dict.fromkeys(framework_imports(each))
            _add(found, (name for name in imports if _can_be_imported(name.partition(".")[0].partition(":")[0])))
        for value in _reached_by(each):
            module = value if isinstance(value, str) else getattr(value, "__module__", None)
            if isinstance(value, types.ModuleType):
                module = value.__name__
            if isinstance(module, str) and _is_installed(module):
                _add(found, [module])
                continue
            if isinstance(module, str) and module.startswith("headway.train."):
                _add(found, _needed_by_integration(module))
            if isinstance(value, _DEFINED):
                todo.append(value)
    return [each for each in sorted(found) if each in sys.modules or not imports_itself]


def _add(found: dict[str, None], modules: Iterable[str]) -> None:
    for module in modules:
        found[module] = None
        later = _LATER.get(module) or _LATER.get(module.partition(".")[0])
        if later is not None and later not in found and _can_be_imported(later.partition(".")[0]):
            _add(found, [later])


def _reached_by(value: Any) -> Iterator[Any]:
    """What a function or class names: modules, by object or by name, and other objects."""
    if isinstance(value, functools.partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, types.MethodType):
        yield from (value.__func__, type(value.__self__))
    elif isinstance(value, type):
        yield from (*value.__bases__, *vars(value).values())
    elif isinstance(value, types.FunctionType):
        for cell in value.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:  # It is empty.
                continue
        yield from _named_in(value.__code__, value.__globals__)
    elif callable(value):
        yield type(value)


def _named_in(code: types.CodeType, names: dict[str, Any]) -> Iterator[Any]:
    for name in code.co_names:
        value = names.get(name)
        if value is None:
            continue
        yield value
        if isinstance(value, types.ModuleType):
            # `package.module.function()` names its parts one by one.
            yield from (f"{value.__name__}.{part}" for part in code.co_names)
            if _is_of_the_user(value.__name__):
                yield from (vars(value).get(part) for part in code.co_names)
    yield from (each.argval for each in instructions(code) if each.opname == "IMPORT_NAME")
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _named_in(constant, names)


def _needed_by_integration(module: str) -> list[str]:
    """What one of Headway's packages for a framework needs in workers, whether or not this process
    has imported it.
    """
    needed = getattr(sys.modules.get(module), "needed_in_workers", None)
    return needed() if needed is not None else []


def _sets_variables(function: types.FunctionType) -> bool:
    module = function.__module__ or ""
    return (module == "__main__" or _is_of_the_user(module)) and may_set_variables(function.__code__)


def _is_of_the_user(name: str) -> bool:
    package = name.partition(".")[0]
    return package not in sys.stdlib_module_names and package not in _LEFT_OUT and not _is_installed(name)


def _is_installed(name: str) -> bool:
    """Whether this process has imported it from where packages are installed."""
    if name.partition(".")[0] in _LEFT_OUT or name not in sys.modules:
        return False
    return _comes_from_a_package(getattr(sys.modules[name], "__spec__", None))


def _can_be_imported(package: str) -> bool:
    """Whether it is installed, and nothing of the user's has its name."""
    try:
        return _comes_from_a_package(importlib.util.find_spec(package))
    except ValueError:  # Something without a file has its name.
        return False


def _comes_from_a_package(spec: Any) -> bool:
    origin = getattr(spec, "origin", None)
    return isinstance(origin, str) and origin.startswith(_places())


@functools.cache
def _places() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths["purelib"], paths["platlib"], *site.getsitepackages(), site.getusersitepackages()}
    return tuple(os.path.join(folder, "") for folder in folders)
