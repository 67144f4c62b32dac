"""The token by which a driver and the agents of other machines know each other: a file that both
can read.
"""

from __future__ import annotations

import os
import stat

_SHORTEST = 16


def default_token_file() -> str:
    """``HEADWAY_TOKEN_FILE`` of the environment, else ``~/.headway/token``."""
    return os.environ.get("HEADWAY_TOKEN_FILE") or os.path.join(os.path.expanduser("~"), ".headway", "token")


def read_token(path: str, argument: str) -> str:
    """The token in a file.

    Raises:
        FileNotFoundError: It is not there.
        PermissionError: Others than its owner may read it.
        ValueError: It has less than 16 characters.
    """
    try:
        with open(path, encoding="utf-8") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            token = file.read().strip()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{argument} {path} is not there; it must be a copy of the driver's (~/.headway/token there)"
        ) from None
    if mode & 0o077:
        raise PermissionError(
            f"{argument} {path} may be read by others (mode {mode:o}); allowed: 600 (chmod 600 {path})"
        )
    if len(token) < _SHORTEST:
        raise ValueError(f"{argument} {path} has {len(token)} characters; allowed: {_SHORTEST} or more")
    return token


def make_token(path: str) -> str:
    """The token in a file, which is made with a new one when it is not there."""
    try:
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return read_token(path, "token_file")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(os.urandom(32).hex() + "\n")
    return read_token(path, "token_file")
