"""A run of many reports and an experiment of many trials, written as a driver writes them:
large_runs.py FOLDER SMALL REPORTS TRIALS, where SMALL is a folder that record_runs.py has made.
"""

import json
import random
import shutil
import sys
from pathlib import Path

CRC_TABLE = []
for at in range(256):
    for _ in range(8):
        at = at >> 1 ^ (0x82F63B78 if at & 1 else 0)
    CRC_TABLE.append(at)


def journal_line(at, kind, event):
    """A line of an experiment's journal, with its checksum as driver/event_file.cpp has it."""
    text = json.dumps({"at": at, "is": kind, "event": event}, separators=(",", ":")).encode()
    crc = 0xFFFFFFFF
    for byte in text:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    return b"%08x %s\n" % (masked, text)


def reports(folder, small, count):
    shutil.copytree(small / "digits", folder / "million")
    with (folder / "million" / "result.json").open("w") as lines:
        for step in range(1, count + 1):
            loss = 2 / (1 + step / 50000) + (step * 7919 % 1000) / 5000
            lines.write(
                f'{{"training_iteration":{step},"time_total_s":{step / 100},"time_since_restore":{step / 100},'
                f'"timestamp":{1790000000 + step // 100},"loss":{loss:.4f},"accuracy":{1 - loss / 3:.4f}}}\n'
            )


def trials(folder, small, count):
    (folder / "wide").mkdir()
    began = (small / "sweep" / "experiment.journal").read_bytes().splitlines(keepends=True)[0]
    draw = random.Random(7)
    with (folder / "wide" / "experiment.journal").open("wb") as lines:
        lines.write(began)
        for number in range(count):
            config = json.dumps({"lr": 10 ** draw.uniform(-5, -1), "layers": draw.randint(1, 4)})
            loss = {"loss": round(draw.random() * 2, 6)}
            suggested = {"trial_id": f"t_{number:05}", "config": config, "folder": f"t_{number:05}"}
            lines.write(journal_line(number, "trial_suggested", suggested))
            lines.write(journal_line(number, "trial_ready", {"trial": number}))
            reported = {"trial": number, "number": 1, "numbers": loss, "there": None, "checkpoint": None}
            lines.write(journal_line(number, "trial_reported", reported))
            lines.write(journal_line(number, "trial_gone", {"trial": number, "state": "finished", "words": ""}))


def main(folder, small, report_count, trial_count):
    folder.mkdir()
    reports(folder, small, report_count)
    trials(folder, small, trial_count)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
