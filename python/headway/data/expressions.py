"""Expressions over columns, for ``filter``, ``with_column`` and ``select_columns``: they run as
Arrow kernels, without Python.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from headway._values.arguments import check_str, refuse
from headway._values.named_arguments import offer
from headway.data import _expression
from headway.data._download import Download
from headway.data._expression import Expr, PythonCall, Unnested, call, literal
from headway.data._literals import type_name

__all__ = [
    "Expr",
    "col",
    "download",
    "lit",
    "monotonically_increasing_id",
    "pyarrow_udf",
    "random",
    "star",
    "udf",
    "unnest",
    "uuid",
]

_numbers = itertools.count()


def col(name: str) -> Expr:
    """A column's values.

    Args:
        name: The column's name.

    Example:
        >>> from headway.data.expressions import col
        >>> col("price") * 2
        col('price') * 2
    """
    return _expression.column(check_str("name", name, "a column's name"))


def lit(value: Any, dtype: Any = None) -> Expr:
    """A constant.

    Args:
        value: A number, text, bytes, a date or a time, or None.
        dtype: Its type, if not the one of the value.

    Example:
        >>> from headway.data.expressions import lit
        >>> lit(5, "float32")
        5
    """
    return literal("value", value, dtype)


def star() -> Expr:
    """All columns, in ``select_columns([star(), ...])``.

    Example:
        >>> from headway.data.expressions import col, star
        >>> columns = [star(), (col("a") + 1).alias("b")]
    """
    return Expr({"star": True}, "star()")


def random(*, seed: int | None = None) -> Expr:
    """A random number from 0 to 1 for each row, the same in each run and epoch of the same seed.

    Args:
        seed: Of the generator; None: the data set's.

    Example:
        >>> from headway.data.expressions import random
        >>> random(seed=1) < 0.5
        random(seed=1) < 0.5
    """
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        refuse("seed", seed, "None or an integer")
    return call("random") if seed is None else call("random", seed=seed)


def uuid() -> Expr:
    """A random UUID for each row, as text.

    Example:
        >>> from headway.data.expressions import uuid
        >>> uuid()
        uuid()
    """
    return call("uuid")


def monotonically_increasing_id() -> Expr:
    """A number for each row that grows from row to row; there are gaps between pieces of files.

    Example:
        >>> from headway.data.expressions import monotonically_increasing_id
        >>> monotonically_increasing_id()
        monotonically_increasing_id()
    """
    return call("monotonically_increasing_id")


def download(uri_column_name: str, *, filesystem: Any = None) -> Expr:
    """What lies at the paths and URLs of a column, as bytes: local files, URLs of storage such as
    ``s3://``, and of ``http``. It is missing where it cannot be read.

    Args:
        uri_column_name: The column.
        filesystem: One of ``pyarrow.fs`` or ``fsspec`` on which all paths are.

    Example:
        >>> from headway.data.expressions import download
        >>> download("uri")
        cast(download(col('uri')), type='binary', safe=True)
    """
    column = col(check_str("uri_column_name", uri_column_name, "a column's name"))
    return pyarrow_udf("binary")(Download(filesystem))(column)


def unnest(expr: Expr) -> Unnested:
    """All fields of a struct, each as a column, in ``with_columns(unnest(...))``.

    Args:
        expr: What has structs, such as a column or a function's result.

    Example:
        >>> import headway.data
        >>> from headway.data.expressions import col, unnest
        >>> places = headway.data.from_items([{"place": {"x": 1, "y": 2}}])
        >>> places.with_columns(unnest(col("place"))).columns()
        ['place', 'x', 'y']
    """
    if not isinstance(expr, Expr):
        refuse("expr", expr, 'an expression such as col("place")')
    return Unnested(expr)


def udf(return_dtype: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Expr]]:
    """A Python function of whole columns, as part of expressions. A column comes as a numpy array.
    Above a class: its objects are functions, and each is made once in a function worker.

    Args:
        return_dtype: The type of what it returns; the function's values are cast to it.

    Example:
        >>> from headway.data.expressions import col, udf
        >>> @udf(return_dtype="float64")
        ... def half(values):
        ...     return values / 2
        >>> half(col("price")) + 1
        cast(half(col('price')), type='float64', safe=True) + 1
    """
    return _decorator("numpy", return_dtype)


def pyarrow_udf(return_dtype: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Expr]]:
    """As :func:`udf`, for a function of ``pyarrow`` arrays.

    Args:
        return_dtype: The type of what it returns; the function's values are cast to it.

    Example:
        >>> from headway.data.expressions import col, pyarrow_udf
        >>> @pyarrow_udf(return_dtype="string")
        ... def reversed_text(values):
        ...     import pyarrow.compute
        ...     return pyarrow.compute.utf8_reverse(values)
        >>> reversed_text(col("name"))
        cast(reversed_text(col('name')), type='string', safe=True)
    """
    return _decorator("pyarrow", return_dtype)


class _Made:
    """An object of a class, which is made where it is called first."""

    def __init__(self, kind: type, args: tuple[Any, ...], kwargs: dict[str, Any]):
        self._kind = kind
        self._arguments = (args, kwargs)
        self._object: Any = None
        self.__name__ = kind.__name__

    def __call__(self, *columns: Any) -> Any:
        if self._object is None:
            args, kwargs = self._arguments
            self._object = self._kind(*args, **kwargs)
        return self._object(*columns)


class _Named:
    """A function some of whose arguments are named.

    Args:
        function: The function.
        names: Those of its last columns.
        constants: What is no column.
    """

    def __init__(self, function: Callable[..., Any], names: tuple[str, ...], constants: dict[str, Any]):
        self._function = function
        self._names = names
        self._constants = constants
        self.__name__ = getattr(function, "__name__", "udf")

    def __call__(self, *columns: Any) -> Any:
        unnamed = len(columns) - len(self._names)
        named = dict(zip(self._names, columns[unnamed:], strict=True))
        return self._function(*columns[:unnamed], **named, **self._constants)


def _decorator(batch_format: str, return_dtype: Any) -> Callable[[Callable[..., Any]], Callable[..., Expr]]:
    if callable(return_dtype) and not isinstance(return_dtype, type):
        refuse("return_dtype", return_dtype, "a type; write @udf() above the function")
    dtype = None if return_dtype is None else type_name(return_dtype, "return_dtype")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(function):
            refuse("the function", function, "a function or a class")
        if isinstance(function, type):
            return lambda *args, **kwargs: decorate(_Made(function, args, kwargs))

        @functools.wraps(function)
        def applied(*arguments: Any, **constants: Any) -> Expr:
            given = tuple(_expression.as_expression(each) for each in arguments)
            names = tuple(name for name, each in constants.items() if isinstance(each, Expr))
            given += tuple(constants.pop(name) for name in names)
            called = _Named(function, names, constants) if names or constants else function
            made = PythonCall(called, given, batch_format, f"__udf_{next(_numbers)}")
            shown = f"{getattr(function, '__name__', 'udf')}({', '.join(map(repr, given))})"
            name = next((each._name for each in given if each._name is not None), None)
            value = Expr({"column": made.column}, shown, _name=name, _calls=(made,))
            return value.cast(dtype) if dtype is not None else value

        return applied

    return decorate


offer(globals(), __all__)
