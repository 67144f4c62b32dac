"""What a driver shows, and that a display that breaks does not leave a run behind."""

import subprocess
import sys
import textwrap

LOOP = """
from headway import train

def loop():
    import itertools, os
    for i in itertools.count():
        os.write(1, ("é" * 100 + "\\n").encode())
        train.report({"i": i})

config = train.RunConfig(storage_path=STORAGE)
train.DataParallelTrainer(loop, run_config=config, scaling_config=train.ScalingConfig(num_workers=2)).fit()
"""


def start(tmp_path, **kwargs):
    script = f"STORAGE = {str(tmp_path)!r}\n" + textwrap.dedent(LOOP)
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)


def test_a_reader_that_leaves_ends_the_run_and_says_so(tmp_path):
    driver = start(tmp_path)
    driver.stdout.readline()
    driver.stdout.close()
    _, errors = driver.communicate(timeout=60)
    assert driver.returncode != 0
    assert b"BrokenPipeError" in errors


def test_an_encoding_without_a_rank_s_letters_shows_them_escaped(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    driver = start(tmp_path)
    line = next(line for line in driver.stdout if line.startswith(b"(rank "))
    driver.stdout.close()
    driver.communicate(timeout=60)
    assert line.split(b") ")[1].startswith(b"\\xe9\\xe9")
