"""API keys that users give to trackers: the key, or the file that has it."""

from __future__ import annotations

import os


def read_key(key: str | None, file: str | None) -> str | None:
    """The key; None when neither was given.

    Raises:
        ValueError: both were given, or the file is empty or no text.
        OSError: the file cannot be read.
    """
    if file is None:
        return key
    if key is not None:
        raise ValueError("api_key and api_key_file are both given; allowed: one of them")
    try:
        with open(os.path.expanduser(file)) as opened:
            found = opened.read().strip()
    except OSError as error:
        raise type(error)(error.errno, f"api_key_file cannot be read: {error.strerror}", file) from error
    if not found:
        raise ValueError(f"api_key_file is {file!r}, which is empty; allowed: a file with an API key")
    return found
