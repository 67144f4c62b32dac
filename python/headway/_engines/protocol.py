"""What a driver and the bridge to an engine say to each other: one JSON object a line, by ``kind``
(``src/engine/bridge_messages.hpp`` has the driver's end).
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

#: Labels of the agents that a bridge starts: whose they are, and which of them.
PROVIDER_LABEL = "headway.io/provider"
ALLOCATION_LABEL = "headway.io/allocation"


def agent_command(options: Mapping[str, Any], python: str) -> list[str]:
    """How an agent's command begins: the driver's own program, if that is no Python; else a node's
    Python.

    Args:
        options: Of the engine; ``agent`` is how the command of such a program begins.
        python: The node's.
    """
    return list(options.get("agent") or [python, "-m", "headway.agent"])


class Site:
    """What a bridge knows of its driver, and how it speaks to it. Its functions may be called from
    any thread.

    Attributes:
        provider: Stays the same when the bridge is started again: by it a bridge finds what the one
            before has left.
        join: ``"host:port"``, for ``headway-agent --join``.
        token_file: What agents prove to have is in it, on the driver's machine.
        token: The same as text.
        lease_s: An agent that can't reach the driver for so long ends itself.
        options: The engine's, as :mod:`headway._engines.options` has checked them.
        closing: Set as soon as the driver wants the end, or is gone: nothing should be waited for.
    """

    def __init__(self, opened: dict[str, Any], output: LineWriter, closing: threading.Event) -> None:
        self.provider: str = opened["provider"]
        self.join: str = opened["join"]
        self.token_file: str = opened["token_file"]
        self.token: str = opened["token"]
        self.lease_s: float = opened["lease_s"]
        self.options: dict[str, Any] = opened["options"]
        self.closing = closing
        self._output = output
        self._said: set[str] = set()

    def ready(self) -> None:
        """The engine can be used."""
        self._output.write({"kind": "ready"})

    def warn(self, text: str) -> None:
        """Shows the user a state, once as long as something waits."""
        if text not in self._said:
            self._said.add(text)
            self._output.write({"kind": "warn", "text": text})

    def forget(self) -> None:
        """The demand is another one: what is warned of from now on is new."""
        self._said.clear()

    def failed(self, text: str) -> None:
        """Shows the user why the engine can't be used at all."""
        self._output.write({"kind": "failed", "text": text})


class Engine:
    """What gives nodes. A subclass starts agents (``headway-agent``) with both labels; all
    functions are called on the bridge's main thread.

    Attributes:
        tick_s: After so many seconds without a message ``tick`` is called; None: never.
    """

    tick_s: float | None = 1.0

    def open(self, site: Site) -> None:
        """Comes first. A bridge before this one may have left allocations of ``site.provider``."""
        raise NotImplementedError

    def want(self, parts: list[dict[str, Any]], could_use: list[dict[str, Any]]) -> None:
        """The whole demand, in place of the one before.

        Args:
            parts: What waits for nodes: each ``times`` so many requests of ``workers_min`` to
                ``workers_max`` workers with ``each`` on nodes that its ``selectors`` match.
            could_use: What would use more nodes at once, but needs none.
        """
        raise NotImplementedError

    def joined(self, allocation: str, node: str) -> None:
        """An allocation's agent has joined, as the driver's node ``node``."""

    def give_back(self, allocation: str) -> None:
        """Nobody uses its node, which is to be ended."""
        raise NotImplementedError

    def left(self, allocation: str) -> None:
        """Its node is no longer connected, whatever the reason."""

    def tick(self) -> None:
        """Time has passed."""

    def close(self) -> None:
        """Gives everything back, within a few seconds. The process ends after it."""
        raise NotImplementedError


@dataclass
class LineWriter:
    """Writes messages to a descriptor, from any thread. A reader that is gone hears nothing."""

    fd: int

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def write(self, message: dict[str, Any]) -> None:
        """Writes a message as a line."""
        line = memoryview((json.dumps(message) + "\n").encode())
        with self._lock:
            try:
                while line:
                    line = line[os.write(self.fd, line) :]
            except OSError:
                return


def serve(engine: Engine) -> NoReturn:
    """Serves the driver at standard input and output until it says ``close`` or is gone; then the
    process ends. What libraries print goes to standard error.
    """
    output = LineWriter(os.dup(1))
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    messages: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    closing = threading.Event()
    threading.Thread(target=_read, args=(messages, output, closing), name="read", daemon=True).start()
    status = 0
    try:
        _loop(engine, messages, output, closing)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    # At once: libraries may have threads that nobody ends.
    os._exit(status)


def _read(messages: queue.SimpleQueue[dict[str, Any]], output: LineWriter, closing: threading.Event) -> None:
    for message in _lines():
        if message["kind"] == "ping":
            output.write({"kind": "pong"})
        else:
            if message["kind"] == "close":
                closing.set()
            messages.put(message)
    closing.set()
    messages.put({"kind": "close"})


def _lines() -> Iterator[dict[str, Any]]:
    with os.fdopen(os.dup(0), encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _loop(
    engine: Engine, messages: queue.SimpleQueue[dict[str, Any]], output: LineWriter, closing: threading.Event
) -> None:
    opened = messages.get()
    if opened["kind"] == "close":
        return
    site = Site(opened, output, closing)
    engine.open(site)
    while True:
        try:
            message = messages.get(timeout=engine.tick_s)
        except queue.Empty:
            engine.tick()
            continue
        kind = message["kind"]
        if kind == "close":
            engine.close()
            return
        if kind == "want":
            site.forget()
            engine.want(message["parts"], message["could_use"])
        elif kind == "joined":
            engine.joined(message["allocation"], message["node"])
        elif kind == "give_back":
            engine.give_back(message["allocation"])
        elif kind == "left":
            engine.left(message["allocation"])
