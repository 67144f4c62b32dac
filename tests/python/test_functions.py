"""The training function: in any form that Python has, with its context, and what is said when it
cannot be sent.
"""

import functools
import os
import threading

import headway
import processes
import pytest
from headway import train

pytestmark = pytest.mark.both_starts


def report_doubled(config):
    train.report({"doubled": 2 * config["x"]})


class Callable:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, config):
        train.report({"doubled": self.factor * config["x"]})

    def method(self, config):
        self(config)


def no_argument_makes_42(x=21):
    train.report({"doubled": 42})


FORMS = {
    "function": report_doubled,
    "lambda": lambda config: train.report({"doubled": 2 * config["x"]}),
    "object": Callable(2),
    "method": Callable(2).method,
    "partial": functools.partial(lambda factor, config: train.report({"doubled": factor * config["x"]}), 2),
    "no argument": lambda: train.report({"doubled": 42}),
    "any arguments": lambda *args: train.report({"doubled": 2 * args[0]["x"]}),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_training_function_has_any_form(fit, form):
    assert fit(FORMS[form], workers=1, config={"x": 21}).metrics["doubled"] == 42


def test_a_closure_takes_its_variables_along(fit):
    factor = 2
    table = {"x": list(range(22))}

    def loop(config):
        train.report({"doubled": factor * table["x"][config["x"]]})

    assert fit(loop, config={"x": 21}).metrics["doubled"] == 42


def test_a_function_that_takes_a_configuration_gets_an_empty_one(fit):
    assert fit(lambda config: config, workers=1).return_value == {}


def test_the_context_of_each_rank(fit):
    def loop():
        context = train.get_context()
        train.report(
            {
                "ranks": context.get_world_size(),
                "local": context.get_local_world_size(),
                "node": context.get_node_rank(),
                "experiment": context.get_experiment_name(),
                "trial": context.get_trial_name(),
                "id": context.get_trial_id(),
            }
        )
        print("I am", context.get_world_rank(), context.get_local_rank())

    result = fit(loop, workers=3, name="who")
    metrics = result.metrics
    assert (metrics["ranks"], metrics["local"], metrics["node"]) == (3, 3, 0)
    assert (metrics["experiment"], metrics["trial"]) == ("who", "who")
    assert metrics["id"] == metrics["trial_id"]
    for rank in range(3):
        with open(os.path.join(result.path, "logs", f"rank_{rank}.log")) as log:
            assert log.read() == f"I am {rank} {rank}\n"


def test_a_script_defines_its_function_in_main(script):
    status, output = script.run(
        """
        from headway import train

        class Model:
            def __init__(self, size):
                self.size = size

        def build(size):
            return Model(size)

        def loop(config):
            train.report({"size": build(config["size"]).size})
            return Model(5)

        result = train.DataParallelTrainer(
            loop, train_loop_config={"size": 3}, scaling_config=train.ScalingConfig(num_workers=2)
        ).fit()
        assert isinstance(result.return_value, Model)
        print("size", result.metrics["size"], result.return_value.size)
        """
    )
    assert status == 0, output
    assert "size 3 5" in output
    assert processes.wait_gone(script.processes, 5) == {}


def unpicklable_cases():
    lock = threading.Lock()
    nested = {"a": [1, {"lock": lock}]}

    def uses_closure():
        return lock

    def uses_nested():
        return nested

    def calls_another():
        uses_closure()

    def has_default(config=None, lock=lock):
        return lock

    holder = Callable(2)
    holder.lock = lock
    return {
        "closure": (uses_closure, {}, "train_loop_per_worker → closure variable 'lock' is a _thread.lock"),
        "nested": (uses_nested, {}, "→ closure variable 'nested'['a'][1]['lock'] is a _thread.lock"),
        "called function": (
            calls_another,
            {},
            "closure variable 'uses_closure' → closure variable 'lock' is a _thread.lock",
        ),
        "default": (has_default, {}, "→ default of 'lock' is a _thread.lock"),
        "object": (holder, {}, "train_loop_per_worker.lock is a _thread.lock"),
        "method": (holder.method, {}, "train_loop_per_worker.__self__.lock is a _thread.lock"),
        "partial": (
            functools.partial(report_doubled, {"l": lock}),
            {},
            "train_loop_per_worker.args[0]['l'] is a _thread.lock",
        ),
        "configuration": (
            report_doubled,
            {"model": {"lock": lock}},
            "train_loop_config['model']['lock'] is a _thread.lock",
        ),
        "generator": (report_doubled, {"data": (i for i in [1])}, "train_loop_config['data'] is a builtins.generator"),
    }


@pytest.mark.parametrize("case", unpicklable_cases())
def test_what_cannot_be_sent_is_named_with_the_path_to_it(storage, case):
    headway.shutdown()
    loop, config, told = unpicklable_cases()[case]
    trainer = train.DataParallelTrainer(
        loop, train_loop_config=config, run_config=train.RunConfig(storage_path=storage)
    )
    with pytest.raises(TypeError, match=r"train_loop_.* cannot be sent to the workers") as caught:
        trainer.fit()
    assert told in str(caught.value)
    assert "Make it inside the training function instead" in str(caught.value)
    assert processes.descendants() == {}
    assert not os.path.exists(storage)


def test_a_return_value_that_cannot_be_sent_is_named(fail):
    error = fail(lambda: threading.Lock(), workers=1)
    assert str(error).startswith("TypeError: the training function returned a lock that cannot be pickled")


def test_only_rank_0_s_return_value_travels(fit):
    def loop():
        rank = train.get_context().get_world_rank()
        return "rank 0's" if rank == 0 else threading.Lock()

    assert fit(loop, workers=2).return_value == "rank 0's"


def test_fit_inside_a_training_function_is_refused(fail):
    def loop():
        train.DataParallelTrainer(lambda: None).fit()

    assert str(fail(loop, workers=1)).startswith("RuntimeError: fit() was called inside a training function")


def test_a_hook_may_leave_a_process_behind_that_it_has_forked(fit):
    reader, writer = os.pipe()

    class Hooks(train.Backend):
        def on_start(self, worker_group, backend_config):
            self.child = os.fork()
            if self.child == 0:
                os.close(writer)
                os.read(reader, 1)  # Until the test has ended.
                os._exit(0)

    hooks = Hooks()

    class Config(train.BackendConfig):
        @property
        def backend_cls(self):
            return lambda: hooks

    assert fit(lambda: "trained", workers=1, backend_config=Config()).return_value == "trained"
    os.close(writer)
    assert os.waitpid(hooks.child, 0)[1] == 0


def test_a_backend_reaches_into_every_rank(fit):
    class Hooks(train.Backend):
        def on_start(self, worker_group, backend_config):
            ranks = worker_group.execute(lambda: train.get_context().get_world_rank())
            assert ranks == [0, 1] == list(worker_group)
            assert worker_group.execute_single(1, lambda a, b: a - b, 5, b=2) == 3
            assert worker_group.execute_each([(abs, (-1,)), (abs, (-2,))]) == [1, 2]
            backend_config.seen.append("start")

        def on_training_start(self, worker_group, backend_config):
            worker_group.execute(lambda: os.environ.update(FROM_THE_HOOK="yes"))

        def on_shutdown(self, worker_group, backend_config):
            backend_config.seen.append("shutdown")

    class Broken(Hooks):
        def on_training_start(self, worker_group, backend_config):
            worker_group.execute(lambda: 1 / 0)

    class Config(train.BackendConfig):
        def __init__(self, hooks):
            self.hooks = hooks
            self.seen = []

        @property
        def backend_cls(self):
            return self.hooks

    config = Config(Hooks)
    assert fit(lambda: os.environ["FROM_THE_HOOK"], backend_config=config).return_value == "yes"
    assert config.seen == ["start", "shutdown"]
    config = Config(Broken)
    with pytest.raises(train.ControllerError) as caught:
        fit(lambda: None, backend_config=config)
    error = caught.value
    assert "ZeroDivisionError: division by zero" in str(error)
    assert "Raised while the backend set up the group of 2 workers" in str(error)
    assert config.seen == ["start"]


class InBase(train.BackendConfig):
    """Has the training function run in a context, in each rank."""

    @property
    def train_func_context(self):
        import decimal

        return lambda: decimal.localcontext(decimal.Context(prec=3))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_backend_has_the_function_run_in_a_context_of_its_own(fit, workers):
    import decimal

    def loop():
        import decimal

        return decimal.getcontext().prec

    assert fit(loop, workers, backend_config=InBase()).return_value == 3
    assert decimal.getcontext().prec != 3
    assert (InBase().framework, InBase().to_dict()) == (None, {})


def test_frames_begin_with_the_training_function_in_a_context_too(fail):
    def loop():
        raise ValueError("no")

    lines = str(fail(loop, workers=1, backend_config=InBase())).splitlines()
    assert lines[0] == "ValueError: no"
    assert lines[2].endswith("in loop")
