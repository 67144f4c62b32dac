"""What the machine of a trial is doing: its processors, memory and GPUs."""

from __future__ import annotations

import csv
import os
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from headway._values.arguments import check_bool, check_int, check_number
from headway._values.log import notice
from headway._values.named_arguments import offer

__all__ = ["UtilMonitor", "wait_for_gpu"]

_PROGRAM = "nvidia-smi"
_QUERY = "index,uuid,utilization.gpu,memory.used,memory.total"
_ANSWER_S = 30.0
_SECONDS = "seconds above 0"


@dataclass(frozen=True)
class Gpu:
    """A GPU as ``nvidia-smi`` shows it.

    Attributes:
        index: Its number.
        uuid: Its name, the same under each number.
        busy: How much of the time it computes, from 0 to 1.
        full: How much of its memory is used, from 0 to 1.
    """

    index: int
    uuid: str
    busy: float
    full: float


def gpus() -> list[Gpu]:
    """This machine's GPUs.

    Raises:
        RuntimeError: ``nvidia-smi`` is not there, or fails.
    """
    command = [_PROGRAM, f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits"]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, timeout=_ANSWER_S, check=True).stdout
        return [_gpu(row) for row in csv.reader(shown.splitlines(), skipinitialspace=True) if row]
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise RuntimeError(f"{_PROGRAM}, which shows what GPUs are doing, failed: {error}") from error


def _gpu(row: list[str]) -> Gpu:
    index, uuid, busy, used, total = row
    return Gpu(int(index), uuid, _number(busy) / 100, _number(used) / float(total))


def _number(cell: str) -> float:
    """0 for what the device does not tell."""
    return 0.0 if cell.startswith("[") else float(cell)


class UtilMonitor(threading.Thread):
    """Watches processors, memory and GPUs of this machine from a thread.

    Args:
        start: Whether it begins at once. ``start()`` begins it later.
        delay: Seconds between two looks.

    Example:
        >>> from headway.tune.utils import UtilMonitor
        >>> monitor = UtilMonitor(start=False)
        >>> monitor.get_data()
        {}
    """

    def __init__(self, start: bool = True, delay: float = 0.7):
        check_bool("start", start)
        super().__init__(name="headway-use", daemon=True)
        self.delay = check_number("delay", delay, _SECONDS)
        if self.delay <= 0:
            raise ValueError(f"delay is {delay}; allowed: {_SECONDS}")
        self._guard = threading.Lock()
        self._over = threading.Event()
        self._values: dict[str, list[float]] = {}
        self._times = _processor_times()
        self._has_gpus = True
        if start:
            self.start()

    @property
    def stopped(self) -> bool:
        """Whether it does not watch, yet or any more."""
        return self._over.is_set() or not self.is_alive()

    def run(self) -> None:
        """What the thread does, until ``stop``."""
        while not self._over.wait(self.delay):
            self._look()

    def stop(self) -> None:
        """It looks no more."""
        self._over.set()

    def get_data(self) -> dict[str, dict[str, float]]:
        """The means since the last call, as metrics for a report: ``cpu_util_percent`` and
        ``ram_util_percent`` from 0 to 100, and for each GPU ``gpu_util_percent0`` and
        ``vram_util_percent0`` from 0 to 1, below ``"perf"``. Empty when it does not watch.
        """
        if self.stopped:
            return {}
        with self._guard:
            values, self._values = self._values, {}
        return {"perf": {name: sum(each) / len(each) for name, each in values.items()}}

    def _look(self) -> None:
        before, self._times = self._times, _processor_times()
        ticks, idle = (now - then for now, then in zip(self._times, before, strict=True))
        found = {"ram_util_percent": _memory_percent()}
        if ticks > 0:
            found["cpu_util_percent"] = 100 * (1 - idle / ticks)
        for gpu in self._gpus():
            found[f"gpu_util_percent{gpu.index}"] = gpu.busy
            found[f"vram_util_percent{gpu.index}"] = gpu.full
        with self._guard:
            for name, value in found.items():
                self._values.setdefault(name, []).append(value)

    def _gpus(self) -> list[Gpu]:
        """A machine without ``nvidia-smi`` is not asked again."""
        if not self._has_gpus:
            return []
        try:
            return gpus()
        except RuntimeError:
            self._has_gpus = False
            return []


def _processor_times() -> tuple[int, int]:
    """All ticks of the machine's processors, and those in which they had nothing to do."""
    _, *ticks = Path("/proc/stat").read_text().partition("\n")[0].split()
    counts = [int(each) for each in ticks[:8]]  # Guests' are among them.
    return sum(counts), counts[3] + counts[4]


def _memory_percent() -> float:
    lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    known = {name.rstrip(":"): float(amount) for name, amount, *_ in lines}
    return 100 * (1 - known["MemAvailable"] / known["MemTotal"])


def wait_for_gpu(
    gpu_id: int | str | None = None,
    target_util: float = 0.01,
    retry: int = 20,
    delay_s: float = 5,
    gpu_memory_limit: float | None = None,
) -> bool:
    """Waits until the memory of a GPU is free, in a trial that may follow one that was killed.

    Args:
        gpu_id: The GPU's number or UUID. Default: the first one of this trial.
        target_util: The share of its memory that may be in use.
        retry: How often it is looked at.
        delay_s: Seconds between two looks.
        gpu_memory_limit: No effect.

    Returns:
        True.

    Raises:
        RuntimeError: ``nvidia-smi`` fails, or the memory is not free after the last look.
        ValueError: there is no such GPU.

    Example:
        >>> from headway.tune.utils import wait_for_gpu
        >>> def trial(config):
        ...     wait_for_gpu()
    """
    target = check_number("target_util", target_util, "a share from 0 to 1")
    if not 0 <= target <= 1:
        raise ValueError(f"target_util is {target_util}; allowed: a share from 0 to 1")
    if check_int("retry", retry, "at least 1") < 1:
        raise ValueError(f"retry is {retry}; allowed: at least 1")
    if check_number("delay_s", delay_s, "seconds, at least 0") < 0:
        raise ValueError(f"delay_s is {delay_s}; allowed: seconds, at least 0")
    if gpu_memory_limit is not None:
        check_number("gpu_memory_limit", gpu_memory_limit, "a number, or None")
    wanted, full = _wanted_gpu(gpu_id), 1.0
    for look in range(retry):
        there = gpus()
        found = next((gpu for gpu in there if wanted in (str(gpu.index), gpu.uuid)), None)
        if found is None:
            names = ", ".join(f"{gpu.index} ({gpu.uuid})" for gpu in there) or "none: there is no GPU"
            raise ValueError(f"gpu_id is {wanted!r}; allowed: {names}")
        full = found.full
        if full <= target:
            return True
        if look + 1 < retry:
            notice(f"waiting for the memory of GPU {wanted}: {full:.0%} of it is in use")
            time.sleep(delay_s)
    raise RuntimeError(f"{full:.0%} of the memory of GPU {wanted} is in use after {retry} looks")


def _wanted_gpu(gpu_id: int | str | None) -> str:
    """As a text: a number, or a UUID."""
    if gpu_id is None:
        first = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0]
        if not first:
            raise RuntimeError("this process has no GPU to wait for; with_resources(trainable, {'gpu': 1}) gives one")
        return first
    if not isinstance(gpu_id, str):
        return str(check_int("gpu_id", gpu_id, "a GPU's number or UUID, or None"))
    return gpu_id


offer(globals(), __all__)
