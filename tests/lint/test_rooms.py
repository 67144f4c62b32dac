from pathlib import Path

import pytest
import rooms


def found(root: Path, name: str, text: str) -> list[str]:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return list(rooms.check(root, Path(name)))


@pytest.mark.parametrize(
    ("name", "include"),
    [
        ("src/core/a.cpp", '"core/b.hpp"'),
        ("src/core/a.cpp", "<headway/result.hpp>"),
        ("src/core/a.cpp", "<vector>"),
        ("src/core/a.cpp", "<chrono>"),
        ("src/control/a.cpp", '"core/b.hpp"'),
        ("src/wire/a.cpp", "<boost/asio.hpp>"),
        ("src/driver/a.cpp", '"engine/b.hpp"'),
        ("tests/control/a.cpp", '"wire/b.hpp"'),
    ],
)
def test_what_the_table_allows_passes(tmp_path: Path, name: str, include: str) -> None:
    assert found(tmp_path, name, f"#include {include}\n") == []


@pytest.mark.parametrize(
    ("name", "include", "reason"),
    [
        ("src/core/a.cpp", '"wire/b.hpp"', "core/ may not include wire/"),
        ("src/core/a.cpp", "<headway/checkpoint.hpp>", "core/ may not include headway/checkpoint.hpp"),
        ("src/wire/a.hpp", '"control/b.hpp"', "wire/ may not include control/"),
        ("src/worker/a.cpp", '"driver/b.hpp"', "worker/ may not include driver/"),
        ("src/bindings/a.cpp", '"control/b.hpp"', "bindings/ may not include control/"),
        ("include/headway/a.hpp", '"core/json.hpp"', "headway/ may not include core/"),
        ("sim/a.cpp", '"driver/b.hpp"', "sim/ may not include driver/"),
        ("src/control/a.cpp", '"sim/b.hpp"', "control/ may not include sim/"),
        ("src/flow/a.cpp", '"arrow/arrow_files.hpp"', "flow/ may not include arrow/"),
        ("src/feed/a.cpp", "<arrow/api.h>", "feed/ may not include arrow/"),
        ("src/cellar/a.cpp", "<vector>", "src/cellar/ is no room"),
    ],
)
def test_an_arrow_up_the_table_is_named(tmp_path: Path, name: str, include: str, reason: str) -> None:
    (message,) = found(tmp_path, name, f"#pragma once\n#include {include}\n")
    assert message.startswith(f"{name}:")
    assert reason in message


@pytest.mark.parametrize("room", ["core", "control"])
@pytest.mark.parametrize(
    "header",
    ["thread", "mutex", "fstream", "filesystem", "unistd.h", "sys/socket.h", "boost/asio.hpp", "boost/asio/ip/tcp.hpp",
     "arrow/api.h", "ctime", "poll.h"],
)  # fmt: skip
def test_a_deciding_room_knows_nothing_of_the_world(tmp_path: Path, room: str, header: str) -> None:
    (message,) = found(tmp_path, f"src/{room}/a.cpp", f"#  include <{header}>\n")
    assert f"src/{room}/a.cpp:1: src/{room}/ includes <{header}>" in message


def test_the_rooms_that_link_arrow_include_it(tmp_path: Path) -> None:
    assert found(tmp_path, "src/flow/a.cpp", "#include <arrow/api.h>\n") == []
    assert found(tmp_path, "src/arrow/a.cpp", "#include <arrow/api.h>\n") == []


def test_a_deciding_room_reads_no_clock(tmp_path: Path) -> None:
    assert found(tmp_path, "src/control/a.cpp", "auto now = std::chrono::steady_clock::now();\n")
    assert found(tmp_path, "src/driver/a.cpp", "auto now = std::chrono::steady_clock::now();\n") == []


def test_the_folders_of_a_room_include_only_those_that_the_table_allows(tmp_path: Path) -> None:
    header = '#include "storage/local/local.hpp"\n'
    (message,) = found(tmp_path, "src/storage/disk/file.cpp", header)
    assert message == (
        "src/storage/disk/file.cpp:1: storage/disk/ may not include storage/local/ (storage/local/local.hpp); "
        "it may use: nothing"
    )
    assert found(tmp_path, "src/storage/storage.cpp", header) == []
    assert found(tmp_path, "src/storage/local/sweep.cpp", '#include "storage/disk/file.hpp"\n') == []
