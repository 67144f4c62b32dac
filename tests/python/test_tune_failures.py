"""What goes wrong around an experiment: it ends, and what it has kept can be restored."""

import json
import threading
import types

import pytest
from fake_experiment import FakeExperiment, event
from headway import _core, train, tune
from headway.tune._experiment import tuner as tuner_module
from headway.tune._experiment.hooks import TrialHooks
from headway.tune.search import BasicVariantGenerator, ConcurrencyLimiter
from headway.tune.search.optuna import OptunaSearch


def reports_x(config):
    yield {"loss": config["x"]}


@pytest.fixture
def tuner(tmp_path, monkeypatch):
    """A tuner over a fake experiment; ``made`` of it has the experiments."""
    made = []

    def no_journal(path):
        raise FileNotFoundError(path)

    def run(trainable, space=None, kind=FakeExperiment, run_config=None, **config):
        def start(spec_json, trials_location):
            made.append(kind(spec_json))
            return made[-1]

        monkeypatch.setattr(_core, "read_experiment", no_journal)
        monkeypatch.setattr(tuner_module, "get_runtime", lambda: types.SimpleNamespace(start_experiment=start))
        return tune.Tuner(
            trainable,
            param_space=space,
            tune_config=tune.TuneConfig(**config),
            run_config=train.RunConfig(name="sweep", storage_path=tmp_path, **{"verbose": 0, **(run_config or {})}),
        )

    run.made = made
    return run


def test_callbacks_are_checked_before_anything_starts(tuner):
    class Needs(tune.Callback):
        def _check(self):
            raise ImportError("it needs a library")

    with pytest.raises(ImportError, match="it needs a library"):
        tuner(reports_x, {"x": 1}, run_config={"callbacks": [Needs()]}).fit()
    assert not tuner.made


def test_an_experiment_that_nobody_serves_is_ended(tuner, tmp_path):
    (tmp_path / "sweep" / "tuner.pkl.tmp").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        tuner(reports_x, {"x": 1}).fit()
    assert tuner.made[0].ended
    assert "IsADirectoryError" in tuner.made[0].stopped


class Ends(tune.Callback):
    def __init__(self, ends, error=None):
        self.ends, self.error = ends, error

    def on_experiment_end(self, trials, **info):
        self.ends.append(len(trials))
        if self.error is not None:
            raise self.error

    def on_trial_result(self, iteration, trials, trial, result, **info):
        raise KeyboardInterrupt


def test_callbacks_hear_of_the_end_of_an_experiment_that_stops(tuner, hears):
    heard = hears("Ends fails as the experiment stops: OSError: no network")
    ends = []
    callbacks = [Ends(ends, OSError("no network")), Ends(ends)]
    with pytest.raises(KeyboardInterrupt):
        tuner(reports_x, {"x": 1}, run_config={"callbacks": callbacks}).fit()
    assert ends == [1, 1]
    assert heard


def test_an_experiment_that_failed_raises(tuner):
    class Failing(FakeExperiment):
        def suggest(self, trial_id, config_json, folder, replaces=None, tag=None):
            self.finish("failed", "cannot write it")

    with pytest.raises(tune.TuneError, match=r"failed: cannot write it\. What it has kept can be restor"):
        tuner(reports_x, {"x": 1}, kind=Failing).fit()


def test_a_report_that_the_searcher_cannot_read_is_its_trials_error(tuner):
    class Strict(FakeExperiment):
        def answer(self, trial_id, decision, reason):
            if "loss" in self.running[trial_id][2]:
                super().answer(trial_id, decision, reason)
                return
            trial = self.running.pop(trial_id)
            fields = {"number": trial[1], "line": trial[2], "metrics": [], "decision": "stop", "reason": "no loss"}
            self.events.append(event("TrialReported", trial_id=trial_id, **fields))
            self.end(trial_id, "errored", "no loss")

    def second_lacks_it(config):
        yield {"los" if config["x"] == 0.5 else "loss": config["x"]}

    points = [{"x": 0.1}, {"x": 0.5}, {"x": 0.9}]
    grid = tuner(
        second_lacks_it,
        {"x": tune.uniform(0, 1)},
        kind=Strict,
        search_alg=ConcurrencyLimiter(OptunaSearch(seed=1, points_to_evaluate=points), 1),
        num_samples=3,
        metric="loss",
        mode="min",
    ).fit()
    assert [record.state for record in grid._list] == ["terminated", "errored", "terminated"]


def no_run(trial_id):
    raise ValueError(f'trial_id is "{trial_id}"; allowed: that of a trial with a run')


def test_a_hook_of_a_trial_that_has_ended_is_left_out():
    hooks = TrialHooks(types.SimpleNamespace(run_of=no_run), lambda: None, lambda kind, text: None)
    for kind in ("setup", "teardown"):
        hooks.call(event("TrialHook", trial_id="a", attempt=1, workers=1, kind=kind))
        hooks.leave_out(event("TrialHook", trial_id="a", attempt=1, workers=1, kind=kind))


def test_a_trial_that_waits_for_its_tear_down_ends_with_the_experiment(tuner):
    class TearsDown(FakeExperiment):
        torn_down = False

        def turn(self):
            if self.stopped and not self.torn_down:
                assert self.running
                self.torn_down = None
                self.events.append(event("TrialHook", trial_id="a", attempt=1, workers=1, kind="teardown"))
            else:
                super().turn()

        def run_of(self, trial_id):
            return types.SimpleNamespace(teardown_finished=self.finish_teardown)

        def finish_teardown(self, attempt):
            self.torn_down = True

        def take_events(self):
            assert self.torn_down is not None or self.events, "nobody answers the hook"
            return super().take_events()

    class Bad(tune.Callback):
        def on_trial_result(self, iteration, trials, trial, result, **info):
            raise RuntimeError("no space left")

    with pytest.raises(RuntimeError, match="no space left"):
        tuner(reports_x, {"x": 1}, kind=TearsDown, run_config={"callbacks": [Bad()]}).fit()
    assert tuner.made[0].torn_down


class Unloadable(tune.Callback):
    def __init__(self):
        self.lock = threading.Lock()


class Counts(tune.Callback):
    results = 0

    def on_trial_result(self, iteration, trials, trial, result, **info):
        self.results += 1


@pytest.mark.parametrize("wrap", [lambda search: search, lambda search: ConcurrencyLimiter(search, 2)])
def test_a_seeded_search_and_its_callbacks_can_be_restored(tuner, hears, wrap):
    heard = hears("callbacks[1] of the Tuner cannot be kept, so it cannot be restored")
    search = wrap(BasicVariantGenerator(random_state=7))
    first = tuner(
        reports_x,
        {"x": tune.uniform(0, 1)},
        search_alg=search,
        num_samples=2,
        run_config={"callbacks": [Counts(), Unloadable()]},
    )
    path = first.fit().experiment_path
    assert heard
    restored = tune.Tuner.restore(path, reports_x)
    assert [type(each) for each in restored._run_config.callbacks] == [Counts]
    search = restored._tune_config.search_alg
    search.set_search_properties(None, None, {"x": tune.uniform(0, 1)}, num_samples=2)
    drawn = BasicVariantGenerator(random_state=7)
    drawn.set_search_properties(None, None, {"x": tune.uniform(0, 1)}, num_samples=2)
    assert search.suggest("a") == drawn.suggest("a"), "as the user gave it"


def test_a_configuration_that_the_core_refuses_is_its_trials_error(tuner):
    class Refuses(FakeExperiment):
        def start_trial(self, trial_id, start, **arguments):
            if start == 1 and not self.starts:
                self.starts.append(trial_id)
                raise ValueError("ScalingConfig.num_workers is 100000")
            super().start_trial(trial_id, start, **arguments)

    grid = tuner(reports_x, {"x": tune.grid_search([1, 2])}, kind=Refuses).fit()
    assert [record.state for record in grid._list] == ["errored", "terminated"]
    assert "num_workers is 100000" in str(grid.errors[0])


def test_each_trial_has_its_folder(tuner):
    space = {"x": tune.grid_search([1, 2])}
    grid = tuner(reports_x, space, trial_dirname_creator=lambda trial: "same").fit()
    folders = [record.folder for record in grid._list]
    assert folders[0] == "same"
    assert folders[1] == f"same_{grid._list[1].trial_id}"
    for name in ("..", ".", "", "a/b"):
        with pytest.raises(ValueError, match="trial_dirname_creator returned"):
            tuner(reports_x, space, trial_dirname_creator=lambda trial, name=name: name).fit()


FAILS = """
    from headway import train, tune

    def trial(config):
        for step in range(3):
            tune.report({"loss": step})

    tuner = tune.Tuner(trial, run_config=train.RunConfig(name="sweep", storage_path=STORAGE, verbose=0))
    try:
        tuner.fit()
    except tune.TuneError as error:
        print("raised:", error)
    (result,) = tune.Tuner.restore(STORAGE + "/sweep", trial).fit()
    print("then:", result.metrics["loss"])
"""


def test_an_experiment_that_fails_ends_its_trials_and_can_be_restored(script):
    code, output = script.run(
        FAILS.replace("STORAGE", repr(script.storage)), HEADWAY_FAULT_POINT="experiment.handle:6:throw"
    )
    assert code == 0, output
    assert "the fault point experiment.handle" in output
    assert "then: 2" in output
    assert json.loads(_core.read_experiment(f"{script.storage}/sweep"))["trials"][0]["state"] == "terminated"
