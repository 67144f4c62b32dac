from pathlib import Path

import pytest

import bindings


def found(root: Path, text: str) -> list[str]:
    (root / "a.cpp").write_text(text)
    return list(bindings.check(root, Path("a.cpp")))


BLOCKING_FUNCTION = """
std::string read(const std::string& location) {
  return unwrap(storage::read_file(location));
}
"""


@pytest.mark.parametrize(
    "text",
    [
        'module.def("read", [](const std::string& path) { return storage::read_file(path).value(); });',
        f'{BLOCKING_FUNCTION}\nvoid bind() {{\n  module.def("read", &read, nb::arg("location"));\n}}',
        '  nb::class_<PyRun>(module, "Run")\n      .def("stop", [](PyRun& self) { self.run->stop(); });',
        '  nb::class_<PyRun>(module, "Run")\n      .def("stop", &worker::Session::stop);',
    ],
)
def test_a_binding_that_may_block_with_the_lock_is_found(tmp_path: Path, text: str) -> None:
    (message,) = found(tmp_path, text)
    assert "may block and keeps Python's lock" in message


@pytest.mark.parametrize(
    "text",
    [
        'module.def("read", [](const std::string& path) { return without_gil([&] { return storage::read(path); }); });',
        'module.def("sweep", &storage::sweep, nb::call_guard<GilReleased>(), "Sweeps (all).");',
        '  nb::class_<PyRun>(module, "Run")\n'
        "      // Keeps the GIL: a field.\n"
        '      .def_prop_ro("path", [](PyRun& self) { return self.run->path(); });',
        'module.def("best_of", &best_of, nb::arg("metrics_json"));',
        BLOCKING_FUNCTION.replace("unwrap(storage::", "without_gil([&] { return storage::").replace("));", "); });")
        + 'void bind() {\n  module.def("read", &read);\n}',
    ],
)
def test_a_binding_that_releases_the_lock_or_says_why_not_passes(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text) == []


def test_raising_below_a_guard_that_has_released_the_lock_is_found(tmp_path: Path) -> None:
    guard = "nb::call_guard<GilReleased>()"
    (message,) = found(tmp_path, f'module.def("read", [] {{ return unwrap(storage::read()); }}, {guard});')
    assert "raises without Python's lock" in message
