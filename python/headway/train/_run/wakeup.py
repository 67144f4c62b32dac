"""Waiting that every signal ends.

A signal that arrives right before a thread blocks, or that the system hands to another thread, sets
Python's flag but interrupts no system call: the handler, and with it Ctrl-C, would wait for
whatever ends the call. Python writes a byte for each signal to the wake-up descriptor; waiting on
that one too closes the gap.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def signals_wake(poll: select.poll) -> Iterator[None]:
    """Within the context a signal ends ``poll.poll()`` in the main thread; elsewhere nothing
    changes.

    Whoever had the wake-up descriptor before (an event loop) gets it back, and the signals that
    came meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    previous = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    poll.register(reader, select.POLLIN)
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous)
        poll.unregister(reader)
        with contextlib.suppress(OSError):
            came = os.read(reader, 1 << 16)
            if previous >= 0:
                os.write(previous, came)
        os.close(reader)
        os.close(writer)
