"""The cluster of TensorFlow that a worker group is."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

from headway import _session as worker_session
from headway._values.packages import check_installed
from headway.train import _ports
from headway.train.backend import Backend, BackendConfig, WorkerGroup
from headway.train.tensorflow._package import LEGACY_KERAS, has_legacy_keras

# What a collective raises when a peer is gone: classes of tensorflow.errors.
_ECHOES = ("AbortedError", "CancelledError", "UnavailableError")
_CLUSTER = "TF_CONFIG"


@dataclass
class TensorflowConfig(BackendConfig):
    """Settings of TensorFlow's cluster: there are none.

    Example:
        >>> from headway.train.tensorflow import TensorflowConfig, TensorflowTrainer
        >>> trainer = TensorflowTrainer(lambda: None, tensorflow_config=TensorflowConfig())
        >>> trainer.backend_config.framework
        'tensorflow'
    """

    preload: ClassVar[tuple[str, ...]] = ("headway.train.tensorflow._preloaded", "headway.train.tensorflow.keras")

    @property
    def framework(self) -> str:
        """``"tensorflow"``."""
        return "tensorflow"

    @property
    def backend_cls(self) -> type[Backend]:
        """The hooks that describe the cluster to each rank."""
        return TensorflowBackend

    @property
    def train_func_context(self) -> Callable[[], AbstractContextManager[Any]]:
        """Has an error of Keras 3 say what to do."""
        return _in_cluster


class TensorflowBackend(Backend):
    """Has each rank hold a port, and describes the cluster to each."""

    def on_start(self, worker_group: WorkerGroup, backend_config: TensorflowConfig) -> None:
        """Before TensorFlow's runtime starts in a rank."""
        worker_group.execute(check_installed, "TensorflowTrainer", "tensorflow")
        addresses = worker_group.execute(_hold_port)
        worker_group.execute(_describe_cluster, addresses)


_held: socket.socket | None = None


def _hold_port() -> str:
    """TensorFlow's server binds the port too, once the strategy is made; nobody else comes
    between.
    """
    global _held
    host = _ports.own_host("the tensorflow backend")
    _held = _ports.hold_shared()
    return f"{host}:{_held.getsockname()[1]}"


def _describe_cluster(addresses: list[str]) -> None:
    """In every rank. TensorFlow reads these variables when its runtime starts, so this need not
    import it.
    """
    slot = worker_session.current("the tensorflow backend").context["plan"]["slot"]
    rank = worker_session.current("the tensorflow backend").context["plan"]["rank"]
    os.environ[_CLUSTER] = json.dumps({"cluster": {"worker": addresses}, "task": {"type": "worker", "index": rank}})
    os.environ["TF_GRPC_REUSE_PORT"] = "1"
    if has_legacy_keras():
        os.environ.setdefault(LEGACY_KERAS, "1")
    # By itself each rank would start a thread for each core of the machine.
    threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, slot["cpus"]))
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", threads)
    os.environ.setdefault("TF_NUM_INTEROP_THREADS", threads)
    if slot["gpu_ids"]:
        # A worker of the strategy takes each GPU that it sees, and all of its memory.
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(slot["gpu_ids"])
        os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    worker_session.add_echo_test(_is_echo)


@contextlib.contextmanager
def _in_cluster() -> Iterator[None]:
    """Around the training function."""
    global _held
    try:
        yield
    except ValueError as error:
        if "PerReplica" not in str(error) or not _is_of_keras_3(error):
            raise
        raise RuntimeError(
            "Keras 3 cannot train with MultiWorkerMirroredStrategy; allowed: tf-keras. Where that is installed (pip "
            f"install --no-deps tf-keras, of TensorFlow's version), tf.keras in a rank is tf-keras, unless "
            f"{LEGACY_KERAS} says otherwise: import tensorflow in the training function, and use tf.keras instead of "
            "`import keras`"
        ) from error
    finally:
        if worker_session.current("the tensorflow backend").local:
            # This process lives on.
            os.environ.pop(_CLUSTER, None)
        if _held is not None:
            _held.close()
            _held = None


def _is_of_keras_3(error: BaseException) -> bool:
    frames = traceback.walk_tb(error.__traceback__)
    return any(str(frame.f_globals.get("__name__")).startswith("keras.") for frame, _ in frames)


def _is_echo(error: BaseException) -> bool:
    """A collective that broke because its peer went away."""
    kind = type(error)
    return kind.__module__.startswith("tensorflow.") and kind.__name__ in _ECHOES
