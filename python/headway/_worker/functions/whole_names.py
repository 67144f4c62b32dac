"""Names of columns as DuckDB sees them: it takes names that differ only in case for one."""

from __future__ import annotations

import re

#: The name of the rows' numbers, or of their low 32 bits.
ROW = "__headway_row"
#: The name of the rows' numbers' next 8 bits.
ROW_HIGH = "__headway_row_high"
#: In place of a name that SQL does not have, or that could be one of ours: its bytes. An empty name
#: is that of the index in pandas' CSV files.
_BYTES = re.compile(r"__headway_bytes_((?:[0-9a-f]{2})*)")
#: Behind a name with capitals. The number's bits say which letters are.
_CAPITALS = re.compile(r"__headway_capitals_([0-9a-f]+)")


def seen_name(name: str) -> str:
    """A column's name as DuckDB sees it; another for each name, also without regard to case."""
    if not name or "\0" in name or "__headway_" in name:
        return f"__headway_bytes_{name.encode().hex()}"
    capitals = sum(1 << index for index, letter in enumerate(name) if letter.isascii() and letter.isupper())
    return f"{name}__headway_capitals_{capitals:x}" if capitals else name


def own_names(text: str) -> str:
    """A column's name, or a text of DuckDB's about columns, by their own names."""
    return _BYTES.sub(lambda found: bytes.fromhex(found[1]).decode(), _CAPITALS.sub("", text))


def quoted(name: str) -> str:
    """A column's name in SQL."""
    return '"' + seen_name(name).replace('"', '""') + '"'
