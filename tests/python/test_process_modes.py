"""How workers are started: forked from a warm factory, or as new processes; and what of the driver
reaches them.
"""

import gc
import os

import headway
import processes
import pytest
from headway import train
from headway.train import collective
from headway.train.torch import TorchTrainer

pytestmark = pytest.mark.both_starts

FORKED = os.environ.get("HEADWAY_WORKER_START", "fork") != "exec"


def test_workers_are_forked_or_started_afresh(fit):
    def loop():
        import sys

        return os.getpid(), os.getppid(), " ".join(sys.orig_argv), "torch" in sys.modules

    def torch_loop():
        import sys

        return "torch" in sys.modules, os.getsid(0) == os.getpid()

    headway.shutdown()  # Else workers may come from the factory of a run with torch.
    pid, parent, command, has_torch = fit(loop).return_value
    guards = [child for child in processes.children(os.getpid()) if processes.is_guard(child)]
    assert parent in {factory for guard in guards for factory in processes.children(guard)}
    assert pid != parent
    assert ("headway._worker.factory" in command) == FORKED
    assert not has_torch, "a run without torch does not pay for it"
    assert fit(torch_loop, workers=1, trainer=TorchTrainer).return_value == (True, True)


def test_the_titles_of_processes_tell_ranks_factory_and_guard_apart(fit):
    def loop():
        titles = []
        for pid in ("self", os.getppid()):
            for name in ("cmdline", "comm"):
                with open(f"/proc/{pid}/{name}") as file:
                    titles.append(file.read().strip("\0\n"))
        collective.barrier()
        return titles if train.get_context().get_world_rank() == 0 else None

    result = fit(loop)
    name = os.path.basename(result.path)
    assert result.return_value == [
        f"headway: rank 0 of run {name}", "headway rank 0", "headway: worker factory", "headway-factory",
    ]  # fmt: skip
    guards = [child for child in processes.children(os.getpid()) if processes.is_guard(child)]
    assert {processes.command_line(guard) for guard in guards} == {"headway: guard"}


def test_the_collector_is_as_in_any_other_process(fit):
    def loop():
        import gc

        return gc.isenabled(), gc.get_threshold()

    assert fit(loop).return_value == (True, gc.get_threshold())


def test_a_module_that_sets_the_collector_up_is_heeded(script):
    (script.folder / "sets_up.py").write_text("import gc\ngc.set_threshold(5000, 20)\ngc.disable()\n")
    status, output = script.run(
        """
        import gc
        import sets_up
        from headway import train

        def loop():
            assert sets_up
            return gc.isenabled(), gc.get_threshold()[:2]

        trainer = train.DataParallelTrainer(loop, scaling_config=train.ScalingConfig(num_workers=1))
        print("collector:", trainer.fit().return_value)
        """
    )
    assert status == 0, output
    assert "collector: (False, (5000, 20))" in output


@pytest.mark.fork_only
def test_a_forked_worker_has_torch_at_once_and_can_use_threads(fit):
    def loop():
        import time

        begun = time.monotonic()
        import torch
        import torch._dynamo
        import torch.distributed

        imported_s = time.monotonic() - begun
        a = torch.randn(200, 200)
        return imported_s, (a @ a).shape == (200, 200), torch.get_num_threads()

    imported_s, multiplied, threads = fit(loop, trainer=TorchTrainer).return_value
    assert imported_s < 0.2
    assert multiplied
    assert threads >= 1


def test_environment_folder_path_and_arguments_of_the_driver_reach_the_workers(script):
    status, output = script.run(
        """
        import os, sys
        from headway import train

        os.makedirs("elsewhere", exist_ok=True)
        train.DataParallelTrainer(print, train_loop_config={"factory": "is up"}).fit()
        # All of this changes after the factory has started.
        os.environ["SET_LATE"] = "yes"
        os.environb[b"NO_UNICODE"] = b"caf\\xe9"
        os.environ.pop("SET_BEFORE")
        os.chdir("elsewhere")
        sys.path.insert(0, os.getcwd())
        sys.argv[:] = ["program", "--flag"]
        with open("only_here.py", "w") as file:
            file.write("value = 42")

        def loop():
            import only_here
            return (only_here.value, os.environ["SET_LATE"], os.environb[b"NO_UNICODE"], "SET_BEFORE" in os.environ,
                    os.getcwd() == train.get_context().get_trial_dir(), sys.argv, sys.path[0])

        value = train.DataParallelTrainer(loop).fit().return_value
        assert value == (42, "yes", b"caf\\xe9", False, True, ["program", "--flag"], os.getcwd()), value
        print("all there")
        """,
        SET_BEFORE="yes",
    )
    assert status == 0, output
    assert output.endswith("all there\n")


@pytest.mark.fork_only
def test_a_preloaded_module_that_starts_a_thread(script):
    (script.folder / "starts_a_thread.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    status, output = script.run(
        """
        import headway, os
        from headway import train

        headway.init(preload=["starts_a_thread"])

        def loop():
            import sys
            return "headway._worker.main" in " ".join(sys.orig_argv)

        for _ in range(2):
            result = train.DataParallelTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2)).fit()
            print("by exec:", result.return_value)
        """
    )
    assert status == 0, output
    assert output.count("by exec: True") == 2
    assert output.count("workers are started as new processes") == 1, "said once"
    assert "the worker factory has 2 threads, so forking is not safe" in output


@pytest.mark.fork_only
def test_a_preloaded_module_that_cannot_be_imported(script):
    (script.folder / "broken_module.py").write_text("raise RuntimeError('not today')\n")
    status, output = script.run(
        """
        import headway
        from headway import train

        headway.init(preload=["broken_module"])
        print(train.DataParallelTrainer(lambda: "trained").fit().return_value)
        """
    )
    assert status == 0, output
    assert "could not import broken_module: RuntimeError: not today" in output
    assert "trained\n" in output


@pytest.mark.fork_only
def test_modules_named_in_the_environment_are_preloaded(script):
    status, output = script.run(
        """
        from headway import train

        def loop():
            import sys
            return {"sqlite3", "decimal"} <= set(sys.modules)

        print("there:", train.DataParallelTrainer(loop).fit().return_value)
        """,
        HEADWAY_PRELOAD="sqlite3, decimal",
    )
    assert status == 0, output
    assert "there: True" in output


def test_a_worker_has_no_descriptors_of_the_factory_or_the_driver(fit, tmp_path):
    with open(tmp_path / "open_in_the_driver", "w"):

        def loop():
            return [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if int(fd) < 1000 and
                    os.path.exists(f"/proc/self/fd/{fd}")]  # fmt: skip

        opened = fit(loop, workers=1).return_value
    assert not [name for name in opened if "open_in_the_driver" in name or "signalfd" in name]
    assert sum("socket" in name for name in opened) <= 1, "its own session"


def test_a_program_that_forks_can_use_headway_in_its_child(script):
    status, output = script.run(
        """
        import os
        from headway import train

        print(train.DataParallelTrainer(lambda: "in the parent").fit().return_value, flush=True)
        pid = os.fork()
        if pid == 0:
            import headway
            assert not headway.is_initialized()
            print(train.DataParallelTrainer(lambda: "in the child").fit().return_value, flush=True)
            headway.shutdown()
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        print(train.DataParallelTrainer(lambda: "in the parent again").fit().return_value)
        """
    )
    assert status == 0, output
    for text in ("in the parent\n", "in the child\n", "in the parent again\n"):
        assert text in output
    assert processes.wait_gone(script.processes, 5) == {}


def test_the_factory_is_started_once(fit):
    fit(lambda: None)
    guards = {child for child in processes.children(os.getpid()) if processes.is_guard(child)}
    fit(lambda: None)
    assert guards == {child for child in processes.children(os.getpid()) if processes.is_guard(child)}
    assert headway.is_initialized()


def test_the_driver_did_not_import_torch(script):
    status, output = script.run(
        """
        import sys
        from headway import train
        from headway.train.torch import TorchTrainer
        TorchTrainer(print)
        print("torch" in sys.modules, "pandas" in sys.modules, "pyarrow" in sys.modules)
        """
    )
    assert (status, output) == (0, "False False False\n")


def test_the_factory_s_own_modules_bring_no_large_library(script):
    """They would start threads, and every worker would have them; pyarrow for a run without remote
    storage, too.
    """
    status, output = script.run(
        """
        import sys
        import headway._worker.factory, headway._worker.main, headway.train, headway.tune
        print(sorted({"numpy", "pandas", "pyarrow", "torch", "tqdm"} & sys.modules.keys()))
        """
    )
    assert (status, output) == (0, "[]\n")


def test_a_configuration_of_a_train_function_is_each_ranks_own(fit):
    def loop(config):
        config["seen"].append(train.get_context().get_world_rank())
        return config["seen"]

    config = {"seen": []}
    assert fit(loop, config=config).return_value == [0]
    assert config == {"seen": []}


class ModulesOfThisProcess:
    """Unpickled, it is the names of the modules that the process had loaded by then."""

    def __reduce__(self):
        return eval, ("frozenset(__import__('sys').modules)",)


@pytest.mark.fork_only
def test_what_every_worker_uses_is_loaded_before_it_is_forked(fit):
    """A worker that imported it itself would start 60 ms later, and so after each restart."""
    loaded = ModulesOfThisProcess()
    result = fit(lambda: sorted(loaded))
    assert "headway.train.data_parallel_trainer" in result.return_value
    assert "torch" not in result.return_value
