"""A program on a pseudo-terminal, and its screen as a person sees it."""

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pyte
from conftest import PACKAGES


def shown_on_a_terminal(code, environment, *, with_errors=False):
    """What Python code that succeeds writes to a terminal, whole."""
    main, terminal = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": PACKAGES, **environment},
        stdout=terminal,
        stderr=terminal if with_errors else None,
        timeout=60,
        check=False,
    )
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # The end of a terminal that nobody has open.
        while part := os.read(main, 1 << 16):
            shown += part
    os.close(main)
    assert done.returncode == 0, shown.decode()
    return shown.decode()


class Terminal:
    """A program on a terminal.

    Args:
        program: Python code, or a command.
        columns: The terminal's width.
        environment: Variables beside the tests' own.
    """

    rows = 60

    def __init__(self, program, columns, **environment):
        self.screen = pyte.Screen(columns, self.rows)
        self._stream = pyte.ByteStream(self.screen)
        self._end, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, columns, 0, 0))
        variables = {**os.environ, "PYTHONPATH": PACKAGES, "TERM": "xterm-256color", **environment}
        for name in ("NO_COLOR", "COLUMNS", "LINES"):
            variables.pop(name, None)
        command = [sys.executable, "-c", program] if isinstance(program, str) else program
        self.process = subprocess.Popen(
            command, stdin=inner, stdout=inner, stderr=inner, env=variables, start_new_session=True
        )
        os.close(inner)
        self.seen = b""

    @property
    def lines(self):
        """What is on the screen, without the empty lines at its end."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip("\n").split("\n")

    def wait_for(self, words):
        """Until the words are on the screen; returns the line that has them."""
        while True:
            for line in self.lines:
                if words in line:
                    return line
            assert self._read(), f"the program has ended without {words!r}:\n" + "\n".join(self.lines)

    def finish(self):
        """Until the program has ended; returns its exit status."""
        while self._read():
            pass
        os.close(self._end)
        return self.process.wait()

    def style_of(self, words):
        """The first letter of the words, with its colour and whether it is bold."""
        for row, line in enumerate(self.screen.display):
            if words in line:
                return self.screen.buffer[row][line.index(words)]
        raise AssertionError(f"{words!r} is not on the screen")

    def _read(self):
        try:
            read = os.read(self._end, 1 << 16)
        except OSError:  # The program has closed its end.
            return False
        self.seen += read
        self._stream.feed(read)
        return bool(read)
