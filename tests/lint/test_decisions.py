from pathlib import Path

import decisions
import pytest

PAGE = "# Workers are forked\n\n**Decision.** a\n\n**Why.** b\n\n**Rejected.** c\n\n**Cost.** d\n"
INDEX = "# Decisions\n\n## 400 to 499: `node/`\n\n| | decision |\n| --- | --- |\n"
ROW = "| [401](401-workers-are-forked.md) | Workers are forked |\n"


def found(root: Path, pages: dict[str, str], index: str) -> list[str]:
    folder = root / decisions.FOLDER
    folder.mkdir(parents=True)
    for name, text in {**pages, "README.md": index}.items():
        (folder / name).write_text(text)
    return [message for name in [*pages, "README.md"] for message in decisions.check(root, decisions.FOLDER / name)]


def test_a_page_that_is_listed_under_its_title_passes(tmp_path: Path) -> None:
    assert found(tmp_path, {"401-workers-are-forked.md": PAGE}, INDEX + ROW) == []


@pytest.mark.parametrize(
    ("pages", "index", "reason"),
    [
        ({"401-workers-are-forked.md": PAGE}, INDEX, "does not list this page"),
        ({"workers.md": PAGE}, INDEX, "called NNN-title.md"),
        ({"401-workers-are-forked.md": PAGE.replace("Workers", "Ranks")}, INDEX + ROW, "title is 'Ranks are forked'"),
        ({"401-workers-are-forked.md": PAGE.replace("**Why.**", "Why:")}, INDEX + ROW, "begins with **Why.**"),
        ({}, INDEX + ROW, "not the page of decision 401"),
        ({"401-workers-are-forked.md": PAGE}, INDEX + ROW + ROW, "in the order of their numbers"),
        ({"401-workers-are-forked.md": PAGE}, INDEX.replace("400 to 499", "500 to 599") + ROW, "not within"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path: Path, pages: dict[str, str], index: str, reason: str) -> None:
    (message,) = found(tmp_path, pages, index)
    assert reason in message


def test_a_number_is_used_once(tmp_path: Path) -> None:
    rows = ROW + "| [401](401-more.md) | Workers are forked |\n"
    messages = found(tmp_path, {"401-workers-are-forked.md": PAGE, "401-more.md": PAGE}, INDEX + rows)
    assert sum("number 401 is used by" in message for message in messages) == 2
