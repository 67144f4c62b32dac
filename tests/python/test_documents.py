"""Every Python block of the README and the guides runs as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

import page as page_blocks
import pytest

ROOT = Path(__file__).parents[2]


PAGES = [
    page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if list(page_blocks.blocks(page))
]


def run_page(page, folder, *workers):
    """One process for all of its blocks: page.py."""
    command = [sys.executable, page_blocks.__file__, page, folder, *workers]
    return subprocess.run(command, capture_output=True, text=True, timeout=110, cwd=folder)


# Pages about frameworks that only `make test-all` installs (requirements/frameworks.txt), or that
# take long to import.
HEAVY = (
    "accelerate.md",
    "deepspeed.md",
    "horovod.md",
    "jax.md",
    "lightning.md",
    "tensorflow.md",
    "transformers.md",
    "trackers.md",
)
TESTED = [pytest.param(page, marks=pytest.mark.heavy if page.name in HEAVY else ()) for page in PAGES]


# Their training loops must also run in this process, and with one worker.
LOOPS = [
    ROOT / "README.md",
    *(ROOT / f"docs/{name}.md" for name in ("getting-started", "pytorch", "from-torchrun", "from-ray")),
]


@pytest.mark.parametrize("page", TESTED, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(page, tmp_path):
    workers = ("0", "1") if page in LOOPS else ()
    done = run_page(page, tmp_path, *workers)
    assert done.returncode == 0, done.stdout + done.stderr
    if workers:
        assert done.stdout.count("--- ") >= len(list(page_blocks.blocks(page))) + 2


def test_each_block_that_fails_is_named_by_its_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A page\n\n```python\nx = 1\nraise ValueError(x)\n```\n\n```python\nprint(x)\n```\n```python\nx = 2\n```\n"
    )
    done = run_page(page, tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-2:] == ["page.md:4 failed", "page.md:9 failed"]
    assert f'File "{page}", line 5, in <module>' in done.stderr
    assert "NameError: name 'x' is not defined" in done.stderr


def test_the_readme_begins_with_its_two_commands():
    first = re.search(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert first[1].splitlines() == ["make demo", "make test"]


def test_the_readme_is_a_page_that_fits_a_screen_s_width():
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 110
    assert [line for line in lines if len(line) > 120] == []


def rows(text):
    """Each row of its tables as its cells."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


def test_the_index_lists_every_guide():
    index = (ROOT / "docs/README.md").read_text()
    assert [page.name for page in (ROOT / "docs").glob("*.md") if f"({page.name})" not in index] == ["README.md"]


def test_the_readme_s_figures_are_those_of_the_benchmarks():
    current = (ROOT / "docs/benchmarks.md").read_text().partition("### ")[0]
    medians = {name: [cell.partition(" (")[0] for cell in cells[:3]] for name, *cells in rows(current)}
    table = (ROOT / "README.md").read_text().partition("| | Headway | torchrun | Ray |\n")[2].partition("\n\n")[0]
    figures = {name: cells for name, *cells in rows(table) if name != "---"}
    assert len(figures) == 4
    assert figures == {name: medians[name] for name in figures}


def test_the_figures_of_the_comparison_are_those_of_the_benchmarks():
    """Where a row is in several tables, the newest one comes first."""
    current = (ROOT / "docs/benchmarks.md").read_text().partition("## Older figures")[0]
    columns = {("torchrun", "Ray"): (0, 1, 2), ("Ray",): (0, 2), ("alone", "Ray"): (0, 1, 2)}
    measured = {}
    for name, *cells in rows(current):
        measured.setdefault(name, [cell.partition(" (")[0] for cell in cells])
    figures = (ROOT / "docs/comparison.md").read_text().partition("## Figures")[2]
    compared, chosen = 0, ()
    for name, *cells in rows(figures):
        if cells[:1] == ["Headway"]:
            chosen = columns[tuple(cells[1:])]
        elif name != "---":
            compared += 1
            assert cells == [measured[name][column] for column in chosen], name
    assert compared == 20


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_readme_s_picture_shows_a_worker_that_is_killed_and_the_recovery(theme):
    """In a page a picture loads nothing else: its fonts are those of the reader."""
    name = f"docs/demo-{theme}.svg"
    assert f'"{name}"' in (ROOT / "README.md").read_text()
    picture = (ROOT / name).read_text().replace("&#160;", " ")
    for words in ("report ", "SIGKILL", "From the kill until both workers had made a step again"):
        assert words in picture
    assert re.findall(r"https?://[^\"]*", picture) == ["http://www.w3.org/2000/svg"]


def anchors(document):
    """What a heading is linked by: as GitHub makes it of its words."""
    text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_its_links_lead_somewhere(document):
    text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
