"""A small front end for experiments of the core: tests say what is tried, and what trials do."""

import json
import select

from headway import _core, train
from headway._runtime.runtime import get_runtime, worker_environment
from headway._values import pickling
from headway.train._run.surroundings import surroundings


class Served:
    """An experiment with its events, in order.

    Attributes:
        events: All that were taken.
    """

    def __init__(self, path, loop, configs=(), max_failures=0, **spec):
        self.path, self.loop, self.max_failures = str(path), loop, max_failures
        self.configs = list(configs)
        self.events = []
        self.given = 0
        self.experiment = get_runtime().start_experiment(json.dumps({"path": self.path, **spec}))

    def serve(self, until=_core.ExperimentEnded):
        """Answers events up to the first one of a kind, and returns that."""
        waiting = select.poll()
        waiting.register(self.experiment.event_fd, select.POLLIN)
        while True:
            assert waiting.poll(60_000), "no event came"
            found = None
            for event in self.experiment.take_events():
                self.events.append(event)
                self.answer(event)
                found = found or (event if isinstance(event, until) else None)
            if found:
                return found

    def answer(self, event):
        if isinstance(event, _core.SuggestionsWanted):
            for _ in range(event.count):
                if self.given < len(self.configs):
                    name = f"t{self.given}"
                    self.experiment.suggest(name, json.dumps(self.configs[self.given]), name)
                    self.given += 1
            if self.given == len(self.configs):
                self.experiment.search_over()
        elif isinstance(event, _core.TrialStartWanted):
            self.start(event)
        elif isinstance(event, _core.VerdictAsked):
            self.experiment.decide(event.trial_id, event.number, *self.verdict(event))

    def verdict(self, event):
        return "continue", ""

    def start(self, event):
        trainer = train.DataParallelTrainer(
            self.loop,
            train_loop_config=json.loads(event.config),
            scaling_config=train.ScalingConfig(resources_per_worker={"CPU": 1}),
            run_config=train.RunConfig(
                name=event.folder,
                storage_path=self.path,
                failure_config=train.FailureConfig(max_failures=self.max_failures),
            ),
        )
        spec = {**trainer._spec(), "trial_id": event.trial_id}
        environment = worker_environment(None, spec["preload"])
        self.experiment.start_trial(
            event.trial_id,
            event.start,
            spec_json=json.dumps(spec),
            task=pickling.dumps((trainer._function(), *trainer._args), ("loop", "config")),
            **environment.start_arguments({**surroundings(), **trainer._worker_side(spec)}),
        )

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    def ends(self):
        """By trial, its end."""
        return {end.trial_id: end for end in self.of(_core.TrialEnded)}

    def reasons(self):
        """By trial, its state and why."""
        return {trial_id: (end.state, end.reason) for trial_id, end in self.ends().items()}


def read(path):
    """By trial, what the journal says of it."""
    return {trial["trial_id"]: trial for trial in json.loads(_core.read_experiment(str(path)))["trials"]}
