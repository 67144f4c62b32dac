"""Scripts that import ray, run by Headway: in the driver, in workers, with Ray installed or not."""

import os
import subprocess
import sys

import headway
import pytest
from conftest import PACKAGES

ALIASES = """
import sys
import ray
import ray.train as train
import ray.air
from ray import air
from ray.air import session
from ray.train import Checkpoint, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer
import headway.train.torch

assert ray.train is headway.train and air is headway.air is ray.air
assert ray.train.torch is headway.train.torch is sys.modules["ray.train.torch"]
assert TorchTrainer is headway.train.torch.TorchTrainer and ray.is_initialized is headway.is_initialized
assert headway.train.__name__ == headway.train.__spec__.name == "headway.train"
print("one and the same")
"""

TRAINING = """
import ray
import ray.train.torch
from ray.train import Checkpoint, RunConfig, ScalingConfig

helper = ray  # a module among the function's globals


def loop(config):
    import os, tempfile
    import torch
    from ray.air import session
    from ray.train.torch import get_device, prepare_model

    context = ray.train.get_context()
    model = ray.train.torch.prepare_model(torch.nn.Linear(2, 1).to(get_device()))
    model(torch.ones(1, 2)).sum().backward()
    with tempfile.TemporaryDirectory() as directory:
        torch.save(model.state_dict(), os.path.join(directory, "model.pt"))
        helper.train.report({"rank": context.get_world_rank()}, Checkpoint.from_directory(directory))
    return session.get_world_size(), config["x"], ray.__file__, os.environ["FROM_RUNTIME_ENV"]


if __name__ == "__main__":
    with ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": {"FROM_RUNTIME_ENV": "yes"}}):
        assert ray.is_initialized() and ray.cluster_resources()["CPU"] == ray.nodes()[0]["Resources"]["CPU"] == 2
        trainer = ray.train.torch.TorchTrainer(
            loop,
            train_loop_config={"x": 5},
            scaling_config=ScalingConfig(num_workers=2),
            run_config=RunConfig(name="r"),
        )
        result = trainer.fit()
    assert result.metrics["rank"] == 0 and result.checkpoint is not None
    assert result.return_value == (2, 5, ray.__file__, "yes"), result.return_value
    assert not ray.is_initialized()
    print("trained")
"""


@pytest.fixture
def other_ray(tmp_path):
    """A folder with another package of that name, as if Ray were installed."""
    package = tmp_path / "installed" / "ray"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('the real Ray was imported')")
    return str(package.parent)


@pytest.mark.parametrize("installed", [True, False])
def test_a_script_written_for_ray_trains(script, other_ray, installed):
    paths = os.pathsep.join([PACKAGES, other_ray] if installed else [PACKAGES])
    code, output = script.run("import headway\nheadway.as_ray()\n" + TRAINING, PYTHONPATH=paths)
    assert (code, "trained" in output) == (0, True), output
    assert "without effect here: ray.init's include_dashboard" in output


def test_names_of_ray_are_headways_own(script):
    code, output = script.run("import headway\nheadway.as_ray()\nheadway.as_ray()\n" + ALIASES)
    assert (code, output.strip()) == (0, "one and the same"), output


@pytest.mark.parametrize("installed", [True, False])
def test_the_command_runs_a_script_as_ray(tmp_path, other_ray, installed):
    path = tmp_path / "for_ray.py"
    # The processes that a script starts mean the same.
    child = "[sys.executable, '-c', 'import ray.train; print(ray.__file__)']"
    path.write_text(
        TRAINING
        + "    import subprocess, sys\n"
        + "    print(sys.argv[1:], flush=True)\n"
        + f"    subprocess.run({child}, check=True)\n"
    )
    environment = dict(os.environ, PYTHONPATH=PACKAGES, HEADWAY_STORAGE=str(tmp_path / "results"))
    if installed:
        environment["PYTHONPATH"] = os.pathsep.join([PACKAGES, other_ray])
    command = [sys.executable, "-m", "headway", "run", "--as-ray", path, "--epochs", "3"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[-3:-1] == ["trained", "['--epochs', '3']"]
    assert lines[-1].startswith(os.path.dirname(headway.__file__))


def test_the_command_gives_the_scripts_exit_status(tmp_path):
    path = tmp_path / "ends.py"
    path.write_text("raise SystemExit(7)")
    environment = dict(os.environ, PYTHONPATH=PACKAGES)
    command = [sys.executable, "-m", "headway", "run"]
    assert subprocess.run([*command, path], env=environment, timeout=60, check=False).returncode == 7
    done = subprocess.run(
        [*command, "missing.py"], env=environment, timeout=60, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (2, "headway: SCRIPT is 'missing.py', which is no file\n")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("ray.get(1)", "NotImplementedError: ray.get belongs to Ray Core (tasks, actors, objects)"),
        ("from ray import remote\n@remote\ndef f(): pass", "NotImplementedError: ray.remote belongs to Ray Core"),
        ("@ray.remote(num_gpus=1)\nclass Actor: pass", "NotImplementedError: ray.remote belongs to Ray Core"),
        ("ray.ObjectRef", "AttributeError: ray.ObjectRef belongs to Ray Core"),
        ("import ray.util.queue", "ModuleNotFoundError: ray.util belongs to Ray Core (tasks, actors, objects), which"),
        ("from ray.exceptions import RayError", "ModuleNotFoundError: ray.exceptions belongs to Ray Core (tasks,"),
        (
            "from ray import ObjectRef",
            "ModuleNotFoundError: ray.ObjectRef belongs to Ray Core (tasks, actors, objects)",
        ),
        ("from ray import serve", "ModuleNotFoundError: ray.serve is not part of Headway. Headway has what ray.train"),
        ("ray.rllib.algorithms", "AttributeError: ray.rllib is not part of Headway. Headway has what ray.train"),
        ("ray.init(local_mode=True)", "ValueError: local_mode is True; allowed: False (ScalingConfig(num_workers=0)"),
        ("import ray.data.no_such", "ModuleNotFoundError: ray.data.no_such: Headway has no such module"),
        (
            "from ray import tune\ntune.TrialResults",
            "AttributeError: headway.tune.TrialResults: this of Ray Tune is not part of Headway",
        ),
        (
            "import ray.tune.experimental",
            "ModuleNotFoundError: ray.tune.experimental: this of Ray Tune is not part of Headway",
        ),
        ("ray.data.read_hudi('x')", "AttributeError: headway.data.read_hudi: read it with its own client, as"),
        ("from ray.train import no_such", "ImportError: cannot import name 'no_such' from 'headway.train'"),
        ("import ray.train.no_such", "ModuleNotFoundError: ray.train.no_such: Headway has no such module"),
        ("ray.init('ray://head:10001')", "ModuleNotFoundError: ray is not installed for "),
        ("ray.init(no_such=1)", "TypeError: ray.init() got 'no_such'"),
        ("ray.init(runtime_env={'conda': []})", "ValueError: runtime_env has 'conda'; allowed: env_vars, pip"),
        ("ray.init(runtime_env={'env_vars': {'A': 1}})", "TypeError: runtime_env['env_vars']['A'] is 1 (int)"),
    ],
)
def test_what_is_not_there_says_so(script, code, error):
    status, output = script.run(f"import headway\nheadway.as_ray()\nimport ray\n{code}\n")
    assert status == 1
    assert output.splitlines()[-1].startswith(error), output


def test_the_cluster_that_is_there_is_this_machine(script):
    code, output = script.run("import headway\nheadway.as_ray()\nimport ray\nray.init('auto')\nprint(len(ray.nodes()))")
    assert (code, output.splitlines()[-1]) == (0, "1"), output
    assert 'address is "auto": Headway is started on this machine' in output


def test_what_rays_init_takes_and_gives(script):
    """Every argument of Ray 2.60's, and what its context is used as."""
    code, output = script.run("""
        import headway
        headway.as_ray()
        import ray

        with ray.init(
            num_cpus=2, num_gpus=0, resources={"disk": 1}, labels={"region": "eu"}, object_store_memory=10**8,
            local_mode=False, ignore_reinit_error=False, include_dashboard=False, dashboard_host="127.0.0.1",
            dashboard_port=None, job_config=None, configure_logging=True, logging_level="info", logging_format=None,
            logging_config=None, log_to_driver=None, namespace=None, runtime_env=None, enable_resource_isolation=False,
            cgroup_path=None, system_reserved_cpu=None, system_reserved_memory=None, proxy_server_url=None,
            _temp_dir="/tmp/elsewhere",
        ) as context:
            assert context["node_ip_address"] == context.address_info["node_ip_address"]
            assert dict(context) == context.address_info and context.dashboard_url is None
        assert not ray.is_initialized()
        ray.init(runtime_env={"working_dir": ".", "excludes": ["data"]}).disconnect()
        print(ray.is_initialized())
        """)
    assert (code, output.splitlines()[-1]) == (0, "False"), output
    assert "cgroup_path, configure_logging, dashboard_host" in output


def test_it_comes_before_the_real_ray(script, other_ray):
    (other := os.path.join(other_ray, "ray", "__init__.py"))
    with open(other, "w") as file:
        file.write("")
    code, output = script.run("import ray, headway\nheadway.as_ray()", PYTHONPATH=f"{PACKAGES}{os.pathsep}{other_ray}")
    assert code == 1
    assert f"RuntimeError: ray is imported already, from {other}; call headway.as_ray() before" in output


def test_this_process_has_not_been_touched():
    assert "ray" not in sys.modules
