"""The lint of long comments, and the script that rewraps them."""

import subprocess
import sys
from pathlib import Path

import comments
import pytest
from format_comments import formatted


def words(count: int) -> str:
    """As many words, of eight letters each."""
    return " ".join(["eightlet"] * count)


WORDS = words(11)
CPP = Path("a.cpp")
PYTHON = Path("a.py")


def found(root: Path, name: str, text: str) -> list[str]:
    (root / name).write_text(text)
    return list(comments.check(root, Path(name)))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.cpp", f"/// {WORDS} and more.\nint a;\n"),
        ("a.cpp", f"int a;  ///< {WORDS}\n"),
        ("a.py", f"# {WORDS} and more.\n"),
        ("a.py", f'"""{WORDS} and more."""\n'),
        ("a.py", f'"""Short.\n\n{WORDS} and more.\n"""\n'),
    ],
)
def test_a_long_comment_is_named(tmp_path: Path, name: str, text: str) -> None:
    (message,) = found(tmp_path, name, text)
    assert message.startswith(f"{name}:")
    assert message.endswith("100 are allowed")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.cpp", f"///     sample({'a, ' * 40});\nint a;\n"),
        ("a.cpp", f'auto a = "// {WORDS} and more";\n'),
        ("a.cpp", f"{'call();  ' * 11} // NOLINT(reason)\n"),
        ("a.cpp", f"/// https://example.org/{'a' * 100}\n"),
        ("a.py", f'"""Short.\n\n>>> {"a + " * 30}\n{"1 " * 60}\n"""\n'),
        ("a.py", f"a = '{WORDS} and more and more'\n"),
        ("a.py", f"{'a = ' * 25}1  # type: ignore\n"),
    ],
)
def test_samples_strings_and_comments_for_tools_may_be_long(tmp_path: Path, name: str, text: str) -> None:
    assert found(tmp_path, name, text) == []


def test_a_comment_is_rewrapped_where_it_was_full() -> None:
    text = f"/// {words(11)}\n/// {words(2)}\n/// Errors: none.\nint a;\n"
    assert formatted(CPP, text) == f"/// {words(10)}\n/// {words(3)}\n/// Errors: none.\nint a;\n"


def test_lists_and_paragraphs_stay_apart() -> None:
    text = f"/// Short.\n/// - {words(11)}\n///   {words(1)}\n/// - Second.\n///\n/// Third.\nint a;\n"
    assert formatted(CPP, text) == (
        f"/// Short.\n/// - {words(10)}\n///   {words(2)}\n/// - Second.\n///\n/// Third.\nint a;\n"
    )


def test_a_comment_behind_code_moves_above_the_statement() -> None:
    text = f"struct A {{\n  std::optional<int>\n      a;  ///< {words(10)}\n          ///< {words(2)}\n}};\n"
    assert formatted(CPP, text) == (
        f"struct A {{\n  /// {words(10)}\n  /// {words(2)}\n  std::optional<int>\n      a;\n}};\n"
    )


def test_a_comment_behind_else_moves_into_its_block() -> None:
    text = f"if (a) {{\n  b();\n}} else {{  // {words(10)}\n  c();\n}}\n"
    assert formatted(CPP, text) == f"if (a) {{\n  b();\n}} else {{\n  // {words(10)}\n  c();\n}}\n"


def test_a_docstring_keeps_its_arguments_and_examples() -> None:
    text = f'''def f(a):
    """Does it.

    Args:
        a: {words(11)}
            {words(1)}
        b: Short.

    >>> {"a + " * 30}a
    """
'''
    assert formatted(PYTHON, text) == text.replace(
        f"{words(11)}\n            {words(1)}", f"{words(10)}\n            {words(2)}"
    )


def test_a_docstring_of_one_line_gets_two() -> None:
    assert formatted(PYTHON, f'"""{words(12)}"""\n') == f'"""{words(10)}\n{words(2)}\n"""\n'


def test_a_second_time_nothing_changes() -> None:
    for file in (CPP, PYTHON):
        mark = "#" if file == PYTHON else "//"
        once = formatted(file, f"{mark} {WORDS} and {WORDS}\n{mark} more.\na = 1;  {mark} {WORDS}\n")
        assert formatted(file, once) == once


def test_the_lint_looks_below_the_folders_that_it_is_given() -> None:
    root = Path(comments.__file__).parents[2]
    done = subprocess.run([sys.executable, comments.__file__, "cmake"], cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
