"""A training with weights and categories: as a script by the framework alone (boosting_columns.py
FRAMEWORK FILE ROWS), whose two ranks are forked, and as a training function of Headway's. ROWS are
those of rank 0.
"""

import json
import socket
import sys

import boosting_data
import lightgbm
import pandas
import two_ranks
import xgboost
from headway import train
from headway.train.lightgbm import ReportCallback, get_network_params, to_dataset
from headway.train.xgboost import ReportCallback as XGBoostReportCallback
from headway.train.xgboost import to_dmatrix
from xgboost.tracker import RabitTracker

FEATURES = ["a", "b", "c", "city"]
CITIES = pandas.CategoricalDtype(["Bern", "Oslo", "Rome"])
# Splits by sets of cities, not at one of them.
OF_XGBOOST = {**boosting_data.OF_XGBOOST, "max_cat_to_onehot": 1}
OF_LIGHTGBM = {
    **boosting_data.OF_LIGHTGBM,
    "min_data_per_group": 10,
    "cat_smooth": 1,
    "tree_learner": "data",
    "pre_partition": True,
}


def table():
    rows = boosting_data.frame(400, text=True)
    return rows.assign(number=rows.index)


def own_data(framework, rows, weighted=True):
    """As the framework makes it of pandas' categories."""
    features = rows[FEATURES].astype({"city": CITIES})
    label, weight = rows[boosting_data.LABEL], rows["weight"] if weighted else None
    if framework == "xgboost":
        return xgboost.DMatrix(features, label, weight=weight, nthread=1, enable_categorical=True)
    return lightgbm.Dataset(features, label, weight=weight)


def built(framework, data, network, callbacks=()):
    callbacks = [*callbacks]
    if framework == "xgboost":
        return xgboost.train(OF_XGBOOST, data, boosting_data.ROUNDS, callbacks=callbacks)
    return lightgbm.train({**OF_LIGHTGBM, **network}, data, boosting_data.ROUNDS, callbacks=callbacks)


def loop(framework):
    """Returns the rows of this rank, and the trees of data that is made without Headway, of that
    from the shard, and of data without weights.
    """
    shard = train.get_dataset_shard("train")
    rows = pandas.concat(shard.iter_batches(batch_format="pandas"))
    if framework == "xgboost":
        callback, network = XGBoostReportCallback, dict
        of_shard = to_dmatrix(
            shard, boosting_data.LABEL, weight="weight", features=FEATURES, enable_categorical=True, nthread=1
        )
    else:
        callback, network = ReportCallback, get_network_params
        of_shard = to_dataset(shard, boosting_data.LABEL, weight="weight", features=FEATURES)
    made = (own_data(framework, rows), of_shard, own_data(framework, rows, weighted=False))
    models = [built(framework, data, network(), [callback()]) for data in made]
    return rows["number"].tolist(), [boosting_data.trees(model) for model in models]


def alone(framework, path, of_rank_zero):
    """What two ranks build that meet without Headway."""
    rows = table()
    first = rows["number"].isin(of_rank_zero)
    shares = [rows[first], rows[~first]]
    held = [socket.create_server(("127.0.0.1", 0)) for _ in shares]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    network = {"machines": ",".join(f"127.0.0.1:{port}" for port in ports), "num_machines": 2}
    arguments = {}
    if framework == "xgboost":
        tracker = RabitTracker(n_workers=2, host_ip="127.0.0.1", sortby="task")
        tracker.start()
        arguments = tracker.worker_args()

    def train_alone(rank):
        data = own_data(framework, shares[rank])
        if framework == "lightgbm":
            return built(framework, data, {**network, "local_listen_port": ports[rank]})
        with xgboost.collective.CommunicatorContext(**arguments, dmlc_task_id=f"{rank:08d}"):
            return built(framework, data, {})

    two_ranks.build(path, train_alone)


if __name__ == "__main__":
    alone(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
