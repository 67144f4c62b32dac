"""What dies, or stands still, around a run on nodes from a real Slurm."""

import os
import signal

import pytest
from engine_driver import (
    WAITING,
    check_that_a_killed_driver_leaves_nothing,
    check_that_a_new_bridge_finds_what_there_is,
    check_that_a_stopped_driver_resumes_on_new_nodes,
)
from slurm_driver import agents, hold_nodes

import cluster

pytestmark = [pytest.mark.heavy, cluster.needs_tls]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_an_agent_that_is_killed_or_stands_still_is_replaced_by_a_new_job(driver, number):
    driver.start_steps()
    (first,) = driver.cluster.jobs()
    (agent,) = agents(driver)
    os.kill(agent, number)
    driver.script.wait_for("RESUMED")
    assert first[0] not in [job for job, _ in driver.cluster.jobs("RUNNING")]
    driver.finish()
    driver.end()


def test_a_requeued_job_joins_again_or_is_withdrawn(driver):
    driver.start_steps("sbatch_args=['--requeue']")
    ((job, _),) = driver.cluster.jobs()
    driver.cluster.run("scontrol", "requeue", job)
    driver.script.wait_for("RESUMED")
    driver.finish()
    driver.end()


def test_a_run_goes_on_though_slurm_declares_its_node_failed(driver):
    driver.start_steps()
    node = driver.cluster.run("squeue", "-h", "-o", "%N").strip()
    driver.cluster.signal(f"slurmd.{node}", signal.SIGKILL)
    driver.cluster.wait(lambda: not driver.cluster.jobs(), "failed jobs", 90)
    (driver.folder / "go").touch()
    assert "RESUMED" not in driver.finish()
    driver.cluster.start_slurmd(node)
    driver.end()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_run_goes_on_without_the_controller_and_its_jobs_end_all_the_same(driver, number):
    driver.start_steps()
    pid = driver.cluster.pid("slurmctld")
    os.kill(pid, number)
    (driver.folder / "go").touch()
    driver.finish()
    if number == signal.SIGSTOP:
        os.kill(pid, signal.SIGCONT)
    else:
        driver.cluster.run("slurmctld")
    driver.end(idle=number == signal.SIGSTOP)
    if number == signal.SIGKILL:
        # It may have forgotten the last numbers of jobs, and give them again.
        driver.cluster.renew()


def test_a_bridge_that_is_killed_finds_its_jobs_again(driver):
    check_that_a_new_bridge_finds_what_there_is(driver, driver.cluster.jobs)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_driver_that_is_killed_leaves_no_job(driver, number):
    check_that_a_killed_driver_leaves_nothing(driver, number)


def test_a_driver_that_stands_still_loses_its_nodes_and_resumes_on_new_ones(driver):
    check_that_a_stopped_driver_resumes_on_new_nodes(driver, lambda: agents(driver))


def test_a_driver_that_is_killed_leaves_no_job_that_waits(driver):
    held = hold_nodes(driver, 3)
    driver.start(WAITING.replace("PARTITION", ""))
    driver.script.wait_for("Slurm has not granted")
    os.kill(driver.script.process.pid, signal.SIGKILL)
    driver.script.finish()
    driver.cluster.wait(lambda: [job for job, _ in driver.cluster.jobs()] == [held], "jobs but the other")
    driver.cluster.run("scancel", held)
    driver.end()


@pytest.mark.parametrize("name", ["bridge", "slurmd"])
def test_a_run_goes_on_while_something_of_slurms_stands_still(driver, name):
    driver.start_steps()
    node = driver.cluster.run("squeue", "-h", "-o", "%N").strip()
    pid = driver.bridges()[0] if name == "bridge" else driver.cluster.pid(f"slurmd.{node}")
    os.kill(pid, signal.SIGSTOP)
    (driver.folder / "go").touch()
    driver.finish()
    if name == "slurmd":
        os.kill(pid, signal.SIGCONT)
    driver.end()
