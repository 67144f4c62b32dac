from collections.abc import Callable, Mapping, Sequence
from typing import Any


version: str = '0.1.0'

pyarrow_version: str = '26.0.1'

class CorruptedError(OSError):
    """Stored bytes are not what was written."""

def check_scaling_config(json: str) -> None:
    """Raises ValueError for a bad ScalingConfig."""

def check_failure_config(json: str) -> None:
    """Raises ValueError for a bad FailureConfig."""

def check_checkpoint_config(json: str) -> None:
    """Raises ValueError for a bad CheckpointConfig."""

def check_sync_config(json: str) -> None:
    """Raises ValueError for a bad SyncConfig."""

def check_validation_config(json: str) -> None:
    """Raises ValueError for a bad ValidationConfig."""

def check_validation_task(json: str) -> None:
    """Raises ValueError for a bad ValidationTaskConfig."""

def seconds_of_environment(variable: str, otherwise: float | None) -> float | None:
    """Seconds that a variable says. Raises ValueError, naming it."""

def works_in_trial_dir() -> bool:
    """
    Whether the environment has ranks work in the run's directory. Raises ValueError, naming the variable.
    """

def tells_of_a_task(variable: str) -> bool:
    """
    Whether a variable of the environment tells a process which task of Slurm's it is: not for ranks.
    """

def check_run_config(json: str) -> None:
    """Raises ValueError for a bad RunConfig."""

class RankError:
    """An exception of a rank's, in words."""

    @property
    def type(self) -> str: ...

    @property
    def message(self) -> str: ...

    @property
    def traceback(self) -> str: ...

    @property
    def echo(self) -> bool: ...

    def __repr__(self) -> str: ...

class ExitStatus:
    """How a process ended."""

    @property
    def signaled(self) -> bool: ...

    @property
    def code(self) -> int: ...

    @property
    def detail(self) -> str: ...

    def __repr__(self) -> str: ...

class PreemptionInfo:
    """Which nodes are taken away, with which ranks."""

    @property
    def deadline_ms(self) -> int | None: ...

    @property
    def preempted_node_to_ranks(self) -> dict[str, list[int]]: ...

    def __repr__(self) -> str: ...

class Preemption:
    """A node was taken away from a run."""

    @property
    def info(self) -> PreemptionInfo: ...

    @property
    def timed_out(self) -> bool: ...

    @property
    def of_driver(self) -> bool | None: ...

    def __repr__(self) -> str: ...

class RankFailure:
    """One rank's part in a failure."""

    @property
    def rank(self) -> int: ...

    @property
    def text(self) -> str: ...

    @property
    def kind(self) -> str | None: ...

    @property
    def attempt(self) -> int | None: ...

    @property
    def pid(self) -> int | None: ...

    @property
    def hostname(self) -> str | None: ...

    @property
    def node_id(self) -> str | None: ...

    @property
    def exception(self) -> RankError | None: ...

    @property
    def exit(self) -> ExitStatus | None: ...

    @property
    def last_lines(self) -> str | None: ...

    def __repr__(self) -> str: ...

class RunFailure:
    """Why a run or an attempt failed."""

    @property
    def kind(self) -> str: ...

    @property
    def message(self) -> str: ...

    @property
    def ranks(self) -> list[RankFailure]: ...

    @property
    def in_collective(self) -> bool: ...

    @property
    def preemption(self) -> Preemption | None: ...

    @property
    def source(self) -> str: ...

    @property
    def exception(self) -> RankError | None: ...

    def __repr__(self) -> str: ...

    @staticmethod
    def from_json(json: str) -> RunFailure: ...

class KeptCheckpoint:
    """A committed checkpoint that is kept."""

    @property
    def name(self) -> str: ...

    @property
    def index(self) -> int: ...

    @property
    def metrics(self) -> dict[str, Any]: ...

    @property
    def report(self) -> int | None: ...

    @property
    def status(self) -> str | None: ...

    def __repr__(self) -> str: ...

class RunOutcome:
    """How a run ended: "finished", "errored" or "aborted"."""

    @property
    def state(self) -> str: ...

    @property
    def failure(self) -> RunFailure | None: ...

    @property
    def checkpoints(self) -> list[KeptCheckpoint]: ...

    @property
    def attempts(self) -> int: ...

    @property
    def dropped_checkpoints(self) -> int: ...

    def __repr__(self) -> str: ...

class RankLine:
    """A rank printed a line."""

    @property
    def rank(self) -> int: ...

    @property
    def line(self) -> bytes | None: ...

    def __repr__(self) -> str: ...

class RankRedraws:
    """A rank draws a line anew, such as a progress bar."""

    @property
    def rank(self) -> int: ...

    @property
    def line(self) -> bytes | None: ...

    def __repr__(self) -> str: ...

class MovingLineShown:
    """What the run is doing now, in a line."""

    @property
    def text(self) -> str: ...

    def __repr__(self) -> str: ...

class HelperLine:
    """A process of the run that is no rank printed a line."""

    @property
    def helper(self) -> str: ...

    @property
    def line(self) -> bytes | None: ...

    def __repr__(self) -> str: ...

class Notice:
    """Something to show to the user."""

    @property
    def text(self) -> str: ...

    def __repr__(self) -> str: ...

class RunWarning:
    """The same, and the user may have to act."""

    @property
    def text(self) -> str: ...

    def __repr__(self) -> str: ...

class ReportRecorded:
    """A report was accepted; for display."""

    @property
    def line(self) -> dict[str, Any]: ...

    def __repr__(self) -> str: ...

class CallbackReport:
    """A report was accepted; for callbacks -> Run.report_heard."""

    @property
    def line(self) -> dict[str, Any]: ...

    @property
    def metrics(self) -> list[dict[str, Any]]: ...

    def __repr__(self) -> str: ...

class AttemptFailed:
    """An attempt has failed; another one may follow."""

    @property
    def attempt(self) -> int: ...

    @property
    def failure(self) -> RunFailure: ...

    def __repr__(self) -> str: ...

class SetupAsked:
    """Call the set-up hooks -> Run.setup_finished."""

    @property
    def attempt(self) -> int: ...

    @property
    def workers(self) -> int: ...

    def __repr__(self) -> str: ...

class TeardownAsked:
    """Call the tear-down hooks -> Run.teardown_finished."""

    @property
    def attempt(self) -> int: ...

    def __repr__(self) -> str: ...

class CallExecuted:
    """A rank's answer to Run.execute."""

    @property
    def call_id(self) -> int: ...

    @property
    def rank(self) -> int: ...

    @property
    def error(self) -> RankError | None: ...

    @property
    def value(self) -> bytes | None: ...

    def __repr__(self) -> str: ...

class FunctionReturned:
    """Rank 0's training function has returned."""

    @property
    def value(self) -> bytes | None: ...

    def __repr__(self) -> str: ...

class FunctionRaised:
    """A rank's training function has raised."""

    @property
    def attempt(self) -> int: ...

    @property
    def rank(self) -> int: ...

    @property
    def exception(self) -> bytes | None: ...

    def __repr__(self) -> str: ...

class ExamineHook:
    """What is the thread in the hook doing? -> Run.hook_examined."""

    @property
    def examination(self) -> int: ...

    def __repr__(self) -> str: ...

class InterruptHook:
    """Have the hook raise an error."""

    @property
    def reason(self) -> str: ...

    def __repr__(self) -> str: ...

class Finished:
    """The run has ended. No event follows."""

    @property
    def outcome(self) -> RunOutcome: ...

    @property
    def last_report_json(self) -> str: ...

    def __repr__(self) -> str: ...

    def to_json(self) -> str: ...

    @staticmethod
    def from_json(json: str) -> Finished: ...

def choose_columns(names: Sequence[str], score: str | None, width: int | None) -> tuple[list[str], str]:
    """
    The metrics that a table of reports has columns for, and the title that says how many it has not. `width`: the terminal's columns; None where the output is no terminal.
    """

def takes_colours() -> bool:
    """Whether the environment lets a terminal have colours."""

def in_bold(text: str) -> str:
    """For titles."""

def in_dim(text: str) -> str:
    """What is beside the point."""

def styled_notice(text: str) -> str:
    """A line of Headway's own with its first word in the style of its kind."""

def text_width(text: bytes) -> int:
    """How many columns of a terminal UTF-8 text takes."""

def cut_to(text: bytes, columns: int) -> str:
    """The text, or as much of its beginning as that many columns hold."""

def cut_parts(text: bytes, columns: int) -> str:
    """The same for text of parts with " · " between: whole parts."""

def without_escapes(text: bytes) -> str:
    """
    The text without colours, movements of the cursor and other control sequences.
    """

def output_line(line: bytes) -> tuple[bytes, bool]:
    """
    A line of output as a terminal ends up with it, and whether it is a progress bar that has ended.
    """

class Watch:
    """Looks at a driver's runs, nodes and queue."""

    def next(self, timeout_s: float) -> str | None:
        """
        Waits for a snapshot that this method has not returned yet, as JSON; None when time is out or Headway was shut down.
        """

def read_journal(run_directory: str) -> str:
    """
    A run's journal (run.json) as JSON. FileNotFoundError when the folder holds no run; OSError for one that cannot be read.
    """

class Package:
    """Files that workers on other machines need, as an archive."""

    def __init__(self, hash: str, bytes: bytes) -> None: ...

    @property
    def hash(self) -> str:
        """SHA-256 of the bytes, in hex."""

class Run:
    """One training run, as the thread that called fit() sees it."""

    @property
    def path(self) -> str:
        """The run's folder."""

    @property
    def event_fd(self) -> int:
        """A descriptor that is readable while there are events to take."""

    def take_events(self) -> list[RankLine | RankRedraws | MovingLineShown | HelperLine | Notice | RunWarning | ReportRecorded | CallbackReport | AttemptFailed | SetupAsked | TeardownAsked | CallExecuted | FunctionReturned | FunctionRaised | ExamineHook | InterruptHook | Finished]:
        """
        What happened since the last call, in order. The last event is Finished.
        """

    @property
    def alarm_fd(self) -> int:
        """
        A descriptor that is readable while there are alarms to take; any one thread may.
        """

    def take_alarms(self) -> list[RankLine | RankRedraws | MovingLineShown | HelperLine | Notice | RunWarning | ReportRecorded | CallbackReport | AttemptFailed | SetupAsked | TeardownAsked | CallExecuted | FunctionReturned | FunctionRaised | ExamineHook | InterruptHook | Finished]:
        """
        What must be heard while a hook is under way: ExamineHook, InterruptHook, RunWarning.
        """

    def hook_examined(self, examination: int, text: str) -> None: ...

    def show_moving_line(self) -> None:
        """From now on a MovingLineShown comes each second."""

    def abort(self, reason: str) -> None: ...

    def execute(self, call_id: int, ranks: Sequence[int], function: bytes) -> None:
        """Has ranks call a pickled function; a CallExecuted comes for each."""

    def setup_finished(self, attempt: int, error_json: str | None = None) -> None: ...

    def teardown_finished(self, attempt: int) -> None: ...

    def report_heard(self) -> None:
        """The callbacks have heard a CallbackReport."""

    def callback_failed(self, message: str) -> None:
        """A callback has raised: the run fails by it."""

    def stop(self, reason: str) -> None:
        """Ends the run as finished."""

class SuggestionsWanted:
    """Room for more trials -> suggest, no_suggestion, search_over."""

    @property
    def count(self) -> int: ...

    def __repr__(self) -> str: ...

class TrialStartWanted:
    """A trial is to start -> start_trial, refuse_trial."""

    @property
    def trial_id(self) -> str: ...

    @property
    def start(self) -> int: ...

    @property
    def config(self) -> str: ...

    @property
    def folder(self) -> str: ...

    @property
    def resumes(self) -> bool: ...

    @property
    def copied(self) -> bool: ...

    def __repr__(self) -> str: ...

class TrialChoiceAsked:
    """Which of these trials starts? -> choose."""

    @property
    def candidates(self) -> list[str]: ...

    def __repr__(self) -> str: ...

class ConfigAsked:
    """Which configuration does the copy have? -> configure."""

    @property
    def trial_id(self) -> str: ...

    @property
    def donor_id(self) -> str: ...

    @property
    def number(self) -> int: ...

    @property
    def history_json(self) -> str: ...

    def __repr__(self) -> str: ...

class TrialStarted:
    """A trial's ranks are ready."""

    @property
    def trial_id(self) -> str: ...

    @property
    def start(self) -> int: ...

    def __repr__(self) -> str: ...

class TrialReported:
    """A trial's report was decided about."""

    @property
    def trial_id(self) -> str: ...

    @property
    def number(self) -> int: ...

    @property
    def line(self) -> dict[str, Any]: ...

    @property
    def decision(self) -> str: ...

    @property
    def reason(self) -> str: ...

    @property
    def metrics(self) -> list[dict[str, Any]]: ...

    def __repr__(self) -> str: ...

class VerdictAsked:
    """A report waits for a verdict -> decide."""

    @property
    def trial_id(self) -> str: ...

    @property
    def number(self) -> int: ...

    @property
    def line(self) -> dict[str, Any]: ...

    @property
    def decision(self) -> str: ...

    @property
    def reason(self) -> str: ...

    def __repr__(self) -> str: ...

class TrialHook:
    """Call the hooks -> Run.setup_finished, Run.teardown_finished."""

    @property
    def trial_id(self) -> str: ...

    @property
    def attempt(self) -> int: ...

    @property
    def workers(self) -> int: ...

    @property
    def kind(self) -> str: ...

    def __repr__(self) -> str: ...

class TrialCall:
    """A rank's answer to Run.execute."""

    @property
    def trial_id(self) -> str: ...

    @property
    def call(self) -> CallExecuted: ...

    def __repr__(self) -> str: ...

class TrialAttemptFailed:
    """An attempt of a trial has failed; another one may follow."""

    @property
    def trial_id(self) -> str: ...

    @property
    def attempt(self) -> AttemptFailed: ...

    @property
    def raised_rank(self) -> int: ...

    @property
    def exception(self) -> bytes | None: ...

    def __repr__(self) -> str: ...

class TrialEnded:
    """A trial is "terminated", "errored", "paused" or "unfinished"."""

    @property
    def trial_id(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def reason(self) -> str: ...

    @property
    def outcome(self) -> RunOutcome | None: ...

    @property
    def last_report_json(self) -> str: ...

    @property
    def value(self) -> bytes | None: ...

    @property
    def exception(self) -> bytes | None: ...

    def __repr__(self) -> str: ...

class ExperimentEnded:
    """No event follows."""

    @property
    def state(self) -> str: ...

    @property
    def reason(self) -> str: ...

    @property
    def all_ended(self) -> int | None: ...

    def __repr__(self) -> str: ...

def read_experiment(path: str) -> str:
    """
    An experiment as its journal has it, as JSON. FileNotFoundError when there is none.
    """

def each_trial(path: str, take: Callable) -> None:
    """
    Calls `take` for each trial of an experiment's journal: trial_id, folder, state, reason, numbers, reports, replaced. FileNotFoundError when there is none.
    """

trials_ready: int = 4

class Experiment:
    """One experiment, as the thread that serves it sees it."""

    @property
    def path(self) -> str:
        """The experiment's folder."""

    @property
    def event_fd(self) -> int:
        """A descriptor that is readable while there are events to take."""

    def take_events(self) -> list[SuggestionsWanted | TrialStartWanted | ConfigAsked | TrialStarted | TrialReported | VerdictAsked | TrialChoiceAsked | TrialHook | TrialCall | TrialAttemptFailed | TrialEnded | Notice | RunWarning | ExperimentEnded]:
        """
        What happened since the last call, in order. The last event is ExperimentEnded.
        """

    def take_each_report(self, each: bool) -> None:
        """
        Whether each report comes; else the newest of a trial's that wait, when something else wakes.
        """

    def suggest(self, trial_id: str, config_json: str, folder: str, replaces: str | None = None, tag: str | None = None) -> None:
        """A new trial, or an earlier driver's again."""

    def no_suggestion(self) -> None:
        """None for now: asked again after the next report or end of a trial."""

    def search_over(self) -> None:
        """No more for ever."""

    def start_trial(self, trial_id: str, start: int, *, spec_json: str, worker_setup_json: str, task: bytes, trainer: bytes | None = None, validation: bytes | None = None, factory_command: Sequence[str] = [], factory_env: Mapping[str, str] = {}, factory_recipe: str = '', factory_packages: Sequence[Package] = [], hooks: bool = False) -> None:
        """
        The answer to TrialStartWanted, with the arguments of Runtime.start_run.
        """

    def refuse_trial(self, trial_id: str, start: int, message: str) -> None:
        """The trial errors."""

    def decide(self, trial_id: str, number: int, decision: str, reason: str) -> None:
        """The answer to VerdictAsked: "continue", "stop" or "pause"."""

    def choose(self, trial_id: str) -> None:
        """The answer to TrialChoiceAsked; "": none of them now."""

    def configure(self, trial_id: str, number: int, config_json: str) -> None:
        """The answer to ConfigAsked."""

    def stop_trial(self, trial_id: str, reason: str) -> None:
        """Ends the trial as terminated."""

    def stop(self, reason: str) -> None:
        """Ends the experiment; trials that had not ended can be restored."""

    def run_of(self, trial_id: str) -> Run:
        """The run of a trial that has one. ValueError else."""

class Runtime:
    """The driver's side of Headway in this process."""

    def __init__(self, guard_path: str, factory_command: Sequence[str], factory_env: Mapping[str, str], py_spy: str, num_cpus: float | None = None, num_gpus: float | None = None, resources: Mapping[str, float] = {}, labels: Mapping[str, str] = {}, listen: str | None = None, token: str = '', node_lease_s: float = 10.0, host_fd: int = -1, engine: str = '', engine_command: Sequence[str] = [], token_file: str = '', engine_options_json: str = '{}', engine_idle_s: float = 60.0) -> None: ...

    def listen(self) -> str:
        """Lets nodes join; the address for them, as host:port."""

    def nodes(self) -> str:
        """What each node has, as JSON."""

    def watch(self) -> Watch:
        """Looks at all runs, nodes and the queue, until the watch is given up."""

    def warm(self, preload: Sequence[str]) -> None:
        """Starts a worker factory for these modules in the background."""

    def start_run(self, *, spec_json: str, worker_setup_json: str, task: bytes, trainer: bytes | None = None, validation: bytes | None = None, factory_command: Sequence[str] = [], factory_env: Mapping[str, str] = {}, factory_recipe: str = '', factory_packages: Sequence[Package] = [], local_sessions: Sequence[int] = []) -> Run:
        """
        Starts a run. `worker_setup_json` goes to its workers as is. `trainer` is kept for a restore, `validation` is the pickled validation function. Local mode: `local_sessions` are the ranks' sessions as descriptors, which the run takes. Agents of other machines make the environment by `factory_recipe`, with `factory_packages`.
        """

    def start_experiment(self, spec_json: str, trials_location: str = '') -> Experiment:
        """
        Starts an experiment, or takes up the one in its folder. Its trials are there, unless they are at a location. FileExistsError when another driver has it.
        """

    def total_resources(self) -> dict[str, float]: ...

    def available_resources(self) -> dict[str, float]: ...

    def shutdown(self) -> None:
        """Ends every run, worker and factory, and returns when they are gone."""

class EarlyFactory:
    """
    A worker factory that is started before there is a runtime, and told what to import.
    """

    def __init__(self, guard_path: str, command: Sequence[str], env: Mapping[str, str], py_spy: str) -> None: ...

    def tell(self, line: str) -> bool:
        """Sends a line; False when nobody hears it."""

    def offer(self, runtime: Runtime, preload: Sequence[str]) -> None:
        """
        Has the runtime take it for workers that need these modules, of which it has heard.
        """

    def end(self) -> None:
        """Ends it, unless a runtime has taken it."""

def is_alive(pid: int, started: int) -> bool:
    """
    Whether the process of this machine lives that had `pid` and was started `started` clock ticks after boot.
    """

def new_trial_id() -> str:
    """A new run's id, at random."""

def default_run_name(trainer: str, trial_id: str) -> str:
    """What a run is called that was given no name."""

nodes_can_join: bool = True

def run_agent(driver: str, token: str, guard_path: str, factory_command: Sequence[str], factory_env: Mapping[str, str], py_spy: str, num_cpus: float | None, num_gpus: float | None, resources: Mapping[str, float], labels: Mapping[str, str], grace_s: float, recipe_command: Sequence[str], packages_folder: str) -> int:
    """
    Offers this machine to a driver; returns the exit code when that has ended, and no worker is left.
    """

def exit_now(code: int) -> None:
    """Flushes C streams and ends the process at once."""

def make_temporary_directory(path: str) -> bool:
    """
    Makes a directory for temporary files; False when it cannot be this user's own.
    """

def tells_of_lost_peer(message: str) -> bool:
    """
    Whether an exception's words are those of a connection whose other end is gone.
    """

def keep_freed_memory(mib_max: int = 512) -> None:
    """
    Has this process keep up to so many MiB of freed memory for its next allocations.
    """

def belong_to(parent: int) -> None:
    """
    Has this process killed when its parent ends, and lets the agent look at its stacks.
    """

class FactoryServer:
    """The worker factory's loop."""

    def __init__(self, control_fd: int, exec_command: Sequence[str], always_exec: bool) -> None: ...

    def announce(self, problems: Sequence[str]) -> None: ...

    def serve(self) -> tuple[int, dict[str, str]] | None:
        """
        In a forked worker: (session descriptor, env). In the factory: None, at the end.
        """

class Session:
    """This worker's session with the driver."""

    def __init__(self, fd: int, lives_on: bool = False) -> None:
        """`lives_on`: this process does not end with the session."""

    def ask_checkpoints(self, validated: bool, timeout_s: float | None) -> str:
        """
        All checkpoints that are kept, as JSON, when what the question says is so.
        """

    def open_runtime(self) -> int:
        """A socket on which a runtime in this process is the driver's guest."""

    def validated(self, metrics_json: str) -> None:
        """What the validation function of this worker returned."""

    def answer_call(self, call_id: int, error_json: str | None, value: bytes | None) -> None: ...

    def training_returned(self, value: bytes) -> None: ...

    def training_raised(self, error_json: str, exception: bytes | None) -> None: ...

    def begin_pass(self, loader: int, epoch: int, batches: int | None, batch_size: int | None, samples: int | None) -> None:
        """A data loader begins a pass over its data."""

    def next_batch(self, loader: int) -> None:
        """It gives its next batch to the loop, which has done the one before."""

    def end_pass(self, loader: int) -> None:
        """It has come to its end."""

    def in_collectives(self, seconds: float) -> None:
        """This rank was in the collectives of a backward pass for that long."""

    def see_collectives(self, visible: bool) -> None:
        """
        Whether `waited` hears of the collectives of a model that was prepared.
        """

    def passes_took(self, forward_s: float | None, backward_s: float | None) -> None:
        """
        Seconds of a step's forward and backward passes; None for what will never be known.
        """

    @property
    def steps_taken(self) -> int:
        """How many steps there were."""

    def stepped(self, optimizer: int) -> bool:
        """An optimizer has made its step. Whether `send_progress` is due."""

    def send_progress(self) -> None:
        """Sends the driver what the loop has done."""

    def data_cursors(self) -> str:
        """
        Where the data sets stood in the checkpoint that this attempt began with: JSON, by name.
        """

    def set_data_cursors(self, cursors_json: str) -> None:
        """Where they stand now, for the manifest of the next checkpoint."""

    def send_data_progress(self, progress_json: str) -> None:
        """Sends the driver how long this rank waits for a data set (JSON)."""

    def want_function_workers(self, port: int, token: str, workers: int | None, cpus: float, labels: Mapping[str, str]) -> None:
        """
        Asks the driver for processes on other nodes that call functions for this node's data process, which listens at the port for those that have the token.
        """

    @property
    def context_json(self) -> str: ...

    @property
    def checkpoint(self) -> str | None: ...

    def close(self) -> None:
        """The end of a session whose process lives on."""

    @property
    def over(self) -> bool:
        """Whether nothing that is done here counts any more."""

    def settle_in(self) -> None:
        """
        In a rank: makes the ranks' working directory and, unless `enter` is false, changes into it.
        """

    def announce(self) -> None: ...

    def tell_collectives_by(self, tell: Callable) -> None:
        """
        `tell()` gives this rank's positions in its collectives as JSON, when the driver asks.
        """

    def next_task(self) -> tuple[str, int, bytes]:
        """
        Blocks for ("execute" | "train" | "end", call id, pickled function or None).
        """

    def report(self, metrics_json: str, checkpoint_directory: str | None, checkpoint_name: str | None, move: bool, asynchronous: bool, placed: bool = False, store: Callable[[str], str] | None = None, validation_json: str | None = None, reduce_json: str | None = None) -> str | None:
        """
        The barrier of all ranks; the committed checkpoint's directory, or None.
        """

    def collective(self, kind: str, data: bytes | None) -> bytes | None:
        """A "barrier" of all ranks, or a "broadcast": what rank 0 gave."""

    def preemption_info(self) -> str | None:
        """
        A barrier of all ranks: what is known of nodes that are taken away, as JSON, or None.
        """

def list_checkpoints(run_directory: str) -> str:
    """
    The manifests of a run's committed checkpoints as a JSON list, oldest first.
    """

def best_of(metrics_json: str, metric: str, mode: str) -> int | None:
    """
    The place of the best in a JSON list of metrics, the later of equals; None when none has the metric.
    """

def is_remote(location: str) -> bool:
    """Whether a location is a URL or on a Python filesystem."""

def join_location(location: str, name: str) -> str:
    """The location of a name below a location."""

def parent_location(location: str) -> str:
    """The location of the directory that a location lies in."""

def name_of(location: str) -> str:
    """A location's own name, the last part of its path."""

def shown_location(location: str) -> str:
    """A location as people may read it, without secrets."""

def read_file(location: str) -> bytes:
    """The whole of a small file."""

class RandomReader:
    """Reads parts of one file; any number of threads at once."""

    def __init__(self, location: str) -> None: ...

    @property
    def size(self) -> int:
        """Bytes, as of when it was opened."""

    def read_at(self, offset: int, size: int) -> bytes:
        """The bytes from an offset on; fewer than asked only at the file's end."""

def replace_file(location: str, content: bytes) -> None:
    """Replaces a small file whole."""

def register_files(scheme: str, files: object) -> None:
    """Makes a scheme stand for a filesystem of Python's."""

def use_arrow_libraries(library: str, directory: str) -> bool:
    """
    Where libheadway_arrow.so and the pyarrow package lie; False when they are not what Headway was built with, and nothing happens.
    """

def set_url_opener(open: object) -> None:
    """Has URLs opened by a function from a URL to a filesystem of Python's."""

def finish_remote() -> None:
    """To be called once, at the process's end."""

class SharedDownload:
    """
    A directory's files on this machine, shared by the processes that use it now.
    """

    @property
    def directory(self) -> str: ...

    def release(self) -> None:
        """The files are not needed any more; the last one removes them."""

def share_download(location: str) -> SharedDownload:
    """
    Downloads a checkpoint, or waits for and shares another process's download.
    """

def temporary_directory(name: str) -> SharedDownload:
    """
    An empty directory of this process, removed when it is released, or after the process was killed.
    """

def sweep_downloads() -> None:
    """
    Removes shared downloads and temporary directories whose processes were killed.
    """

def fetch(location: str, target_directory: str) -> None:
    """
    Copies a checkpoint's files into a local directory, compared with its manifest on the way.
    """

def survey(location: str) -> str:
    """
    What lies at a location, a run or a checkpoint, with its manifests: JSON.
    """

def examine(checkpoint: str, told: Callable | None = None) -> str:
    """
    Reads a checkpoint whole and compares it with its manifest: JSON. told(bytes, bytes_total, files, files_total) is called meanwhile, on any thread.
    """

def note_verified(run_directory: str, found: str) -> None:
    """
    Leaves what `examine` has said of checkpoints, a JSON list, in their run's folder for the dashboard. FileNotFoundError where no run is.
    """

def newest_good(run_directory: str) -> str | None:
    """
    The name of a run's newest checkpoint that is whole, found by reading; None when there is none.
    """

def copy_checkpoint(source: str, target: str, told: Callable | None = None) -> str:
    """
    Copies a committed checkpoint, compared with its manifest on the way; the copy's manifest as JSON.
    """

class DataFailure(RuntimeError):
    """
    A user's function failed in a data set: with traceback, where (file and rows) and the pickled exception.
    """

def data_stats_table(counters: str) -> str:
    """What the stages of a data set have done (JSON), as a table."""

def data_progress_text(counters: str, what: str) -> str:
    """How far a data set is (JSON), as a line for a terminal."""

def data_dropped_text(dataset: str, rows: int, world_size: int) -> str:
    """
    How many last rows of an epoch were dropped, in words; an empty name: the data set has none.
    """

def data_awaited_words(counters: str) -> str:
    """
    Which rank the others wait for, by the counters of a data set (JSON); empty: for none.
    """

def data_lanes(machines: int) -> int:
    """Into how many lanes a data set is cut that so many machines read."""

def data_wider_number(one: str, other: str) -> str | None:
    """
    Arrow's name of the type that has the numbers of two, by their names; None where there is none.
    """

def data_flows_together(before: str, epoch: str) -> str:
    """Counters of several epochs of a data set (JSON) as one."""

class DataProcess:
    """
    The data process of this machine; it ends with the last of its clients.
    """

    def __init__(self, program: str, folder: str, environment: Mapping[str, str] = {}) -> None:
        """
        Starts it; with a folder, one that was started for the same folder is used if it still runs.
        """

    @property
    def address(self) -> str:
        """Where clients find it."""

    @property
    def has_ended(self) -> bool:
        """Whether it has ended meanwhile."""

    def is_about_to_end(self) -> bool:
        """
        Whether it has ended, for one that has closed a connection. Waits a moment for it.
        """

    def close(self) -> None:
        """This process needs it no more; the last client's close ends it."""

class DataClient:
    """Asks a data process, and opens streams of batches."""

    def __init__(self, address: str, hello: str = '{}') -> None:
        """
        `hello`: JSON with budget, threads, function_host, environment, scratch.
        """

    def ask(self, json: str, blobs: Sequence[bytes], told: Callable | None = None) -> tuple[str, bytes]:
        """
        Asks about a plan ({"what", "plan"}): the answer as JSON, and its raw part. `told` is called meanwhile, with counters as JSON.
        """

    def invite(self, json: str) -> str:
        """
        From now on function workers of other nodes may come in ({"host", "first", "plan", "blobs"}): the answer as JSON.
        """

    def run(self, json: str, blobs: Sequence[bytes], told: Callable | None = None, names: Callable | None = None) -> tuple[str, bytes]:
        """
        Runs a plan ({"plan"}) that ends in a write: the answer as JSON, and its raw part. `names` gives the names of files: so many, from a number on.
        """

    def open(self, json: str, blobs: Sequence[bytes]) -> DataStream:
        """Opens a stream ({"plan", "consumption"}); errors come with `next`."""

class DataStream:
    """The batches of one epoch."""

    def next(self, told: Callable[[str], object] | None = None) -> DataBatch | None:
        """
        Waits for the next batch; None at the end. Ctrl-C works. `told` is called meanwhile, with counters as JSON.
        """

    def close(self) -> None:
        """Nothing more is wanted. Batches live on."""

    @property
    def next_bytes(self) -> int:
        """
        The bytes of the next batch's memory, if that batch is there; 0: `next` may wait.
        """

    @property
    def waits(self) -> str:
        """JSON: how long batches were waited for since the first one came."""

    @property
    def counters(self) -> str:
        """JSON: what the stages have done, as far as it is known here."""

    @property
    def end(self) -> str:
        """At the end: JSON with the rows dropped, and statistics."""

def say_nothing_of_leaks() -> None:
    """At the interpreter's end objects that live are no leaks."""

class DataPlace:
    """Where a stream is after a batch, which it does not keep."""

    @property
    def cursor(self) -> str:
        """As JSON."""

class DataBatch:
    """
    Rows in shared memory, which views of its buffer keep. Writable, and nobody else's.
    """

    @property
    def rows(self) -> int: ...

    @property
    def layout(self) -> str:
        """The columns, as JSON."""

    @property
    def layout_id(self) -> int:
        """The same for all batches of a stream that have one layout."""

    @property
    def schema(self) -> bytes:
        """The schema, as Arrow's IPC serializes it."""

    @property
    def nodes(self) -> list[tuple[int, int]]:
        """(length, null count) of each array, depth first."""

    @property
    def buffers(self) -> list[tuple[int, int]]:
        """(offset, size) of each buffer; offset 0: there is none."""

    def offsets(self, places: bytes) -> list:
        """
        Where the values of columns without nulls begin; 0: there are none, -1: a column has nulls, or no place in the batch. `places` has three 32-bit numbers a column: its node, that of its values, and their buffer.
        """

    @property
    def place(self) -> DataPlace:
        """Where the stream is after this batch."""

class FunctionSeat:
    """A function worker's place beside another node's data process."""

    def __init__(self, host: str, port: int, name: str, token: str, idle_s: float) -> None:
        """
        Connects to the data process there; both prove to have the token. This process ends when the data process needs it no more in the middle of a unit.
        """

    def release_socket(self) -> int:
        """
        The descriptor of the worker's link, which is the caller's from now on.
        """

def dashboard_port(argument: str, text: str) -> int | None:
    """
    The port that a text asks for: None for none, 0 for any that is free. ValueError, naming `argument`, for another text.
    """

def run_summary(location: str) -> str:
    """
    A run of a folder with what it does, in words, as JSON. FileNotFoundError when the folder holds no run; OSError for one that cannot be read.
    """

def inline_charts(location: str, charts_max: int, points: int) -> str:
    """
    The charts of a folder's run or experiment, as JSON. FileNotFoundError when it holds neither; OSError for one that cannot be read.
    """

def is_secret_name(name: str) -> bool:
    """Whether a name is one of a secret, whose value is not shown."""

def inline_page(charts: str) -> str:
    """A page of HTML that draws such charts and asks nobody for anything."""

class Dashboard:
    """A page that shows runs in a browser, and its server."""

    def __init__(self, runtime: Runtime, host: str = '127.0.0.1', port: int = 0, names: Sequence[str] = []) -> None: ...

    @staticmethod
    def of_folder(argument: str, location: str, host: str = '127.0.0.1', port: int = 0, names: Sequence[str] = []) -> Dashboard:
        """
        Shows the run, the experiment, or all of them in a folder; `argument` is what errors call it.
        """

    @property
    def url(self) -> str:
        """Its address, with the token."""

    def close(self) -> None:
        """Ends the server."""
