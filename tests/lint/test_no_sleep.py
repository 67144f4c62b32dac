from pathlib import Path

import no_sleep
import pytest


def found(root: Path, name: str, line: str) -> list[str]:
    (root / name).write_text(f"\n{line}\n")
    return list(no_sleep.check(root, Path(name)))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.py", "    time.sleep(1)"),
        ("a.py", "from time import monotonic, sleep"),
        ("a.py", "    await asyncio.sleep(0.1)"),
        ("a.py", "sleep(2)"),
        ("a.py", 'subprocess.Popen(["sleep", "100"])'),
        ("a.py", "os.system('sleep 5')"),
        ("a.cpp", "std::this_thread::sleep_for(1s);"),
        ("a.cpp", "std::this_thread::sleep_until(then);"),
        ("a.cpp", "usleep(1000);"),
        ("a.cpp", "::sleep(1);"),
        ("a.sh", "sleep 3"),
        ("a.sh", 'sleep "$seconds"; sleep $seconds'),
    ],
)
def test_a_sleep_is_found(tmp_path: Path, name: str, line: str) -> None:
    (message,) = found(tmp_path, name, line)
    assert message.startswith(f"{name}:2: a test sleeps")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.py", "signal.pause()"),
        ("a.py", "event.wait(timeout=30)"),
        ("a.py", "def test_a_rank_that_must_sleep_is_named(): ..."),
        ("a.cpp", "// the workers sleep until a signal comes"),
        ("a.cpp", "clock.advance(5s);"),
        ("a.sh", "wait $pid"),
    ],
)
def test_waiting_for_an_event_passes(tmp_path: Path, name: str, line: str) -> None:
    assert found(tmp_path, name, line) == []
