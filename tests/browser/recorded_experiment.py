"""A recorded experiment of any number of trials, and what its routes answer."""

import re

from recorded import BEGIN_S, HOSTILE, wave

OPTIMIZERS = ["adam", "sgd", "adam w"]
RUNGS = [1, 4, 16]


def trial(number, hostile=False):
    lr = 10 ** (-5 + 4 * (wave(1, number) + 1) / 2)
    layers = 1 + int(3.99 * (wave(2, number) + 1) / 2)
    loss = 0.2 + abs(wave(5, number)) * 0.1 + (abs(wave(9, number)) * 2 if number % 3 else abs(lr - 0.002) * 20)
    iterations = 64 if number % 8 == 0 else RUNGS[number % 3]
    state = "errored" if number % 97 == 96 else "running" if number % 100 == 99 else "terminated"
    why = {"errored": "ValueError: loss is nan", "running": None}.get(
        state, "all iterations" if iterations == 64 else f"ASHA: rung {iterations}, among the worse half"
    )
    return {
        "id": f"{number:05}",
        "name": HOSTILE if hostile and number == 1 else f"trial_{number:05}",
        "state": state,
        "why_ended": why,
        "config": {
            "lr": lr,
            "layers": layers,
            "optimizer": OPTIMIZERS[number % 3],
            "dropout": round(abs(wave(7, number)) / 2, 3),
            "seed": 0,
        },
        "last": {"loss": loss, "accuracy": 1 - loss / 3},
        "iterations": iterations,
        "time_total_s": iterations * 2.5,
        "run": "1" if number == 0 else None,
    }


class Experiment:
    def __init__(self, count):
        self.trials = [trial(number, hostile=True) for number in range(count)]

    def summary(self):
        best = min(self.trials, key=lambda of: of["last"]["loss"])
        states = [of["state"] for of in self.trials]
        counts = {
            "total": len(states),
            "running": states.count("running"),
            "waiting": 0,
            "ended": len(states) - states.count("running"),
            "failed": states.count("errored"),
        }
        return {
            "id": "1",
            "name": "sweep",
            "path": "/home/me/headway/sweep",
            "state": "running",
            "metric": "loss",
            "mode": "min",
            "scheduler": "PBT",
            "trials": counts,
            "verdict": {
                "level": "good",
                "words": f"{counts['running']} of {counts['total']} trials at work; "
                f"the best loss is {best['last']['loss']:.3f} ({best['name']}).",
                "since_s": BEGIN_S,
            },
            "best": {"trial": best["id"], "name": best["name"], "value": best["last"]["loss"]},
            "started_unix_s": BEGIN_S,
            "time_total_s": 8120.0,
        }

    def details(self):
        parameters = [
            {"name": "lr", "kind": "log"},
            {"name": "layers", "kind": "number"},
            {"name": "optimizer", "kind": "category", "values": OPTIMIZERS},
            {"name": "dropout", "kind": "number"},
        ]
        return self.summary() | {"parameters": parameters, "metrics": ["loss", "accuracy"], "rungs": RUNGS}

    def rows(self, sort, descending, wanted, begin, count):
        rows = [row for row in self.trials if all(holds(row, term) for term in terms(wanted))]
        if (sort, descending) != ("id", False):
            rows.sort(key=lambda row: value_of(row, sort) or 0, reverse=descending)
        return {"total": len(rows), "rows": rows[begin : begin + count]}

    def parallel(self, most):
        rows = self.trials[:: max(1, len(self.trials) // most)][:most]
        columns = [*self.details()["parameters"], {"name": "loss", "kind": "number"}]
        cells = [
            [
                row["config"]["lr"],
                row["config"]["layers"],
                OPTIMIZERS.index(row["config"]["optimizer"]),
                row["config"]["dropout"],
                row["last"]["loss"],
            ]
            for row in rows
        ]
        return {
            "total": len(self.trials),
            "metric": "loss",
            "mode": "min",
            "columns": columns,
            "ids": [row["id"] for row in rows],
            "rows": cells,
        }

    def curves(self, most):
        rows = self.trials[:most]
        curves = [
            {
                "id": row["id"],
                "name": row["name"],
                "state": row["state"],
                "why_ended": row["why_ended"],
                "x": list(range(1, row["iterations"] + 1)),
                "y": [
                    row["last"]["loss"] + (2 + wave(3, at) / 9) / (1 + step / 3)
                    for at, step in enumerate(range(row["iterations"]), int(row["id"]))
                ],
            }
            for row in rows
        ]
        return {"total": len(self.trials), "metric": "loss", "mode": "min", "rungs": RUNGS, "curves": curves}

    def best(self):
        values = [row["last"]["loss"] for row in self.trials[:800]]
        best = [min(values[: at + 1]) for at in range(len(values))]
        return {
            "metric": "loss",
            "mode": "min",
            "x": [BEGIN_S + at * 9 for at in range(len(values))],
            "y": values,
            "ids": [row["id"] for row in self.trials[:800]],
            "best": best,
        }

    def lineage(self):
        trials = [
            {"id": row["id"], "name": row["name"], "last": row["last"], "iterations": 40} for row in self.trials[:12]
        ]
        steps = [
            {
                "x": 5 + at * 2,
                "trial": trials[at * 5 % 12]["id"],
                "from_trial": trials[at * 7 % 11]["id"],
                "from_x": 4 + at * 2,
                "changed": [{"name": "lr", "before": 0.001, "after": 0.0012 if at % 2 else 0.0008}],
            }
            for at in range(1, 16)
        ]
        return {"trials": trials, "steps": steps}


def value_of(row, name):
    if name in row:
        return row[name]
    name = name.removeprefix("config.").removeprefix("last.")
    return row["config"].get(name, row["last"].get(name))


def terms(wanted):
    return re.findall(r'(?:[^\s"]|"(?:\\.|[^"])*")+', wanted)


def holds(row, term):
    compared = re.fullmatch(r'([\w.]+)(<=|>=|!=|=|<|>)"?(.*?)"?', term)
    if not compared:
        return any(term.lower() in (row[name] or "").lower() for name in ("name", "state", "why_ended"))
    name, sign, wanted = compared.groups()
    value = value_of(row, name)
    if sign in ("=", "!="):
        return (str(value) == wanted) == (sign == "=")
    return {
        "<": value < float(wanted),
        ">": value > float(wanted),
        "<=": value <= float(wanted),
        ">=": value >= float(wanted),
    }[sign]
