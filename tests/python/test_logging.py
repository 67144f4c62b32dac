"""What Headway itself reports goes through the logger `headway`: handlers, levels and filters of
the program count.
"""

import logging
import os

import pytest
from headway import train

LOGGER = logging.getLogger("headway")
NOTICE = "The run stops: training_iteration is 1 (RunConfig.stop: 1)"


class Kept(logging.Handler):
    """Keeps what it is given."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def emit(self, record):
        self.seen.append((record.levelname, record.getMessage()))


@pytest.fixture(autouse=True)
def as_before():
    """A program's settings of logging end with the test."""
    root = logging.getLogger()
    before = [(logger, list(logger.handlers), logger.level) for logger in (root, LOGGER)]
    yield
    for logger, handlers, level in before:
        logger.handlers[:] = handlers
        logger.setLevel(level)
    LOGGER.filters.clear()
    logging.disable(logging.NOTSET)


@pytest.fixture
def fit_aloud(storage):
    """A run with a warning (more workers than CPUs) and a notice (why it stops)."""

    def run(**options):
        def loop():
            train.report({"loss": 0.5})
            train.report({"loss": 0.4})

        train.DataParallelTrainer(
            loop,
            scaling_config=train.ScalingConfig(num_workers=os.cpu_count() + 1),
            run_config=train.RunConfig(storage_path=storage, stop={"training_iteration": 1}, **options),
        ).fit()

    return run


def kinds(handler):
    return sorted({level for level, _ in handler.seen})


def test_without_settings_they_are_lines_on_the_error_stream(fit_aloud, capfd):
    fit_aloud()
    shown = capfd.readouterr().err.splitlines()
    assert f"headway: {NOTICE}" in shown
    (warning,) = [line for line in shown if line.startswith("headway: warning: ")]
    assert "workers" in warning


def test_a_handler_of_the_logger_gets_them_instead(fit_aloud, capfd):
    handler = Kept()
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    fit_aloud()
    assert ("INFO", NOTICE) in handler.seen
    assert kinds(handler) == ["INFO", "WARNING"]
    assert "headway:" not in capfd.readouterr().err


def test_a_handler_of_the_root_gets_what_the_root_s_level_lets_through(fit_aloud, capfd):
    handler = Kept()
    logging.basicConfig(handlers=[handler])
    fit_aloud()
    assert kinds(handler) == ["WARNING"]
    logging.getLogger().setLevel(logging.DEBUG)
    fit_aloud()
    assert kinds(handler) == ["INFO", "WARNING"]
    assert "headway:" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "quieten",
    [
        lambda: LOGGER.setLevel(logging.ERROR),
        lambda: logging.getLogger().setLevel(logging.ERROR),
        lambda: logging.disable(logging.WARNING),
        lambda: LOGGER.addFilter(lambda record: False),
        lambda: LOGGER.addHandler(logging.NullHandler()),
    ],
    ids=["level", "root's level", "disable", "filter", "NullHandler"],
)
def test_levels_and_filters_count_without_a_handler(quieten, fit_aloud, capfd):
    quieten()
    fit_aloud()
    assert "headway:" not in capfd.readouterr().err


def test_a_level_leaves_out_notices_alone(fit_aloud, capfd):
    LOGGER.setLevel(logging.WARNING)
    fit_aloud()
    shown = capfd.readouterr().err
    assert "headway: warning: " in shown
    assert NOTICE not in shown


@pytest.mark.parametrize(
    ("level", "expected"), [("INFO", ["INFO", "WARNING"]), ("WARNING", ["WARNING"]), ("ERROR", [])]
)
def test_the_run_s_own_level_counts_for_handlers_as_well(level, expected, fit_aloud):
    handler = Kept()
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
    fit_aloud(logging_config=train.LoggingConfig(level))
    assert kinds(handler) == expected
