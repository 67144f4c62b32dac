from pathlib import Path

import dashboard_page as page
import pytest

FOLDER = page.FOLDER


def found(root: Path, name: str, text: str) -> list[str]:
    file = root / FOLDER / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return list(page.check(root, FOLDER / name))


@pytest.mark.parametrize(
    ("name", "line", "why"),
    [
        ("app/a.js", "element.innerHTML = name;", "makes markup of text"),
        ("app/a.js", 'setTimeout("go()", 10);', "makes code of text"),
        ("app/a.js", 'fetch("https://example.org")', "loads something from elsewhere"),
        ("style.css", "@import 'more.css';", "loads something from elsewhere"),
        ("style.css", "background: url(image.png);", "loads something from elsewhere"),
        ("index.html", "<script>go()</script>", "policy forbids"),
        ("index.html", '<p style="color: red">', "policy forbids"),
        ("index.html", '<p onclick="go()">', "policy forbids"),
        ("index.html", '<script src="@ASSETS@/app/gone.js"></script>', "there is no app/gone.js"),
        ("app/a.js", 'import { h } from "./gone.js";', "which is no file beside it"),
        ("app/a.js", 'import { h } from "/app/a.js";', "which is no file beside it"),
        ("app/a.js", "\n" * 401, "the file has 401 lines"),
    ],
)
def test_what_the_page_must_not_have_is_found(tmp_path: Path, name: str, line: str, why: str) -> None:
    (message, *_) = found(tmp_path, name, line)
    assert why in message


def test_a_name_must_be_exported_and_used(tmp_path: Path) -> None:
    assert found(tmp_path, "app/b.js", "export function there() {}\n") == []
    missing, unused = found(tmp_path, "app/a.js", 'import { there, other } from "./b.js";\nother();\n')
    assert "imports other, which ./b.js does not export" in missing
    assert "imports there and does not use it" in unused


def test_a_file_that_nothing_uses_is_found(tmp_path: Path) -> None:
    assert found(tmp_path, "app/main.js", "") == []
    assert found(tmp_path, "index.html", '<script src="@ASSETS@/app/main.js"></script>') == []
    assert found(tmp_path, "app/gone.js", "") == []
    files = [FOLDER / name for name in ("app/main.js", "app/gone.js", "index.html")]
    assert list(page.check_all(tmp_path, files)) == [f"{FOLDER}/app/gone.js: nothing of the page uses it"]


def test_the_page_of_this_tree_is_clean() -> None:
    assert page.main() == 0


def test_what_the_page_without_a_server_lacks_is_found(tmp_path: Path) -> None:
    assert found(tmp_path, "app/inline.js", 'import { there } from "./b.js";\nthere();\n') != []
    assert found(tmp_path, "app/b.js", 'import { c } from "./c.js";\nc();\n') != []
    assert found(tmp_path, "app/c.js", "export const c = 1;\n") == []
    (tmp_path / page.INLINE_PAGE).write_text('constexpr std::array modules = {"inline", "b", "d"};\n')
    missing, unneeded = page.check_inline(tmp_path)
    assert missing.endswith("differ by c")
    assert unneeded.endswith("differ by d")
