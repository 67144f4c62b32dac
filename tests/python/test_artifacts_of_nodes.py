"""What ranks of other machines wrote into their working directory: an agent whose staging directory
is its own.
"""

import os
import pathlib
import re
import signal
import subprocess

import object_store
import processes
import pytest

from cluster import needs_tls

pytestmark = needs_tls

# The agent's process gets a separate file system at the place of the staging directory.
OWN_MOUNT = ("unshare", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",)))
MOUNTED = (*OWN_MOUNT, "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"')

SCRIPT = """
    import sys

    def loop(config):
        rank = train.get_context().get_world_rank()
        os.makedirs("plots", exist_ok=True)
        for epoch in range(2):
            with open(f"plots/rank_{rank}.txt", "w") as file:
                file.write(f"epoch {epoch}")
            train.report({"epoch": epoch}, checkpoint=save("weights"))
        with open(f"last_words_{rank}.txt", "w") as file:
            file.write("the end")
        train.report({"epoch": 2})
        if rank == 1 and config["raises"]:
            raise ValueError("the loss is nan")

    def run(storage, raises=False, **sync):
        return train.DataParallelTrainer(
            loop,
            train_loop_config={"raises": raises},
            scaling_config=train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 1}),
            run_config=train.RunConfig(
                name="run", storage_path=storage, sync_config=train.SyncConfig(sync_artifacts=True, **sync)
            ),
        ).fit()

    wait_for_nodes(2)
"""
EVERYTHING = ["last_words_0.txt", "last_words_1.txt", "plots/rank_0.txt", "plots/rank_1.txt"]


@pytest.fixture
def staging(tmp_path, monkeypatch):
    path = tmp_path / "machine"
    path.mkdir()
    if subprocess.run([*MOUNTED, path, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("file systems can't be mounted here")
    monkeypatch.setenv("HEADWAY_STAGING_DIR", str(path))
    return path


@pytest.fixture
def two_machines(nodes, staging):
    """``two_machines(code)``: the script on one, an agent on the other; the agent."""

    def start(code, **env):
        nodes.start(SCRIPT + code, **env)
        agent = nodes.agent(prefix=(*MOUNTED, str(staging)))
        agent.join()
        return agent

    return start


def files_of(directory):
    return sorted(str(path.relative_to(directory)) for path in pathlib.Path(directory).rglob("*") if path.is_file())


def test_what_ranks_of_another_machine_wrote_is_brought_and_their_directory_goes(
    two_machines, nodes, staging, tmp_path
):
    agent = two_machines(f"""
    print("DONE", run({str(tmp_path / "storage")!r}).path, flush=True)
    threading.Event().wait()
    """)
    folder = nodes.script.wait_for("DONE").split("DONE ")[1].split()[0]
    assert files_of(f"{folder}/artifacts") == EVERYTHING
    assert pathlib.Path(folder, "artifacts/plots/rank_1.txt").read_text() == "epoch 1"
    # What stays is the lock on the temporary files of each agent, which lives.
    assert [name for name in files_of(staging) if not re.fullmatch(r"tmp/[0-9-]+\.lock", name)] == []
    there = f"/proc/{agent.process.pid}/root{staging}"
    assert processes.wait_gone(lambda: {agent.process.pid: there} if set(os.listdir(there)) - {"tmp"} else {}, 10) == {}
    agent.signal(signal.SIGINT)
    assert agent.end() == 0


def test_what_the_ranks_of_a_run_that_fails_wrote_is_brought(two_machines, nodes, tmp_path):
    two_machines(f"""
    try:
        run({str(tmp_path / "storage")!r}, raises=True, sync_artifacts_on_checkpoint=False)
    except train.TrainingFailedError as error:
        print("FAILED", str(error).splitlines()[0])
    """)
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "FAILED" in output
    assert files_of(tmp_path / "storage" / "run" / "artifacts") == EVERYTHING


def test_they_are_brought_to_s3_with_the_drivers_credentials(two_machines, nodes):
    with object_store.serve() as store:
        two_machines(f"\n    run({store.url('runs')!r})", **object_store.CREDENTIALS)
        status, output = nodes.script.finish()
        assert status == 0, output
        found = [name.removeprefix("artifacts/") for name in store.objects("runs/run") if name.startswith("artifacts/")]
        assert sorted(found) == EVERYTHING


def test_a_machine_that_is_lost_is_named(two_machines, nodes, tmp_path):
    agent = two_machines(f"""
    def loop(config):
        train.report({{"epoch": 0}}, checkpoint=save("weights"))
        print("RANK", train.get_context().get_world_rank(), flush=True)
        threading.Event().wait()

    run({str(tmp_path / "storage")!r})
    """)
    nodes.script.wait_for("RANK", count=2)
    agent.signal(signal.SIGKILL)
    status, output = nodes.script.finish()
    assert status == 1
    assert "could not be brought to artifacts/: that of " in output


def test_a_copy_on_another_machine_that_takes_too_long_is_given_up(two_machines, nodes, tmp_path):
    two_machines(f"""
    def loop(config):
        if train.get_context().get_world_rank() == 1:
            with open("large.bin", "wb") as file:
                file.truncate(16 << 30)
        train.report({{"epoch": 0}})

    run({str(tmp_path / "storage")!r}, sync_timeout=0.2)
    print("DONE")
    """)
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "was not through after 0.2 s" in output
    assert "DONE" in output
    assert files_of(tmp_path / "storage" / "run" / "artifacts") == []


def test_nothing_is_brought_twice_where_machines_share_the_staging_directory(nodes, tmp_path):
    nodes.start(
        SCRIPT
        + f"""
    print("DONE", run({str(tmp_path / "storage")!r}).path, flush=True)
    """
    )
    nodes.agent()
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "could not be" not in output
    assert files_of(tmp_path / "storage" / "run" / "artifacts") == EVERYTHING
