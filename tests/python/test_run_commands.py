"""`headway ls | status | logs | stack | profile`: runs at work, and runs that have ended."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest
from headway import train
from headway._command import found_run, processes

pytestmark = pytest.mark.skipif(
    os.environ.get("HEADWAY_WORKER_START") == "exec", reason="the same code either way; once is enough"
)


def headway(*arguments, storage):
    command = [sys.executable, "-m", "headway", *map(str, arguments)]
    environment = {**os.environ, "HEADWAY_STORAGE": storage}
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=environment)


def good(*arguments, storage):
    done = headway(*arguments, storage=storage)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(*arguments, storage):
    """What is said of a command that cannot be done: one line."""
    done = headway(*arguments, storage=storage)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def two_reports():
    rank = train.get_context().get_world_rank()
    print("hello from", rank)
    print("10%\r100%\nlast words of", rank)
    for step in range(2):
        train.report({"loss": 1 / (step + 1)}, train.Checkpoint.from_dict({}) if step == 1 else None)


@pytest.fixture
def ended(fit):
    """A run that has finished and one that has failed."""

    def fails():
        raise ValueError("bad batch 17")

    fit(two_reports, name="good")
    with pytest.raises(train.WorkerGroupError):
        fit(fails, name="bad")


def test_ls_lists_runs_with_their_states(ended, storage):
    lines = good("ls", storage=storage).splitlines()
    assert lines[0].split() == ["run", "state", "reports", "attempt", "age", "metrics"]
    assert [line.split()[:4] for line in lines[1:]] == [["good", "finished", "2", "1"], ["bad", "failed", "0", "1"]]
    assert "loss=0.5" in lines[1]
    again = good("ls", storage, storage="/nowhere").splitlines()
    assert [line.split()[:4] for line in again] == [line.split()[:4] for line in lines]
    assert good("ls", storage=f"{storage}/none") == f"no runs in {storage}/none\n"


def test_checkpoint_takes_a_run_s_name_as_the_other_commands_do(ended, storage):
    assert good("checkpoint", "ls", "good", storage=storage).splitlines()[1].startswith("checkpoint_000000 ")
    assert "good: " in good("checkpoint", "verify", "good", storage=storage)
    assert "/none is neither" in refused("checkpoint", "ls", "none", storage=storage)


def test_status_says_how_a_run_ended(ended, storage):
    lines = good("status", "good", storage=storage).splitlines()
    assert re.fullmatch(r"good: finished \d+ s ago, after \d+ s and 1 attempt", lines[0])
    assert lines[1:] == [
        f"folder: {storage}/good",
        "last report: loss=0.5",
        "checkpoints: 1 kept, the newest is checkpoint_000000",
    ]
    assert good("status", f"{storage}/bad", storage=storage).startswith("bad: failed ")
    assert "ValueError: bad batch 17" in good("status", "bad", storage=storage)
    assert "RUN is 'none': there is no run in " in refused("status", "none", storage=storage)


def test_logs_shows_what_ranks_have_printed(ended, storage):
    output = good("logs", "good", storage=storage)
    assert output.splitlines() == [
        f"(rank {rank}) {line}" for rank in (0, 1) for line in (f"hello from {rank}", "100%", f"last words of {rank}")
    ]
    assert good("logs", "good", "--rank", 1, "--lines", 1, storage=storage) == "last words of 1\n"
    assert "--rank is 7; ranks with a log in" in refused("logs", "good", "--rank", 7, storage=storage)
    for lines in (0, -2):
        assert f"--lines is {lines}; allowed: at least 1" in refused("logs", "good", "--lines", lines, storage=storage)
    pathlib.Path(storage, "good", "logs", "rank_1.log").write_text("")
    assert "(rank 1)" not in good("logs", "good", storage=storage)


def test_a_place_without_runs_is_named_once(storage, tmp_path, monkeypatch):
    os.makedirs(storage)
    monkeypatch.chdir(storage)
    assert refused("status", "x", storage=storage) == (
        f"headway: RUN is 'x': there is no run in {storage}/x (`headway ls` lists the runs)\n"
    )
    file = tmp_path / "file"
    file.write_text("")
    for place in ("/nonexistent", file):
        assert refused("ls", place, storage=storage) == f"headway: URI is {str(place)!r}, which is no folder\n"


@pytest.fixture
def at_work(storage, tmp_path):
    """A run whose ranks wait at a gate, once its driver has written what it is doing."""
    gate = str(tmp_path / "gate")
    os.mkfifo(gate)

    def waits_at_the_gate(gate):
        with open(gate) as file:
            file.read()

    def loop():
        train.report({"loss": 0.5})
        waits_at_the_gate(gate)

    run = train.RunConfig(name="work", storage_path=storage, verbose=0)
    handle = train.DataParallelTrainer(loop, run_config=run, scaling_config=train.ScalingConfig(num_workers=1)).start()
    while not any(getattr(event, "line", {}).get("loss") for event in handle.events()):
        pass
    yield handle
    with open(gate, "w"):
        pass
    handle.wait()
    assert not os.path.exists(f"{storage}/work/status.json")


def test_a_run_at_work_is_looked_at(at_work, storage, tmp_path):
    status = ""
    while "  training" not in status:
        status = good("status", "work", storage=storage)
    lines = status.splitlines()
    assert lines[0].startswith("work: running for ")
    assert lines[4].split()[:4] == ["rank", "host", "pid", "reports"]
    assert lines[5].split()[0] == "0"
    assert "running" in good("ls", storage=storage)
    if not shutil.which("py-spy", path=os.path.dirname(sys.executable)):
        pytest.skip("py-spy is not installed")
    assert "waits_at_the_gate" in good("stack", "work", storage=storage)
    picture = tmp_path / "profile.svg"

    def samples(*mode):
        done = headway("profile", "work", *mode, "--seconds", 1, "--output", picture, storage=storage)
        if mode and done.returncode:
            assert "has computed nothing for 1 s; without --busy" in done.stderr
            return 0
        assert done.returncode == 0, done.stderr
        graph = picture.read_text()
        assert "<svg" in graph
        return sum(map(int, re.findall(r"waits_at_the_gate [^)]+\) \((\d+) samples", graph)))

    assert samples() > 3 * samples("--busy"), "waiting takes time too"
    assert "--rank is 3; allowed: 0" in refused("profile", "work", "--rank", 3, storage=storage)


def test_the_nodes_of_a_driver_are_listed_with_what_is_free(at_work, storage):
    output = ""
    while "  1  up" not in output:
        output = good("nodes", "work", storage=storage)
    titles = ["node", "host", "CPU", "GPU", "free CPU", "free GPU", "CPUs at work", "memory", "GPUs at work"]
    assert re.split("  +", output.splitlines()[0].strip()) == [*titles, "their memory", "ranks", "state"]
    assert output.splitlines()[1].split()[:2] == ["local", os.uname().nodename]
    assert f"the driver is process {os.getpid()} on {os.uname().nodename}" in output
    # How much is in use changes from one look to the next.
    assert good("nodes", storage=storage).splitlines()[-1] == output.splitlines()[-1]


def test_nodes_of_a_run_that_has_ended_are_refused(ended, storage):
    assert "good is not at work on this machine: finished" in refused("nodes", "good", storage=storage)
    assert "is at work: name a RUN by its folder" in refused("nodes", storage=storage)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "there is no COMMAND"),
        (("--time", "soon", "--", "true"), "time is 'soon'"),
        (("--nodes", "0", "--", "true"), "nodes is 0"),
        (("--sbatch-arg=--nodes=3", "--", "true"), "sbatch_args has '--nodes=3'"),
    ],
)
def test_a_bad_submit_is_refused_before_anything_is_submitted(arguments, words, storage):
    assert words in refused("submit", "--engine", "slurm", *arguments, storage=storage)


def test_a_rank_that_is_stopped_has_a_stack_and_no_profile(at_work, storage):
    pid = None
    while pid is None:  # The driver writes it a moment after the rank is ready.
        pid = json.loads(pathlib.Path(storage, "work", "status.json").read_text())["view"]["ranks"][0]["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        shown = good("stack", "work", storage=storage)
        refusal = refused("profile", "work", storage=storage)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert shown.startswith(f"rank 0 (pid {pid}, stopped by a signal):")
    assert "waits_at_the_gate" in shown
    assert f"rank 0 (pid {pid}) is stopped by a signal: continue it with kill -CONT {pid}" in refusal


def test_a_run_that_does_not_change_is_at_work_for_as_long_as_its_driver_lives(at_work, storage):
    place = pathlib.Path(storage, "work", "status.json")
    words = ""
    # What came before may still be written.
    while "work: running for 60 min, attempt 1" not in words:
        status = json.loads(place.read_text())
        status["view"]["taken_unix_s"] -= 3600
        place.write_text(json.dumps(status))
        words = good("status", "work", storage=storage)
    assert re.search(r"training for 60 min$", words, re.MULTILINE)
    assert re.search(r"^work +running +1 +1 +0 s ", good("ls", storage=storage), re.MULTILINE)


def test_a_run_on_another_machine_is_shown_as_its_driver_wrote_it_last(at_work, storage):
    place = pathlib.Path(storage, "work", "status.json")
    words = ""
    while ", as its driver wrote " not in words:
        status = json.loads(place.read_text())
        status["host"] = "another"
        place.write_text(json.dumps(status))
        words = good("status", "work", storage=storage)
    assert re.match(r"work: .+, attempt 1.*, as its driver wrote \d+ s ago\n", words)


WORKS = """
    import signal
    from headway import train

    def loop():
        print("at work", flush=True)
        signal.pause()

    train.DataParallelTrainer(loop, run_config=train.RunConfig(name="work")).fit()
"""


def test_a_run_whose_driver_was_killed_is_lost_at_once(script):
    driver = script.start(WORKS).process.pid
    script.wait_for("at work")
    while "running" not in good("ls", storage=script.storage):
        pass
    os.kill(driver, signal.SIGKILL)
    script.finish()
    listed = good("ls", storage=script.storage)
    assert re.search(r"^work +lost +0 +1 ", listed, re.MULTILINE)
    assert listed.splitlines()[-1].startswith("lost: the driver died before the run's end; ")
    words = good("status", "work", storage=script.storage)
    assert re.match(r"work: lost: it was running, as its driver wrote \d+ s ago, and that driver has ended\n", words)
    assert "is not at work on this machine: lost: it was" in refused("stack", "work", storage=script.storage)


def test_a_program_in_cpp_is_not_for_py_spy(monkeypatch):
    run = found_run.FoundRun("/runs/work", "running", "running", 0, 1, 0.0, [], None)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as program:
        monkeypatch.setattr(found_run, "process_of", lambda run, rank: program.pid)
        refusal = rf"rank 1 \(pid {program.pid}\) is a C\+\+ program, .*: gdb -p {program.pid} -batch"
        with pytest.raises(ValueError, match=refusal):
            processes.python_process_of(run, 1, "gdb -p PID -batch")
        program.kill()
    monkeypatch.setattr(found_run, "process_of", lambda run, rank: os.getpid())
    assert processes.python_process_of(run, 1, "gdb -p PID") == os.getpid()


def test_a_rank_that_is_not_started_yet_is_said_to_be():
    rank = {"rank": 0, "hostname": os.uname().nodename, "pid": None, "gone": False}
    run = found_run.FoundRun("/runs/work", "starting", "starting for 3 s", 0, 1, 0.0, [], {"ranks": [rank]})
    with pytest.raises(ValueError, match=r"rank 0 of /runs/work has no process yet: the run is starting for 3 s"):
        found_run.process_of(run, 0)


def test_what_has_no_processes_has_no_stack(ended, storage):
    assert "good is not at work on this machine: finished" in refused("stack", "good", storage=storage)
