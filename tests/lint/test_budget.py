import types

import budget
import pytest


@pytest.fixture
def spend(monkeypatch):
    """``spend(file, seconds, import_s)``: the files over their budget if one took so long, and the
    exit status.
    """

    def run(file, seconds, import_s):
        monkeypatch.setattr(budget, "import_seconds", lambda times: import_s)
        made = budget.Budget()
        for part in ("a", "b"):
            made.pytest_runtest_logreport(types.SimpleNamespace(nodeid=f"{file}::{part}", duration=seconds / 2))
        session = types.SimpleNamespace(exitstatus=pytest.ExitCode.OK)
        made.pytest_sessionfinish(session)
        return made.over, session.exitstatus

    return run


def test_a_file_that_takes_longer_than_its_budget_is_named_and_fails_the_run(spend):
    (line,), status = spend("tests/python/test_x.py", budget.FILE_S + 1, budget.QUICK_IMPORT_S)
    assert line.startswith("tests/python/test_x.py took ")
    assert status == pytest.ExitCode.TESTS_FAILED


def test_a_slow_machine_gets_more(spend):
    assert spend("tests/python/test_x.py", budget.FILE_S + 1, 2 * budget.QUICK_IMPORT_S) == ([], pytest.ExitCode.OK)


def test_some_files_have_a_longer_one(spend):
    file, seconds = next(iter(budget.LONGER_S.items()))
    assert spend(file, seconds - 1, budget.QUICK_IMPORT_S)[0] == []
    assert spend(file, seconds + 1, budget.QUICK_IMPORT_S)[0] != []
