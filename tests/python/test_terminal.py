"""What a run shows on a real terminal: a line that moves, a table that fits, colours; and nothing
of it elsewhere.
"""

import os
import re
from pathlib import Path

import pytest

pytest.importorskip("pyte")

from terminal import Terminal

pytestmark = pytest.mark.skipif(
    os.environ.get("HEADWAY_WORKER_START") == "exec", reason="the same code either way; once is enough"
)

ROOT = Path(__file__).parents[2]
LOOP = """
import sys
from headway import train

def wait(gate):
    open(gate).read()

def loop(config):
    BODY

train.DataParallelTrainer(
    loop,
    train_loop_config={"gate": GATE},
    scaling_config=train.ScalingConfig(num_workers=2),
    run_config=train.RunConfig(name="shown", CONFIG),
).fit()
"""


@pytest.fixture
def gate(tmp_path):
    """A FIFO at which ranks wait until it is opened."""
    path = str(tmp_path / "gate")
    os.mkfifo(path)
    return path


@pytest.fixture
def shown(storage, gate):
    """``shown(body, columns)``: the loop's body on a terminal."""
    started = []

    def show(body, columns=80, config=""):
        code = LOOP.replace("BODY", body.strip().replace("\n", "\n    "))
        code = code.replace("GATE", repr(gate)).replace("CONFIG", config)
        started.append(Terminal(code, columns, HEADWAY_STORAGE=storage))
        return started[-1]

    yield show
    for terminal in started:
        terminal.process.kill()
        terminal.process.wait()


def let_through(gate):
    with open(gate, "w"):
        pass


def test_a_progress_bar_moves_in_one_line_and_leaves_none_when_it_ends(shown, gate, storage):
    terminal = shown(
        """
rank = train.get_context().get_world_rank()
for step in range(3):
    print(f"\\r{step} of 2 |{'#' * step}", end="", file=sys.stderr, flush=True)
    if step == 1 and rank == 0:
        wait(config["gate"])
print(file=sys.stderr)
print("\\r    \\rsaid over a bar")
train.report({"loss": 0.5})
"""
    )
    assert terminal.wait_for("1 of 2") == "(rank 0) 1 of 2 |#"
    let_through(gate)
    assert terminal.finish() == 0
    assert " of 2" not in "\n".join(terminal.lines)
    assert {"(rank 0) said over a bar", "(rank 1) said over a bar"} <= set(terminal.lines)
    for rank in (0, 1):
        assert "2 of 2 |##" in Path(storage, "shown", "logs", f"rank_{rank}.log").read_text()


def test_a_status_line_is_there_from_the_start_and_gone_at_the_end(shown, gate, storage):
    terminal = shown(
        """
train.report({"loss": 0.5})
if train.get_context().get_world_rank() == 0:
    wait(config["gate"])
train.report({"loss": 0.25})
"""
    )
    line = terminal.wait_for(" each · last ")
    assert line.startswith("report 1 · ")
    assert line.endswith(" ago")
    let_through(gate)
    assert terminal.finish() == 0
    assert " each · last " not in "\n".join(terminal.lines)
    first, *_, last = (line for line in terminal.lines if line.startswith("headway: "))
    assert first.startswith("headway: 2 workers on CPUs of ")
    assert last.startswith("headway: finished in ")
    # However it was wrapped.
    assert f":2reports;nocheckpoint;results:{storage}/shown" in "".join("".join(terminal.lines).split())


def test_within_an_epoch_the_status_line_shows_how_far_and_how_fast_it_goes(shown):
    pytest.importorskip("torch")
    terminal = shown(
        """
import torch
from headway.train.torch import prepare_data_loader
torch.set_num_threads(1)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = prepare_data_loader(torch.utils.data.DataLoader(torch.ones(2_000_000, 1), batch_size=4, shuffle=False))
for batch in loader:
    model(batch).sum().backward()
    optimizer.step()
""",
        columns=140,
    )
    line = terminal.wait_for(" samples/s")
    assert re.fullmatch(
        r"epoch 0 · \d+/250000 batches · .+ left in it · [\d.]+ steps/s · no report yet · \d+ samples/s", line
    )


def test_on_a_narrow_terminal_the_status_line_ends_with_a_whole_part(shown, gate):
    terminal = shown(
        """
train.report({"loss": 0.5})
if train.get_context().get_world_rank() == 0:
    wait(config["gate"])
train.report({"loss": 0.25})
""",
        columns=18,
    )
    assert terminal.wait_for("report 1") == "report 1"
    let_through(gate)
    assert terminal.finish() == 0


METRICS = """
for step in (33, 31, 32):
    train.report({**{f"metric_{i}": float(i) for i in range(14)}, "loss": float(step)})
"""
SCORED = 'checkpoint_config=train.CheckpointConfig(checkpoint_score_attribute="loss", checkpoint_score_order="min")'


@pytest.mark.parametrize(("columns", "metrics"), [(80, 2), (140, 8)])
def test_the_table_fits_keeps_the_score_and_counts_what_has_no_column(shown, columns, metrics):
    terminal = shown(METRICS, columns, SCORED)
    assert terminal.finish() == 0
    (title,) = (line for line in terminal.lines if line.startswith("report "))
    names = [f"metric_{i}" for i in range(metrics)]
    assert title.split() == ["report", *names, "loss", "time_s", "checkpoint", f"(+{14 - metrics}", "more)"]
    rows = [line.split() for line in terminal.lines if line[:6].strip().isdecimal()]
    assert [(row[0], row[metrics + 1]) for row in rows] == [("1", "33.00"), ("2", "31.00"), ("3", "32.00")]


def test_a_metric_that_is_named_as_an_automatic_one_has_a_column(shown):
    terminal = shown('train.report({"done": 35, "date": "today"})')
    assert terminal.finish() == 0
    (title,) = (line for line in terminal.lines if line.startswith("report "))
    assert title.split() == ["report", "done", "date", "time_s", "checkpoint"]
    assert any(line.split()[:3] == ["1", "35", "today"] for line in terminal.lines)


def test_the_titles_stand_out_and_rows_that_are_not_the_best_so_far_do_not(shown):
    terminal = shown(METRICS, 140, SCORED)
    assert terminal.finish() == 0
    assert terminal.style_of("report ").bold
    first, best, last = (
        next(line for line in terminal.seen.split(b"\r\n") if score in line)
        for score in (b"  33.00", b"  31.00", b"  32.00")
    )
    assert (b"\x1b[2m" in first, b"\x1b[2m" in best, b"\x1b[2m" in last) == (False, False, True)


def test_a_failure_and_a_restart_stand_out_and_who_printed_a_line_does_not(shown):
    terminal = shown(
        """
if train.get_context().get_world_rank() == 0:
    print("one line")
    raise ValueError("no label")
""",
        100,
        "failure_config=train.FailureConfig(max_failures=1)",
    )
    assert terminal.finish() == 1
    assert terminal.style_of("failed after").fg == "red"
    assert terminal.style_of("Restarting").bold
    assert b"\x1b[2m(rank 0)\x1b[0m one line" in terminal.seen


def test_the_last_line_comes_after_the_last_report(script):
    status, output = script.run(
        """
        from headway import train

        def loop():
            for step in range(60):
                train.report({"step": step})

        train.DataParallelTrainer(loop).fit()
        """
    )
    assert status == 0
    lines = output.splitlines()
    assert lines[-1].startswith("headway: finished in ")
    assert lines[-2].split()[:2] == ["60", "59"]


def test_colours_can_be_turned_off(storage):
    code = LOOP.replace("BODY", METRICS.strip().replace("\n", "\n    ")).replace("GATE", '""').replace("CONFIG", SCORED)
    terminal = Terminal(code, 100, HEADWAY_STORAGE=storage, TERM="dumb")
    assert terminal.finish() == 0
    assert b"\x1b" not in terminal.seen
    assert terminal.seen.count(b"\r") == terminal.seen.count(b"\r\n")


def test_a_warning_looks_like_one(storage):
    terminal = Terminal("from headway._values import log\nlog.warn('too many cooks')\n", 80)
    assert terminal.finish() == 0
    assert terminal.lines == ["headway: warning: too many cooks"]
    assert (terminal.style_of("warning:").fg, terminal.style_of("too many").fg) == ("brown", "default")


def test_a_program_in_cpp_shows_the_same(storage):
    program = Path(os.environ.get("HEADWAY_TEST_EXAMPLES", ROOT / "build/tests/examples")) / "example_plain"
    if not program.exists():
        pytest.skip("the C++ examples are not built")
    terminal = Terminal([program], 80, HEADWAY_STORAGE=storage)
    assert terminal.finish() == 0
    said = [line for line in terminal.lines if line.startswith("headway: ")]
    assert " workers on CPUs of " in said[0]
    assert said[-1].startswith("headway: finished in ")
    *_, last_report = (at for at, line in enumerate(terminal.lines) if line[:6].strip().isdecimal())
    assert terminal.lines[last_report + 1] == said[-1]
    assert terminal.style_of("report ").bold
    assert "starting" not in "\n".join(terminal.lines), "the line that moved is gone"


def test_the_words_of_a_program_in_cpp_stay_whole_on_a_narrow_terminal(storage):
    program = Path(os.environ.get("HEADWAY_TEST_EXAMPLES", ROOT / "build/tests/examples")) / "example_plain"
    if not program.exists():
        pytest.skip("the C++ examples are not built")
    folder = f"{storage}/{'a_long_name/' * 2}"
    terminal = Terminal([program], 100, HEADWAY_STORAGE=folder)
    assert terminal.finish() == 0
    (end,) = (at for at, line in enumerate(terminal.lines) if line.startswith("headway: finished in "))
    assert terminal.lines[end].endswith("results:")
    assert terminal.lines[end + 1].startswith(f"    {folder}"[:100])


def test_elsewhere_nothing_moves(script):
    status, output = script.run(
        """
        import sys
        from headway import train

        def loop():
            for step in range(3):
                print(f"\\r{step} of 2", end="", file=sys.stderr, flush=True)
            print(file=sys.stderr)
            train.report({"loss": 0.5})

        train.DataParallelTrainer(loop, run_config=train.RunConfig(name="plain")).fit()
        """
    )
    assert status == 0
    assert "\x1b" not in output
    assert "\r" not in output
    lines = [line for line in output.splitlines() if " of 2" in line]
    assert lines == ["(rank 0) 2 of 2"]
    assert output.splitlines()[0].startswith("headway: 1 worker on CPUs of ")
    assert "headway: finished in " in output
