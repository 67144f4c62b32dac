"""Worker factories import what training functions need, where that is safe."""

import functools
import os
import textwrap
import types

import numpy
import numpy.linalg
import pytest
from headway._runtime.needed_modules import needed_modules
from headway.tune._experiment.in_trial import ClassTrial, FunctionTrial

pytestmark = pytest.mark.fork_only


def uses_a_global():
    return numpy.linalg.norm([1.0])


class UsesInMethod:
    def train(self):
        return uses_a_global()

    __call__ = train


def imports_inside():
    import xml.dom

    import pytest

    return pytest, xml.dom


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (uses_a_global, {"numpy", "numpy.linalg"}),
        (functools.partial(uses_a_global), {"numpy", "numpy.linalg"}),
        (UsesInMethod().train, {"numpy", "numpy.linalg"}),
        (UsesInMethod(), {"numpy", "numpy.linalg"}),
        (imports_inside, {"pytest"}),
        (lambda: [uses_a_global() for _ in range(2)], {"numpy", "numpy.linalg"}),
        (lambda: os.getpid(), set()),
        (3, set()),
    ],
)
def test_what_a_function_needs_of_installed_packages(function, expected):
    assert set(needed_modules(function)) == expected


def test_what_a_package_imports_later_is_needed_too(monkeypatch):
    from headway._runtime import needed_modules as needed

    monkeypatch.setattr(needed, "_LATER", {"numpy": "pytest", "pytest": "no_such_package"})
    assert set(needed_modules(uses_a_global)) == {"numpy", "numpy.linalg", "pytest"}


def test_functions_of_the_user_s_modules_are_looked_into(monkeypatch):
    module = types.ModuleType("loops")
    module.train = uses_a_global
    monkeypatch.setitem(globals(), "loops", module)
    assert set(needed_modules(lambda: loops.train())) == {"numpy", "numpy.linalg"}  # noqa: F821


def test_an_integration_says_what_workers_need(monkeypatch):
    """Whether or not the driver has imported the framework."""
    from headway.train import lightning

    monkeypatch.setattr(lightning, "needed_in_workers", lambda: ["xml.dom"])
    for function in (lambda: lightning.DDPStrategy(), lightning.prepare_trainer, lambda: lightning):
        assert "xml.dom" in needed_modules(function)
    assert "xml.dom" not in needed_modules(imports_inside)


BY = "import os\nBY = os.getpid()\n"
FIT = """
    import os
    import headway
    from headway import train
    import quiet

    def loop():
        return "factory" if quiet.BY == os.getppid() else "worker"

    def fit(loop):
        config = train.RunConfig(verbose=0)
        scaling = train.ScalingConfig(num_workers=2)
        return train.DataParallelTrainer(loop, run_config=config, scaling_config=scaling).fit().return_value
"""


@pytest.mark.parametrize(("init", "by"), [("None", "factory"), ("headway.init(preload=False)", "worker")])
def test_modules_of_the_training_function_are_imported_once(script, installed, init, by):
    code, output = script.run(f"{FIT}\n    {init}\n    print('BY', fit(loop), fit(loop))", **installed(quiet=BY))
    assert code == 0, output
    assert f"BY {by} {by}" in output


@pytest.mark.parametrize(
    "source",
    [
        "import os\nFILE = open(os.devnull, 'w')\ndef use(): FILE.write('text'); FILE.flush()\n",
        "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\ndef use(): pass\n",
        "import io, sys\nsys.stdout = io.StringIO()\ndef use(): print('to a string')\n",
        "import sys\nfrom headway import _session\n"
        "if 'headway._worker.factory' in sys.modules and not _session.in_worker(): sys.exit(3)\ndef use(): pass\n",
    ],
    ids=["opens_a_file", "handles_a_signal", "replaces_a_stream", "exits"],
)
def test_what_leaves_more_than_modules_is_left_to_the_workers(script, installed, source):
    code, output = script.run(
        FIT
        + """
    import leaves, sys

    def both():
        leaves.use()
        return leaves.BY == os.getpid(), quiet.BY == os.getppid()

    print("BY", fit(both), file=sys.__stdout__)
    """,
        **installed(quiet=BY, leaves=BY + source),
    )
    assert code == 0, output
    assert "BY (True, True)" in output


SETS = """
    import os

    def setup():
        os.environ["LEVEL"] = "3"

    class Machine:
        @staticmethod
        def prepare():
            setup()

        def warm_up(self):
            setup()

    machine = Machine()
    """


@pytest.mark.parametrize(
    "first",
    [
        "from my_settings import setup; setup()",
        "Machine.prepare()",
        "machine.warm_up()",
        "from my_other import setup; setup()",
    ],
    ids=["imported_function", "static_method", "instance", "of_a_module_that_only_workers_import"],
)
def test_a_function_that_sets_variables_is_found_wherever_it_comes_from(first, tmp_path, monkeypatch):
    for name in ("my_settings", "my_other"):
        tmp_path.joinpath(f"{name}.py").write_text(textwrap.dedent(SETS))
    monkeypatch.syspath_prepend(tmp_path)
    source = "from my_settings import Machine, machine\ndef {}():\n    {}\n    import xgboost.sklearn\n"
    names = {}
    exec(source.format("sets", first) + source.format("reads", "pass"), names)
    assert "xgboost.sklearn" in needed_modules(names["reads"])
    assert "xgboost.sklearn" not in needed_modules(names["sets"])


def test_a_run_shares_a_factory_that_has_what_it_needs(monkeypatch):
    """Else the next one has it, and what the others had."""
    from headway._runtime import runtime

    monkeypatch.setattr(runtime, "_preloads", {})

    def needs_pytest():
        return pytest

    needed = runtime.preload_modules([], uses_a_global)
    more = runtime.preload_modules([], needs_pytest)
    assert set(more) - set(needed) == {"?pytest"}
    assert set(needed) < set(more)
    assert runtime.preload_modules([], uses_a_global) == more
    assert runtime.preload_modules(["json"], needs_pytest, ["csv"]) == ["headway.train", "json", "?pytest", "?csv"]
    assert runtime.preload_modules([], uses_a_global, ["csv"]) == more


@pytest.mark.parametrize("trial", [FunctionTrial(b""), ClassTrial(b"", 0, at_end=False, stop={})])
def test_trials_start_in_the_factory_that_a_tuner_has_begun_for_their_function(trial, monkeypatch):
    from headway._runtime import runtime

    monkeypatch.setattr(runtime, "_preloads", {})
    begun = runtime.preload_modules(["headway.tune"], uses_a_global)
    assert "?numpy" in begun
    assert runtime.preload_modules(["headway.tune"], trial) == begun


IMPORTED = """
    import os
    from pathlib import Path
    with open(Path(__file__).with_name("imported.txt"), "a") as file:
        file.write(f"{os.getpid()}\\n")
    """


def test_a_framework_that_only_the_training_function_imports_is_imported_once(script, installed):
    """And not again after a rank was killed."""
    places = installed(torchvision=IMPORTED)
    code, output = script.run(
        """
        import os
        import signal
        import sys
        from headway import train

        def loop():
            killed = os.path.exists("killed.txt")
            train.collective.barrier()
            before = "torchvision" in sys.modules

            import torchvision

            if not killed and train.get_context().get_world_rank() == 1:
                open("killed.txt", "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            train.collective.barrier()
            lines = open(torchvision.__file__.replace("torchvision.py", "imported.txt")).read().split()
            return before, killed, lines == [str(os.getppid())]

        os.environ["HEADWAY_CHDIR_TO_TRIAL_DIR"] = "0"
        run = train.RunConfig(verbose=0, failure_config=train.FailureConfig(1))
        scaling = train.ScalingConfig(num_workers=2)
        result = train.DataParallelTrainer(loop, run_config=run, scaling_config=scaling).fit()
        print("IMPORTED", result.return_value, "torchvision" in sys.modules)
        """,
        **places,
    )
    assert code == 0, output
    assert "IMPORTED (True, True, True) False" in output


def test_a_framework_sees_the_variables_that_the_training_function_sets_before_it_imports_it(script, installed):
    code, output = script.run(
        FIT
        + """
    def sets():
        os.environ["LEVEL"] = "3"
        import torchvision
        return torchvision.LEVEL, quiet.BY == os.getppid()

    print("LEVEL", fit(sets))
    """,
        **installed(quiet=BY, torchvision="import os\nLEVEL = os.environ.get('LEVEL')\n"),
    )
    assert code == 0, output
    assert "LEVEL ('3', True)" in output


def test_a_framework_that_leaves_a_thread_is_left_to_the_workers_with_all_that_is_in_it(script, installed):
    thread = "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\nUSED = 1\n"
    code, output = script.run(
        FIT
        + """
    def needs():
        from torchvision import USED
        import torchvision
        return torchvision.BY == os.getpid(), quiet.BY == os.getppid()

    print("BY", fit(needs))
    """,
        **installed(quiet=BY, torchvision=BY + thread),
    )
    assert code == 0, output
    assert "BY (True, True)" in output


def test_modules_see_the_arguments_of_the_script_when_they_are_imported(script, installed):
    code, output = script.run(
        FIT
        + """
    import sys
    sys.argv[1:] = ["--lr", "0.1"]

    def both():
        return quiet.BY == os.getppid(), quiet.ARGV

    print("ARGUMENTS", fit(both)[0], fit(both)[1][1:])
    """,
        **installed(quiet=BY + "import sys\nARGV = list(sys.argv)\n"),
    )
    assert code == 0, output
    assert "ARGUMENTS True ['--lr', '0.1']" in output


def test_what_starts_a_thread_or_cannot_be_imported_is_left_to_the_workers(script, installed):
    thread = "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    driver_only = "import sys\nassert 'headway._worker.factory' not in sys.modules, 'not here'\n"
    code, output = script.run(
        FIT
        + """
    import noisy, picky

    def needs_all():
        def never():
            import picky
        return noisy.BY == os.getpid(), quiet.BY == os.getppid()

    print("BY", fit(needs_all))
    """,
        **installed(quiet=BY, noisy=BY + thread, picky=driver_only),
    )
    assert code == 0, output
    assert "BY (True, True)" in output
    assert "factory" not in output, "nothing is said of it"
