"""Ctrl-C in the middle of a data set, as a terminal sends it: to all processes of the script. It is
KeyboardInterrupt within a second, leaves nothing behind, and the next data set works.
"""

import os
import signal
import time

import processes
import pytest

SCRIPT = """
import gc, os, signal, sys, time
import numpy as np
from headway import data, train

def wide(batch):
    return {"id": batch["id"], "data": np.repeat(batch["id"][:, None], 8, axis=1)}

def stuck(batch):
    signal.pause()

def rows():
    while True:
        yield {"x": 1}

def loop(config):
    for _ in range(config["epochs"]):
        for batch in train.get_dataset_shard("train").iter_batches(batch_size=100):
            tell()

def fit(made, epochs):
    return train.DataParallelTrainer(
        loop, train_loop_config={"epochs": epochs}, datasets={"train": made},
        scaling_config=train.ScalingConfig(num_workers=2), run_config=train.RunConfig(name=f"run-{epochs}"),
    ).fit()

told = []
def tell():
    if not told:
        print("at work", flush=True)
        told.append(True)

def descriptors():
    return sorted(os.readlink(f"/proc/self/fd/{each}").split(" ")[0] for each in os.listdir("/proc/self/fd")
                  if os.path.islink(f"/proc/self/fd/{each}") and "memfd" in os.readlink(f"/proc/self/fd/{each}"))

first = data.range(10).map_batches(wide).take(1)[0]["id"]
made = data.range(10**10).map_batches(wide)
tells_of_it = made.map_batches(lambda batch: print("at work", flush=True) or batch)
try:
    BODY
except KeyboardInterrupt:
    # In one piece, as below: lines of functions' workers come between.
    print("interrupted\\n", end="", flush=True)
batch = None  # The loop's last one would hold its memory.
gc.collect()
print(f"left: {descriptors()}\\n", end="", flush=True)
print("next:", data.range(10).map_batches(wide).count(), fit(data.range(200), 1).error, flush=True)
"""

BODIES = {
    "loop": "for batch in made.iter_batches():\n        tell()",
    "materialize": "tells_of_it.materialize()",
    "count": "tells_of_it.count()",
    "sort": 'tells_of_it.sort("id").take(1)',
    "write": "tells_of_it.write_parquet(os.environ['OUT'])",
    "stuck": 'print("at work", flush=True); data.range(10).map_batches(stuck).take(1)',
    "generator": 'print("at work", flush=True); data.from_items(rows())',
    "fit": "fit(made, 1000)",
}


@pytest.mark.parametrize("body", BODIES)
def test_ctrl_c_is_an_exception_and_the_next_data_set_works(script, tmp_path, body):
    places = {name: str(tmp_path / name.lower()) for name in ("TMPDIR", "OUT")}
    os.mkdir(places["TMPDIR"])
    script.start(SCRIPT.replace("BODY", BODIES[body]), **places)
    script.wait_for("at work")
    begun = time.monotonic()
    os.killpg(script.process.pid, signal.SIGINT)
    text = script.wait_for("left:")
    took_s = time.monotonic() - begun
    status, rest = script.finish(60)
    assert (status, rest.splitlines()[-1]) == (0, "next: 10 None"), text + rest
    assert "interrupted\n" in text
    assert "left: []\n" in text
    assert "Traceback" not in text + rest
    # It takes milliseconds; the rest is a machine that others use as well.
    assert took_s < 2
    assert processes.wait_gone(script.processes, 5) == {}
    assert [name for _, _, files in os.walk(places["TMPDIR"]) for name in files] == []
    # A write has a hidden folder beside its place.
    assert [name for name in os.listdir(tmp_path) if "out" in name] == []
