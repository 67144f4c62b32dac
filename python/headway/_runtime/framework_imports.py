"""Which frameworks a function's code imports: worker factories import them, even if the driver has
not.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator, Mapping
from typing import Any

#: Packages that start nothing when they are imported.
FRAMEWORKS = frozenset(
    {
        "accelerate",
        "deepspeed",
        "diffusers",
        "lightgbm",
        "lightning",
        "pytorch_lightning",
        "sklearn",
        "torch",
        "torchmetrics",
        "torchvision",
        "transformers",
        "xgboost",
    }
)
# They import the module of a class when the class is first used.
_LAZY = frozenset({"diffusers", "transformers"})


def framework_imports(function: types.FunctionType) -> Iterator[str]:
    """What a function's code, and that of functions in it, imports of frameworks: ``"module"``, or
    ``"module:name"`` for ``from module import name``.
    """
    around: dict[str, Any] = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            around[name] = cell.cell_contents
        except ValueError:  # It is empty.
            continue
    lazy = {name: value.__name__ for name, value in around.items() if isinstance(value, types.ModuleType)}
    yield from _in_code(function.__code__, lazy)


def _in_code(code: types.CodeType, modules: Mapping[str, str]) -> Iterator[str]:
    """``modules`` are those that names around the code mean."""
    known = dict(modules)
    module, before = "", None
    for each in dis.get_instructions(code):
        # One instruction may store or load two names.
        name = each.argval[-1] if isinstance(each.argval, tuple) and each.argval else each.argval
        if each.opname == "IMPORT_NAME":
            module = name
            if _is_framework(module):
                yield module
        elif each.opname == "IMPORT_FROM":
            if _is_framework(module):
                yield f"{module}:{name}"
        elif before is not None and before.opname == "IMPORT_NAME" and each.opname.startswith("STORE_"):
            stored = each.argval[0] if isinstance(each.argval, tuple) else each.argval
            known[stored] = module.partition(".")[0]
        elif each.opname in ("LOAD_ATTR", "LOAD_METHOD") and before is not None:
            names = before.argval if isinstance(before.argval, tuple) else (before.argval,)
            package = known.get(names[-1], "") if names and isinstance(names[-1], str) else ""
            if package in _LAZY:
                yield f"{package}:{name}"
        before = each
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _in_code(constant, known)


def _is_framework(module: str) -> bool:
    return module.partition(".")[0] in FRAMEWORKS
