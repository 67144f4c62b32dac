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
from importlib.machinery import PathFinder, SourceFileLoader
from typing import Any

from headway._runtime.framework_imports import framework_imports, instructions, may_set_variables

# Headway's own, what every worker has imported, and what starts a thread when it is imported.
_LEFT_OUT = frozenset({"headway", "ray", "cloudpickle", "pyarrow", "wandb", "mlflow", "comet_ml", "aim"})
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
            todo += [part for part in _looked_into(value) if isinstance(part, _DEFINED)]
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


def _looked_into(value: Any) -> Iterable[Any]:
    """What a value has of functions and classes: itself, or what it wraps or holds."""
    if isinstance(value, (staticmethod, classmethod)):
        return [value.__func__]
    if isinstance(value, property):
        return [value.fget, value.fset]
    if isinstance(value, (*_DEFINED, str, types.ModuleType)):
        return [value]
    if not _is_of_the_user(type(value).__module__):
        return []
    return [type(value), *getattr(value, "__dict__", {}).values()]


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
    module = ""
    for each in instructions(code):
        if each.opname == "IMPORT_NAME":
            module = each.argval
            yield module
        elif each.opname == "IMPORT_FROM" and _is_of_the_user(module) and module in sys.modules:
            yield vars(sys.modules[module]).get(each.argval)
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
    """Whether it may, or what it imports of the user's modules."""
    if not _is_of_the_user(function.__module__ or ""):
        return False
    package = function.__globals__.get("__package__") or ""
    return may_set_variables(function.__code__) or any(
        _sets_when_imported(name, set()) for name in _imported_in(function.__code__, package)
    )


def _imported_in(code: types.CodeType, package: str) -> Iterator[str]:
    """The modules that code of a package imports, by their full names."""
    for each in instructions(code):
        if each.opname == "IMPORT_NAME" and (package or not each.argval.startswith(".")):
            yield importlib.util.resolve_name(each.argval, package)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _imported_in(constant, package)


def _sets_when_imported(name: str, seen: set[str]) -> bool:
    """Whether code of a user's module that is yet to be imported may set variables, or of those
    that it imports in turn. It is read, and does not run.
    """
    if not _is_of_the_user(name):
        return False
    found, path = "", None
    for part in name.split("."):
        found = f"{found}.{part}" if found else part
        spec = PathFinder.find_spec(found, path)
        if spec is None or comes_from_a_package(spec):
            return False
        path = spec.submodule_search_locations
        if found in sys.modules or found in seen or not isinstance(spec.loader, SourceFileLoader):
            continue
        seen.add(found)
        try:
            code = spec.loader.get_code(found)
        except (ImportError, SyntaxError):
            return False
        if code is None:
            return False
        package = found if path is not None else found.rpartition(".")[0]
        if may_set_variables(code) or any(_sets_when_imported(each, seen) for each in _imported_in(code, package)):
            return True
    return False


def _is_of_the_user(name: str) -> bool:
    package = name.partition(".")[0]
    return package not in sys.stdlib_module_names and package not in _LEFT_OUT and not _is_installed(name)


def _is_installed(name: str) -> bool:
    """Whether this process has imported it from where packages are installed."""
    if name.partition(".")[0] in _LEFT_OUT or name not in sys.modules:
        return False
    return comes_from_a_package(getattr(sys.modules[name], "__spec__", None))


def _can_be_imported(package: str) -> bool:
    """Whether it is installed, and nothing of the user's has its name."""
    try:
        return comes_from_a_package(importlib.util.find_spec(package))
    except ValueError:  # Something without a file has its name.
        return False


def comes_from_a_package(spec: Any) -> bool:
    """Whether a module with this spec lies where packages are installed."""
    origin = getattr(spec, "origin", None)
    return isinstance(origin, str) and origin.startswith(_places())


@functools.cache
def _places() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths["purelib"], paths["platlib"], *site.getsitepackages(), site.getusersitepackages()}
    return tuple(os.path.join(folder, "") for folder in folders)
