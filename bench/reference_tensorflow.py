"""Seconds for two epochs of MultiWorkerMirroredStrategy on images of FashionMNIST's shape, after an
epoch that is not counted.

reference_tensorflow.py headway|ray|alone

Alone, two processes have each other's addresses in TF_CONFIG.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time

import program
from launchers import join

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # Keras 3 has no strategy for several workers.

IMAGES = 20_000  # Of 28 by 28 pixels.
BATCH = 32  # Of each rank.
EPOCHS = 3


def train(count):
    """Returns the seconds of all epochs but the first."""
    import numpy
    import tensorflow as tf

    tf.keras.utils.set_random_seed(0)
    random = numpy.random.default_rng(0)
    images = random.random((count, 28, 28), dtype="float32")
    labels = random.integers(0, 10, count)
    with tf.distribute.MultiWorkerMirroredStrategy().scope():
        layers = [tf.keras.layers.Dense(512, "relu"), tf.keras.layers.Dense(512, "relu"), tf.keras.layers.Dense(10)]
        model = tf.keras.Sequential([tf.keras.Input((28, 28)), tf.keras.layers.Flatten(), *layers])
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(tf.keras.optimizers.SGD(1e-3), loss)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).batch(BATCH * program.WORKERS, drop_remainder=True)
    ends = []
    clock = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: ends.append(time.perf_counter()))
    model.fit(data, epochs=EPOCHS, callbacks=[clock], verbose=0)
    return ends[-1] - ends[0]


def loop(config):
    training_s = train(config["count"])
    if program.train_module(config["library"]).get_context().get_world_rank() == 0:
        program.note(config, "training", training_s)


def start_alone(config):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(program.WORKERS)]
    workers = [f"127.0.0.1:{each.getsockname()[1]}" for each in held]
    for each in held:
        each.close()
    join([(config, workers, rank) for rank in range(program.WORKERS)], train_alone)


def train_alone(config, workers, rank):
    task = {"type": "worker", "index": rank}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": workers}, "task": task})
    training_s = train(config["count"])
    if rank == 0:
        program.note(config, "training", training_s)


def main(library):
    config = {"count": max(BATCH * program.WORKERS, round(IMAGES * program.size())), "folder": str(program.folder())}
    if library == "alone":
        start_alone(config)
    else:
        program.fit(library, "tensorflow", loop, config, program.folder())
    program.finish(training_s=program.noted(program.folder(), "training")[0])


if __name__ == "__main__":
    main(sys.argv[1])
