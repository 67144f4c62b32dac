"""Seconds that an experiment of many ended trials takes to be restored, and what the driver has in
memory then.

tune_restore.py headway TRIALS REPORTS

The trials are those of a small experiment that runs first, again and again under other ids: their
lines in experiment.journal, with their checksums.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import program
from tune import function_of, resident_kib, space_of

CASTAGNOLI = 0x82F63B78
TABLE = []
for index in range(256):
    value = index
    for _ in range(8):
        value = (value >> 1) ^ CASTAGNOLI if value & 1 else value >> 1
    TABLE.append(value)


def line_of(text: bytes) -> bytes:
    """A line of a journal: its masked CRC-32C, and what it says."""
    crc = 0xFFFFFFFF
    for byte in text:
        crc = (crc >> 8) ^ TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    rotated = (crc >> 15) | ((crc << 17) & 0xFFFFFFFF)
    return b"%08x %s\n" % ((rotated + 0xA282EAD8) & 0xFFFFFFFF, text)


def multiplied(journal: list[bytes], trials: int) -> list[bytes]:
    """The lines of so many trials as those of a journal with one."""
    events = [json.loads(line[9:]) for line in journal]
    first, of_trial = events[0], [each for each in events if each["is"].startswith("trial_")]
    lines = [line_of(json.dumps(first, separators=(",", ":")).encode())]
    for number in range(trials):
        for event in of_trial:
            changed: dict[str, Any] = {**event, "event": {**event["event"]}}
            if event["is"] == "trial_suggested":
                changed["event"]["trial_id"] = f"{number:06d}"
            else:
                changed["event"]["trial"] = number
            lines.append(line_of(json.dumps(changed, separators=(",", ":")).encode()))
    return lines


def main(trials: int, reports: int) -> None:
    import headway
    from headway import tune

    headway.init(num_cpus=2)
    function = function_of("headway")
    run_config = tune.RunConfig(storage_path=str(program.folder()), name="many", verbose=0)
    tune.Tuner(function, param_space=space_of("headway", reports=reports), run_config=run_config).fit()
    folder = program.folder() / "many"
    journal = Path(folder, "experiment.journal")
    journal.write_bytes(b"".join(multiplied(journal.read_bytes().splitlines(), trials)))
    before = resident_kib()
    started = time.perf_counter()
    grid = tune.Tuner.restore(folder, function).fit()
    seconds = time.perf_counter() - started
    assert len(grid) == trials, len(grid)
    program.finish(restore_s=seconds, driver_mib=resident_kib() / 1024, kib_a_trial=(resident_kib() - before) / trials)


if __name__ == "__main__":
    main(int(sys.argv[2]), int(sys.argv[3]))
