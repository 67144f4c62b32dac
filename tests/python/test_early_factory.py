"""A worker factory imports a framework while the driver's script does."""

import os
import signal
import subprocess
import sys

import pytest
from processes import MARK, marked, wait_gone

pytestmark = [
    pytest.mark.fork_only,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is no second CPU"),
]

TRAINER = "from headway.train.xgboost import XGBoostTrainer\n"
FIT = """
    import os
    from headway import train

    def loop():
        import sys
        from headway._runtime import early_factory
        from headway._worker import factory
        return factory.imported_early, "sklearn" in sys.modules, early_factory._watch is None

    def fit():
        config = train.RunConfig(verbose=0)
        return train.DataParallelTrainer(loop, run_config=config).fit().return_value

    def below():
        return open(f"/proc/self/task/{os.getpid()}/children").read().split()
    """
# Stands where a framework of this name would.
QUIET = {"torchvision": "", "torchmetrics": ""}


def test_a_framework_is_imported_by_driver_and_factory_at_the_same_time(script):
    """What it sets in the environment is no reason to import it again; a worker has no such
    factory.
    """
    code, output = script.run(
        f"""{FIT}
    {TRAINER}
    import sklearn
    (guard,) = below()
    print("EARLY", "KMP_INIT_AT_FORK" in os.environ, fit(), below() == [guard], fit())
    """
    )
    assert code == 0, output
    assert "EARLY True (1, True, True) True (1, True, True)" in output


def test_a_framework_that_comes_before_headway_is_imported_from_then_on(script, installed):
    early = "print('EARLY', len(below()), fit()[0])"
    code, output = script.run(f"\n    import torchvision{FIT}\n    {TRAINER}\n    {early}\n", **installed(**QUIET))
    assert code == 0, output
    assert "EARLY 1 1" in output


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ("os.environ['LEVEL'] = '3'", "os.environ['LEVEL'] = '4'"),
        ("sys.path.insert(1, os.getcwd())", "sys.path.pop(1)"),
        ("sys.argv.append('--fast')", "sys.argv.append('--loud')"),
        ("os.chdir('/')", "os.chdir('/tmp')"),
        ("os.umask(0o077)", "os.umask(0o027)"),
    ],
)
def test_a_factory_that_began_in_another_process_than_this_is_now_is_dropped(script, installed, change, again):
    """When the next framework is imported, for another, or by fit()."""
    code, output = script.run(
        f"""{FIT}
    import sys
    {TRAINER}
    import torchvision
    (first,) = below()
    {change}
    import torchmetrics
    (second,) = below()
    {again}
    print("EARLY", first != second, fit()[0], second in below())
    """,
        **installed(**QUIET),
    )
    assert code == 0, output
    assert "EARLY True 0 False" in output


@pytest.mark.parametrize(
    ("before", "after", "variables"),
    [
        ("", "", {}),
        (TRAINER, "headway.init(preload=False)", {}),
        (TRAINER, "headway.shutdown()", {}),
        (TRAINER, "train.DataParallelTrainer(id, scaling_config=train.ScalingConfig(0))._begin()", {}),
        (TRAINER, "", {"HEADWAY_EARLY_FACTORY": "0"}),
        (TRAINER, "", {"HEADWAY_WORKER_START": "exec"}),
        (TRAINER, "", {"LOCAL_RANK": "0"}),
    ],
    ids=["without_a_trainer", "preload_false", "shut_down", "local_mode", "refused", "started_by_exec", "launched"],
)
def test_there_is_none_where_nothing_would_use_it(script, installed, before, after, variables):
    code, output = script.run(
        f"""{FIT}
    import headway
    {before}
    import torchvision
    {after}
    print("BELOW", below())
    """,
        **installed(**QUIET),
        **variables,
    )
    assert code == 0, output
    assert "BELOW []" in output


def test_a_child_of_multiprocessing_has_none(script, installed):
    code, output = script.run(
        f"""{FIT}
    import multiprocessing

    if __name__ == "__main__":
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print("BELOW", pool.apply(below))
    else:
        {TRAINER}
        import torchvision
    """,
        **installed(**QUIET),
    )
    assert code == 0, output
    assert "BELOW []" in output


@pytest.mark.parametrize(("end", "code"), [("os.kill(os.getpid(), 9)", -signal.SIGKILL), ("sys.exit(3)", 3)])
def test_it_ends_with_a_driver_that_never_trained(tmp_path, installed, end, code):
    source = f"{TRAINER}import os, sys, torchvision\nprint(len(os.listdir('/proc/self/task')))\n{end}\n"
    mark = str(tmp_path)
    environment = {**os.environ, **installed(**QUIET), MARK: mark}
    driver = subprocess.run([sys.executable, "-c", source], env=environment, timeout=60, check=False)
    assert driver.returncode == code
    assert not wait_gone(lambda: marked(mark), 10)


def test_one_that_has_ended_is_replaced(script, installed):
    code, output = script.run(
        f"""{FIT}
    {TRAINER}
    import torchvision
    (guard,) = below()
    os.kill(int(guard), 9)
    os.waitid(os.P_PID, int(guard), os.WEXITED | os.WNOWAIT)
    print("EARLY", fit()[0])
    """,
        **installed(**QUIET),
    )
    assert code == 0, output
    assert "EARLY 0" in output


def test_one_in_which_a_framework_leaves_more_than_modules_begins_again(script, installed):
    opens = "import os\nBY = os.getpid()\nFILE = open(os.devnull)\n"
    code, output = script.run(
        f"""{FIT}
    {TRAINER}
    import torchvision
    import torchmetrics
    (guard,) = below()

    def loop():
        import sys
        from headway._worker import factory
        return factory.imported_early, torchvision.BY == os.getpid(), torchmetrics.BY == os.getppid()

    print("EARLY", fit(), below() == [guard])
    """,
        **installed(torchvision=opens, torchmetrics="import os\nBY = os.getpid()\n"),
    )
    assert code == 0, output
    assert "EARLY (0, True, True) True" in output
