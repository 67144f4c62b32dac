"""The rooms of the tree, in C++ and in Python: what is in each, and which rooms it may use. The one
table of them.
"""

from __future__ import annotations

from typing import NamedTuple


class Room(NamedTuple):
    """A folder (in Python also a module) with one job.

    Attributes:
        folder: Where it lies.
        contents: What is in it, for ARCHITECTURE.md.
        uses: The names of the rooms that it may use beside itself.
    """

    folder: str
    contents: str
    uses: frozenset[str]


def _room(folder: str, contents: str, uses: str = "") -> Room:
    return Room(folder, contents, frozenset(uses.split()))


#: By name. `headway` is the public API.
CPP: dict[str, Room] = {
    "headway": _room("include/headway/", "the public C++ API, one header a subject; no Boost, no Arrow"),
    "core": _room(
        "src/core/",
        "values that all rooms use: configuration and its rules, JSON, manifests, time, worker facts",
        "headway",
    ),
    "wire": _room(
        "src/wire/",
        "messages, frames, the async channel, the blocking channel, descriptors that children drop",
        "headway core",
    ),
    "data": _room(
        "src/data/",
        "decisions about data sets: plan and its identity, optimiser, order, shares, cursor, credits",
        "headway core",
    ),
    "control": _room(
        "src/control/",
        "decisions: the run controller and its pieces (attempt, report pipeline, validations, upkeep, waits, end), "
        "checkpoint book, failure policy and its texts; in `tune/` the controller of an experiment with many trials "
        "and their schedulers",
        "headway core data",
    ),
    "storage": _room(
        "src/storage/",
        "checkpoints on any storage (`storage.hpp`), and reading parts of any file (`random_reader.hpp`); in folders: "
        "`disk/` (POSIX files, locks, copies), `local/` (the contract on a disk), `remote/` (the contract on object "
        "stores, retries; loads `arrow/` for the first URL), `checkpoint/` (verify, fetch, copy, survey, shared "
        "downloads)",
        "headway core",
    ),
    "arrow": _room(
        "src/arrow/",
        "`libheadway_arrow.so`: everything that needs Arrow C++, behind `storage/files.hpp`",
        "headway core storage",
    ),
    "node": _room(
        "src/node/",
        "one machine: agent, worker factory (both ends), guard program, log capture, resource ledger",
        "headway core wire",
    ),
    "engine": _room(
        "src/engine/",
        "who gets which slots: the interface, placement, the pool of this machine's node and of those that joined, and "
        "what is asked of node providers",
        "headway core wire node",
    ),
    "cluster": _room(
        "src/cluster/",
        "nodes of other machines: TLS channel, who may join, the agent's process there, the driver's end of it, "
        "channels between helpers of two nodes",
        "headway core wire node",
    ),
    "driver": _room(
        "src/driver/",
        "the runtime: carries out commands, feeds events, keeps the run's folder; in `tune/` experiments, whose trials "
        "are runs",
        "headway core wire control storage node engine cluster",
    ),
    "dashboard": _room(
        "src/dashboard/",
        "the page that shows runs in a browser: its server, what it answers from snapshots of the driver and from "
        "runs' folders, who may ask; in `page/` what the browser gets",
        "headway core wire control data storage node engine cluster driver",
    ),
    "worker": _room("src/worker/", "the session inside a worker", "headway core wire storage"),
    "feed": _room(
        "src/feed/",
        "both ends of the data process beside itself: its messages, batches in shared memory, its start, and the way "
        "between it and function workers of other nodes",
        "headway core wire node data cluster",
    ),
    "flow": _room(
        "src/flow/",
        "the program `headway-data`: reads files, runs plans, deals batches to ranks; everything of it that needs "
        "Arrow C++",
        "headway core wire storage node data cluster feed",
    ),
    "library": _room(
        "src/library/",
        "`libheadway.so`: the C++ front end (its programs are driver, factory and worker) and its CMake package",
        "headway core wire storage node cluster engine driver dashboard worker data feed",
    ),
    "bindings": _room(
        "src/bindings/",
        "the Python module `headway._core`, one file a subject, no logic",
        "headway core wire storage node cluster driver dashboard worker data feed",
    ),
    "sim": _room(
        "sim/",
        "the simulator: the real `control/`, `data/` and `engine/` in a simulated world, with faults, by seed",
        "headway core control data engine node",
    ),
}

#: Rooms of C++ with folders: each folder, and the folders of its room that it may use. What lies in
#: the room itself is the room's contract: its headers are for all folders, its sources may use all.
FOLDERS: dict[str, dict[str, frozenset[str]]] = {
    "control": {"tune": frozenset()},
    "driver": {"tune": frozenset()},
    "storage": {
        "disk": frozenset(),
        "local": frozenset({"disk"}),
        "remote": frozenset({"disk"}),
        "checkpoint": frozenset({"disk", "remote"}),
    },
}

#: By dotted name below the package `headway`; a module belongs to the room with the longest name
#: that begins its own. The last row is the package's own `__init__`, and the program behind `python
#: -m`.
PYTHON: dict[str, Room] = {
    "_core": _room("python/headway/_core", "the bindings' module"),
    "_values": _room(
        "python/headway/_values/",
        "checked arguments, metrics as JSON, pickles, what Headway says, what happens at the process's end",
        "_core",
    ),
    "_places": _room(
        "python/headway/_places/",
        "modules without a file: tables of older and longer names and of missing ones, and the finder for them",
    ),
    "_session": _room(
        "python/headway/_session.py", "what this process is: a rank, one that validates, or neither", "_core"
    ),
    "_storage": _room(
        "python/headway/_storage/",
        "locations, Python's filesystems, the small files of a run's folder",
        "_core _session _values",
    ),
    "_checkpoint": _room("python/headway/_checkpoint/", "checkpoints with their metadata", "_core _storage _values"),
    "_callbacks": _room(
        "python/headway/_callbacks/",
        "callbacks, loggers, stoppers, progress reporters, trials: below training and tuning",
        "_checkpoint _values",
    ),
    "_plots": _room(
        "python/headway/_plots/",
        "pictures of runs and experiments, as SVG and PNG; the dashboard's charts in notebooks",
        "_core",
    ),
    "_trackers": _room(
        "python/headway/_trackers/",
        "experiment trackers: loggers that run in the driver, and what sets a tracker up in a rank",
        "_callbacks _session _storage _values",
    ),
    "_engines": _room(
        "python/headway/_engines/",
        "bridges to what gives nodes (Slurm, Ray, Kubernetes), processes beside the driver, with checks of options",
        "_values",
    ),
    "_runtime": _room(
        "python/headway/_runtime/",
        "the runtime's start and end, its runs and nodes, workers' environments",
        "_core _engines _session _values",
    ),
    "_worker": _room(
        "python/headway/_worker/",
        "what runs in the factory and in workers",
        "_checkpoint _core _session _storage _values",
    ),
    "_ray": _room("python/headway/_ray/", "`import ray` that means Headway", "_places _runtime _values"),
    "_command": _room("python/headway/_command/", "the command `headway`", "_core _engines _ray _storage _values"),
    "agent": _room("python/headway/agent.py", "the command `headway-agent`", "_core _runtime _values"),
    "data": _room(
        "python/headway/data/",
        "data sets: readers, transforms, expressions, iterators, preprocessors, as plans for the data engine",
        "_core _places _session _storage _values _worker",
    ),
    "train.backend": _room("python/headway/train/backend.py", "what a framework's integration implements"),
    "train._errors": _room("python/headway/train/_errors/", "what `fit()` raises", "_core"),
    "train._config": _room(
        "python/headway/train/_config/",
        "the configuration classes and their checks",
        "_callbacks _core _runtime _storage _values",
    ),
    "train._validation": _room(
        "python/headway/train/_validation/",
        "how checkpoints are validated, and what a report asks for",
        "_checkpoint _core _session _values",
    ),
    "train._training_function": _room(
        "python/headway/train/_training_function/",
        "what a training function may call, and how it is called",
        "_checkpoint _session _storage _values _worker data train._errors train._validation",
    ),
    "train._run": _room(
        "python/headway/train/_run/",
        "a run as the driver sees it: events, display, callbacks, result, what is stored to restore it",
        "_callbacks _checkpoint _core _plots _storage _values _worker train._config train._errors train.backend",
    ),
    "train._local": _room(
        "python/headway/train/_local/",
        "local mode: the training function runs in this process, or in torchrun's",
        "_core _runtime _session _storage _values _worker train._config train._errors train._run train._validation "
        "train.backend",
    ),
    "train.collective": _room(
        "python/headway/train/collective/", "barriers and broadcasts of all ranks", "_session _values"
    ),
    "train": _room(
        "python/headway/train/",
        "the trainers, and the names that users import",
        "_callbacks _checkpoint _core _places _runtime _session _storage _values _worker data train._config "
        "train._errors train._local train._run train._training_function train._validation train.backend",
    ),
    "train._ports": _room(
        "python/headway/train/_ports.py",
        "addresses of ranks, and ports that they hold until a framework listens",
        "_session",
    ),
    "train.torch": _room(
        "python/headway/train/torch/",
        "PyTorch: trainer, checkpoints, models, data loaders",
        "_checkpoint _session _values train train._ports train.backend",
    ),
    "train.lightning": _room(
        "python/headway/train/lightning/",
        "Lightning: strategies, environment, reports of its Trainer",
        "_places _session _values train train.torch",
    ),
    "train.huggingface": _room(
        "python/headway/train/huggingface/",
        "Transformers: reports of its Trainer",
        "_places _session _values data train train.collective",
    ),
    "train._boosting": _room(
        "python/headway/train/_boosting/",
        "what XGBoost and LightGBM have in common: reports of rounds, shares as tables, training by parameters",
        "_checkpoint _session _values data train train._config train._training_function train._validation "
        "train.backend train.collective",
    ),
    "train.xgboost": _room(
        "python/headway/train/xgboost/",
        "XGBoost: trainer, reports, matrices of shares",
        "_checkpoint _places _session _values data train train._boosting train._ports train.backend",
    ),
    "train.lightgbm": _room(
        "python/headway/train/lightgbm/",
        "LightGBM: trainer, network, reports, data sets of shares",
        "_checkpoint _places _session _values data train train._boosting train._ports train.backend train.collective",
    ),
    "train.tensorflow": _room(
        "python/headway/train/tensorflow/",
        "TensorFlow: trainer, cluster, reports of Keras, checkpoints",
        "_checkpoint _places _session _values train train._ports train.backend",
    ),
    "train.jax": _room(
        "python/headway/train/jax/",
        "JAX: trainer, processes",
        "_places _session _values train train._ports train.backend",
    ),
    "train.horovod": _room(
        "python/headway/train/horovod/",
        "Horovod: trainer, where its ranks meet",
        "_places _session _values train train._ports train.backend",
    ),
    "tune._space": _room(
        "python/headway/tune/_space/",
        "search spaces: domains, laws of draws, and configurations made of them",
        "_values",
    ),
    "tune.search": _room(
        "python/headway/tune/search/",
        "searchers: grids and random search, libraries that are asked and told, limits",
        "_places _values tune._space",
    ),
    "tune.schedulers": _room(
        "python/headway/tune/schedulers/",
        "what describes to the core which trials end early",
        "_values tune._space tune.search",
    ),
    "tune._experiment": _room(
        "python/headway/tune/_experiment/",
        "experiments: tuner, loop of the thread in fit(), trials as runs, what runs in a trial, results",
        "_callbacks _checkpoint _core _plots _runtime _session _storage _values _worker train train._config "
        "train._errors train._run train._training_function train.backend tune._space tune.schedulers tune.search",
    ),
    "tune.integration": _room(
        "python/headway/tune/integration/",
        "callbacks that carry the reports of other libraries to a trial",
        "_session _values train train.lightgbm train.lightning train.tensorflow train.xgboost tune._experiment",
    ),
    "tune": _room(
        "python/headway/tune/",
        "the names that users import: tuning, and what it shares with training",
        "_callbacks _places _values train tune._experiment tune._space tune.schedulers tune.search",
    ),
    "": _room(
        "python/headway/__init__.py", "the names of `import headway`", "_command _core _places _ray _runtime _values"
    ),
}
