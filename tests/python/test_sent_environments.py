"""``runtime_env`` on other machines: an agent that sees none of the driver's directories, and has a
separate cache.
"""

import os
import subprocess

import pytest
import test_runtime_env

from cluster import needs_tls

pytestmark = needs_tls

# A separate file system lies where the driver has its project.
OWN_MOUNT = ("unshare", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",)))
MOUNTED = (*OWN_MOUNT, "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"')

SCRIPT = """
    import pathlib, shutil, sys

    def run(environment, loop, name="run", **failures):
        return train.DataParallelTrainer(
            loop,
            scaling_config=train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 1}),
            run_config=train.RunConfig(
                name=name, storage_path=STORAGE, worker_runtime_env=environment,
                sync_config=train.SyncConfig(sync_artifacts=True), failure_config=train.FailureConfig(**failures),
            ),
        ).fit()

    def folders():
        return {path.name: path.stat().st_ino for path in PACKAGES.iterdir() if path.is_dir()}

    def said(name):
        return (pathlib.Path(STORAGE) / name / "artifacts" / "rank_1.txt").read_text()

    wait_for_nodes(2)
"""


@pytest.fixture
def machine(nodes, tmp_path):
    """Starts a driver with its project, and an agent that does not see it."""
    project = tmp_path / "project"
    (project / "beside" / "package").mkdir(parents=True)
    if subprocess.run([*MOUNTED, project, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("file systems can't be mounted here")
    (project / "mine.py").write_text("value = 1\n")
    (project / "weights.bin").write_bytes(b"large")
    (project / "beside" / "package" / "__init__.py").write_text("value = 10\n")
    (project / "beside" / "other.py").write_text("")
    test_runtime_env.make_wheel(project, "headway_test_package", "1.0", "value = 100\n")

    def start(code, *variables):
        names = {"PROJECT": project, "STORAGE": tmp_path / "storage", "PACKAGES": tmp_path / "node" / "packages"}
        told = "".join(f"    {name} = pathlib.Path({str(path)!r})\n" for name, path in names.items())
        nodes.start("    import pathlib\n" + told + SCRIPT + code, HEADWAY_CACHE_DIR=str(tmp_path / "driver"))
        own = {"HEADWAY_CACHE_DIR": tmp_path / "node", "HEADWAY_STAGING_DIR": tmp_path / "staging"}
        settings = [f"{name}={path}" for name, path in own.items()]
        nodes.agent(prefix=("env", *settings, *variables, *MOUNTED, str(project))).join()

    return start


# The package's neighbour is not sent with it.
DIRECTORIES = """
    def loop():
        import mine, package
        try:
            import other
            seen = "its neighbour"
        except ImportError:
            seen = "nothing else"
        files = sorted(path.name for path in pathlib.Path(mine.__file__).parent.iterdir() if path.is_file())
        rank = train.get_context().get_world_rank()
        pathlib.Path(f"rank_{rank}.txt").write_text(f"{mine.value} {package.value} {seen} {files}")
        train.report({})

    environment = {
        "working_dir": str(PROJECT),
        "excludes": ["*.whl", "/weights.bin", "beside/"],
        "py_modules": [str(PROJECT / "beside" / "package")],
    }
    left = PACKAGES / ("0" * 64 + ".part")
    left.mkdir(parents=True)
    left.with_suffix(".lock").touch()
    run(environment, loop, "first")
    first = folders()
    print("FIRST", said("first"), len(first), flush=True)
    run(environment, loop, "second")
    print("SECOND", folders() == first, flush=True)
    (PROJECT / "mine.py").write_text("value = 2\\n")
    run(environment, loop, "third")
    print("THIRD", said("third"), len(folders()), flush=True)
    print("LEFT", sorted(path.name for path in PACKAGES.iterdir() if path.suffix == ".part"), flush=True)
"""


def test_modules_that_the_driver_alone_has_are_imported_on_another_node(machine, nodes, tmp_path):
    """Sent once, unless they change; what ranks write there comes back."""
    machine(DIRECTORIES)
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "FIRST 1 10 nothing else ['mine.py'] 2" in output
    assert "SECOND True" in output
    assert "THIRD 2 10 nothing else ['mine.py'] 3" in output
    assert "LEFT []" in output
    assert nodes.left() == {}


PIP = """
    def loop():
        import headway_test_package, shutil, sys
        rank = train.get_context().get_world_rank()
        text = f"{headway_test_package.value} {sys.prefix} {os.environ['VIRTUAL_ENV']}"
        pathlib.Path(f"rank_{rank}.txt").write_text(text)
        train.report({})

    environment = {"pip": [str(next(PROJECT.glob("*.whl")))]}
    try:
        run(environment, loop)
        print("SAID", said("run"), flush=True)
    except train.WorkerGroupError as error:
        print("ERROR", error, flush=True)
"""


@pytest.mark.heavy
def test_packages_are_installed_on_each_node(machine, nodes, tmp_path):
    """From a wheel that only the driver has."""
    machine(PIP)
    status, output = nodes.script.finish()
    assert status == 0, output
    own = str(tmp_path / "node" / "environments")
    said = output.split("SAID ")[1].split()
    assert said[0] == "100"
    assert said[1].startswith(own)
    assert said[2] == said[1]


@pytest.mark.heavy
def test_what_pip_cannot_install_on_a_node_is_told_with_its_name(machine, nodes):
    machine(PIP, "PIP_REQUIRE_HASHES=1")
    status, output = nodes.script.finish()
    assert status == 0, output
    error = output.split("ERROR ")[1]
    assert "runtime_env['pip'] asks for" in error
    assert "which pip cannot install" in error
    assert f"on {os.uname().nodename}: " in error


def test_what_is_too_large_to_be_sent_is_refused_before_anything_starts(script, tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "data.bin").write_bytes(bytes(2000))
    code = f"""
        import headway
        from headway import train

        headway.init(listen="127.0.0.1:0", token_file={str(tmp_path / "token")!r})
        environment = {{"working_dir": {str(tmp_path / "project")!r}}}
        train.DataParallelTrainer(
            lambda: print("STARTED"), run_config=train.RunConfig(worker_runtime_env=environment)
        ).fit()
    """
    status, output = script.run(code, HEADWAY_ENV_BYTES_MAX="1999")
    assert status == 1
    assert "STARTED" not in output
    assert "ValueError: runtime_env['working_dir'] is" in output
    assert "which has 2000 bytes to be sent to other machines; allowed: at most 1999 (HEADWAY_ENV_BYTES_MAX" in output
