"""The memory of all processes of a data set, counted while a script runs."""

WATCHED = """
import os, threading
from pathlib import Path

def family(pid):
    tasks = Path(f"/proc/{pid}/task").iterdir()
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    return [each for child in children for each in (int(child), *family(child))]

def of_engine():
    found = [pid for pid in family(os.getpid()) if Path(f"/proc/{pid}/comm").read_text() == "headway-data\\n"]
    return {each for pid in found for each in (pid, *family(pid))}

def resident_once(pid, is_whole):
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    return (int(fields["Pss_Anon"].split()[0]) * is_whole + int(fields["Pss_Shmem"].split()[0])) << 10

def resident():
    # What grew or went between two looks counts as at its least.
    whole = of_engine() if IN_TRAINING else family(os.getpid())
    looks = [{pid: resident_once(pid, pid in whole) for pid in family(os.getpid())} for _ in range(2)]
    return sum(min(looks[0][pid], looks[1][pid]) for pid in looks[0] if pid in looks[1])

most, done = 0, threading.Event()
def watch():
    global most
    while not done.wait(0.02):
        try:
            most = max(most, resident())
        except OSError:
            pass  # A process has ended.
watching = threading.Thread(target=watch, daemon=True)
watching.start()
"""

AT_THE_END = """
done.set()
watching.join()
print("most:", most)
"""


def watched(body: str, in_training: bool = False) -> str:
    """``body`` with the line "most: BYTES" at its end: of all processes but its own.

    Args:
        body: The script.
        in_training: Of processes that are not the data engine's, such as ranks, only shared memory
            counts.
    """
    return f"IN_TRAINING = {in_training}\n" + WATCHED + body + AT_THE_END


def most_bytes(text: str) -> int:
    """What ``watched`` has printed."""
    return int(text.split("most: ")[1].split()[0])


#: What a script that begins with START gives to data sets.
BUDGET = 256 << 20

START = f"""
import os, threading
import numpy as np
from headway import data

options = data.DataContext.get_current().execution_options
options.resource_limits = data.ExecutionResources.for_limits(object_store_memory={BUDGET})

def wide(batch):
    return {{"data": np.repeat(batch["id"][:, None], 17, axis=1)}}
"""


#: Begins a script whose processes compile each module that they import, which takes some MiB more.
COMPILING = """
import os
os.environ.update(PYTHONDONTWRITEBYTECODE="1", PYTHONPYCACHEPREFIX="/none")
"""


def runs_within_the_budget(script, body, rows, clients=1, in_training=False, before=""):
    """Runs a script that prints so many "rows:", counts its memory, and returns what it prints."""
    code, text = script.run(before + START + watched(body, in_training))
    assert (code, f"rows: {rows}" in text) == (0, True), text
    assert 16 << 20 < most_bytes(text) <= BUDGET + clients * (64 << 20), text
    return text
