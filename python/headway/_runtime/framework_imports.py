"""Which frameworks a function's code imports: worker factories import them, even if the driver has
not.
"""

from __future__ import annotations

import ast
import dis
import linecache
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
#: They import the module of a class when the class is first used.
LAZY = frozenset({"diffusers", "transformers"})
#: Variables that no framework reads when it is imported, but later: whoever sets one of them has
#: not set up an import.
READ_LATER = frozenset(
    {
        "ACCELERATE_MIXED_PRECISION",
        "ACCELERATE_USE_CPU",
        "CUBLAS_WORKSPACE_CONFIG",
        "GLOO_SOCKET_IFNAME",
        "MASTER_ADDR",
        "MASTER_PORT",
        "MLFLOW_EXPERIMENT_NAME",
        "NCCL_DEBUG",
        "NCCL_IB_DISABLE",
        "NCCL_P2P_DISABLE",
        "NCCL_SOCKET_IFNAME",
        "TOKENIZERS_PARALLELISM",
        "WANDB_NAME",
        "WANDB_PROJECT",
    }
)
_OF_ENVIRONMENT = frozenset({"environ", "putenv", "setenv"})
_READING = frozenset({"copy", "get", "items", "keys", "values"})


def framework_imports(function: types.FunctionType) -> Iterator[str]:
    """What a function's code, and that of functions in it, imports of frameworks: ``"module"``, or
    ``"module:name"`` for ``from module import name``. Not what a function whose source is there
    imports under a condition: a run for which it is false would wait for that import.
    """
    around: dict[str, Any] = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            around[name] = cell.cell_contents
        except ValueError:  # It is empty.
            continue
    lazy = {name: value.__name__ for name, value in around.items() if isinstance(value, types.ModuleType)}
    yield from _in_code(function.__code__, lazy)


def may_set_variables(code: types.CodeType) -> bool:
    """Whether a function's code, or that of functions in it, has more to do with the environment
    than to read a variable, or to set one of ``READ_LATER``. A framework may read the others when
    it is imported.
    """
    found = list(instructions(code))
    for at, each in enumerate(found):
        after = found[at + 1 :]
        if isinstance(each.argval, str) and each.argval in _OF_ENVIRONMENT and not (_reads(after) or _is_late(after)):
            return True
    return any(may_set_variables(each) for each in code.co_consts if isinstance(each, types.CodeType))


def _reads(after: list[dis.Instruction]) -> bool:
    """Whether what is done with ``os.environ`` leaves it as it is."""
    if len(after) < 2:
        return False
    first, second = after[:2]
    if first.opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return first.argval in _READING
    if first.opname in ("CONTAINS_OP", "DICT_UPDATE"):
        return True
    return first.opname.startswith("LOAD_") and (second.opname == "BINARY_SUBSCR" or second.argrepr == "[]")


def _is_late(after: list[dis.Instruction]) -> bool:
    """Whether what is done with ``os.environ`` sets or removes one of ``READ_LATER``."""
    if len(after) < 2:
        return False
    first, second = after[:2]
    if first.opname == "LOAD_CONST":
        return first.argval in READ_LATER and second.opname in ("STORE_SUBSCR", "DELETE_SUBSCR")
    calls = first.opname in ("LOAD_ATTR", "LOAD_METHOD") and first.argval in ("setdefault", "pop")
    return calls and second.opname == "LOAD_CONST" and second.argval in READ_LATER


def instructions(code: types.CodeType) -> Iterator[dis.Instruction]:
    """Those of a function. The module of a relative import begins with dots."""
    level: Any = None
    names: Any = None
    for each in dis.get_instructions(code):
        if each.opname == "EXTENDED_ARG":
            continue
        # Both are loaded before it.
        relative = each.opname == "IMPORT_NAME" and level
        yield each._replace(argval=f"{'.' * level}{each.argval}") if relative else each
        level, names = names, each.argval


def _in_code(code: types.CodeType, modules: Mapping[str, str]) -> Iterator[str]:
    """``modules`` are those that names around the code mean."""
    known = dict(modules)
    conditional = _conditional_imports(code)
    module, before = "", None
    for each in instructions(code):
        # One instruction may store or load two names.
        name = each.argval[-1] if isinstance(each.argval, tuple) and each.argval else each.argval
        if each.opname == "IMPORT_NAME":
            module = "" if each.offset in conditional else name
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
            if package in LAZY:
                yield f"{package}:{name}"
        before = each
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _in_code(constant, known)


def _conditional_imports(code: types.CodeType) -> frozenset[int]:
    """The offsets of imports that a function's source has in an ``if``, a ``while``, a ``case`` or
    an ``except``. None where there is no source, or no import of a framework.
    """
    imports = [each for each in dis.get_instructions(code) if each.opname == "IMPORT_NAME"]
    if not any(_is_framework(each.argval) for each in imports):
        return frozenset()
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except (SyntaxError, ValueError):
        return frozenset()
    conditional = set(_conditional_lines(tree, False))
    spans = [(begin, end) for begin, end, line in code.co_lines() if line in conditional]
    return frozenset(each.offset for each in imports if any(begin <= each.offset < end for begin, end in spans))


def _conditional_lines(node: ast.AST, is_conditional: bool) -> Iterator[int]:
    if isinstance(node, (ast.Import, ast.ImportFrom)) and is_conditional:
        yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        is_conditional = False
    elif isinstance(node, (ast.If, ast.While, ast.match_case, ast.ExceptHandler)):
        is_conditional = True
    for child in ast.iter_child_nodes(node):
        yield from _conditional_lines(child, is_conditional)


def _is_framework(module: str) -> bool:
    return module.partition(".")[0] in FRAMEWORKS
