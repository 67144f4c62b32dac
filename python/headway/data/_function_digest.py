"""What a function does, as a digest: the same one in every process that has the function."""

from __future__ import annotations

import hashlib
import re
from types import CodeType, FunctionType
from typing import Any, TypeVar

import cloudpickle

#: Behind a pickle, whose reader stops before it; the data process looks for it there.
_MARK = b"headway-function:"
_DIGEST_BYTES = 16
#: cloudpickle numbers classes by chance, in each process anew.
_NUMBER_OF_CLASS = re.compile("[0-9a-f]{32}")
#: What says where a function or class is written.
_PLACES = frozenset({"__file__", "__path__", "__firstlineno__", "__static_attributes__"})
_OF_CODE = [
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_flags",
    "co_code",
    "co_consts",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_exceptiontable",
]


def marked(pickled: bytes, value: Any) -> bytes:
    """A pickle with the digest of its value behind it: a plan whose function has the digest of the
    one before is the same plan, so that a run that resumes goes on in the middle of its epoch.

    The bytes of a pickle differ from process to process (numbers of classes, the order of sets),
    and with the lines above a function. A value that cannot be digested has its pickle alone.
    """
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    try:
        _Digesting(digest).digest(value)
    except Exception:  # Such as a list that contains itself: its pickle is its identity.
        return pickled
    return pickled + _MARK + digest.hexdigest().encode()


class _File:
    def __init__(self, digest: Any):
        self._digest = digest

    def write(self, piece: Any) -> int:
        self._digest.update(piece)
        return memoryview(piece).nbytes


class _Digesting(cloudpickle.Pickler):
    """Pickles what a value does, into a digest."""

    def __init__(self, digest: Any):
        super().__init__(_File(digest))
        self._ordered: dict[int, tuple[Any, Any]] = {}

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, CodeType):
            return tuple, (self._in_order(tuple(getattr(value, name, None) for name in _OF_CODE)),)
        reduced = super().reducer_override(value)
        if reduced is NotImplemented:
            if isinstance(value, (type, FunctionType)):
                return reduced
            reduce = self.dispatch_table.get(type(value))
            reduced = value.__reduce_ex__(5) if reduce is None else reduce(value)
        if not isinstance(reduced, tuple):
            return reduced
        function, arguments, *rest = reduced
        if isinstance(value, (type, TypeVar)):
            arguments = tuple(None if _is_number(each) else each for each in arguments)
        return function, self._in_order(arguments), *map(self._in_order, rest[:1]), *rest[1:]

    def digest(self, value: Any) -> None:
        self.dump(self._in_order(value))

    def _in_order(self, value: Any) -> Any:
        """The value with lists in place of the sets in it, and without places."""
        if type(value) not in (tuple, list, dict, set, frozenset):
            return value
        known = self._ordered.get(id(value))
        if known is None:
            known = self._ordered[id(value)] = (value, self._made(value))
        return known[1]

    def _made(self, value: Any) -> Any:
        if isinstance(value, (set, frozenset)):
            return [type(value).__name__, *(self._in_order(each) for each in sorted(value, key=_key))]
        if isinstance(value, dict):
            made = {name: self._in_order(each) for name, each in value.items() if name not in _PLACES}
            is_same = len(made) == len(value) and all(made[name] is value[name] for name in made)
            return value if is_same else made
        items = [self._in_order(each) for each in value]
        return value if all(one is other for one, other in zip(items, value, strict=True)) else type(value)(items)


def _is_number(value: Any) -> bool:
    return isinstance(value, str) and _NUMBER_OF_CLASS.fullmatch(value) is not None


def _key(value: Any) -> tuple[str, str]:
    return type(value).__name__, repr(value)
