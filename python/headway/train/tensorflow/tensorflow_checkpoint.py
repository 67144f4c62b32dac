"""Checkpoints of one Keras model."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

from headway._checkpoint.checkpoint import Checkpoint
from headway._checkpoint.preprocessor import keep_preprocessor, kept_preprocessor
from headway._values.arguments import refuse
from headway.train.tensorflow._package import has_legacy_keras, keras

# In the checkpoint's metadata.
_FILE = "_model_filename"
_KERAS = "_keras"
_PATH = "a path"


class TensorflowCheckpoint(Checkpoint):
    """A checkpoint that holds a Keras model: the file ``model.keras``, an ``.h5`` file, or a
    SavedModel.

    The constructors make a temporary directory. Whoever reports it hands it over with
    ``delete_local_checkpoint_after_upload=True``; else it is the caller's to remove.

    Attributes:
        MODEL_FILENAME: ``"model.keras"``.

    Example:
        >>> from headway import train
        >>> from headway.train.tensorflow import TensorflowCheckpoint
        >>> def loop():
        ...     checkpoint = TensorflowCheckpoint.from_model(model)
        ...     train.report({}, checkpoint, delete_local_checkpoint_after_upload=True)
        ...     newest = train.get_checkpoint()
        ...     model = TensorflowCheckpoint(newest.path, newest.filesystem).get_model()
    """

    MODEL_FILENAME = "model.keras"

    @classmethod
    def from_model(cls, model: Any, *, preprocessor: Any = None) -> TensorflowCheckpoint:
        """A checkpoint of a model with its optimizer's state.

        In a run all ranks call it, because writing a model of a ``MultiWorkerMirroredStrategy`` is
        a collective; rank 0 reports it.

        Args:
            model: A model of tf-keras or Keras 3.
            preprocessor: What prepares data for the model; see :meth:`set_preprocessor`.

        Raises:
            TypeError: it is no Keras model, or the preprocessor cannot be pickled.
        """
        name = _library_of(model)
        if name is None:
            refuse("model", model, "a Keras model")
        directory = _directory()
        model.save(os.path.join(directory, cls.MODEL_FILENAME))
        return cls._made(directory, cls.MODEL_FILENAME, preprocessor, name)

    @classmethod
    def from_h5(cls, file_path: str | os.PathLike[str], *, preprocessor: Any = None) -> TensorflowCheckpoint:
        """A checkpoint with a copy of an ``.h5`` file.

        Args:
            file_path: What ``model.save`` has written.
            preprocessor: As for :meth:`from_model`.

        Raises:
            FileNotFoundError: there is no such file.
            TypeError: a bad argument, named.
            ValueError: another kind of file.
        """
        path = _path("file_path", file_path)
        if not path.endswith(".h5"):
            raise ValueError(f"file_path is {path!r}; allowed: a file whose name ends in .h5")
        if not os.path.isfile(path):
            raise FileNotFoundError(f"file_path is {path!r}, which is no file")
        directory = _directory()
        shutil.copy2(path, directory)
        return cls._made(directory, os.path.basename(path), preprocessor)

    @classmethod
    def from_saved_model(cls, dir_path: str | os.PathLike[str], *, preprocessor: Any = None) -> TensorflowCheckpoint:
        """A checkpoint with a copy of a SavedModel.

        Args:
            dir_path: What ``model.save(path, save_format="tf")`` has written.
            preprocessor: As for :meth:`from_model`.

        Raises:
            FileNotFoundError: there is no such directory.
            TypeError: a bad argument, named.
            ValueError: another kind of directory.
        """
        path = _path("dir_path", dir_path)
        if not os.path.isdir(path):
            raise FileNotFoundError(f"dir_path is {path!r}, which is no directory")
        if not os.path.isfile(os.path.join(path, "saved_model.pb")):
            raise ValueError(f"dir_path is {path!r}; allowed: a directory with a file saved_model.pb")
        directory = _directory()
        shutil.copytree(path, directory, dirs_exist_ok=True)
        return cls._made(directory, ".", preprocessor, "tf_keras" if has_legacy_keras() else None)

    def set_preprocessor(self, preprocessor: Any) -> None:
        """Keeps what prepares data for the model in the checkpoint's metadata, pickled.

        Args:
            preprocessor: Any object that can be pickled, such as a fitted scaler. Keep it small.

        Raises:
            TypeError: it cannot be pickled.
        """
        keep_preprocessor(self, preprocessor)

    def get_preprocessor(self) -> Any:
        """What :meth:`set_preprocessor` has kept; None when there is nothing.

        Loading runs code that the metadata names: open only checkpoints that you trust.
        """
        return kept_preprocessor(self)

    def get_model(self) -> Any:
        """The model, as the Keras that has written it loads it. In a training function, call it
        within the strategy's scope.

        Raises:
            FileNotFoundError: the checkpoint has no model.
            ImportError: that Keras is not installed.
        """
        metadata = self.get_metadata()
        name = metadata.get(_FILE, self.MODEL_FILENAME)
        with self.as_directory() as directory:
            path = os.path.join(directory, name)
            if not os.path.exists(path):
                raise FileNotFoundError(f"{self!r} has no file {name}; allowed: one of TensorflowCheckpoint's")
            return keras(metadata.get(_KERAS)).models.load_model(path)

    @classmethod
    def _made(cls, directory: str, file: str, preprocessor: Any, library: str | None = None) -> TensorflowCheckpoint:
        checkpoint = cls(directory)
        checkpoint.update_metadata({_FILE: file, **({_KERAS: library} if library is not None else {})})
        if preprocessor is not None:
            checkpoint.set_preprocessor(preprocessor)
        return checkpoint


def _library_of(model: Any) -> str | None:
    """The Keras that a model's class inherits from; None when it is no model."""
    for kind in type(model).__mro__:
        library = kind.__module__.partition(".")[0]
        if kind.__name__ == "Model" and library in ("tf_keras", "keras"):
            return library
    return None


def _directory() -> str:
    return tempfile.mkdtemp(prefix="headway_tensorflow_checkpoint_")


def _path(argument: str, value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)):
        refuse(argument, value, _PATH)
    return os.path.abspath(os.fspath(value))
