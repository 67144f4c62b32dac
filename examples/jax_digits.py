"""Handwritten digits with JAX: the ranks are the processes of one JAX program, and ``jit`` over the
devices of all of them adds up the gradients.

    python examples/jax_digits.py

It needs jax and scikit-learn, which ships the digits. HEADWAY_EXAMPLE_KILL=1 kills a rank once
(lose_a_rank.py).
"""

import pickle
import tempfile
from pathlib import Path

import jax
import numpy
from headway import train
from headway.train.jax import JaxTrainer
from jax import numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from lose_a_rank import lose_a_rank
from sklearn.datasets import load_digits

EPOCHS = 15
BATCH = 64  # Of all ranks.


def load_data():
    """(Images, labels) for training, and for the test."""
    digits = load_digits()
    images = digits.data.astype("float32") / 16
    order = numpy.random.default_rng(0).permutation(len(images))
    return [(images[part], digits.target[part]) for part in (order[360:], order[:360])]


def first_parameters():
    random, layers = numpy.random.default_rng(0), []
    for size in [(64, 128), (128, 10)]:
        weights = random.normal(0, (2 / size[0]) ** 0.5, size).astype("float32")
        layers.append({"weights": weights, "bias": numpy.zeros(size[1], "float32")})
    return layers


def network(parameters, images):
    first, second = parameters
    hidden = jax.nn.relu(images @ first["weights"] + first["bias"])
    return hidden @ second["weights"] + second["bias"]


def loss_of(parameters, images, labels):
    logits = jax.nn.log_softmax(network(parameters, images))
    return -jnp.take_along_axis(logits, labels[:, None], axis=1).mean()


@jax.jit
def step(parameters, speeds, images, labels):
    """A step of SGD with momentum."""
    loss, gradients = jax.value_and_grad(loss_of)(parameters, images, labels)
    speeds = jax.tree.map(lambda speed, gradient: 0.9 * speed - 0.05 * gradient, speeds, gradients)
    return jax.tree.map(jnp.add, parameters, speeds), speeds, loss


# --- The training function: it runs in every rank. ---


def classify(config):
    context = train.get_context()
    mesh = Mesh(numpy.array(jax.devices()), ("rows",))  # Of all ranks.
    by_row, everywhere = NamedSharding(mesh, PartitionSpec("rows")), NamedSharding(mesh, PartitionSpec())
    parameters, first = first_parameters(), 0
    speeds = jax.tree.map(numpy.zeros_like, parameters)
    if checkpoint := train.get_checkpoint():  # There is one after a restart.
        with checkpoint.as_directory() as folder:
            first, parameters, speeds = pickle.loads(Path(folder, "state.pkl").read_bytes())
    parameters, speeds = jax.device_put((parameters, speeds), everywhere)

    (images, labels), test = load_data()
    for epoch in range(first, config["epochs"]):
        order = numpy.random.default_rng(epoch).permutation(len(images))
        for start in range(0, len(images) - BATCH + 1, BATCH):
            rows = order[start : start + BATCH][context.get_world_rank() :: context.get_world_size()]
            batch = (jax.make_array_from_process_local_data(by_row, each[rows]) for each in (images, labels))
            parameters, speeds, loss = step(parameters, speeds, *batch)
        lose_a_rank(now=epoch == 6)

        state = jax.tree.map(numpy.asarray, (parameters, speeds))  # All ranks have the same.
        right = (network(state[0], test[0]).argmax(axis=1) == test[1]).mean()
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = None
            if context.get_world_rank() == 0:
                Path(folder, "state.pkl").write_bytes(pickle.dumps((epoch + 1, *state)))
                checkpoint = train.Checkpoint.from_directory(folder)
            train.report({"epoch": epoch, "loss": float(loss), "accuracy": float(right)}, checkpoint)


# --- The driver: it runs once, here. ---


def main():
    result = JaxTrainer(
        classify,
        train_loop_config={"epochs": EPOCHS},
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(failure_config=train.FailureConfig(max_failures=1)),
    ).fit()
    with result.checkpoint.as_directory() as folder:
        _, parameters, _ = pickle.loads(Path(folder, "state.pkl").read_bytes())
    images, labels = load_data()[1]
    answers = network(parameters, images[:10]).argmax(axis=1)
    print(f"The model reads {answers.tolist()} in images of {labels[:10].tolist()}")
    print(f"Test accuracy: {result.metrics['accuracy']:.3f}")


if __name__ == "__main__":
    main()
