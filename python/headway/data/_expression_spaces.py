"""Methods of expressions by the type of their values: ``col("name").str.upper()``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from headway._values.arguments import check_bool, check_int, check_str

_E = TypeVar("_E")
_TEXT = "text"
_NUMBER = "an integer"
_ORDERS = '"ascending" or "descending"'
_PLACES = '"at_start" or "at_end"'
_Slice = slice  # A namespace of lists has a method of this name.


class Namespace(Generic[_E]):
    """Methods of one kind of values.

    Args:
        of: The expression whose values they are for.
        call: Makes an expression that calls an Arrow kernel.
    """

    def __init__(self, of: _E, call: Callable[..., _E]):
        self._of = of
        self._kernel = call

    def _call(self, function: str, **options: Any) -> _E:
        return self._kernel(function, self._of, **options)

    def _number(self, argument: str, value: int) -> _E:
        kind: Any = type(self._of)
        return kind({"literal": check_int(argument, value, _NUMBER), "type": None}, repr(value))


class StringNamespace(Namespace[_E]):
    """Methods of text: ``col("name").str``. Letters are Unicode's."""

    def len(self) -> _E:
        """Its length in letters."""
        return self._call("utf8_length")

    def byte_len(self) -> _E:
        """Its length in bytes."""
        return self._call("binary_length")

    def upper(self) -> _E:
        """In capital letters."""
        return self._call("utf8_upper")

    def lower(self) -> _E:
        """In small letters."""
        return self._call("utf8_lower")

    def capitalize(self) -> _E:
        """With one capital letter, the first."""
        return self._call("utf8_capitalize")

    def title(self) -> _E:
        """With a capital letter in each word."""
        return self._call("utf8_title")

    def swapcase(self) -> _E:
        """Capital letters small, and small ones capital."""
        return self._call("utf8_swapcase")

    def reverse(self) -> _E:
        """From its last letter to its first."""
        return self._call("utf8_reverse")

    def strip(self, characters: str | None = None) -> _E:
        """Without blanks, or ``characters``, at both ends."""
        return self._trimmed("utf8_trim", characters)

    def lstrip(self, characters: str | None = None) -> _E:
        """Without blanks, or ``characters``, at its begin."""
        return self._trimmed("utf8_ltrim", characters)

    def rstrip(self, characters: str | None = None) -> _E:
        """Without blanks, or ``characters``, at its end."""
        return self._trimmed("utf8_rtrim", characters)

    def starts_with(self, pattern: str, *, ignore_case: bool = False) -> _E:
        """Whether it begins with ``pattern``."""
        return self._matched("starts_with", pattern, ignore_case)

    startswith = starts_with

    def ends_with(self, pattern: str, *, ignore_case: bool = False) -> _E:
        """Whether it ends with ``pattern``."""
        return self._matched("ends_with", pattern, ignore_case)

    endswith = ends_with

    def contains(self, pattern: str, *, ignore_case: bool = False) -> _E:
        """Whether ``pattern`` stands in it."""
        return self._matched("match_substring", pattern, ignore_case)

    def contains_regex(self, pattern: str, *, ignore_case: bool = False) -> _E:
        """Whether something in it matches a regular expression."""
        return self._matched("match_substring_regex", pattern, ignore_case)

    match_regex = contains_regex

    def match(self, pattern: str, *, ignore_case: bool = False) -> _E:
        """Whether it is like an SQL pattern with ``%`` and ``_``."""
        return self._matched("match_like", pattern, ignore_case)

    def find(self, pattern: str, *, ignore_case: bool = False) -> _E:
        """Where ``pattern`` begins in it, in bytes; -1 without it."""
        return self._matched("find_substring", pattern, ignore_case)

    def find_regex(self, pattern: str, *, ignore_case: bool = False) -> _E:
        """Where the first match of a regular expression begins, in bytes; -1 without one."""
        return self._matched("find_substring_regex", pattern, ignore_case)

    def count(self, pattern: str, *, ignore_case: bool = False) -> _E:
        """How often ``pattern`` stands in it."""
        return self._matched("count_substring", pattern, ignore_case)

    def count_regex(self, pattern: str, *, ignore_case: bool = False) -> _E:
        """How often a regular expression matches in it."""
        return self._matched("count_substring_regex", pattern, ignore_case)

    def replace(self, pattern: str, replacement: str, *, max_replacements: int | None = None) -> _E:
        """With ``replacement`` for ``pattern``."""
        return self._replaced("replace_substring", pattern, replacement, max_replacements)

    def replace_regex(self, pattern: str, replacement: str, *, max_replacements: int | None = None) -> _E:
        """With ``replacement`` for what matches a regular expression."""
        return self._replaced("replace_substring_regex", pattern, replacement, max_replacements)

    def replace_slice(self, start: int, stop: int, replacement: str) -> _E:
        """With ``replacement`` for the letters from ``start`` to ``stop``."""
        return self._call(
            "utf8_replace_slice",
            start=check_int("start", start, _NUMBER),
            stop=check_int("stop", stop, _NUMBER),
            replacement=check_str("replacement", replacement, _TEXT),
        )

    def slice(self, start: int, stop: int | None = None, step: int = 1) -> _E:
        """The letters from ``start`` to ``stop``, each ``step``-th of them."""
        return self._call("utf8_slice_codeunits", **_cut(start, stop, step))

    def pad(self, width: int, fillchar: str = " ", side: str = "right") -> _E:
        """Filled with ``fillchar`` to ``width`` letters, at ``"left"``, ``"right"`` or
        ``"both"``.
        """
        kernels = {"right": "utf8_rpad", "left": "utf8_lpad", "both": "utf8_center"}
        if check_str("side", side, '"left", "right" or "both"') not in kernels:
            raise ValueError(f'side is {side!r}; allowed: "left", "right" or "both"')
        return self._padded(kernels[side], width, fillchar)

    def lpad(self, width: int, padding: str = " ") -> _E:
        """Filled with ``padding`` at its begin to ``width`` letters."""
        return self._padded("utf8_lpad", width, padding)

    def rpad(self, width: int, padding: str = " ") -> _E:
        """Filled with ``padding`` at its end to ``width`` letters."""
        return self._padded("utf8_rpad", width, padding)

    def center(self, width: int, padding: str = " ") -> _E:
        """Filled with ``padding`` at both ends to ``width`` letters."""
        return self._padded("utf8_center", width, padding)

    def repeat(self, n: int) -> _E:
        """``n`` times."""
        return self._kernel("binary_repeat", self._of, self._number("n", n))

    def split(self, pattern: str, *, max_splits: int | None = None, reverse: bool = False) -> _E:
        """A list of what stands between each ``pattern``."""
        return self._split("split_pattern", max_splits, reverse, pattern=check_str("pattern", pattern, _TEXT))

    def split_regex(self, pattern: str, *, max_splits: int | None = None, reverse: bool = False) -> _E:
        """A list of what stands between the matches of a regular expression."""
        return self._split("split_pattern_regex", max_splits, reverse, pattern=check_str("pattern", pattern, _TEXT))

    def split_whitespace(self, *, max_splits: int | None = None, reverse: bool = False) -> _E:
        """A list of its words."""
        return self._split("utf8_split_whitespace", max_splits, reverse)

    def extract(self, pattern: str) -> _E:
        """A struct of the named groups of a regular expression."""
        return self._call("extract_regex", pattern=check_str("pattern", pattern, _TEXT))

    def is_alnum(self) -> _E:
        """Whether all is letters and digits."""
        return self._call("utf8_is_alnum")

    def is_alpha(self) -> _E:
        """Whether all is letters."""
        return self._call("utf8_is_alpha")

    def is_ascii(self) -> _E:
        """Whether all is ASCII."""
        return self._call("string_is_ascii")

    def is_decimal(self) -> _E:
        """Whether all is decimal digits."""
        return self._call("utf8_is_decimal")

    def is_digit(self) -> _E:
        """Whether all is digits."""
        return self._call("utf8_is_digit")

    def is_lower(self) -> _E:
        """Whether all letters are small."""
        return self._call("utf8_is_lower")

    def is_numeric(self) -> _E:
        """Whether all is numeric."""
        return self._call("utf8_is_numeric")

    def is_printable(self) -> _E:
        """Whether all can be printed."""
        return self._call("utf8_is_printable")

    def is_space(self) -> _E:
        """Whether all is blanks."""
        return self._call("utf8_is_space")

    def is_title(self) -> _E:
        """Whether each word has its first letter capital, and no other."""
        return self._call("utf8_is_title")

    def is_upper(self) -> _E:
        """Whether all letters are capital."""
        return self._call("utf8_is_upper")

    def _trimmed(self, function: str, characters: str | None) -> _E:
        if characters is None:
            return self._call(f"{function}_whitespace")
        return self._call(function, characters=check_str("characters", characters, "None or text"))

    def _matched(self, function: str, pattern: str, ignore_case: bool) -> _E:
        options = {"pattern": check_str("pattern", pattern, _TEXT)}
        if check_bool("ignore_case", ignore_case):
            return self._call(function, **options, ignore_case=True)
        return self._call(function, **options)

    def _replaced(self, function: str, pattern: str, replacement: str, count: int | None) -> _E:
        return self._call(
            function,
            pattern=check_str("pattern", pattern, _TEXT),
            replacement=check_str("replacement", replacement, _TEXT),
            max_replacements=-1 if count is None else check_int("max_replacements", count, "None or an integer"),
        )

    def _padded(self, function: str, width: int, padding: str) -> _E:
        if len(check_str("padding", padding, "one letter")) != 1:
            raise ValueError(f"padding is {padding!r}; allowed: one letter")
        return self._call(function, width=check_int("width", width, _NUMBER), padding=padding)

    def _split(self, function: str, max_splits: int | None, reverse: bool, **options: str) -> _E:
        most = -1 if max_splits is None else check_int("max_splits", max_splits, "None or an integer")
        return self._call(function, **options, max_splits=most, reverse=check_bool("reverse", reverse))


class DatetimeNamespace(Namespace[_E]):
    """Methods of dates and times: ``col("when").dt``."""

    def year(self) -> _E:
        """The year."""
        return self._call("year")

    def month(self) -> _E:
        """The month, 1 to 12."""
        return self._call("month")

    def day(self) -> _E:
        """The day of the month."""
        return self._call("day")

    def day_of_week(self) -> _E:
        """The day of the week; Monday is 0."""
        return self._call("day_of_week")

    def hour(self) -> _E:
        """The hour."""
        return self._call("hour")

    def minute(self) -> _E:
        """The minute."""
        return self._call("minute")

    def second(self) -> _E:
        """The second."""
        return self._call("second")

    def strftime(self, fmt: str) -> _E:
        """As text, in a format such as ``"%Y-%m-%d"``."""
        return self._call("strftime", format=check_str("fmt", fmt, 'a format such as "%Y-%m-%d"'))

    def floor(self, unit: str) -> _E:
        """The begin of its ``"day"``, ``"hour"`` and so on."""
        return self._call("floor_temporal", unit=check_str("unit", unit, 'a unit such as "day"'))

    def ceil(self, unit: str) -> _E:
        """The begin of the next ``"day"``, ``"hour"`` and so on, unless it is one."""
        return self._call("ceil_temporal", unit=check_str("unit", unit, 'a unit such as "day"'))

    def round(self, unit: str) -> _E:
        """The nearest begin of a ``"day"``, ``"hour"`` and so on."""
        return self._call("round_temporal", unit=check_str("unit", unit, 'a unit such as "day"'))


class ListNamespace(Namespace[_E]):
    """Methods of lists: ``col("tags").list``."""

    def len(self) -> _E:
        """How many values it has."""
        return self._call("list_value_length")

    def get(self, index: int) -> _E:
        """The value at ``index``, from 0."""
        return self._kernel("list_element", self._of, self._number("index", index))

    def __getitem__(self, key: int | _Slice) -> _E:
        """The value at an index, or those of a slice: ``.list[0]``, ``.list[1:3]``."""
        if isinstance(key, _Slice):
            return self.slice(key.start, key.stop, key.step)
        return self.get(check_int("key", key, "an integer or a slice"))

    def slice(self, start: int | None = None, stop: int | None = None, step: int | None = None) -> _E:
        """The values from ``start`` (None: 0) to ``stop``, each ``step``-th of them."""
        return self._call("list_slice", **_cut(0 if start is None else start, stop, 1 if step is None else step))

    def flatten(self) -> _E:
        """Of a list of lists the values of all of them, in one list."""
        return self._call("list_join")

    def sort(self, order: str = "ascending", null_placement: str = "at_end", *, descending: bool | None = None) -> _E:
        """Its values in ``"ascending"`` or ``"descending"`` order, missing ones ``"at_start"`` or
        ``"at_end"``. ``descending`` is another way to say the order.
        """
        if check_str("order", order, _ORDERS) not in ("ascending", "descending"):
            raise ValueError(f"order is {order!r}; allowed: {_ORDERS}")
        if check_str("null_placement", null_placement, _PLACES) not in ("at_start", "at_end"):
            raise ValueError(f"null_placement is {null_placement!r}; allowed: {_PLACES}")
        down = order == "descending" if descending is None else check_bool("descending", descending)
        return self._call("list_sort", descending=down, nulls_last=null_placement == "at_end")


class MapNamespace(Namespace[_E]):
    """Methods of maps: ``col("counts").map``."""

    def keys(self) -> _E:
        """A list of its keys."""
        return self._call("map_keys")

    def values(self) -> _E:
        """A list of its values."""
        return self._call("map_values")


class ArrayNamespace(Namespace[_E]):
    """Methods of lists of a fixed length: ``col("vector").arr``."""

    def len(self) -> _E:
        """How many values it has."""
        return self._call("list_value_length")

    def get(self, index: int) -> _E:
        """The value at ``index``, from 0."""
        return self._kernel("list_element", self._of, self._number("index", index))

    def to_list(self) -> _E:
        """A list with its values, whose length is no part of the type."""
        return self._call("to_list")


class StructNamespace(Namespace[_E]):
    """Fields of structs: ``col("user").struct["name"]``."""

    def field(self, field_name: str) -> _E:
        """The field of this name."""
        return self._call("struct_field", name=check_str("field_name", field_name, "a field's name"))

    __getitem__ = field

    def field_by_index(self, index: int) -> _E:
        """The field with this number, from 0."""
        if check_int("index", index, "0 or more") < 0:
            raise ValueError(f"index is {index}; allowed: 0 or more")
        return self._call("struct_field_by_index", index=index)


def _cut(start: int, stop: int | None, step: int) -> dict[str, int]:
    cut = {"start": check_int("start", start, _NUMBER), "step": check_int("step", step, "an integer above 0")}
    if cut["step"] < 1:
        raise ValueError(f"step is {step}; allowed: an integer above 0")
    if stop is not None:
        cut["stop"] = check_int("stop", stop, "None or an integer")
    return cut
