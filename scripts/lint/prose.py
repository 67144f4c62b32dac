#!/usr/bin/env python3
"""Plain English in papers, and in comments and strings of the code: words that have a plainer one
are named with it.

    prose.py [FOLDER...]     only files below these; without any, the folders in CLEAN

A violation is rewritten as a whole sentence: subject, verb, object. Replacing the word alone rarely
reads well.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import code_parts
import sources

# Folders, and files at the root, that have no violation, and where none may come back.
CLEAN = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs",
    "scripts",
    "bench",
    "examples",
    "python",
    "src",
    "include",
    "sim",
    "tests",
    "cmake",
]

# What is not written, and what is written for it. Blanks stand for any space, a comment's line
# break too.
INSTEAD = {
    r"(?:go|goes|going|gone|went) on (?:with|from|beside|while|until)": "resume, continue",
    r"mend(?:s|ed|ing)?": "fix",
    r"be (?:it|they)": "even if, whether",
    r", say(?=[,.;:)])": "for example",
    r"of (?:its|their|his|her|your|our) own": "separate, per-run (or leave it out)",
    r"of (?:a|an|the) [\w-]+'s own": "separate, per-run (or leave it out)",
    r"ma(?:ke|kes|de) place": "make room; is stopped before",
    r"(?:is|are|was|were|be|been|being) told(?! (?:apart|from))": "report, raise, print; say who does it",
    r"(?:that|which|who) (?:is|are|was|were) none": "say what is missing",
    r"none: it has": "optional, unset",
    r"(?:is|are|was|were|be) over(?! (?:the|a|an|its|\d))": "has ended, ends, fails",
    r"as one who": "say who does what",
    r"were (?:it|they) to": "if it ...",
    r"not to be had": "not available",
    r"can never be had": "what no machine has",
    r"afresh": "again, from the start, new",
    r"foretell": "predict",
}


def _group(number: int, words: str) -> str:
    before = "" if words.startswith(",") else r"(?<![\w-])"
    spaced = words.replace(" ", r"\s+")
    return rf"(?P<p{number}>{before}{spaced}(?![\w-]))"


PATTERN = re.compile("|".join(_group(number, words) for number, words in enumerate(INSTEAD)), re.IGNORECASE)
ADVICE = list(INSTEAD.values())

# Stands where code was: no pattern reaches over it.
CODE = "\x00"
MARKS = re.compile(r"^[ \t]*(?:///?<?|#:?|\*)", re.MULTILINE)
PAPER_CODE = re.compile(r"^```.*?^```|`[^`\n]+`|\]\([^)]*\)", re.MULTILINE | re.DOTALL)
# The own test of this check holds what it looks for, and so does this file; the third is written
# from the headers.
LEFT_OUT = {Path("tests/lint/test_prose.py"), Path("scripts/lint/prose.py"), Path("docs/cpp_api.md")}


def check(root: Path, file: Path) -> Iterator[str]:
    """One message for each place with a plainer word."""
    if file in LEFT_OUT:
        return
    text = (root / file).read_text()
    prose = _of_paper(text) if file.suffix == ".md" else _of_code(file, text)
    for match in PATTERN.finditer(prose):
        line = prose.count("\n", 0, match.start()) + 1
        found = re.sub(r"\s+", " ", match[0])
        yield f'{file}:{line}: "{found}"; instead: {ADVICE[int((match.lastgroup or "p0")[1:])]}'


def _of_paper(text: str) -> str:
    return PAPER_CODE.sub(_blank, text)


def _of_code(file: Path, text: str) -> str:
    """The file with everything blanked that is no comment and no string."""
    prose = []
    before = 0
    for part in code_parts.parts(file, text):
        gap = text[before : part.start]
        # Lines of one comment stay together.
        prose.append(gap if part.kind == "comment" and not gap.strip() else re.sub(r"[^\n]", CODE, gap))
        prose.append(MARKS.sub(lambda mark: " " * len(mark[0]), text[part.start : part.end]))
        before = part.end
    return "".join(prose)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", CODE, match[0])


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    suffixes = {".md"} | sources.CPP_SUFFIXES | sources.PYTHON_SUFFIXES
    return sources.report("prose", check, root, sources.tracked_files(root, suffixes, sys.argv[1:] or CLEAN))


if __name__ == "__main__":
    sys.exit(main())
