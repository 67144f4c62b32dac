"""An ear at the error stream, for tests of warnings: it acts the moment one is printed."""

import re
import sys


class Ear:
    """The error stream; does ``then(text)`` at the first text that holds a word."""

    def __init__(self, word, then):
        self.word = word
        self.then = then
        self.heard = ""

    def write(self, text):
        sys.__stderr__.write(text)
        self.heard += text
        if self.word in text and self.then is not None:
            then, self.then = self.then, None
            then(text)

    def flush(self):
        sys.__stderr__.flush()


def awaited_pid(text):
    """The process that a warning shows."""
    return int(re.search(r"rank 1 \(pid (\d+) on ", text)[1])
