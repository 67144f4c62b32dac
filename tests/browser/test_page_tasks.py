"""The one-minute trial: a person who has never seen the page finds out why a run is what it is.

Each task is a question, the run that it is about, and what the person must read without opening
anything but that run; and where the page then leads for more.
"""

import json
import re

import pytest
from playwright.sync_api import expect

TASKS = {
    "Why did bad-batch end?": (
        "bad-batch",
        [
            "Failed: ValueError: bad batch: targets has 3 classes, the model 2; rank 1 (pid ",
            "fails() at record_runs.py:",
            "raise ValueError",
        ],
        ("Read the logs", "logs"),
    ),
    "For whom did language-model wait, and where was that rank?": (
        "language-model",
        [
            "Hung: rank 1 stood in hangs() at record_runs.py:",
            " and did not come to report #13, in which rank 0 waited for ",
            "ended by hang_fail_s",
        ],
        ("See stacks", "stacks"),
    ),
    "Why did vision-large take so long, and how much of that was it?": (
        "vision-large",
        [
            "rank 5 on node-b was 2.4 times slower than the others",
            "took 1.37 s for its own part of a step",
            "about 10 of the 24 minutes were spent waiting for it",
        ],
        ("See steps", "steps"),
    ),
    "Did anything go wrong in digits?": (
        "digits",
        [
            "Finished after 250 reports, with 1 restart",
            "Restarted once: rank 1",
            "was killed by SIGKILL",
            "(perhaps out of memory, by the scheduler, or by hand), after report 130",
            "resumed from checkpoint_000005, the work of 10 reports was lost",
        ],
        ("Checkpoints", "checkpoints"),
    ),
}


def in_any_case(words):
    """As a sentence begins, and with any space between a number and its unit."""
    return re.compile(re.escape(words).replace(r"\ ", r"\s"), re.IGNORECASE)


def test_the_figures_of_the_slow_run_agree(recorded):
    """Who divides one by the other is not led astray."""
    folder = recorded / "vision-large"
    journal = json.loads((folder / "run.json").read_text())
    reports = [json.loads(line) for line in (folder / "result.json").read_text().splitlines()]
    history = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    assert journal["reports"] == len(reports) == 1200
    took_s = journal["time_total_s"]
    assert reports[-1]["time_total_s"] == pytest.approx(took_s)
    assert history[-1]["is"] == "run_ended"
    assert history[-1]["at"] - history[0]["at"] == pytest.approx(took_s)
    assert history[-1]["at"] == pytest.approx(journal["written_unix_s"])
    steps = [line["event"]["ranks"] for line in history if line["is"] == "steps_taken"][-1]
    for rank in steps:
        assert rank["count"] == len(reports)
        assert rank["total_s"] == pytest.approx(sum(line["time_this_iter_s"] for line in reports))
        assert took_s - 10 < rank["total_s"] < took_s
        spent = rank["waited_s"] + rank["forward_s"] + rank["backward_s"]
        assert rank["report_s"] + rank["checkpoint_s"] < rank["waited_s"]
        assert 0.9 * rank["total_s"] < spent < rank["total_s"]
    stored = [line for line in history if line["is"] == "checkpoint_stored"]
    assert len(stored) == 60
    for line in stored:
        report = reports[line["event"]["report"]]
        assert line["at"] - history[0]["at"] == pytest.approx(report["time_total_s"])


@pytest.mark.parametrize("question", TASKS)
def test_a_stranger_reads_the_reason_on_the_first_view_of_the_run(window, site, question):
    run, answers, (link, part) = TASKS[question]
    page = window.open(site)
    row = page.get_by_role("row", name=run)
    row.get_by_role("link", name=run).click()
    main = page.locator("main")
    for answer in answers:
        expect(main).to_contain_text(in_any_case(answer))
    # Without scrolling: the verdict, and why.
    first = page.get_by_text(in_any_case(answers[0])).first
    assert first.bounding_box()["y"] < 400
    page.get_by_role("link", name=link, exact=True).first.click()
    expect(page).to_have_url(re.compile(rf"#/run/{run}/{part}"))
