"""Nodes from a real Slurm: slurmctld and three slurmd, in a network namespace."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from engine_driver import (
    STEPS,
    WAITING,
    check_that_the_demo_learns_digits_on_three_nodes,
    check_that_trials_run_on_all_nodes_at_once,
    check_that_two_drivers_share_three_nodes,
)
from slurm_driver import SlurmDriver, hold_nodes

import cluster

pytestmark = [pytest.mark.heavy, cluster.needs_tls]


def test_a_run_trains_on_three_nodes_and_all_jobs_end_with_the_driver(driver):
    driver.start("""
    start()

    def loop():
        context = train.get_context()
        slurm = [name for name in os.environ if name.startswith("SLURM_")]
        print("NODE", context.get_node_rank(), sorted(slurm), os.environ.get("OMP_NUM_THREADS"), flush=True)
        train.report({"size": context.get_world_size()})

    result = fit(loop, 3, placement_strategy="STRICT_SPREAD")
    print("RESULT", result.metrics["size"], headway.cluster_resources()["CPU"], flush=True)
    """)
    output = driver.finish()
    assert "RESULT 3 6.0" in output
    for rank in range(3):
        assert f"(rank {rank}) NODE {rank} ['SLURM_CONF'] 1" in output, output
    driver.end()


def test_an_idle_node_is_given_back_while_the_driver_goes_on_and_its_gpus_are_offered(driver):
    driver.start("""
    start(idle_s=0, gpus_per_node=2, cpus_per_node=1, node_labels={"kind": "gpu"})

    def loop():
        print("GPUS", os.environ["CUDA_VISIBLE_DEVICES"], flush=True)

    fit(loop, 2, use_gpu=True, label_selector={"kind": "gpu"})
    mark("trained")
    wait_for("over")
    """)
    driver.script.wait_for("(rank 1) GPUS")
    driver.cluster.wait(lambda: not driver.cluster.jobs(), "emptiness")
    (driver.folder / "over").touch()
    driver.finish()
    driver.end()


def interrupt(driver):
    os.kill(driver.script.process.pid, signal.SIGINT)
    _, output = driver.script.finish()
    assert "stopped by Ctrl-C" in output
    driver.end()


def test_a_queue_that_never_grants_is_named_with_slurms_reason_and_ctrl_c_cancels(driver):
    held = hold_nodes(driver, 3)
    driver.start(WAITING.replace("PARTITION", ""))
    said = driver.script.wait_for("Slurm has not granted")
    assert "Resources" in said
    os.kill(driver.script.process.pid, signal.SIGINT)
    driver.script.finish()
    assert [number for number, _ in driver.cluster.jobs()] == [held]
    driver.cluster.run("scancel", held)
    driver.end()


def test_what_slurm_refuses_is_said_in_its_words(driver):
    driver.start(WAITING.replace("PARTITION", "partition='nowhere'"))
    driver.script.wait_for("Slurm refuses the job: ")
    interrupt(driver)


def test_a_job_whose_agent_cannot_start_is_said_with_the_agents_words(driver):
    driver.start(WAITING.replace("PARTITION", "setup='echo no such module >&2; exit 1'"))
    driver.script.wait_for("a job of Slurm's has ended before its node joined: no such module")
    interrupt(driver)


def test_the_end_of_a_jobs_time_is_a_notice_and_the_run_goes_on_in_a_new_job(driver):
    # One minute, of which Slurm signals the last 50 s.
    driver.start(STEPS.replace("MORE", "time=1, notice_s=50"))
    driver.script.wait_for("NOTICED")
    driver.script.wait_for("RESUMED")
    driver.finish()
    driver.end()


INSIDE = """
    start()

    def loop():
        print("NODE", train.get_context().get_node_rank(), flush=True)
        told = [name for name in os.environ if re.match("SLURM.*(PROCID|LOCALID|NODEID|NTASKS|STEP|NODENAME)", name)]
        print("TASK", told, "JOB", os.environ["SLURM_JOB_ID"], os.environ["SLURM_JOB_NAME"], flush=True)
        if not os.path.exists(FOLDER + "/lost") and train.get_context().get_world_rank() == 1:
            mark("lost")
            told = open(f"/proc/{os.getppid()}/environ").read().split(chr(0))
            agent = next(line for line in told if line.startswith("HEADWAY_AGENT_PID="))
            os.kill(int(agent.partition("=")[2]), signal.SIGKILL)
        train.report({"size": train.get_context().get_world_size()})

    fit(loop, 3, placement_strategy="STRICT_SPREAD", use_gpu=True)
    print("TOTAL", headway.cluster_resources()["CPU"], headway.cluster_resources()["GPU"], flush=True)
"""


def test_a_script_in_a_job_uses_that_job_and_replaces_an_agent_that_dies(driver):
    """``sbatch script.sh``, whose script starts the driver."""
    driver.write(INSIDE)
    output = driver.folder / "output"
    options = ["-N3", "--ntasks-per-node=1", "--gres=gpu:1", "--exclusive", "--job-name=nightly", "--parsable"]
    options += ["--wait", f"--output={output}"]
    job = driver.cluster.run("sbatch", *options, "--wrap", f"exec {driver.command}", limit_s=110).strip()
    text = output.read_text()
    # A rank is no task of Slurm's, and knows which job it is in.
    assert text.count(f"TASK [] JOB {job} nightly") >= 3, text
    assert "TOTAL 6.0 3.0" in text, text
    assert "is lost, and rank 1 with it" in text, text
    assert "(rank 2) NODE 2" in text
    driver.end()


def test_a_driver_is_submitted_as_a_job_and_uses_its_nodes(driver):
    driver.write("""
    start()
    fit(lambda: None, 2, placement_strategy="STRICT_SPREAD")
    print("TOTAL", headway.cluster_resources()["CPU"], flush=True)
    """)
    output = driver.folder / "output"
    options = ["--engine", "slurm", "--nodes", "2", "--output", str(output)]
    command = [sys.executable, "-m", "headway", "submit", *options, "--", *shlex.split(driver.command)]
    assert "is submitted" in driver.cluster.run(*command)
    driver.cluster.wait(lambda: not driver.cluster.jobs(), "emptiness")
    assert "TOTAL 4.0" in output.read_text(), output.read_text()
    driver.end()


def test_workers_of_a_group_run_in_jobs_of_several_partitions(driver):
    driver.start("""
    start(
        nodes=(0, 2),
        node_labels={"site": "here"},
        pools={
            "gpu": {"partition": "first", "gpus_per_node": 2, "cpus_per_node": 2, "accelerator_type": "A100",
                    "node_labels": {"kind": "gpu"}},
            "cpu": {"partition": "others", "cpus_per_node": 1, "node_labels": {"kind": "cpu"}},
        },
    )

    def loop():
        print("RANK", train.get_context().get_world_rank(), os.environ["CUDA_VISIBLE_DEVICES"], flush=True)

    fit(loop, 3, label_selector=[{"kind": "gpu"}, {"kind": "cpu"}, {"kind": "cpu"}])
    print("KINDS", sorted(node["Labels"].get("kind", "") for node in headway.nodes()), flush=True)
    fit(loop, 1, use_gpu=True, accelerator_type="A100")
    print("TRAINED", flush=True)
    wait_for("over")
    """)
    assert "KINDS ['', 'cpu', 'cpu', 'gpu']" in driver.script.wait_for("TRAINED")
    shown = driver.cluster.run("squeue", "-h", "--array", "-o", "%P %C %j").splitlines()
    jobs = sorted((line.split()[:2], line.rpartition("-")[2]) for line in shown)
    assert jobs == [(["first", "2"], "gpu"), (["others", "1"], "cpu"), (["others", "1"], "cpu")]
    (driver.folder / "over").touch()
    driver.finish()
    driver.end()


def test_an_elastic_group_grows_onto_nodes_that_slurm_grants_later(driver):
    held = hold_nodes(driver, 2)
    driver.start("""
    start(cpus_per_node=1)

    def loop():
        size = train.get_context().get_world_size()
        print("SIZE", size, flush=True)
        while size < 3:
            threading.Event().wait(0.05)
            if train.get_context().get_world_rank() == 0:
                save(0)
            else:
                train.report({})

    fit(loop, (1, 3), elastic_resize_monitor_interval_s=0.2)
    """)
    driver.script.wait_for("(rank 0) SIZE")
    driver.cluster.run("scancel", held)
    assert "(rank 2) SIZE 3" in driver.finish()
    driver.end()


def test_functions_of_a_data_set_bring_nodes_with_the_labels_that_they_name(driver):
    driver.start("""
    import headway.data

    start(cpus_per_node=1, pools={
        "gpu": {"partition": "first", "node_labels": {"kind": "gpu"}},
        "cpu": {"partition": "others", "node_labels": {"kind": "cpu"}},
    })

    class Slow:
        def __call__(self, batch):
            if not os.path.exists(FOLDER + "/joined"):
                threading.Event().wait(0.1)
            return batch

    def loop():
        over = False
        while not over:
            over = os.path.exists(FOLDER + "/over")
            batches = train.get_dataset_shard("train").iter_batches(batch_size=8)
            print("ROWS", [each for batch in batches for each in batch["id"]] == list(range(400)), flush=True)

    rows = headway.data.range(400).repartition(200).map_batches(Slow, concurrency=2)
    options = headway.data.ExecutionOptions(label_selector={"kind": "cpu"})
    train.DataParallelTrainer(
        loop,
        scaling_config=train.ScalingConfig(num_workers=1, label_selector={"kind": "gpu"}),
        run_config=train.RunConfig(name="run", storage_path=FOLDER + "/storage"),
        datasets={"train": rows},
        dataset_config=train.DataConfig(execution_options=options),
    ).fit()
    """)
    said = driver.script.wait_for("function workers for data sets that")
    for name in ("joined", "over"):
        (driver.folder / name).touch()
    said += driver.finish()
    assert "ROWS True" in said
    assert "ROWS False" not in said
    driver.end()


def test_two_drivers_share_the_cluster(driver, another_script):
    check_that_two_drivers_share_three_nodes(driver, SlurmDriver(another_script, another_script.folder, driver.cluster))


def test_trials_of_a_tuner_run_on_all_nodes_at_once(driver):
    check_that_trials_run_on_all_nodes_at_once(driver, "cpus_per_node=1")


def test_the_demo_learns_digits_with_a_rank_on_each_node_and_recovers(driver):
    output = check_that_the_demo_learns_digits_on_three_nodes(driver, "cpus_per_node=1, ")
    for number in (1, 2, 3):
        assert re.search(rf"node-{number} \(\S+\) has joined with {{CPU: 1", output), output


def test_a_cpp_program_trains_on_slurms_nodes_as_its_own_agent(driver):
    program = Path(__file__).parents[2] / "build/tests/library_test_nodes"
    arguments = ["train", driver.folder / "storage", driver.folder / "token", "0.0.0.0:0", "slurm", '{"nodes": 2}']
    done = subprocess.run(
        [program, *arguments],
        env={**driver.cluster.environment, **driver.script._environment(), "HEADWAY_PYTHON": sys.executable},
        preexec_fn=driver.cluster.enter,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "rank 1 is on node 1" in done.stdout
    driver.end()
