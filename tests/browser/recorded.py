"""What a driver's dashboard answers of six runs: a finished one, a failed, a hung and a slow one, a
live one, and one with hostile names.
"""

import math

BEGIN_S = 1_790_000_000.0
SLOW_RANK = 5
TRACEBACK = """Traceback (most recent call last):
  File "/home/me/train.py", line 41, in loop
    loss = criterion(model(inputs), targets)
ValueError: bad batch: targets has 3 classes, the model 2
"""
HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'


def wave(seed, at):
    """A number between -1 and 1 that looks random, and is the same each time."""
    return math.sin(seed * 12.9898 + at * 78.233) * math.cos(seed * 4.1 + at * 0.37)


def summary(number, name, state, level, words, **more):
    return {
        "id": str(number),
        "name": name,
        "path": f"/home/me/headway/{name}",
        "state": state,
        "verdict": {"level": level, "words": words, "since_s": BEGIN_S + 1800},
        "attempt": 1,
        "workers": 8,
        "reports": 240,
        "started_unix_s": BEGIN_S,
        "time_total_s": 2612.4,
        "last": {"loss": 0.2471, "accuracy": 0.931},
        "experiment": None,
    } | more


def runs():
    return [
        summary(1, "digits", "finished", "done", "Finished after 240 reports, 43 min 32 s and one restart.", attempt=2),
        summary(
            2,
            "bad-batch",
            "failed",
            "bad",
            "Failed: ValueError: bad batch: targets has 3 classes, the model 2 (rank 3, train.py:41).",
            reports=31,
            time_total_s=312.0,
            last={"loss": 1.91, "accuracy": 0.31},
        ),
        summary(
            3,
            "language-model",
            "running",
            "bad",
            "Stalled for 812 s: 7 ranks wait for rank 5 in all_reduce at train.py:41.",
            reports=96,
            last={"loss": 2.318, "perplexity": 10.15},
        ),
        summary(
            4,
            "vision-large",
            "running",
            "wait",
            "Training; rank 5 on node-b takes 1.42 s a step, the others 0.61 s.",
            reports=151,
            last={"loss": 0.83, "accuracy": 0.77},
        ),
        summary(5, "live", "running", "good", "Training at 12.4 steps/s, report 51 of epoch 3.", reports=51, workers=2),
        summary(6, HOSTILE, "running", "good", f"Training {HOSTILE}", last={HOSTILE: 1.5}, workers=1),
    ]


def ranks(count, hung):
    phases = [
        "training" if hung and rank == SLOW_RANK else "reporting" if hung else "training" for rank in range(count)
    ]
    return [
        {
            "rank": rank,
            "local_rank": rank % 4,
            "node_id": f"node-{'ab'[rank // 4 % 2]}",
            "hostname": f"node-{'ab'[rank // 4 % 2]}",
            "pid": 4100 + rank,
            "phase": phase,
            "phase_for_s": 812.0 if hung else 0.4,
            "gone": False,
            "reports": 96,
            "waits_for": "" if phase == "training" else "rank 5 in report 97",
            "report_s": 8.1,
            "steps": {
                "count": 9200,
                "median_s": 1.42 if rank == SLOW_RANK else 0.61,
                "waiting_share": 0.04 if rank == SLOW_RANK else 0.57,
            },
        }
        for rank, phase in enumerate(phases)
    ]


def checkpoints(count):
    return [
        {
            "name": f"checkpoint_{at:06}",
            "report": at * 20 + 19,
            "committed_unix_s": BEGIN_S + at * 210,
            "size_bytes": 1_482_000_000 + at * 1200,
            "seconds": 3.1 + wave(3, at) / 2,
            "kept": at >= count - 3,
            "why_deleted": None if at >= count - 3 else "num_to_keep is 3",
            "verified": True if at == count - 1 else None,
            "metrics": {"loss": 2.1 / (at + 1), "val_accuracy": 0.93 - 0.4 / (at + 1)},
        }
        for at in range(count)
    ]


def attempts_of(number):
    first = {
        "number": 1,
        "start_s": BEGIN_S,
        "end_s": None,
        "end_words": None,
        "workers": runs()[number - 1]["workers"],
    }
    if number == 2:
        return [first | {"end_s": BEGIN_S + 312, "end_words": "rank 3 raised ValueError"}]
    if number != 1:
        return [first]
    died = "rank 1 died: killed by signal 9 (SIGKILL), maybe out of memory"
    again = {
        "number": 2,
        "start_s": BEGIN_S + 1511,
        "end_s": BEGIN_S + 2612,
        "end_words": "all ranks returned",
        "workers": 7,
        "resumed_from": "checkpoint_000006",
    }
    return [first | {"end_s": BEGIN_S + 1510, "end_words": died}, again]


def failure():
    text = "ValueError: bad batch: targets has 3 classes, the model 2"
    exception = {"type": "ValueError", "message": "bad batch", "traceback": TRACEBACK}
    return {
        "kind": "user_code",
        "message": f"{text} (rank 3 on node-a, attempt 1)",
        "ranks": [{"rank": 3, "text": text, "hostname": "node-a", "exception": exception}],
    }


def view_of(run):
    hung, slow, running = run["id"] == "3", run["id"] == "4", run["state"] == "running"
    wait = {
        "kind": "collective",
        "words": "rank 5 has not come to all_reduce",
        "for_s": 812,
        "awaited": [SLOW_RANK],
        "waiting": [0, 1, 2, 3, 4, 6, 7],
    }
    loop = {"steps": 9200, "steps_per_s": 1.61, "samples_per_s": 412, "epoch_left_s": 312}
    pending = {"index": 96, "checkpoint": "checkpoint_000005", "stage": "uploading", "uploading": [0, 3]}
    validation = {"checkpoint": "checkpoint_000004", "report": 99, "stage": "running", "running_for_s": 41.0}
    return {
        "workers_min": 2,
        "workers_max": 8,
        "ranks": ranks(run["workers"], hung) if running else [],
        "loop": loop if running and not hung else None,
        "wait": wait if hung else None,
        "pending": [pending] if slow else [],
        "validations": [validation] if slow else [],
    }


def stack(rank):
    line = "indices = next(batches)" if rank == SLOW_RANK else "dist.all_reduce(gradient)"
    text = f'File "train.py", line 41, in loop\n    {line}\nFile "train.py", line 97, in <module>\n    loop(config)'
    return {"rank": rank, "taken_unix_s": BEGIN_S + 2500, "text": text}


def stage(name, rows, size, seconds, waited_s, memory):
    return {
        "name": name,
        "rows": rows,
        "bytes": size,
        "seconds": seconds,
        "waited_s": waited_s,
        "memory_bytes": memory,
        "budget_bytes": 4e9,
    }


def details(number):
    run = runs()[number - 1]
    attempts = attempts_of(number)
    ingest = [
        stage("read images.parquet", 812_400, 51.2e9, 940.0, 0.0, 1.9e9),
        stage("map decode", 811_900, 240e9, 2410.0, 371.0, 3.9e9),
    ]
    return run | {
        "view": view_of(run),
        "attempts": attempts,
        "failure": failure() if number == 2 else None,
        "checkpoints": checkpoints(12 if number != 2 else 1),
        "stacks": [stack(rank) for rank in range(8)] if number == 3 else [],
        "ingest": ingest if number == 4 else [],
        "logs": [
            {"rank": rank, "attempt": None, "bytes": 400_000, "name": f"rank_{rank}.log"}
            for rank in range(run["workers"])
        ],
        "last_error": {"rank": 3, "attempt": 1, "text": TRACEBACK} if number == 2 else None,
    }


def metric_names(number):
    if number == 6:
        return [HOSTILE]
    return ["loss", "accuracy", "learning_rate", "gradient_norm", "samples_per_s", "val_loss"]


def curve(run, metric, step, count):
    place = step / max(1, count)
    seed = run + len(metric)
    noise = wave(seed, step)
    values = {
        "loss": 2.4 * math.exp(-3.2 * place) + 0.2 + noise * 0.08 * (1.2 - place),
        "accuracy": 0.96 - 0.8 * math.exp(-4 * place) + noise * 0.02,
        "learning_rate": 3e-4 * min(1, place * 20) * (0.5 + 0.5 * math.cos(place * math.pi)),
        "gradient_norm": 1.2 + 3 * math.exp(-6 * place) + noise * 0.5,
        "samples_per_s": 412 + noise * 12 - (200 if 0.57 < place < 0.6 else 0),
        "val_loss": 2.5 * math.exp(-3 * place) + 0.26 + noise * 0.02,
    }
    return values.get(metric, noise)


def series(run, metric, x, begin, end, points, reports):
    """As many buckets of the reports as points; of each its least, greatest and last value."""
    of_x = (lambda step: BEGIN_S + step * 2612.0 / reports) if x == "time" else float
    low = 0 if begin is None else max(0, round((begin - of_x(0)) / (of_x(1) - of_x(0))))
    high = reports if end is None else min(reports, round((end - of_x(0)) / (of_x(1) - of_x(0))))
    each = max(1, (high - low) // points)
    answer = {"x": [], "min": [], "max": [], "last": []}
    for first in range(low, high, each):
        values = [curve(run, metric, first + at, reports) for at in range(0, each, max(1, each // 8))]
        answer["x"].append(of_x(first))
        answer["min"].append(min(values))
        answer["max"].append(max(values))
        answer["last"].append(values[-1])
    marks = [
        {"x": of_x(at * reports // 12), "kind": "checkpoint", "words": f"checkpoint_{at:06}"} for at in range(1, 12)
    ]
    if run == 1:
        marks.append(
            {"x": of_x(reports * 0.578), "kind": "failure", "words": "rank 1 died: killed by signal 9 (SIGKILL)"}
        )
    marks.append({"x": of_x(reports // 2), "kind": "validation", "words": "validation of checkpoint_000005"})
    return answer | {"marks": [mark for mark in marks if low <= (mark["x"] - of_x(0)) / (of_x(1) - of_x(0)) <= high]}


def steps(number):
    buckets = 160
    slow = number in (3, 4)

    def cell(rank, at):
        if number == 3 and at > 110:
            return None
        base = 0.61 + 0.05 * wave(rank, at) + (0.3 if at % 40 == 39 else 0)
        return base * (2.3 if slow and rank == SLOW_RANK and at > 50 else 1)

    split = [
        {
            "x": BEGIN_S + at * 2612 / buckets,
            "compute": 0.38 + wave(1, at) * 0.03,
            "communication": (0.36 if slow and at > 50 else 0.11) + wave(2, at) * 0.02,
            "data": 0.07 + wave(4, at) * 0.01,
            "checkpoint": 0.3 if at % 40 == 39 else 0.0,
            "report": 0.01,
        }
        for at in range(buckets)
    ]
    return {
        "ranks": list(range(8)),
        "hosts": [f"node-{'ab'[rank // 4]}" for rank in range(8)],
        "from_s": BEGIN_S,
        "to_s": BEGIN_S + 2612,
        "cells": [[cell(rank, at) for at in range(buckets)] for rank in range(8)],
        "split": split,
        "straggler": {
            "rank": SLOW_RANK,
            "words": "rank 5 on node-b holds the others back: its own part of a step takes 133 % longer",
        }
        if slow
        else None,
    }


def log(rank, lines=6000):
    text = "".join(f"[rank {rank}] step {at}: loss {curve(1, 'loss', at, lines):.4f}\n" for at in range(lines))
    return text + "\x1b[31mlast words in red\x1b[0m\n"


def nodes():
    return [
        {
            "node": {
                "node_id": f"node-{letter}",
                "hostname": f"node-{letter}",
                "node_ip": f"10.0.0.{at + 1}",
                "total": {"CPU": 32.0, "GPU": 4.0, "memory": 256e9},
                "gpu_ids": ["0", "1", "2", "3"],
                "labels": {"zone": f"eu-{letter}"},
            },
            "available": {"CPU": 24.0 - 8 * at, "GPU": 0.0 if at == 0 else 1.0},
            "leaving": at == 1,
            "use": {"cpu_share": 0.41 + 0.2 * at, "memory_bytes": 81e9, "memory_total_bytes": 256e9},
        }
        for at, letter in enumerate("ab")
    ]
