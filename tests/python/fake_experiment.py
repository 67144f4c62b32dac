"""An experiment without a runtime: it runs the training functions of its trials in this thread, and
speaks to the thread that serves it as the core does.
"""

import collections
import json
import os
from types import SimpleNamespace

import cloudpickle


def event(kind, /, **fields):
    return type(kind, (SimpleNamespace,), {})(**fields)


class FakeExperiment:
    """Up to ``slots`` trials at a time; each goes one report further in turn. ``rule(line)`` says
    what a scheduler decides.
    """

    def __init__(self, spec_json, slots=2, rule=None):
        self.spec = json.loads(spec_json)
        self.path = self.spec["path"]
        self.slots = slots
        self.rule = rule
        self.reader, self.writer = os.pipe()
        self.event_fd = self.reader
        self.events = collections.deque()
        self.running = {}
        self.known = {}
        self.over = self.stopped = self.ended = False
        self.starts = []
        self.asked = None
        self.idle = False
        os.write(self.writer, b"x")

    def take_events(self):
        if not self.events:
            self.turn()
        taken = list(self.events)
        self.events.clear()
        return taken

    def turn(self):
        if self.ended:
            return
        if self.stopped:
            for trial_id in list(self.running):
                del self.running[trial_id]
                self.end(trial_id, "unfinished", self.stopped)
            self.finish("stopped", self.stopped)
        elif len(self.running) < self.slots and not self.over and not self.idle:
            self.events.append(event("SuggestionsWanted", count=self.slots - len(self.running)))
        elif self.running:
            self.idle = False
            self.step(next(iter(self.running)))
        else:
            self.finish("finished", "")

    def finish(self, state, reason):
        self.ended = True
        self.events.append(event("ExperimentEnded", state=state, reason=reason, all_ended=None))

    def suggest(self, trial_id, config_json, folder, replaces=None, tag=None):
        self.known[trial_id] = folder
        self.running[trial_id] = None
        self.events.append(
            event(
                "TrialStartWanted",
                trial_id=trial_id,
                start=1,
                config=config_json,
                folder=folder,
                resumes=False,
                copied=False,
            )
        )

    def take_each_report(self, each):
        """Each comes."""

    def no_suggestion(self):
        self.idle = True

    def search_over(self):
        self.over = True

    def start_trial(self, trial_id, start, *, spec_json, task, hooks, **environment):
        spec = json.loads(spec_json)
        assert spec["trial_id"] == trial_id
        assert spec["run"] == {"name": self.known[trial_id], "storage_path": self.path}
        self.starts.append(spec)
        loop, config = cloudpickle.loads(task)
        self.running[trial_id] = [iter(self.reports_of(loop, config)), 0, None, ""]
        self.events.append(event("TrialStarted", trial_id=trial_id, start=start))

    def reports_of(self, loop, config):
        """The functions of these tests are generators."""
        (function,) = cloudpickle.loads(loop.pickled)
        return function(config)

    def refuse_trial(self, trial_id, start, message):
        del self.running[trial_id]
        self.end(trial_id, "errored", message)

    def step(self, trial_id):
        trial = self.running[trial_id]
        try:
            line = {"training_iteration": trial[1] + 1, **next(trial[0])}
        except StopIteration:
            del self.running[trial_id]
            self.end(trial_id, "terminated", "its function has returned")
            return
        except Exception as error:
            del self.running[trial_id]
            self.end(trial_id, "errored", str(error), cloudpickle.dumps(error))
            return
        trial[1] += 1
        trial[2] = line
        reason = self.rule(line) if self.rule is not None else None
        if reason is None and self.spec["asks"]:
            self.asked = line
            self.events.append(event("VerdictAsked", trial_id=trial_id, number=trial[1], line=line))
        else:
            self.answer(trial_id, "stop" if reason else "continue", reason or "")

    def decide(self, trial_id, number, decision, reason):
        assert number == self.running[trial_id][1]
        self.answer(trial_id, decision, reason)

    def answer(self, trial_id, decision, reason):
        trial = self.running.pop(trial_id)
        fields = {"number": trial[1], "line": trial[2], "decision": decision, "reason": reason}
        self.events.append(event("TrialReported", trial_id=trial_id, metrics=[], **fields))
        if decision == "stop":
            self.end(trial_id, "terminated", reason)
        else:
            self.running[trial_id] = trial

    def end(self, trial_id, state, reason, exception=None):
        fields = {"outcome": None, "last_report_json": "", "value": None, "exception": exception}
        self.events.append(event("TrialEnded", trial_id=trial_id, state=state, reason=reason, **fields))

    def stop_trial(self, trial_id, reason):
        if self.running.pop(trial_id, None) is not None:
            self.end(trial_id, "terminated", reason)

    def stop(self, reason):
        self.stopped = reason
