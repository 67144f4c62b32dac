"""Finds the functions of a C++ source by its braces. It knows as much of C++ as formatted code
needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Comments, raw strings, strings, characters. A digit separator (1'000) begins no character.
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^()\\ ]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
_PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_PARENTHESES = re.compile(r"\([^()]*\)")

# What may stand ahead of a declaration: access, a macro call without semicolon, a template's
# parameters.
_AHEAD = re.compile(
    r"\s*(?:(?:public|private|protected)\s*:|[A-Z][A-Z0-9_]+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(?=\s*[^\s{])|template\s*<[^{}]*?>(?=\s))"
)
_SCOPE = re.compile(r"(?:inline\s+)?(?:namespace|class|struct|union|enum)\b|extern\s*$")
_NAME = re.compile(r"([~\w:]+|operator\s*\S+?)\s*\(")
# `Name::Name(int a) : a_` before a brace: the brace gives a member its value.
_MEMBER_INITIALIZER = re.compile(r"\)[^?]*?(?<!:):(?!:).*[\w>]\s*$", re.DOTALL)


@dataclass(frozen=True)
class _Brace:
    """An open brace: of a scope of declarations, of a function's body, or (neither) of anything
    else.
    """

    is_scope: bool = False
    function: str | None = None
    first_line: int = 0


def functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first and last line of each function that `text` defines. A lambda counts to the
    function around it.
    """
    code = _PREPROCESSOR.sub(_blank, NO_CODE.sub(_blank, text))
    open_braces: list[_Brace] = []
    head_start = 0
    for mark in re.finditer(r"[{};]", code):
        if mark[0] == "{":
            in_declarations = all(brace.is_scope for brace in open_braces)
            brace = _opened(code, head_start, mark.start()) if in_declarations else _Brace()
            open_braces.append(brace)
        else:
            brace = open_braces.pop() if mark[0] == "}" and open_braces else _Brace(is_scope=True)
            if brace.function is not None:
                yield brace.function, brace.first_line, _line(code, mark.start())
        # The braces of an initialiser are part of the declaration that they stand in.
        if brace.is_scope or brace.function is not None:
            head_start = mark.end()


def _opened(code: str, head_start: int, head_end: int) -> _Brace:
    """What the brace at `head_end` opens among declarations, when its declaration begins at
    `head_start`.
    """
    while ahead := _AHEAD.match(code, head_start, head_end):
        head_start = ahead.end()
    head = code[head_start:head_end]
    first_line = _line(code, head_start + len(head) - len(head.lstrip()))
    head = head.strip()
    if _SCOPE.match(head):
        return _Brace(is_scope=True)
    if "(" not in head or _MEMBER_INITIALIZER.search(head) or _is_plain_value(head):
        return _Brace()
    name = _NAME.search(head)
    return _Brace(function=re.sub(r"\s+", "", name[1]) if name else "a lambda", first_line=first_line)


def _is_plain_value(head: str) -> bool:
    """Whether the head ends in `name = ...`, and the brace begins a value that is no lambda."""
    flat = re.sub(r"\boperator\W+?(?=\()", "", head)
    while (shorter := _PARENTHESES.sub("", flat)) != flat:
        flat = shorter
    return "=" in flat and "]" not in flat.rpartition("=")[2]


def _line(code: str, offset: int) -> int:
    return code.count("\n", 0, offset) + 1


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
