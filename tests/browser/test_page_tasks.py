"""The one-minute trial: a person who has never seen the page finds out why a run is what it is.

Each task is a question, the run that it is about, and what the person must read without opening
anything but that run; and where the page then leads for more.
"""

import re

import pytest
from playwright.sync_api import expect

TASKS = {
    "Why did bad-batch end?": (
        "bad-batch",
        ["Failed: ", "bad batch: targets has 3 classes, the model 2", "record_runs.py", "raise ValueError"],
        ("Read the logs", "logs"),
    ),
    "For whom did language-model wait, and where was that rank?": (
        "language-model",
        ["Failed: rank 1 has not come to report #13, in which rank 0 has waited", "Rank 1 stood still in "],
        ("See stacks", "stacks"),
    ),
    "Which rank made vision-large slow, and by how much?": (
        "vision-large",
        ["Slow: rank 5 on node-b took ", "for its own part of a step, the others 0."],
        ("See steps", "steps"),
    ),
    "Did anything go wrong in digits?": (
        "digits",
        ["Finished after 250 reports, with 1 restart", "killed by SIGKILL", "from checkpoint_000005"],
        ("Checkpoints", "checkpoints"),
    ),
}


@pytest.mark.parametrize("question", TASKS)
def test_a_stranger_reads_the_reason_on_the_first_view_of_the_run(window, site, question):
    run, answers, (link, part) = TASKS[question]
    page = window.open(site)
    row = page.get_by_role("row", name=run)
    row.get_by_role("link", name=run).click()
    main = page.locator("main")
    for answer in answers:
        expect(main).to_contain_text(re.compile(re.escape(answer), re.IGNORECASE))
    # Without scrolling: the verdict, and why.
    first = page.get_by_text(re.compile(re.escape(answers[0]), re.IGNORECASE)).first
    assert first.bounding_box()["y"] < 400
    page.get_by_role("link", name=link, exact=True).first.click()
    expect(page).to_have_url(re.compile(rf"#/run/{run}/{part}"))
