"""Checkpoints: directories of files."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from headway._arguments import refuse
from headway.train import _locations


class Checkpoint:
    """A directory with whatever a training function needs to go on from.

    A checkpoint that was given to :func:`headway.train.report` is durable when ``report`` has returned.

    Attributes:
        path: The directory: an absolute path, or a URL (``s3://``, ``gs://``, ``hdfs://``, ``file://``), which is read
            with Arrow's filesystems. S3's settings may stand in it: ``s3://bucket/path?region=...&endpoint_override=...``.

    Example:
        >>> import tempfile, pathlib
        >>> directory = tempfile.mkdtemp()
        >>> _ = pathlib.Path(directory, "epoch").write_text("3")
        >>> checkpoint = Checkpoint.from_directory(directory)
        >>> with checkpoint.as_directory() as where:
        ...     pathlib.Path(where, "epoch").read_text()
        '3'
    """

    def __init__(self, path: str | os.PathLike[str]):
        if not isinstance(path, (str, os.PathLike)):
            refuse("path", path, "a path of a directory")
        text = os.fspath(path)
        if not text:
            raise ValueError("path is ''; allowed: a path of a directory")
        self.path: str = _locations.location_of(text)

    @classmethod
    def from_directory(cls, path: str | os.PathLike[str]) -> Checkpoint:
        """A checkpoint of the files in a local directory.

        Raises:
            FileNotFoundError, NotADirectoryError: there is no such directory.
        """
        checkpoint = cls(path)
        if _locations.is_remote(checkpoint.path):
            raise ValueError(f"path is {checkpoint.path!r}; allowed: a local directory (a URL: Checkpoint(path))")
        if not os.path.exists(checkpoint.path):
            raise FileNotFoundError(f"path is {checkpoint.path!r}, which does not exist; allowed: a directory")
        if not os.path.isdir(checkpoint.path):
            raise NotADirectoryError(f"path is {checkpoint.path!r}, which is a file; allowed: a directory")
        return checkpoint

    def to_directory(self, path: str | os.PathLike[str] | None = None) -> str:
        """Copies the files to ``path`` (default: a new temporary directory, which is the caller's to remove).

        Returns:
            The directory that now has them.
        """
        target = os.path.abspath(os.path.expanduser(os.fspath(path))) if path is not None else None
        made = target is None
        if target is None:
            target = tempfile.mkdtemp(prefix="headway_checkpoint_")
        try:
            _locations.download(self.path, target)
        except BaseException:
            if made:
                shutil.rmtree(target, ignore_errors=True)
            raise
        return target

    @contextmanager
    def as_directory(self) -> Iterator[str]:
        """A context whose value is a directory with the files, for reading.

        It is the checkpoint's own one, not a copy; that of a URL is a download, removed when the context ends.
        """
        if _locations.is_remote(self.path):
            downloaded = self.to_directory()
            try:
                yield downloaded
            finally:
                shutil.rmtree(downloaded, ignore_errors=True)
            return
        if not os.path.isdir(self.path):
            raise FileNotFoundError(
                f"the checkpoint's directory {self.path!r} does not exist (deleted by num_to_keep?)"
            )
        yield self.path

    def __repr__(self) -> str:
        return f"Checkpoint(path={self.path!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checkpoint) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)
