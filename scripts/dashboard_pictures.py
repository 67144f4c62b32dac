#!/usr/bin/env python3
"""Takes the pictures of the dashboard for the guides: docs/dashboard-*.png.

``make dashboard-pictures`` calls it. It makes the runs of tests/browser/record_runs.py, serves them
by ``headway dashboard``, and opens each view in Debian's chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from headway.train import Result
from PIL import Image
from playwright.sync_api import Browser, Frame, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/browser"))

import sites  # noqa: E402

WIDTH = 1120
WIDE = 1280
PHONE_WIDTH = 400
HEIGHT_MAX = 900
COLOURS_MAX = 256
# Where each picture is taken; what must be there before; whether in dark colours.
PICTURES = {
    "runs": ("", "table", False),
    "failed": ("#/run/bad-batch", ".failure details[data-key] pre", False),
    "attempts": ("#/run/digits", ".attempts li", False),
    "metrics": ("#/run/digits/metrics?with=vision-large&smooth=0.5", ".u-over", False),
    "metrics-dark": ("#/run/digits/metrics?with=vision-large&smooth=0.5", ".u-over", True),
    "steps": ("#/run/vision-large/steps", ".sums", False),
    "checkpoints": ("#/run/digits/checkpoints", "table", False),
    "data": ("#/run/tables/data", "table", False),
    "logs": ("#/run/digits/logs", "pre.log", False),
    "stacks": ("#/run/language-model/stacks", "details.stack", False),
    "best": ("#/experiment/sweep", ".u-over", False),
    "trials": ("#/experiment/sweep/trials", "tr[data-key=row]", False),
    "parallel": ("#/experiment/sweep/parallel", "tr[data-key=row]", False),
    "curves": ("#/experiment/sweep/curves", "figure canvas", False),
    "places": ("#/experiment/sweep/places", "figure canvas", False),
    "importances": ("#/experiment/sweep/importances", "table", False),
    "lineage": ("#/experiment/population/lineage", "figure canvas", False),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        results = Path(scratch) / "results"
        program = shutil.copy(ROOT / "tests/browser/record_runs.py", Path(scratch) / "train.py")
        shutil.copy(ROOT / "tests/browser/slow_run.py", scratch)
        subprocess.run([sys.executable, str(program), str(results)], check=True)
        for hostile in results.glob("<*"):
            shutil.rmtree(hostile)
        site = sites.of_folder(results)
        try:
            with sync_playwright() as playwright:
                chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
                for name, (address, awaited, dark) in PICTURES.items():
                    take(chromium, site, name, address, awaited, dark=dark)
                take(chromium, site, "phone", "#/run/bad-batch", ".failure details[data-key] pre", width=PHONE_WIDTH)
                take_comparison(chromium, site)
                take_notebook(chromium, results / "digits", Path(scratch) / "notebook.html")
                live = sites.Live(Path(scratch))
                try:
                    live.join("--num-cpus", "8", "--num-gpus", "2", PATH=sites.path_with_gpus(Path(scratch)))
                    # The CPUs at work of the node that joins.
                    take(chromium, live, "nodes", "#/nodes", "tr:nth-child(2) td:nth-child(5) .gauge", width=WIDE)
                finally:
                    live.close()
                chromium.close()
        finally:
            site.close()


def take(
    chromium: Browser,
    site: sites.Site,
    name: str,
    address: str,
    awaited: str,
    *,
    dark: bool = False,
    width: int = WIDTH,
) -> None:
    file = ROOT / f"docs/dashboard-{name}.png"
    context = chromium.new_context(
        viewport={"width": width, "height": HEIGHT_MAX}, color_scheme="dark" if dark else "light"
    )
    page = context.new_page()
    page.goto(site.link)
    page.wait_for_url(site.url)
    page.goto(site.url + address)
    page.locator(awaited).first.wait_for()
    page.wait_for_load_state("load")
    drawn(page)
    height = min(HEIGHT_MAX, page.evaluate("document.querySelector('main').getBoundingClientRect().bottom"))
    page.screenshot(path=str(file), clip={"x": 0, "y": 0, "width": width, "height": height - 32})
    context.close()
    shrink(file)


def take_comparison(chromium: Browser, site: sites.Site) -> None:
    """Three trials of the experiment, chosen in its table."""
    file = ROOT / "docs/dashboard-compared.png"
    context = chromium.new_context(viewport={"width": WIDTH, "height": HEIGHT_MAX})
    page = context.new_page()
    page.goto(site.link)
    page.wait_for_url(site.url)
    page.goto(site.url + "#/experiment/sweep/trials")
    boxes = page.locator("tr[data-key=row] input[type=checkbox]")
    for place in range(3):
        boxes.nth(place).check()
    compared = page.locator("section.compare")
    compared.wait_for()
    drawn(page)
    compared.screenshot(path=str(file))
    context.close()
    shrink(file)


def take_notebook(chromium: Browser, run: Path, file: Path) -> None:
    """A result as it stands below a cell."""
    shown = Result.from_path(run)._repr_html_()
    shown = shown.replace(str(run.parent), "/home/me/headway_results")
    file.write_text(f'<!doctype html><meta charset="utf-8"><body style="font: 14px sans-serif">{shown}</body>')
    context = chromium.new_context(viewport={"width": WIDTH, "height": HEIGHT_MAX // 2})
    page = context.new_page()
    page.goto(file.as_uri())
    page.frame_locator("iframe").locator(".u-over").nth(3).wait_for()
    for frame in page.frames:
        drawn(frame)
    picture = ROOT / "docs/dashboard-notebook.png"
    page.screenshot(path=str(picture), full_page=True)
    context.close()
    shrink(picture)


def drawn(page: Page | Frame) -> None:
    """Until nothing has changed for some frames."""
    page.evaluate("""() => new Promise((resolve) => {
      let still = 0;
      const seen = new MutationObserver(() => { still = 0; });
      seen.observe(document.body, {subtree: true, childList: true, attributes: true});
      const look = () => (++still > 40 ? resolve() : requestAnimationFrame(look));
      look();
    })""")


def shrink(file: Path) -> None:
    """A page has few colours: a palette makes its picture a third as large."""
    Image.open(file).convert("RGB").quantize(COLOURS_MAX, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
