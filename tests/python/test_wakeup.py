"""A signal ends the wait of fit(), whenever it comes and whichever thread takes it."""

import os
import select
import signal
import threading

import pytest
from headway.train._run.wakeup import signals_wake

pytestmark = pytest.mark.both_starts


@pytest.fixture
def poll():
    """Waits for a pipe into which nothing is ever written; 10 s at most."""
    reader, writer = os.pipe()
    waiting = select.poll()
    waiting.register(reader, select.POLLIN)
    yield waiting
    os.close(reader)
    os.close(writer)


def test_a_signal_that_another_thread_takes_ends_the_wait(poll):
    # A shell starts what runs in the background with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        taken = threading.Thread(
            target=lambda: (
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT}),
                os.kill(os.getpid(), signal.SIGINT),
            )
        )
        with pytest.raises(KeyboardInterrupt), signals_wake(poll):  # noqa: PT012
            taken.start()
            assert poll.poll(10_000), "the signal did not end the wait"
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, before)


def test_whoever_had_the_wake_up_descriptor_gets_it_back_with_what_came(poll):
    reader, writer = os.pipe2(os.O_NONBLOCK)
    before = signal.set_wakeup_fd(writer)
    old = signal.signal(signal.SIGUSR1, lambda signum, frame: None)
    try:
        with signals_wake(poll):
            os.kill(os.getpid(), signal.SIGUSR1)
        assert os.read(reader, 8) == bytes([signal.SIGUSR1])
        assert signal.set_wakeup_fd(before) == writer
    finally:
        signal.set_wakeup_fd(before)
        signal.signal(signal.SIGUSR1, old)
        os.close(reader)
        os.close(writer)


def test_other_threads_wait_as_ever(poll):
    seen = []

    def wait():
        with signals_wake(poll):
            seen.append(poll.poll(0))

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    assert seen == [[]]
