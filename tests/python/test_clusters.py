"""The scripts of docs/clusters.md: a job of Slurm and pods of Kubernetes, with processes of this
machine as nodes.
"""

import itertools
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cluster import needs_tls

DOCS = Path(__file__).parents[2] / "docs"
BIN = Path(sys.executable).parent

pytestmark = [needs_tls, pytest.mark.both_starts]


def block(language, beginning, page="clusters.md"):
    """The one code block of that language that begins so."""
    text = (DOCS / page).read_text()
    found = re.findall(rf"^```{language}\n({re.escape(beginning)}.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(found) == 1
    return found[0]


@pytest.fixture
def home(tmp_path):
    """A home directory with the page's train.py."""
    (tmp_path / "train.py").write_text(block("python", "import os"))
    return tmp_path


@pytest.fixture
def environment(home):
    (home / "bin").mkdir()
    return {
        **os.environ,
        "HOME": str(home),
        "PATH": f"{home / 'bin'}:{BIN}:{os.environ['PATH']}",
        "HEADWAY_STAGING_DIR": str(home / "staging"),
    }


def program(path, text):
    path.write_text("#!/bin/bash\n" + text)
    path.chmod(0o755)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def each_rank(output):
    return sorted(re.findall(r"rank (\d) of (\d) works on node (\d)", output))


def test_a_job_of_slurm_trains_on_its_nodes_and_ends(home, environment):
    (home / "job.sh").write_text(block("sh", "#!/bin/bash").replace("$((20000 + SLURM_JOB_ID % 10000))", "$SLURM_PORT"))
    program(home / "bin/scontrol", '[ "$*" = "show hostnames here,there" ] && printf "localhost\\nthere\\n"\n')
    # Both nodes are this machine. The second one begins first: its agent comes before the driver
    # listens.
    program(
        home / "bin/srun",
        'SLURM_NODEID=1 "$@" & agent=$!\nSLURM_NODEID=0 "$@"; driver=$?\nwait $agent; echo "ended: $driver $?"\n',
    )
    slurm = {"SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "here,there"}
    slurm["SLURM_PORT"] = str(free_port())
    done = subprocess.run(
        ["bash", "job.sh"], cwd=home, env={**environment, **slurm}, capture_output=True, text=True, timeout=90
    )
    assert each_rank(done.stdout) == [("0", "2", "0"), ("1", "2", "1")], done.stdout + done.stderr
    assert done.stdout.endswith("ended: 0 0\n")
    assert (home / "results/nightly/run.json").exists()


def test_pods_of_kubernetes_train_together_and_end(home, environment):
    documents = list(yaml.safe_load_all(block("yaml", "apiVersion: v1\nkind: Service\n", "kubernetes.md")))
    service, driver, agents = documents
    assert service["spec"]["selector"] == {"job-name": driver["metadata"]["name"]}
    (home / "secret").mkdir()
    (home / "secret/token").write_text("0123456789abcdef" * 4)
    port = free_port()
    numbers = itertools.count()

    def start(job):
        """Its container's command, on this machine."""
        (container,) = job["spec"]["template"]["spec"]["containers"]
        given = {variable["name"]: variable["value"] for variable in container.get("env", [])}
        given.pop("HEADWAY_STORAGE", None)
        if "PORT" in given:
            assert given["PORT"] == "40001"
            given["PORT"] = str(port)
        command = [
            text.replace(f"{service['metadata']['name']}:40001", f"localhost:{port}")
            .replace("/secret/", f"{home}/secret/")
            .replace("/train.py", f"{home}/train.py")
            for text in container["command"]
        ]
        # Each container has another home, into which it copies the token.
        own = home / f"container_{next(numbers)}"
        own.mkdir()
        env = {**environment, "HOME": str(own), "HEADWAY_STORAGE": str(home / "results"), **given}
        return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    count = agents["spec"]["parallelism"]
    with start(driver) as process:
        pods = []
        try:
            # The kubelet starts a container again that has not reached the driver.
            left = count
            while left:
                pod = start(agents)
                if any("joined" in line for line in pod.stdout):
                    pods.append(pod)
                    left -= 1
                else:
                    assert pod.wait() == 2
            output = process.communicate(timeout=90)[0]
            assert process.returncode == 0, output
            assert each_rank(output) == [(str(rank), "3", str(rank)) for rank in range(3)]
            assert [pod.wait() for pod in pods] == [0] * count
        finally:
            process.kill()
            for pod in pods:
                pod.kill()
                pod.stdout.close()
