"""Conditions that are written as text, as in ``filter(expr="age > 18 and country in ['NL']")``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from headway.data._expression import Expr, as_expression, column

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: lambda one, other: as_expression(one).power(other),
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}
_COMPARED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
#: Functions of one value, under the names of Arrow's, too.
_FUNCTIONS = {
    **{name: name for name in ("is_null", "is_not_null", "abs", "sign", "negate", "ceil", "floor", "trunc", "round")},
    **{name: name for name in ("sqrt", "exp", "ln", "log10", "log2", "sin", "cos", "tan", "asin", "acos", "atan")},
    "is_valid": "is_not_null",
}


def condition(text: str) -> Expr:
    """The expression of a condition in Python's words: names are columns.

    Raises:
        ValueError: it is none; it says at what.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise ValueError(f"expr is {text!r}; allowed: a condition such as 'age > 18' ({error.msg})") from None
    made = _made(tree.body, text)
    if not isinstance(made, Expr):
        raise ValueError(f"expr is {text!r}, which has no column; allowed: a condition such as 'age > 18'")
    return made


def _made(node: ast.AST, text: str) -> Any:
    """An expression, or a plain value."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return column(node.id)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [_made(each, text) for each in node.elts]
    if isinstance(node, ast.Attribute):
        return as_expression(_made(node.value, text)).struct.field(node.attr)
    if isinstance(node, ast.BoolOp):
        joined = operator.and_ if isinstance(node.op, ast.And) else operator.or_
        made = as_expression(_made(node.values[0], text))
        for each in node.values[1:]:
            made = joined(made, _made(each, text))
        return made
    if isinstance(node, ast.UnaryOp):
        return _unary(node, text)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_made(node.left, text), _made(node.right, text))
    if isinstance(node, ast.Compare):
        return _compared(node, text)
    if isinstance(node, ast.Call):
        return _called(node, text)
    raise _refused(node, text)


def _unary(node: ast.UnaryOp, text: str) -> Any:
    value = _made(node.operand, text)
    if isinstance(node.op, (ast.Not, ast.Invert)):
        return ~as_expression(value)
    return -value if isinstance(node.op, ast.USub) else value


def _compared(node: ast.Compare, text: str) -> Expr:
    """``1 < x <= 3`` is two comparisons."""
    values = [_made(each, text) for each in (node.left, *node.comparators)]
    made = [_pair(sign, values[at], values[at + 1], node, text) for at, sign in enumerate(node.ops)]
    whole = made[0]
    for each in made[1:]:
        whole = whole & each
    return whole


def _pair(sign: ast.cmpop, left: Any, right: Any, node: ast.AST, text: str) -> Expr:
    if isinstance(sign, (ast.In, ast.NotIn)):
        if not isinstance(right, list) or any(isinstance(each, Expr) for each in right):
            raise _refused(node, text)
        found = as_expression(left).is_in(right)
        return found if isinstance(sign, ast.In) else ~found
    if right is None:
        is_null = as_expression(left).is_null()
        return is_null if isinstance(sign, (ast.Is, ast.Eq)) else ~is_null
    if type(sign) not in _COMPARED:
        raise _refused(node, text)
    return as_expression(_COMPARED[type(sign)](as_expression(left), right))


def _called(node: ast.Call, text: str) -> Expr:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    values = [_made(each, text) for each in node.args]
    if node.keywords or not values:
        raise _refused(node, text)
    if name == "is_in" and len(values) == 2 and isinstance(values[1], list):
        return as_expression(values[0]).is_in(values[1])
    if name not in _FUNCTIONS or len(values) != 1:
        raise _refused(node, text)
    made: Expr = getattr(as_expression(values[0]), _FUNCTIONS[name])()
    return made


def _refused(node: ast.AST, text: str) -> ValueError:
    part = ast.get_source_segment(text.strip(), node) or type(node).__name__
    return ValueError(
        f"expr has {part!r}; allowed: columns' names, constants, comparisons, in, is None, and, or, not, + - * / // % "
        f"**, and {', '.join(_FUNCTIONS)}, is_in of them; all else is an expression: filter(expr=col(...) ...)"
    )
