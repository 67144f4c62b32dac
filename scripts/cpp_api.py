"""Writes docs/cpp_api.md: the public C++ API, out of the headers' own words (include/headway).

    python scripts/cpp_api.py [--check]

``--check`` writes nothing, and fails when the page is not what the headers say. A declaration is
shown with its comments, but without function bodies and private parts.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "include"
PAGE = ROOT / "docs" / "cpp_api.md"
HEADERS = [
    *(
        "main",
        "init",
        "trainer",
        "run_event",
        "config",
        "report",
        "reduce",
        "validation",
        "reported_checkpoints",
        "context",
        "collective",
        "preemption",
        "progress",
        "checkpoint",
        "storage",
        "callback",
        "tune",
        "data/dataset",
        "data/aggregate",
        "data/write",
        "data/expression",
        "data/iterator",
        "data/shard",
        "data/batch",
        "result",
        "json",
    ),
    *("version", "torch/data_parallel", "torch/sampler", "torch/checkpoint", "torch/process_group"),
    "torch/data",
    "torch/devices",
    "torch/reproducibility",
]
INTRODUCTION = """# The C++ API

Everything that `<headway/train.hpp>`, `<headway/tune.hpp>` and `<headway/torch.hpp>` declare, header by header.
[Training from C++](cpp.md) is the introduction. This page is written by `scripts/cpp_api.py` out of the headers.
"""


def end_of_block(text: str, begin: int) -> int:
    """Just behind the ``}`` that closes the ``{`` at ``begin``. Braces in comments and strings are
    no braces.
    """
    depth = 0
    for match in re.finditer(r'//[^\n]*|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'|[{}]', text[begin:]):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return begin + match.end()
    raise ValueError(f"a block is not closed: {text[begin : begin + 60]!r}")


def end_of_declaration(text: str, begin: int) -> int:
    """Just behind its ``;`` or its function body."""
    parentheses = 0
    position = begin
    while True:
        match = re.compile(r'//[^\n]*|"(?:[^"\\]|\\.)*"|[(){};]').search(text, position)
        if match is None:
            raise ValueError(f"a declaration has no end: {text[begin : begin + 60]!r}")
        position = match.end()
        parentheses += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] == ";" and parentheses == 0:
            return position
        if match[0] == "{" and parentheses == 0:
            position = end_of_block(text, match.start())
            is_initialiser = re.search(r"[\w>)]\s*$", text[begin : match.start()]) and _in_initialisers(
                text[begin : match.start()]
            )
            rest = text[position:].lstrip()
            if rest.startswith(";") or is_initialiser:
                continue
            return position


def _in_initialisers(text: str) -> bool:
    """Whether a ``{`` behind this text belongs to a constructor's initialiser: ``: part{``."""
    return re.search(r"\)\s*:(?!:)[^{}]*[,:]\s*\w+$", text) is not None


def shown(text: str, indent: str) -> list[str]:
    """The lines of the declarations in ``text``, with their comments, without bodies and private
    parts.
    """
    lines: list[str] = []
    position = 0
    while match := re.compile(r"[^\s]").search(text, position):
        position = match.start()
        line_end = text.find("\n", position) % (len(text) + 1)
        line = text[position:line_end].rstrip()
        if line.startswith("private:"):
            break
        if line.startswith(("//", "public:", "#")) or line == "}":
            # Comments that are not for users (one slash too few) stay out, as do the lines of the
            # preprocessor.
            if line.startswith(("///", "public:")):
                lines.append(indent[: -1 if line.startswith("public:") and indent else None] + line)
            elif line.startswith("#define") and lines and lines[-1].startswith("///"):
                lines.append(line.split(")")[0] + ")")
            position = line_end
            while line.endswith("\\"):
                line_end = text.find("\n", position + 1)
                line = text[position:line_end]
                position = line_end
            continue
        end = end_of_declaration(text, position)
        trailing = re.compile(r"[ \t]*///<[^\n]*").match(text, end)
        declaration = text[position:end]
        position = trailing.end() if trailing else end
        lines += one(declaration, indent, trailing[0].strip() if trailing else "")
    return lines


def body_of(declaration: str) -> int:
    """Where a function's body begins, or its list of initialisers' first brace; -1 without one."""
    parentheses = 0
    for match in re.finditer(r"[(){]", declaration):
        parentheses += {"(": 1, ")": -1}.get(match[0], 0)
        before = declaration[: match.start()]
        if match[0] == "{" and parentheses == 0:
            return match.start() if "(" in before and not re.search(r"=\s*$", before) else -1
    return -1


def one(declaration: str, indent: str, trailing: str) -> list[str]:
    comment = f"  {trailing}" if trailing else ""
    aggregate = re.match(r"(?:template <[^{]*>\s*)?(class|struct|enum class|enum)\s+[^;{(]*\{", declaration)
    if aggregate:
        begin = aggregate.end()
        body = declaration[begin : declaration.rindex("}")]
        head = re.sub(r"HEADWAY_API |\[\[nodiscard\]\] ", "", " ".join(declaration[:begin].split()))
        if aggregate[1].startswith("enum"):
            inner = [indent + "  " + line.strip() for line in body.splitlines() if line.strip()]
        else:
            inner = shown(body, indent + "  ")
        return [indent + head, *inner, indent + "};" + comment]
    brace = body_of(declaration)
    if brace >= 0:
        signature = re.sub(r"\)\s*:(?!:).*$", ")", declaration[:brace].rstrip(), flags=re.DOTALL)
        declaration = signature.rstrip() + ";"
    declaration = re.sub(r"HEADWAY_API |inline (?=[\w:])|\[\[(?:nodiscard|noreturn)\]\] ", "", declaration)
    return [indent + line if i == 0 else line for i, line in enumerate((declaration + comment).splitlines())]


def section(name: str) -> str:
    text = (INCLUDE / "headway" / f"{name}.hpp").read_text()
    found = re.search(r"\nnamespace (headway(?:::\w+)?) \{\n", text)
    assert found is not None, f"{name}.hpp has no namespace"
    body = text[found.end() : text.rindex("\n}  // namespace")]
    body = re.sub(r"namespace detail \{.*?\n\}  // namespace detail\n", "", body, flags=re.DOTALL)
    of_file = [
        line.removeprefix("///").strip() for line in text[: found.start() + 1].splitlines() if line.startswith("///")
    ]
    words = "\n".join([*of_file, ""]) + "\n" if of_file else ""
    code = "\n".join(spaced(shown(body, "")))
    return f"\n## `<headway/{name}.hpp>`\n\n{words}In namespace `{found[1]}`:\n\n```cpp\n{code}\n```\n"


def spaced(lines: list[str]) -> list[str]:
    """An empty line before each commented declaration that is not the first of its block."""
    result: list[str] = []
    for line in lines:
        begins_comment = line.lstrip().startswith("///") and not (result and result[-1].lstrip().startswith("///"))
        if begins_comment and result and not result[-1].rstrip().endswith(("{", "public:")):
            result.append("")
        result.append(line)
    return result


def page() -> str:
    present = [name for name in HEADERS if (INCLUDE / "headway" / f"{name}.hpp").exists()]
    return INTRODUCTION + "".join(section(name) for name in present)


def main() -> None:
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != page():
            sys.exit(f"{PAGE} is not what the headers say; run scripts/cpp_api.py")
    else:
        PAGE.write_text(page())


if __name__ == "__main__":
    main()
