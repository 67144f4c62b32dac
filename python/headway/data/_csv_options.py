"""Options of pyarrow's CSV reader, as the plan has them."""

from __future__ import annotations

from typing import Any

from headway._values.arguments import refuse

_READ = ("skip_rows", "skip_rows_after_names", "column_names", "autogenerate_column_names", "encoding")
_PARSE = ("delimiter", "quote_char", "double_quote", "escape_char", "newlines_in_values", "ignore_empty_lines")
_CONVERT = (
    "check_utf8",
    "null_values",
    "true_values",
    "false_values",
    "strings_can_be_null",
    "quoted_strings_can_be_null",
    "decimal_point",
)
#: What the engine does not do.
_NONE = ("invalid_row_handler", "include_missing_columns", "auto_dict_encode", "timestamp_parsers")


def for_plan(read_options: Any, parse_options: Any, convert_options: Any) -> dict[str, Any]:
    """The options that differ from pyarrow's own defaults."""
    if read_options is None and parse_options is None and convert_options is None:
        return {}
    import pyarrow.csv

    chosen: dict[str, Any] = {}
    for argument, given, kind, names in (
        ("read_options", read_options, pyarrow.csv.ReadOptions, _READ),
        ("parse_options", parse_options, pyarrow.csv.ParseOptions, _PARSE),
        ("convert_options", convert_options, pyarrow.csv.ConvertOptions, _CONVERT),
    ):
        if given is None:
            continue
        if not isinstance(given, kind):
            refuse(argument, given, f"None or pyarrow.csv.{kind.__name__}")
        default = kind()
        for name in _NONE:
            if getattr(given, name, None) != getattr(default, name, None):
                raise ValueError(f"{argument}.{name} is {getattr(given, name)!r}; allowed: none; map() can do it")
        chosen |= {name: getattr(given, name) for name in names if getattr(given, name) != getattr(default, name)}
    if convert_options is not None:
        if convert_options.column_types:
            chosen["column_types"] = {name: str(kind) for name, kind in dict(convert_options.column_types).items()}
        if convert_options.include_columns:
            chosen["columns"] = list(convert_options.include_columns)
    return chosen
