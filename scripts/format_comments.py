#!/usr/bin/env python3
"""Rewraps comments and docstrings that are longer than scripts/lint/comments.py allows. Code stays
as it is.

    format_comments.py [FILE or FOLDER...]     without any, the whole tree

A comment behind code moves above it when it is too long. Line breaks that an author put early,
lists, indented samples, doctests and comments for tools stay. Run scripts/format.sh afterwards:
code may fit on fewer lines once its comment has moved.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts/lint"))

import code_parts  # noqa: E402
import comments  # noqa: E402
import sources  # noqa: E402

COLUMNS_MAX = comments.COLUMNS_MAX
LIST = re.compile(r" *(?:[-*•]|\d+[.)]) +")
# An argument of a docstring: "name: what it is", "name (unit): what it is".
ENTRY = re.compile(r" +[*\w.]+(?: \([^()]*\))?: \S")
SECTION = re.compile(r" *(?:[A-Z]\w*:(?: |$)|[@\\]\w)")
COMMENT_LINE = re.compile(r"( *(?:///<|///|//|#:|#))( .*)?$")
DOCSTRING_START = re.compile(r'( *)([rR]?""")(.*)$')
# What stands before these lines belongs to another block.
ENDS_A_BLOCK = re.compile(r" *(?:\}|else\b|elif\b|except\b|finally\b)")
# A line of C++ that the next one continues.
CONTINUES = re.compile(r"^(?!\s*(?://|#)).*[^;{},:(\s]\s*$|=\s*$")


def formatted(file: Path, text: str) -> str:
    """The text with its comments rewrapped. Raises ValueError when that would change anything
    else.
    """
    lines = text.splitlines()
    if file.suffix == ".py":
        lines = _docstrings(file, lines)
    lines = _comment_lines(_trailing(file, lines), file.suffix == ".py")
    after = "\n".join(lines) + "\n"
    if after != text and _content(file, after) != _content(file, text):
        raise ValueError(f"{file}: rewrapping its comments would change more than their lines")
    return after


def _content(file: Path, text: str) -> tuple[str, Counter[str]]:
    """The code without its layout, and the words of the comments."""
    words: Counter[str] = Counter()
    code, before = [], 0
    for part in code_parts.parts(file, text):
        if part.kind == "comment":
            words.update(re.sub(r"^(?:///<|///|//|#:|#)", "", text[part.start : part.end]).split())
            code.append(text[before : part.start])
            before = part.end
    code.append(text[before:])
    if file.suffix != ".py":
        return re.sub(r"\s+", "", "".join(code)), words
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            node.value.value = " ".join(node.value.value.split())
    return ast.dump(tree), words


# --- The lines of one comment


def refill(lines: list[str], sample: int, entries: bool) -> list[str]:
    """Rewraps the lines of one comment, each with its indentation, where one is too long.

    Lines that are indented by `sample` are left alone; `entries` are those of a docstring's
    arguments.
    """
    result: list[str] = []
    while lines:
        count = 1
        while count < len(lines) and _continues(lines[:count], lines[count], sample, entries):
            count += 1
        unit, lines = lines[:count], lines[count:]
        too_long = any(len(line) > COLUMNS_MAX for line in unit) and _indent(unit[0]) < sample
        result += _filled(unit, entries) if too_long else unit
    return result


def _continues(unit: list[str], line: str, sample: int, entries: bool) -> bool:
    """Whether `line` has what did not fit on the unit's last line."""
    before = unit[-1]
    if not before.strip() or not line.strip() or LIST.match(line) or SECTION.match(line):
        return False
    if _indent(unit[0]) >= sample or (entries and ENTRY.match(line) and _indent(line) <= _indent(unit[0])):
        return False
    hang = _indent(unit[1]) if len(unit) > 1 else None
    if hang is None and _indent(line) > _indent(before) and not _is_item(before, entries):
        return False
    if _indent(line) < _indent(unit[0]) or (hang is not None and _indent(line) != hang):
        return False
    return len(before) + 1 + len(line.split()[0]) > COLUMNS_MAX


def _filled(unit: list[str], entries: bool) -> list[str]:
    first = _indent(unit[0])
    item = LIST.match(unit[0])
    hang = item.end() if item else first + 4 if entries and ENTRY.match(unit[0]) else first
    if len(unit) > 1:
        hang = _indent(unit[1])
    words = " ".join(line.strip() for line in unit)
    return _wrapped(words, " " * first, " " * hang)


def _wrapped(words: str, first: str, others: str) -> list[str]:
    return textwrap.wrap(
        words, COLUMNS_MAX, initial_indent=first, subsequent_indent=others, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _is_item(line: str, entries: bool) -> bool:
    return LIST.match(line) is not None or (entries and ENTRY.match(line) is not None)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


# --- Where comments are


def _starts(file: Path, lines: list[str]) -> dict[int, int]:
    """By line the column in which its comment begins."""
    text = "\n".join(lines) + "\n"
    starts = {}
    for part in code_parts.parts(file, text):
        if part.kind == "comment" and not text.startswith("/*", part.start):
            starts[text.count("\n", 0, part.start)] = part.start - (text.rfind("\n", 0, part.start) + 1)
    return starts


def _trailing(file: Path, lines: list[str]) -> list[str]:
    """Moves comments behind code above it where they are too long."""
    starts = _starts(file, lines)
    result: list[str] = []
    number = 0
    while number < len(lines):
        line, column = lines[number], starts.get(number)
        number += 1
        group = [line]
        if column is None or not line[:column].strip():
            result.append(line)
            continue
        while number < len(lines) and starts.get(number) == column and not lines[number][:column].strip():
            group.append(lines[number])
            number += 1
        _move(result, group, column, file.suffix == ".py")
    return result


def _move(result: list[str], group: list[str], column: int, python: bool) -> None:
    """Adds a line of code and the comment behind it, which may go on below, to the result."""
    code, texts = group[0][:column].rstrip(), [line[column:] for line in group]
    fits = all(len(line) <= COLUMNS_MAX for line in group)
    ends_block = ENDS_A_BLOCK.match(code) is not None
    stays = any(comments.PRAGMA.search(text) for text in texts) or group[0].endswith("\\")
    if fits or stays or (ends_block and not code.endswith((":", "{"))):
        result += group
        return
    mark = "# " if python else "/// " if texts[0].startswith("///") else "// "
    words = " ".join(re.sub(r"^(?:///<?|//|#)", "", text).strip() for text in texts)
    if ends_block:
        prefix = " " * (_indent(code) + (4 if python else 2)) + mark
        result += [code, *_wrapped(words, prefix, prefix)]
        return
    statement = [code]
    while not python and result and CONTINUES.match(result[-1]) and "//" not in result[-1]:
        statement.insert(0, result.pop())
    prefix = " " * _indent(statement[0]) + mark
    result += [*_wrapped(words, prefix, prefix), *statement]


def _comment_lines(lines: list[str], python: bool) -> list[str]:
    """Rewraps comments that have lines to themselves."""
    file = Path("a.py" if python else "a.cpp")
    starts = _starts(file, lines)
    result: list[str] = []
    number = 0
    while number < len(lines):
        prefix = _prefix(lines[number]) if _alone(starts, number, lines) else None
        block: list[str] = []
        while prefix is not None and number < len(lines) and _alone(starts, number, lines):
            if _prefix(lines[number]) != prefix or comments.PRAGMA.search(lines[number]):
                break
            block.append(" " * len(prefix) + lines[number][len(prefix) :])
            number += 1
        if prefix is None or not block:
            result.append(lines[number])
            number += 1
            continue
        filled = refill(block, sample=len(prefix) + comments.SAMPLE_INDENT + 1, entries=False)
        result += [(prefix + line[len(prefix) :]).rstrip() for line in filled]
    return result


def _alone(starts: dict[int, int], number: int, lines: list[str]) -> bool:
    return number in starts and not lines[number][: starts[number]].strip()


def _prefix(line: str) -> str | None:
    found = COMMENT_LINE.match(line)
    return found[1] if found else None


def _docstrings(file: Path, lines: list[str]) -> list[str]:
    text = "\n".join(lines) + "\n"
    for part in reversed(code_parts.parts(file, text)):
        if part.kind == "docstring":
            first, last = text.count("\n", 0, part.start), text.count("\n", 0, part.end)
            lines[first : last + 1] = _docstring(lines[first : last + 1])
    return lines


def _docstring(lines: list[str]) -> list[str]:
    """Rewraps one docstring, from its opening quotes to its closing ones."""
    start = DOCSTRING_START.match(lines[0])
    if start is None or all(len(line) <= COLUMNS_MAX for line in lines) or not lines[-1].endswith('"""'):
        return lines
    indent, quotes, summary = start.groups()
    # The quotes are part of the first word and, of a docstring of one line, of the last.
    body = [indent + "\x01" * len(quotes) + summary, *lines[1:]]
    body[-1] = body[-1][:-3].rstrip() + ("\x02" * 3 if len(lines) == 1 else "")
    if not body[-1]:
        body.pop()
    result: list[str] = []
    while body:
        examples = list(comments.doctest_lines(body))
        count = examples[0] if examples else len(body)
        result += refill(body[:count], sample=COLUMNS_MAX, entries=True)
        body = body[count:]
        while body and 0 in comments.doctest_lines(body):
            result.append(body.pop(0))
            while body and body[0].strip():
                result.append(body.pop(0))
    result[0] = result[0].replace("\x01" * len(quotes), quotes, 1)
    if len(result) == 1:
        return [result[0].replace("\x02" * 3, '"""')]
    return [*(line.replace("\x02" * 3, "") for line in result), indent + '"""']


def main() -> int:
    """Rewraps the files that are named, or those of the tree."""
    suffixes = sources.CPP_SUFFIXES | sources.PYTHON_SUFFIXES
    folders = [str(Path(name).resolve().relative_to(ROOT)) for name in sys.argv[1:]] or [""]
    failed = False
    for file in sources.tracked_files(ROOT, suffixes, folders):
        if file in comments.LEFT_OUT:
            continue
        text = (ROOT / file).read_text()
        try:
            after = formatted(file, text)
        except ValueError as error:
            print(error, file=sys.stderr)
            failed = True
            continue
        if after != text:
            (ROOT / file).write_text(after)
            print(file)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
