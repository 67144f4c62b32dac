from pathlib import Path

import patterns
import pytest


def found(root: Path, code: str) -> list[str]:
    (root / "a.py").write_text(f"\n{code}\n")
    return list(patterns.check(root, Path("a.py")))


@pytest.mark.parametrize(
    "code",
    [
        r're.search(r"waited for 0\.[5-9]|[1-9]\d*\.\d s", text)',
        're.match("a|", text)',
        're.compile("(a|b)|c")',
        're.search("[]|]|a", text)',
        r're.search(r"a\\|b", text)',
        're.search(f"{name} is|{other} are", text)',
        're.findall("a" + name + "|b", text)',
        'pytest.raises(ValueError, match="a (b|c)|d")',
        'pytest.raises(ValueError, match=name + "|d")',
        'pytest.warns(UserWarning, match="a|b")',
    ],
)
def test_an_alternation_that_reaches_over_the_whole_pattern_is_found(tmp_path: Path, code: str) -> None:
    (message,) = found(tmp_path, code)
    assert message.startswith("a.py:2: a `|` at the top of a pattern")


@pytest.mark.parametrize(
    "code",
    [
        r're.search(r"waited for (?:0\.[5-9]|[1-9]\d*\.\d) s", text)',
        're.search("[a|b]", text)',
        're.search("[^]|]", text)',
        r're.search(r"a\|b", text)',
        're.search("a|b".replace("|", ""), text)',
        'text.split("a|b")',
        'pytest.raises(ValueError, match="(a|b) is wrong")',
        "pytest.raises(ValueError)",
    ],
)
def test_an_alternation_in_a_group_and_what_is_no_pattern_pass(tmp_path: Path, code: str) -> None:
    assert found(tmp_path, code) == []
