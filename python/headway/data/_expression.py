"""Expressions: what a column is computed from, as Arrow kernels that run without Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from headway._values.arguments import check_str, refuse
from headway.data._expression_spaces import (
    ArrayNamespace,
    DatetimeNamespace,
    ListNamespace,
    MapNamespace,
    StringNamespace,
    StructNamespace,
)
from headway.data._literals import plain, plain_values, type_name, type_of


class Expr:
    """What a column is computed from: made by :func:`col` and :func:`lit`, and by operators on
    expressions.

    Operators: ``+ - * / // %``, comparisons, ``& | ~``. Methods are under ``str``, ``dt``,
    ``list``, ``arr`` and ``struct``, as in ``col("name").str.upper()``.

    Example:
        >>> from headway.data.expressions import col
        >>> (col("price") * 2 > 10) & col("name").str.startswith("a")
        ((col('price') * 2) > 10) & starts_with(col('name'), pattern='a')
    """

    def __init__(
        self,
        _node: dict[str, Any],
        _shown: str,
        *,
        _name: str | None = None,
        _calls: tuple[PythonCall, ...] = (),
        _compound: bool = False,
    ):
        self._node = _node
        self._shown = _shown
        self._name = _name
        #: Calls of Python functions that stand in the expression, each once.
        self._calls = _calls
        #: Whether it needs parentheses beside an operator.
        self._compound = _compound

    def __repr__(self) -> str:
        return self._shown

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self} has no truth value before it is computed; combine conditions with &, | and ~ instead of and, or "
            "and not"
        )

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{self} is an expression, not a list")

    __hash__ = object.__hash__

    def __add__(self, other: Any) -> Expr:
        return binary("add", "+", self, other)

    def __radd__(self, other: Any) -> Expr:
        return binary("add", "+", other, self)

    def __sub__(self, other: Any) -> Expr:
        return binary("subtract", "-", self, other)

    def __rsub__(self, other: Any) -> Expr:
        return binary("subtract", "-", other, self)

    def __mul__(self, other: Any) -> Expr:
        return binary("multiply", "*", self, other)

    def __rmul__(self, other: Any) -> Expr:
        return binary("multiply", "*", other, self)

    def __truediv__(self, other: Any) -> Expr:
        return binary("true_divide", "/", self, other)

    def __rtruediv__(self, other: Any) -> Expr:
        return binary("true_divide", "/", other, self)

    def __floordiv__(self, other: Any) -> Expr:
        return binary("floor_divide", "//", self, other)

    def __rfloordiv__(self, other: Any) -> Expr:
        return binary("floor_divide", "//", other, self)

    def __mod__(self, other: Any) -> Expr:
        return binary("modulo", "%", self, other)

    def __rmod__(self, other: Any) -> Expr:
        return binary("modulo", "%", other, self)

    def __neg__(self) -> Expr:
        return call("negate", self)

    def __eq__(self, other: Any) -> Expr:  # type: ignore[override]
        return binary("equal", "==", self, other)

    def __ne__(self, other: Any) -> Expr:  # type: ignore[override]
        return binary("not_equal", "!=", self, other)

    def __lt__(self, other: Any) -> Expr:
        return binary("less", "<", self, other)

    def __le__(self, other: Any) -> Expr:
        return binary("less_equal", "<=", self, other)

    def __gt__(self, other: Any) -> Expr:
        return binary("greater", ">", self, other)

    def __ge__(self, other: Any) -> Expr:
        return binary("greater_equal", ">=", self, other)

    def __and__(self, other: Any) -> Expr:
        return binary("and_kleene", "&", self, other)

    def __rand__(self, other: Any) -> Expr:
        return binary("and_kleene", "&", other, self)

    def __or__(self, other: Any) -> Expr:
        return binary("or_kleene", "|", self, other)

    def __ror__(self, other: Any) -> Expr:
        return binary("or_kleene", "|", other, self)

    def __invert__(self) -> Expr:
        return call("invert", self)

    def alias(self, name: str) -> Expr:
        """The same value under another column name.

        Args:
            name: The column's name.
        """
        check_str("name", name, "a column's name")
        return Expr(self._node, f"{self}.alias({name!r})", _name=name, _calls=self._calls)

    def cast(self, target_type: Any, *, safe: bool = True) -> Expr:
        """The value as another type.

        Args:
            target_type: A ``pyarrow`` or ``numpy`` type, or its name, such as ``"float32"``.
            safe: Whether a value that the type does not have is an error.
        """
        return call("cast", self, type=type_name(target_type, "target_type"), safe=bool(safe))

    def is_null(self) -> Expr:
        """Whether the value is missing."""
        return call("is_null", self)

    def is_not_null(self) -> Expr:
        """Whether there is a value."""
        return call("is_valid", self)

    def is_in(self, values: Iterable[Any]) -> Expr:
        """Whether the value is one of ``values``.

        Args:
            values: Plain values.
        """
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            refuse("values", values, "a list of values")
        return call("is_in", self, values=plain_values("values", values))

    def not_in(self, values: Iterable[Any]) -> Expr:
        """Whether the value is none of ``values``.

        Args:
            values: Plain values.
        """
        return ~self.is_in(values)

    def fill_null(self, value: Any) -> Expr:
        """The value, or another where it is missing.

        Args:
            value: A plain value or an expression.
        """
        return call("coalesce", self, as_expression(value))

    def abs(self) -> Expr:
        """The amount without its sign."""
        return call("abs", self)

    def sign(self) -> Expr:
        """-1, 0 or 1."""
        return call("sign", self)

    def negate(self) -> Expr:
        """The value with the other sign."""
        return call("negate", self)

    def ceil(self) -> Expr:
        """The next integer above."""
        return call("ceil", self)

    def floor(self) -> Expr:
        """The next integer below."""
        return call("floor", self)

    def trunc(self) -> Expr:
        """The integer next to it towards zero."""
        return call("trunc", self)

    def round(self, ndigits: int = 0) -> Expr:
        """Rounded, halves to the even digit.

        Args:
            ndigits: Digits behind the point.
        """
        return call("round", self, ndigits=ndigits, round_mode="half_to_even")

    def sqrt(self) -> Expr:
        """The square root."""
        return call("sqrt", self)

    def exp(self) -> Expr:
        """The exponential."""
        return call("exp", self)

    def ln(self) -> Expr:
        """The natural logarithm."""
        return call("ln", self)

    def log10(self) -> Expr:
        """The logarithm to base 10."""
        return call("log10", self)

    def log2(self) -> Expr:
        """The logarithm to base 2."""
        return call("log2", self)

    def sin(self) -> Expr:
        """The sine."""
        return call("sin", self)

    def cos(self) -> Expr:
        """The cosine."""
        return call("cos", self)

    def tan(self) -> Expr:
        """The tangent."""
        return call("tan", self)

    def asin(self) -> Expr:
        """The arc sine."""
        return call("asin", self)

    def acos(self) -> Expr:
        """The arc cosine."""
        return call("acos", self)

    def atan(self) -> Expr:
        """The arc tangent."""
        return call("atan", self)

    def power(self, exponent: Any) -> Expr:
        """The value to a power.

        Args:
            exponent: A number or an expression.
        """
        return call("power", self, as_expression(exponent))

    @property
    def str(self) -> StringNamespace[Expr]:
        """Methods of text."""
        return StringNamespace(self, call)

    @property
    def dt(self) -> DatetimeNamespace[Expr]:
        """Methods of dates and times."""
        return DatetimeNamespace(self, call)

    @property
    def list(self) -> ListNamespace[Expr]:
        """Methods of lists."""
        return ListNamespace(self, call)

    @property
    def arr(self) -> ArrayNamespace[Expr]:
        """Methods of lists of a fixed length."""
        return ArrayNamespace(self, call)

    @property
    def struct(self) -> StructNamespace[Expr]:
        """Fields of structs."""
        return StructNamespace(self, call)

    @property
    def map(self) -> MapNamespace[Expr]:
        """Methods of maps."""
        return MapNamespace(self, call)


class Unnested:
    """The fields of a struct, each to be a column.

    Attributes:
        expression: What has structs.
    """

    def __init__(self, expression: Expr):
        self.expression = expression

    def __repr__(self) -> str:
        return f"unnest({self.expression})"


class PythonCall:
    """A call of a Python function in an expression.

    Attributes:
        function: It gets whole columns.
        arguments: What it is called with.
        batch_format: ``"numpy"`` or ``"pyarrow"``: what a column is for it.
        column: Where the plan puts its result.
    """

    def __init__(self, function: Callable[..., Any], arguments: tuple[Expr, ...], batch_format: str, column: str):
        self.function = function
        self.arguments = arguments
        self.batch_format = batch_format
        self.column = column


def call(function: str, *arguments: Expr, **options: Any) -> Expr:
    """An expression that calls an Arrow kernel."""
    node: dict[str, Any] = {"call": function, "args": [each._node for each in arguments]}
    if options:
        node["options"] = options
    given = [repr(each) for each in arguments] + [f"{name}={value!r}" for name, value in options.items()]
    return Expr(node, f"{function}({', '.join(given)})", _name=_name_of(arguments), _calls=_calls_of(arguments))


def binary(function: str, sign: str, left: Any, right: Any) -> Expr:
    """An expression with an operator between two others."""
    pair = (as_expression(left), as_expression(right))
    shown = f" {sign} ".join(f"({each})" if each._compound else f"{each}" for each in pair)
    node = {"call": function, "args": [each._node for each in pair]}
    return Expr(node, shown, _name=_name_of(pair), _calls=_calls_of(pair), _compound=True)


def as_expression(value: Any) -> Expr:
    """An expression as it is, and a plain value as a literal."""
    return value if isinstance(value, Expr) else literal("value", value, None)


def literal(argument: str, value: Any, dtype: Any) -> Expr:
    """A constant."""
    kind = type_of(value) if dtype is None else type_name(dtype, "dtype")
    node = {"literal": plain(argument, value), "type": kind}
    return Expr(node, repr(value))


def column(name: str) -> Expr:
    """A column's values."""
    return Expr({"column": name}, f"col({name!r})", _name=name)


def name_of(expression: Expr) -> str | None:
    """The column name that an expression has by itself: its alias, or its first column's."""
    return expression._name


def _name_of(arguments: Iterable[Expr]) -> str | None:
    return next((each._name for each in arguments if each._name is not None), None)


def _calls_of(arguments: Iterable[Expr]) -> tuple[PythonCall, ...]:
    return tuple(dict.fromkeys(each for argument in arguments for each in argument._calls))
