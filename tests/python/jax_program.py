"""A training with JAX: as a script by JAX alone (jax_program.py FILE), whose two processes are
forked, and as a training function of Headway's.
"""

import json
import os
import signal
import socket
import sys
import tempfile

import jax
import numpy
from headway import train

STEPS = 12
ROWS = 48  # Of all ranks.


def shares(rank, world_size):
    """A rank's rows."""
    features = numpy.random.default_rng(0).normal(size=(ROWS, 4)).astype("float32")
    targets = features.sum(axis=1)
    return features[rank::world_size], targets[rank::world_size]


def start(weights=None):
    """Weights that all devices have, the step, and this process's share in an array of all."""
    rank, world_size = jax.process_index(), jax.process_count()
    mesh = jax.sharding.Mesh(numpy.array(jax.devices()), ("rows",))
    by_row = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows"))
    everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    made = [jax.make_array_from_process_local_data(by_row, each) for each in shares(rank, world_size)]
    first = numpy.zeros(4, "float32") if weights is None else weights
    weights = jax.make_array_from_process_local_data(everywhere, first)

    @jax.jit
    def step(weights, features, targets):
        loss, gradient = jax.value_and_grad(lambda w: ((features @ w - targets) ** 2).mean())(weights)
        return weights - 0.1 * gradient, loss

    return weights, step, made


def loop(config):
    """Returns the processes that JAX knows, and the steps of the last attempt."""
    weights, done, checkpoint = None, 0, train.get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as folder, numpy.load(os.path.join(folder, "state.npz")) as state:
            weights, done = state["weights"], int(state["step"])
    weights, step, rows = start(weights)
    for number in range(done, config.get("steps", STEPS)):
        weights, loss = step(weights, *rows)
        loss = float(loss)
        if config.get("kill") == number and done == 0 and train.get_context().get_world_rank() == config["rank"]:
            os.kill(os.getpid(), signal.SIGKILL)
        report(number + 1, weights, loss)
    return jax.process_count(), jax.device_count(), config.get("steps", STEPS) - done


def report(step, weights, loss):
    """With a checkpoint every four steps."""
    if step % 4 or jax.process_index() != 0:
        train.report({"loss": loss, "step": step})
        return
    with tempfile.TemporaryDirectory() as folder:
        numpy.savez(os.path.join(folder, "state.npz"), weights=numpy.asarray(weights), step=step)
        train.report({"loss": loss, "step": step}, train.Checkpoint.from_directory(folder))


def alone(path):
    """What two processes train that meet without Headway."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind(("127.0.0.1", 0))
    children = []
    for rank in range(2):
        child = os.fork()
        if child == 0:
            jax.config.update("jax_platforms", "cpu")
            jax.distributed.initialize(f"127.0.0.1:{held.getsockname()[1]}", 2, rank)
            weights, step, rows = start()
            losses = []
            for _ in range(STEPS):
                weights, loss = step(weights, *rows)
                losses.append(float(loss))
            if rank == 0:
                with open(path, "w") as file:
                    json.dump(losses, file)
            jax.distributed.shutdown()
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]


if __name__ == "__main__":
    alone(sys.argv[1])
