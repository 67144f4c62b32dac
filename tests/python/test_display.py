"""What a driver shows, and that a display that cannot be written does not end a run."""

import subprocess
import sys
import textwrap

LOOP = """
from headway import train

def loop():
    import os
    for i in range(300):
        os.write(1, ("é" * 100 + "\\n").encode())
        train.report({"i": i})

config = train.RunConfig(storage_path=STORAGE)
trainer = train.DataParallelTrainer(loop, run_config=config, scaling_config=train.ScalingConfig(num_workers=2))
result = trainer.fit()
import sys
print("trained to", result.metrics["i"], file=sys.stderr)
"""


def start(tmp_path, stdout=subprocess.PIPE):
    script = f"STORAGE = {str(tmp_path)!r}\n" + textwrap.dedent(LOOP)
    return subprocess.Popen([sys.executable, "-c", script], stdout=stdout, stderr=subprocess.PIPE)


def warned_once(errors, why):
    return errors.count(b"headway: warning: standard output cannot be written") == 1 and why in errors


def test_a_reader_that_leaves_is_warned_of_once_and_the_training_ends_well(tmp_path):
    driver = start(tmp_path)
    driver.stdout.readline()
    driver.stdout.close()
    _, errors = driver.communicate(timeout=60)
    assert b"trained to 299" in errors
    assert warned_once(errors, b"Broken pipe")


def test_a_full_disk_below_standard_output_is_warned_of_once_and_the_training_ends_well(tmp_path):
    with open("/dev/full", "w") as full:
        driver = start(tmp_path, full)
    _, errors = driver.communicate(timeout=60)
    assert b"trained to 299" in errors
    assert warned_once(errors, b"No space left on device")


def test_an_encoding_without_a_rank_s_letters_shows_them_escaped(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    driver = start(tmp_path)
    line = next(line for line in driver.stdout if line.startswith(b"(rank "))
    driver.stdout.close()
    driver.communicate(timeout=60)
    assert line.split(b") ")[1].startswith(b"\\xe9\\xe9")
