"""The slowest hundredth of reports with eight pages open, against none: pairs of runs in a process.

dashboard.py COUNT PAIRS
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import headway
import program

PAGES = 8
# What a page that listens does, eight times; a line says that all have had their first event.
READER = """
import sys, threading, urllib.request
address, _, token = sys.argv[1].partition("?token=")
first = threading.Barrier(int(sys.argv[2]) + 1)
def listen():
    asked = urllib.request.Request(address + "api/events", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked) as events:
        events.readline()
        first.wait()
        while events.readline():
            pass
for _ in range(int(sys.argv[2])):
    threading.Thread(target=listen, daemon=True).start()
first.wait()
print("all listen", flush=True)
sys.stdin.read()
"""


def loop(config):
    import program

    train = program.train_module(config["library"])
    times = []
    for i in range(config["count"]):
        started = time.perf_counter()
        train.report({"i": i})
        times.append(time.perf_counter() - started)
    if train.get_context().get_world_rank() == 0:
        program.note(config, "p99", statistics.quantiles(times, n=100)[-1])


def p99_s(count, number, pages):
    headway.init(dashboard=pages > 0)
    folder = program.folder() / f"{number}_{pages}"
    readers = None
    try:
        if pages:
            command = [sys.executable, "-c", READER, headway.dashboard_url(), str(pages)]
            readers = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            assert readers.stdout.readline() == "all listen\n"
        program.fit("headway", "plain", loop, {"count": count}, folder)
    finally:
        if readers is not None:
            readers.stdin.close()
            readers.wait()
        headway.shutdown()
    return program.noted(folder, "p99")[0]


def main(count, pairs):
    ratios, alone = [], []
    for number in range(pairs):
        # Which comes first changes: what gets slower with time is no difference.
        order = (0, PAGES) if number % 2 == 0 else (PAGES, 0)
        found = {pages: p99_s(count, number, pages) for pages in order}
        ratios.append(found[PAGES] / found[0])
        alone.append(found[0])
    program.finish(p99_ratio=statistics.median(ratios), p99_s=statistics.median(alone))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
