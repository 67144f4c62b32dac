from pathlib import Path

import prose
import pytest


def found(root: Path, name: str, text: str) -> list[str]:
    (root / name).write_text(text)
    return list(prose.check(root, Path(name)))


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("guide.md", "The run is gone on with by `fit()`.\n", "gone on with"),
        ("guide.md", "Mend it, and run it again.\n", "Mend"),
        ("guide.md", "A path on another file system, say, is copied.\n", ", say"),
        ("a.cpp", "/// A directory of\n/// its own.\nint a;\n", "of its own"),
        ("a.cpp", "int a;  // what is there, be it empty\n", "be it"),
        ("a.hpp", 'auto text = "the run is over";\n', "is over"),
        ("a.py", '"""The driver is told."""\n', "is told"),
        ("a.py", "# one that nobody uses makes\n# place for the next\n", "makes place"),
        ("a.py", 'print(f"a selector that is none: {name}")\n', "that is none"),
    ],
)
def test_a_word_with_a_plainer_one_is_named(tmp_path: Path, name: str, text: str, word: str) -> None:
    (message,) = found(tmp_path, name, text)
    assert f'"{word}"; instead: ' in message
    assert message.startswith(f"{name}:")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("guide.md", "Calling `fit()` with an existing name resumes that run.\n"),
        ("guide.md", "```python\nmend(run)  # be it\n```\nThen `mend` it.\n"),
        ("guide.md", "The two cannot be told apart. The bytes are over 100.\n"),
        ("guide.md", "What users say, and what they do.\n"),
        ("a.cpp", "if (is_told || over) mend();\n"),
        ("a.py", "mend = of.its.own\n"),
    ],
)
def test_plain_words_and_code_pass(tmp_path: Path, name: str, text: str) -> None:
    assert found(tmp_path, name, text) == []


def test_the_line_is_where_the_words_begin(tmp_path: Path) -> None:
    (message,) = found(tmp_path, "a.cpp", "int a;\n\n/// It is\n/// over.\n")
    assert message.startswith("a.cpp:3: ")
