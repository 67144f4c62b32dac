from pathlib import Path

import no_detached
import pytest


def found(root: Path, line: str) -> list[str]:
    (root / "a.cpp").write_text(f"\n{line}\n")
    return list(no_detached.check(root, Path("a.cpp")))


@pytest.mark.parametrize(
    "line",
    [
        "asio::co_spawn(loop, [self] { return self->read_loop(); }, asio::detached);",
        "boost::asio::detached);",
        "if (thread_.joinable()) thread_.detach();",
        "listener->detach();",
        "pthread_detach(thread);",
    ],
)
def test_what_is_detached_is_found(tmp_path: Path, line: str) -> None:
    (message,) = found(tmp_path, line)
    assert message.startswith("a.cpp:2: nothing is detached")


def test_a_coroutine_that_starts_by_itself_is_found(tmp_path: Path) -> None:
    (message,) = found(tmp_path, "asio::co_spawn(loop, serve(), [](std::exception_ptr) {});")
    assert message.startswith("a.cpp:2: coroutines start by wire::spawn")


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("timer_.async_wait([this](const error_code& failure) { end(); });", True),
        ("asio::post(loop_, [this] { end(); });", True),
        ("timer_.async_wait([this, here = std::weak_ptr(alive_)](const error_code& failure) {", False),
        ("asio::post(loop_, [weak = weak_from_this()] {", False),
        ("asio::post(loop_, [self = shared_from_this()] {", False),
        ("fence->async_wait(\n    [this, fence](const error_code&) { end(); });", True),
        ("// Outlived: the loop is this object's.\nasio::post(loop_, [this] { end(); });", False),
    ],
)
def test_a_timer_or_post_of_an_event_loop_asks_whether_its_object_is_there(
    tmp_path: Path, line: str, is_found: bool
) -> None:
    for folder in ("driver", "node", "worker"):
        (tmp_path / "src" / folder).mkdir(parents=True)
        (tmp_path / "src" / folder / "a.cpp").write_text(line)
    for folder in ("driver", "node"):
        assert len(list(no_detached.check(tmp_path, Path(f"src/{folder}/a.cpp")))) == int(is_found)
    assert list(no_detached.check(tmp_path, Path("src/worker/a.cpp"))) == []


@pytest.mark.parametrize(
    "line",
    ["wire::spawn(loop, serve(), fail);", "thread_.join();", "run->detach();", "// nothing is asio::detached here"],
)
def test_what_has_an_owner_passes(tmp_path: Path, line: str) -> None:
    assert found(tmp_path, line) == []
