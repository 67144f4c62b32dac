"""Checkpoints: directories of files, wherever they are."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from headway import _core
from headway._checkpoint import dict_checkpoint, metadata_file
from headway._storage import locations

if TYPE_CHECKING:
    import pyarrow.fs


class Checkpoint:
    """A directory with whatever a training function needs to resume: a path on a filesystem.

    A checkpoint that was given to :func:`headway.train.report` is durable when ``report`` has
    returned. It can be pickled, compared, and used in any process, also after the run.

    Args:
        path: The directory: a path, or a URL (``s3://``, ``gs://``, ``hdfs://``, ``file://``). S3's
            settings may stand in it: ``s3://bucket/path?region=...&endpoint_override=...``. With
            ``filesystem`` a path on that.
        filesystem: A ``pyarrow.fs.FileSystem``; default: the URL's, or the local one.

    Attributes:
        path: The directory on its filesystem: an absolute path, or ``bucket/path`` of
            ``s3://bucket/path?...``.
        filesystem: The ``pyarrow.fs.FileSystem`` that it is on. pyarrow is imported when it is
            asked for.

    Raises:
        TypeError, ValueError: a bad argument, named.

    Example:
        >>> import tempfile, pathlib
        >>> directory = tempfile.mkdtemp()
        >>> _ = pathlib.Path(directory, "epoch").write_text("3")
        >>> checkpoint = Checkpoint.from_directory(directory)
        >>> with checkpoint.as_directory() as where:
        ...     pathlib.Path(where, "epoch").read_text()
        '3'
        >>> checkpoint.set_metadata({"framework": "none"})
        >>> checkpoint.get_metadata()
        {'framework': 'none'}
    """

    def __init__(self, path: str | os.PathLike[str], filesystem: pyarrow.fs.FileSystem | None = None):
        self._location = locations.location_of(path, filesystem)

    @classmethod
    def _at(cls, location: str) -> Checkpoint:
        """The checkpoint at a location, the core's text for a place on storage."""
        checkpoint = cls.__new__(cls)
        checkpoint._location = locations.prepare(location)
        return checkpoint

    @property
    def path(self) -> str:
        """The directory on its filesystem."""
        return locations.path_of(self._location)

    @property
    def filesystem(self) -> pyarrow.fs.FileSystem:
        """The filesystem that ``path`` is on."""
        return locations.split(self._location)[1]

    @classmethod
    def from_directory(cls, path: str | os.PathLike[str]) -> Checkpoint:
        """A checkpoint of the files in a local directory.

        Raises:
            FileNotFoundError, NotADirectoryError: there is no such directory.
        """
        checkpoint = cls(path)
        if locations.is_remote(checkpoint._location):
            shown = locations.shown(checkpoint._location)
            raise ValueError(f"path is {shown!r}; allowed: a local directory (a URL: Checkpoint(path))")
        if not os.path.exists(checkpoint.path):
            raise FileNotFoundError(f"path is {checkpoint.path!r}, which does not exist; allowed: a directory")
        if not os.path.isdir(checkpoint.path):
            raise NotADirectoryError(f"path is {checkpoint.path!r}, which is a file; allowed: a directory")
        return checkpoint

    def to_directory(self, path: str | os.PathLike[str] | None = None) -> str:
        """Copies the files to ``path`` (default: a new temporary directory, which is the caller's
        to remove).

        The files of a committed checkpoint are compared with their checksums on the way.

        Returns:
            The directory that now has them.

        Raises:
            TypeError, ValueError: ``path`` is no local directory's.
            FileNotFoundError: there is no such checkpoint.
            OSError: a file is damaged: it is named, with what was expected and found, and the
                newest good checkpoint of the same run; or the storage could not be read.
        """
        made = path is None
        if path is None:
            target = tempfile.mkdtemp(prefix="headway_checkpoint_")
        else:
            target = locations.location_of(path)
            if locations.is_remote(target):
                raise ValueError(f"path is {locations.shown(target)!r}; allowed: None or a local directory")
        try:
            locations.download(self._location, target)
        except BaseException:
            if made:
                shutil.rmtree(target, ignore_errors=True)
            raise
        return target

    @contextmanager
    def as_directory(self) -> Iterator[str]:
        """A context whose value is a directory with the files, for reading.

        Of a local checkpoint it is its own directory, not a copy. A remote one is downloaded once
        on this machine: the first process downloads, those that come meanwhile wait, all share the
        files, and the last one to leave removes them. They lie below ``$TMPDIR`` (else ``/tmp``).

        Raises:
            FileNotFoundError, OSError: as :meth:`to_directory`.
        """
        if not locations.is_remote(self._location):
            if not os.path.isdir(self.path):
                raise FileNotFoundError(
                    f"the checkpoint's directory {self.path!r} does not exist (deleted by num_to_keep?)"
                )
            yield self.path
            return
        shared = _core.share_download(locations.prepare(self._location))
        try:
            yield shared.directory
        finally:
            shared.release()

    def get_metadata(self) -> dict[str, Any]:
        """The trainer's ``metadata``, and over it what :meth:`set_metadata` has stored with the
        checkpoint.

        Raises:
            ValueError: the metadata file is no JSON object; it is named.
        """
        return metadata_file.read(self._location)

    def set_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Stores metadata with the checkpoint, in place of what there was: JSON in its file
        ``.metadata.json``.

        It may be written before the checkpoint is reported, which keeps it in the stored copy, and
        at any time later.

        Args:
            metadata: Numbers, strings, booleans, None, and lists and dicts of them, by name.

        Raises:
            TypeError, ValueError: something that JSON does not have, with its key.
        """
        metadata_file.write(self._location, metadata)

    def update_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Adds to the metadata; new values take the place of old ones of the same name."""
        metadata_file.write(self._location, {**self.get_metadata(), **metadata_file.check(metadata)})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Checkpoint:
        """A checkpoint of a dict. The older form: write files into a directory and use
        :meth:`from_directory`.

        The dict is pickled into a temporary directory of this process, which goes with the
        checkpoint object, at the latest at the process's end. Tensors are stored on the CPU, and
        state dicts of a model that is wrapped in ``DistributedDataParallel`` without their
        ``module.`` prefix.

        Raises:
            TypeError: no dict, or something in it cannot be pickled.
        """
        held = dict_checkpoint.save(data)
        checkpoint = cls(held.directory)
        checkpoint._held = held
        return checkpoint

    def to_dict(self) -> dict[str, Any]:
        """The dict of a checkpoint that :meth:`from_dict` has made, in this process or another.

        It is unpickled: only read checkpoints that you trust.

        Raises:
            ValueError: the checkpoint was made in another way.
        """
        with self.as_directory() as directory:
            return dict_checkpoint.load(directory, repr(self))

    # What keeps the directory of a checkpoint made by from_dict.
    _held: Any = None

    def __repr__(self) -> str:
        return f"Checkpoint(filesystem={locations.kind_of(self._location)}, path={self.path})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checkpoint) and other._location == self._location

    def __hash__(self) -> int:
        return hash(self._location)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._location, locations.registrations([self._location]))

    def __fspath__(self) -> NoReturn:
        raise TypeError(
            "a Checkpoint is no path: its files may be elsewhere; use `with checkpoint.as_directory() as directory:`"
        )


def _restore(kind: type[Checkpoint], location: str, registrations: list[tuple[str, bytes]]) -> Checkpoint:
    locations.adopt(registrations)
    return kind._at(location)
