"""The command line: what it prints and its exit codes, in a file, in a pipe, and on a real
terminal.
"""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from headway import train

RUN = Path(__file__).parents[1] / "fixtures" / "run_v1"
NAMES = ["checkpoint_000000", "checkpoint_000001", "checkpoint_000002"]


@pytest.fixture
def run(tmp_path):
    """A copy of a run's folder, to be damaged."""
    return shutil.copytree(RUN, tmp_path / "run")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A run with one checkpoint of 64 MB, so that there is progress to show."""

    def loop():
        import tempfile

        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "weights.bin").write_bytes(os.urandom(1_000_000) * 64)
            train.report({}, checkpoint=train.Checkpoint.from_directory(directory))

    storage = tmp_path_factory.mktemp("large")
    return train.DataParallelTrainer(loop, run_config=train.RunConfig(storage_path=storage, name="run")).fit().path


def headway(*arguments, **options):
    command = [sys.executable, "-m", "headway", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def good(*arguments):
    done = headway(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(*arguments):
    """What is said of a command that cannot be done: one line."""
    done = headway(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def flip(file, offset=3):
    content = bytearray(file.read_bytes())
    content[offset] ^= 1
    file.write_bytes(content)


def test_a_runs_checkpoints_are_listed(run):
    title, *rows = good("checkpoint", "ls", run).splitlines()
    assert title.split() == ["checkpoint", "report", "attempt", "files", "size", "age", "metrics"]
    assert [row.split()[:6] for row in rows] == [
        [name, str(index + 1), "1", "3", "58", "B"] for index, name in enumerate(NAMES)
    ]
    assert rows[1].endswith("epoch=1 eval/loss=0.5")
    listed = json.loads(good("checkpoint", "ls", "--json", run))
    assert [each["checkpoint"] for each in listed["checkpoints"]] == NAMES
    assert listed["kind"] == "run"


def test_a_checkpoints_files_are_listed(run):
    title, *rows = good("checkpoint", "ls", run / NAMES[0]).splitlines()
    assert title.split() == ["file", "size", "rank", "checksum"]
    assert [row.split()[0] for row in rows] == ["model.txt", "parts/rank_0.txt", "parts/rank_1.txt"]
    assert re.fullmatch(r"parts/rank_1.txt  18 B     1  xxh3:[0-9a-f]{16}", rows[2])
    listed = json.loads(good("checkpoint", "ls", "--json", run / NAMES[0]))
    assert [file["rank"] for file in listed["checkpoints"][0]["files"]] == [0, 0, 1]


def test_the_runs_of_a_folder_are_listed(run, tmp_path):
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "run.json").write_text("{}")
    (tmp_path / "no_run").mkdir()
    title, *rows = good("checkpoint", "ls", tmp_path).splitlines()
    assert title.split() == ["run", "checkpoints", "size", "newest", "age", "metrics"]
    assert rows[0].split() == ["begun", "0", "0", "B", "none"]
    assert rows[1].split()[:5] == ["run", "3", "174", "B", NAMES[2]]
    assert "epoch=2" in rows[1]
    listed = json.loads(good("checkpoint", "ls", "--json", tmp_path))
    assert (listed["kind"], [len(each["checkpoints"]) for each in listed["runs"]]) == ("folder", [0, 3])


def test_columns_stand_below_each_other_whatever_the_names_are_written_in(run):
    os.rename(run / "checkpoint_000001", run / "最良")
    os.rename(run / "checkpoint_000002", run / "cafe\u0301")
    lines = good("checkpoint", "ls", run).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["checkpoint_000000", "最良", "cafe\u0301"]
    sizes = [line.index(" 58 B") for line in lines[1:]]
    # Two columns for each of two characters, and none for the accent.
    assert sizes == [sizes[0], sizes[0] - 2, sizes[0] + 1]


def test_good_checkpoints_are_verified(run):
    assert good("checkpoint", "verify", run / NAMES[0]) == f"good: {run / NAMES[0]} (3 files, 58 B)\n"
    assert good("checkpoint", "verify", run).count("good: ") == 3
    outcome = json.loads(good("checkpoint", "verify", "--json", run))
    assert outcome["good"] is True
    assert outcome["newest_good"] == str(run / NAMES[2])


def test_a_damaged_file_is_told_with_the_newest_good_checkpoint(run):
    damaged = run / NAMES[2] / "model.txt"
    flip(damaged)
    done = headway("checkpoint", "verify", run / NAMES[2])
    assert done.returncode == 1
    first, second = done.stdout.splitlines()
    assert re.fullmatch(
        rf"damaged: {re.escape(str(damaged))}: expected checksum xxh3:\w{{16}}, found checksum xxh3:\w{{16}}", first
    )
    assert second == f"the newest good checkpoint is {run / NAMES[1]}"
    done = headway("checkpoint", "verify", "--json", run)
    assert done.returncode == 1
    outcome = json.loads(done.stdout)
    assert outcome["good"] is False
    assert [len(each["damaged"]) for each in outcome["checkpoints"]] == [0, 0, 1]
    assert outcome["checkpoints"][2]["damaged"][0]["file"] == str(damaged)
    assert outcome["newest_good"] == str(run / NAMES[1])


def test_a_missing_file_a_cut_one_and_damaged_manifests(run):
    (run / NAMES[0] / "parts" / "rank_1.txt").unlink()
    os.truncate(run / NAMES[1] / "model.txt", 5)
    os.truncate(run / NAMES[2] / ".headway.json", 0)
    done = headway("checkpoint", "verify", run)
    assert done.returncode == 1
    assert "rank_1.txt: expected a file of 18 bytes, found no such file" in done.stdout
    assert "model.txt: expected 22 bytes, found 5 bytes" in done.stdout
    assert f"damaged: {run / NAMES[2]}/.headway.json is not JSON" in done.stdout
    assert done.stdout.splitlines()[-1] == "no good checkpoint is left"
    done = headway("checkpoint", "ls", run)
    assert done.returncode == 1
    assert NAMES[1] in done.stdout
    assert f"damaged: {run / NAMES[2]}/.headway.json" in done.stdout


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]", "expected an object, found a list"),
        ('{"version": 1}', 'expected text as "checkpoint", found none'),
        ('{"version": 1, "checkpoint": "x", "index": 2.5}', 'expected a whole number as "index", found 2.5'),
    ],
)
def test_a_manifest_of_another_shape_is_told_by_each_command(run, tmp_path, text, expected):
    manifest = run / NAMES[2] / ".headway.json"
    manifest.write_text(text)
    done = headway("checkpoint", "verify", run / NAMES[2])
    assert done.returncode == 1
    assert done.stdout == f"damaged: {manifest}: {expected}\nthe newest good checkpoint is {run / NAMES[1]}\n"
    for command in ("verify", "ls"):
        done = headway("checkpoint", command, run)
        assert done.returncode == 1
        assert f"damaged: {manifest} is damaged: {expected}\n" in done.stdout
        assert NAMES[1] in done.stdout
    done = headway("checkpoint", "cp", run / NAMES[2], tmp_path / "copy")
    assert done.returncode == 1
    told = f"{manifest} is damaged: {expected}; the newest good checkpoint of this run is {run / NAMES[1]}"
    assert told in done.stderr
    assert not (tmp_path / "copy").exists()


def test_a_checkpoint_is_copied_and_is_one_again(run, tmp_path):
    target = tmp_path / "new" / "best"
    assert good("checkpoint", "cp", run / NAMES[1], target).startswith(f"copied: {run / NAMES[1]} to {target} (3 files")
    assert "(3 files, 58 B)" in good("checkpoint", "verify", target)
    assert (target / "parts" / "rank_0.txt").read_text() == "epoch 1 of rank 0\n"
    into = tmp_path / "into"
    into.mkdir()
    good("checkpoint", "cp", "-r", run / NAMES[1], into)
    assert (into / NAMES[1] / "model.txt").read_text() == "weights after epoch 1\n"
    good("checkpoint", "cp", run / NAMES[0], f"{tmp_path}/other/")
    assert (tmp_path / "other" / NAMES[0]).is_dir()
    good("checkpoint", "cp", run / NAMES[0], (tmp_path / "by_url").as_uri())
    assert (tmp_path / "by_url" / "model.txt").read_text() == "weights after epoch 0\n"


def test_a_damaged_checkpoint_is_not_copied(run, tmp_path):
    flip(run / NAMES[2] / "model.txt")
    done = headway("checkpoint", "cp", run / NAMES[2], tmp_path / "copy")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "model.txt is damaged: expected checksum" in done.stderr
    assert f"the newest good checkpoint of this run is {run / NAMES[1]}" in done.stderr
    assert not (tmp_path / "copy").exists()


def test_what_cannot_be_done_is_said_in_one_line(run, tmp_path):
    assert "/nowhere is neither a checkpoint of Headway's" in refused("checkpoint", "verify", "/nowhere")
    assert "s3://bucket?region=x is a bucket" in refused("checkpoint", "verify", "s3://bucket?region=x")
    assert "is neither" in refused("checkpoint", "ls", run / NAMES[0] / "parts")
    assert f"name one of its checkpoints: {', '.join(NAMES)}" in refused("checkpoint", "cp", run, tmp_path / "copy")
    (tmp_path / "taken" / NAMES[0]).mkdir(parents=True)
    assert "is there already" in refused("checkpoint", "cp", run / NAMES[0], tmp_path / "taken")
    for inside in (run / NAMES[0], run / NAMES[1], run / NAMES[1] / "deep" / "er"):
        assert "nothing is put into a checkpoint" in refused("checkpoint", "cp", run / NAMES[0], inside)
    assert sorted(entry.name for entry in (run / NAMES[1]).iterdir()) == [".headway.json", "model.txt", "parts"]
    assert "URI" in refused("checkpoint", "ls")
    assert "invalid choice: 'mv'" in refused("checkpoint", "mv", "a", "b")
    assert "carrier-pigeon" in refused("checkpoint", "ls", "carrier-pigeon://coop/run")
    (run / NAMES[0] / ".headway.json").write_text('{"version": 7}')
    assert "was written by a newer Headway" in refused("checkpoint", "verify", run / NAMES[0])


def test_a_reader_that_has_seen_enough_is_no_error(run):
    code = f"{sys.executable} -m headway checkpoint ls --json {run} | head -c 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("{0\n", "")


def test_progress_in_a_file_is_plain_lines(large):
    done = headway("checkpoint", "verify", large)
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert 1 <= len(lines) <= 3
    for line in lines:
        assert re.fullmatch(r"verifying checkpoint_000000: \d+\.\d MB of 64\.0 MB", line)
    assert "\r" not in done.stderr + done.stdout
    assert headway("checkpoint", "verify", "--json", large).stderr == ""


def on_a_terminal(*arguments):
    """Runs the command in a new terminal and returns its exit code and all that it wrote there."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(COLUMNS="100", LINES="24", TERM="xterm")
        os.execv(sys.executable, [sys.executable, "-m", "headway", *map(str, arguments)])
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # The terminal's other end is closed.
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), shown.decode()


@pytest.mark.parametrize("command", ["verify", "cp"])
def test_on_a_terminal_a_bar_goes_and_the_result_stays(command, large, tmp_path):
    source = os.path.join(large, "checkpoint_000000")
    arguments = [source] if command == "verify" else [source, tmp_path / "copy"]
    code, shown = on_a_terminal("checkpoint", command, *arguments)
    assert code == 0
    title = "verifying" if command == "verify" else "copying"
    bars = re.findall(rf"\r{title} checkpoint_000000: +(\d+)%\|", shown)
    assert len(bars) >= 1, shown
    assert "/64.0M" in shown, shown
    # The bar is wiped: what a person sees at the end is the result alone.
    last = shown.rstrip("\r\n").rpartition("\r")[2]
    assert last.startswith("good: " if command == "verify" else "copied: ")


def test_ctrl_c_ends_it_as_a_shell_expects(run):
    code = "import os, signal, sys; from headway._command import main; main.main(['checkpoint', 'ls', sys.argv[1]]); "
    code += "os.kill(os.getpid(), signal.SIGINT)"
    done = subprocess.run([sys.executable, "-c", code, str(run)], capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGINT
    assert done.stderr == ""
