"""A training with TensorFlow: as a script by TensorFlow alone (tensorflow_program.py FILE), whose
two workers are forked, and as a training function of Headway's.
"""

import json
import os
import signal
import socket
import sys

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # TensorFlow looks at it when it is imported.

import numpy
import tensorflow as tf
from headway import train
from headway.train.tensorflow import TensorflowCheckpoint
from headway.train.tensorflow.keras import ReportCheckpointCallback

EPOCHS = 4
STEPS_PER_EPOCH = 8


def data():
    """256 rows in batches of all ranks."""
    features = numpy.random.default_rng(0).normal(size=(256, 4)).astype("float32")
    return tf.data.Dataset.from_tensor_slices((features, features.sum(axis=1, keepdims=True))).batch(32)


def model_of(checkpoint=None):
    """Within the strategy's scope."""
    if checkpoint is not None:
        return TensorflowCheckpoint(checkpoint.path, checkpoint.filesystem).get_model()
    tf.keras.utils.set_random_seed(0)
    layers = [tf.keras.layers.Dense(8, "relu"), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(1)]
    model = tf.keras.Sequential([tf.keras.Input((4,)), *layers])
    model.compile(tf.keras.optimizers.Adam(0.05), "mse", metrics=["mae"])
    return model


def killer(step, rank=1):
    """A rank is killed after a step."""

    def kill(batch, logs):
        kill.steps += 1
        if kill.steps == step and train.get_context().get_world_rank() == rank:
            os.kill(os.getpid(), signal.SIGKILL)

    kill.steps = 0
    return tf.keras.callbacks.LambdaCallback(on_train_batch_end=kill)


def loop(config):
    """Returns the strategy's replicas, the optimizer's steps, and the cluster's size."""
    checkpoint = train.get_checkpoint()
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        model = model_of(checkpoint)
    callbacks = [ReportCheckpointCallback(**config.get("callback", {}))]
    if "kill" in config and checkpoint is None:
        callbacks.append(killer(config["kill"]))
    epoch = checkpoint.get_metadata()["epoch"] if checkpoint is not None else 0
    epochs = config.get("epochs", EPOCHS)
    model.fit(data(), epochs=epochs, initial_epoch=epoch, callbacks=callbacks, verbose=0)
    cluster = json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"]
    return strategy.num_replicas_in_sync, int(model.optimizer.iterations.numpy()), len(cluster)


def alone(path):
    """What two workers train that are given a cluster without Headway."""
    held = []
    for _ in range(2):
        each = socket.socket()
        each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        each.bind(("127.0.0.1", 0))
        held.append(each)
    cluster = {"worker": [f"127.0.0.1:{each.getsockname()[1]}" for each in held]}
    children = []
    for rank in range(2):
        child = os.fork()
        if child == 0:
            os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": rank}})
            os.environ["TF_GRPC_REUSE_PORT"] = "1"
            with tf.distribute.MultiWorkerMirroredStrategy().scope():
                model = model_of()
            losses = model.fit(data(), epochs=EPOCHS, verbose=0).history["loss"]
            if rank == 0:
                with open(path, "w") as file:
                    json.dump(losses, file)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]


if __name__ == "__main__":
    alone(sys.argv[1])
