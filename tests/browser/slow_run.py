"""Makes a run of eight ranks that took a moment one of 24 minutes, in which one rank became slow.

All of its files tell the same: reports, checkpoints, step times and what happened when.
"""

import json
import random
import statistics
import time
from dataclasses import dataclass

RANKS = 8
STEPS = 1200  # Each makes a report, each twentieth one a checkpoint.
SLOW_RANK = 5
SLOW_FROM = 450
START_S = 4.0  # Until the first step begins.
TOGETHER_S = 0.06  # The gradients' exchange.
REPORT_S = 0.002
STORE_S = 0.4
LOOKS_S = 30.0  # Between two looks at the step times.
DATA_S = 0.03
ROWS = 256 * RANKS
ROW_BYTES = 12_288


@dataclass
class Step:
    own_s: list[float]  # By rank, without waiting.
    store_s: float

    @property
    def seconds(self):
        return max(self.own_s) + TOGETHER_S + REPORT_S + self.store_s


def drawn_steps():
    draw = random.Random(7)
    for step in range(STEPS):
        own = [0.58 + draw.gauss(0, 0.02) for _ in range(RANKS)]
        if step >= SLOW_FROM:
            own[SLOW_RANK] += 0.8
        yield Step(own, STORE_S if step % 20 == 19 else 0.0)


def stretch(folder):
    """`folder`: of a run of RANKS ranks and STEPS reports, as record_runs.py makes it."""
    steps = list(drawn_steps())
    ends = [START_S]
    for step in steps:
        ends.append(ends[-1] + step.seconds)
    ends = ends[1:]
    journal = json.loads((folder / "run.json").read_text())
    began = journal["written_unix_s"] - ends[-1]
    journal["time_total_s"] = ends[-1]
    (folder / "run.json").write_text(json.dumps(journal))
    stretch_reports(folder / "result.json", steps, ends, began)
    stretch_history(folder / "history.jsonl", steps, ends, began)
    times = {"attempt": 1, "ranks": [step_times(steps, rank) for rank in range(RANKS)]}
    (folder / "step_times_1.json").write_text(json.dumps(times))
    (folder / "data_waits.json").write_text(json.dumps(data_waits(ends)))
    for other in [*folder.glob("events.out*"), *folder.glob("progress.csv")]:
        other.unlink()  # The same reports in other formats.


def stretch_reports(file, steps, ends, began):
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line, step, end in zip(lines, steps, ends, strict=True):
        at = began + end
        line |= {"time_this_iter_s": step.seconds, "time_total_s": end, "time_since_restore": end}
        line |= {"timestamp": int(at), "date": time.strftime("%Y-%m-%d_%H-%M-%S", time.localtime(at))}
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def stretch_history(file, steps, ends, began):
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    kept = [line for line in lines if line["is"] in ("attempt_began", "checkpoint_stored", "run_ended")]
    for line in kept:
        line["at"] = began + (ends[-1] if line["is"] == "run_ended" else 0)
        if line["is"] == "attempt_began":
            line["event"]["hosts"] = [f"node-{'ab'[rank // 4]}" for rank in range(RANKS)]
        if line["is"] == "checkpoint_stored":
            line["at"] = began + ends[line["event"]["report"]]
            line["event"]["seconds"] = STORE_S
    done = 0
    while done < STEPS:
        looked_s = min(ends[done] + LOOKS_S, ends[-1])
        done = sum(end <= looked_s for end in ends)
        at = began + ends[done - 1]
        ranks = [steps_taken(steps[:done], rank) for rank in range(RANKS)]
        kept.append({"at": at, "is": "steps_taken", "event": {"attempt": 1, "ranks": ranks}})
        kept.append({"at": at, "is": "data_waited", "event": ranks_waited(ends[:done])})
    kept.sort(key=lambda line: (line["at"], line["is"] == "run_ended"))
    file.write_text("".join(json.dumps(line) + "\n" for line in kept))


def steps_taken(steps, rank):
    own_s = sum(step.own_s[rank] for step in steps)
    total_s = sum(step.seconds for step in steps)
    return {
        "rank": rank,
        "count": len(steps),
        "total_s": total_s,
        "waited_s": total_s - own_s,
        "report_s": REPORT_S * sum(not step.store_s for step in steps),
        "checkpoint_s": sum(REPORT_S + step.store_s for step in steps if step.store_s),
        "of_reports": False,
        "forward_s": (own_s - DATA_S * len(steps)) * 0.32,
        "backward_s": (own_s - DATA_S * len(steps)) * 0.6,
    }


def step_times(steps, rank):
    taken = steps_taken(steps, rank)
    seconds = sorted(step.seconds for step in steps)
    return {
        "rank": rank,
        "hostname": f"node-{'ab'[rank // 4]}",
        "steps": {
            "count": len(steps),
            "total_s": taken["total_s"],
            "median_s": statistics.median(seconds),
            "p95_s": seconds[len(seconds) * 95 // 100],
            "max_s": seconds[-1],
        },
        "reports": None,
        "waiting_share": taken["waited_s"] / taken["total_s"],
        "forward_s": taken["forward_s"],
        "backward_s": taken["backward_s"],
    }


def ranks_waited(ends):
    return {"waiting_s": RANKS * DATA_S * len(ends), "elapsed_s": RANKS * (ends[-1] - START_S)}


def data_waits(ends):
    rows = ROWS * len(ends)
    waited = ranks_waited(ends)
    share = waited["waiting_s"] / waited["elapsed_s"]

    def stage(name, busy_s, waiting_input_s, waiting_output_s):
        return {
            "name": name,
            "workers": 1,
            "busy_s": busy_s,
            "waiting_input_s": waiting_input_s,
            "waiting_output_s": waiting_output_s,
            "rows": rows,
            "bytes": rows * ROW_BYTES,
            "waiting_memory_s": 0.0,
            "held_bytes": 96 * ROWS * ROW_BYTES // 4,
            "pool": 1,
            "at_work": 0,
            "silent_s": 0.1,
        }

    elapsed_s = ends[-1] - START_S
    stages = [
        stage("read parquet", elapsed_s * 0.11, 0.0, elapsed_s * 0.86),
        stage("map_batches(decode)", elapsed_s * 0.46, elapsed_s * 0.02, elapsed_s * 0.49),
        stage("deal", elapsed_s * 0.03, elapsed_s * 0.09, elapsed_s * 0.85),
    ]
    held = sum(each["held_bytes"] for each in stages)
    budget = {"budget_bytes": 4_000_000_000, "held_bytes": held, "held_bytes_max": int(held * 1.2)}
    words = f"not data-bound: ranks waited for batches {100 * share:.0f} % of the time"
    verdict = {"is_data_bound": False, "waiting_share": share, "stage": None, "words": words}
    dataset = {"ranks": waited, "stages": stages} | budget
    return {"verdict": verdict, "dataset": "train", "datasets": {"train": dataset}}
