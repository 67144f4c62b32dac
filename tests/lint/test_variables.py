from pathlib import Path

import variables

PAGE = "# Variables\n\n| variable | effect |\n| --- | --- |\n| `HEADWAY_STORAGE` | where results go |\n"


def found(root: Path, files: dict[str, str], page: str = PAGE) -> list[str]:
    for name, text in {**files, str(variables.PAGE): page}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return list(variables.check(root, [Path(name) for name in files]))


def test_variables_that_are_listed_pass(tmp_path: Path) -> None:
    assert found(tmp_path, {"a.py": "os.environ['HEADWAY_STORAGE']", "a.cpp": 'std::getenv("HEADWAY_STORAGE")'}) == []


def test_a_variable_that_is_not_listed_is_named_with_its_file(tmp_path: Path) -> None:
    files = {
        "a.py": 'os.environ.get("HEADWAY_A")',
        "b.cpp": 'for (const char* name : {"HEADWAY_B", "HEADWAY_STORAGE"}) {}',
        "c.sh": 'export HEADWAY_C=1\necho "${HEADWAY_D:-yes}"\nHEADWAY_E=$start run\n',
    }
    messages = found(tmp_path, files)
    assert messages == [
        f"{file}: HEADWAY_{name} is not in a row of docs/environment.md"
        for name, file in [("A", "a.py"), ("B", "b.cpp"), ("C", "c.sh"), ("D", "c.sh"), ("E", "c.sh")]
    ]


def test_macros_texts_and_options_of_cmake_are_no_variables(tmp_path: Path) -> None:
    files = {
        "a.cpp": 'HEADWAY_MARK("x"); fail("HEADWAY_STORAGE is set"); use("HEADWAY_STORAGE", "of " HEADWAY_VERSION);',
        "b.sh": "cmake -DHEADWAY_TESTS=ON\necho $HEADWAY_STORAGE\n",
    }
    assert found(tmp_path, files) == []


def test_a_row_that_no_source_names_is_reported(tmp_path: Path) -> None:
    page = PAGE + "| `HEADWAY_GONE` | nothing |\n"
    assert found(tmp_path, {"a.py": "'HEADWAY_STORAGE'"}, page) == ["docs/environment.md: no source names HEADWAY_GONE"]
