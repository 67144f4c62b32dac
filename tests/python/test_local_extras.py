"""Local mode's rarer company: GPUs, which are made up here, and validations beside the function."""

import contextlib
import os
import signal
import socket
import tempfile
from pathlib import Path

import pytest
from headway import train
from headway.train._local.door import RANK_CHARACTERS, TOKEN_CHARACTERS, Door
from headway.train.torch import get_device, get_devices

LOCAL = train.ScalingConfig(num_workers=0)


def fit_here(storage, loop, scaling=LOCAL, **options):
    return train.DataParallelTrainer(
        loop, scaling_config=scaling, run_config=train.RunConfig(storage_path=storage, name="run"), **options
    ).fit()


@pytest.fixture
def two_gpus(monkeypatch):
    """This process sees two GPUs, the third and the sixth of the machine."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")


def test_the_function_has_the_first_gpu_that_this_process_sees(storage, two_gpus):
    def loop():
        return str(get_device()), list(map(str, get_devices())), os.environ["CUDA_VISIBLE_DEVICES"]

    result = fit_here(storage, loop, train.ScalingConfig(num_workers=0, use_gpu=True))
    assert result.return_value == ("cuda:0", ["cuda:0"], "2,5")


def test_without_use_gpu_it_computes_on_the_cpu(storage, two_gpus):
    assert fit_here(storage, lambda: str(get_device())).return_value == "cpu"


def test_a_gpu_that_is_not_there_is_told_before_the_function_begins(storage, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    called = []
    words = r"ScalingConfig.use_gpu is True, and this process \(local rank 0\) sees 0 GPUs; allowed: use_gpu=False"
    with pytest.raises(ValueError, match=words):
        fit_here(storage, lambda: called.append(1), train.ScalingConfig(num_workers=0, use_gpu=True))
    assert called == []


def report(metrics, **options):
    directory = tempfile.mkdtemp()
    Path(directory, "value").write_text("7")
    train.report(metrics, train.Checkpoint(directory), delete_local_checkpoint_after_upload=True, **options)


def test_checkpoints_are_validated_beside_the_function_in_processes_of_their_own(storage):
    def validate(checkpoint, factor):
        with checkpoint.as_directory() as directory:
            return {"score": factor * int(Path(directory, "value").read_text()), "pid": os.getpid()}

    def older(checkpoint, config):
        return {"score": config["score"]}

    def loop():
        report({"step": 0}, validation=True)
        (reported,) = train.get_all_reported_checkpoints()
        report({"step": 1}, validate_fn=older, validate_config={"score": 5})
        return reported.status, os.getpid()

    task = train.ValidationTaskConfig(fn_kwargs={"factor": 2})
    result = fit_here(storage, loop, validation_config=train.ValidationConfig(validate, task))
    first, second = (metrics for _, metrics in result.best_checkpoints)
    assert (first["score"], second["score"]) == (14, 5)
    assert result.return_value == (train.ReportedCheckpointStatus.VALIDATED, os.getpid())
    assert first["pid"] != os.getpid()


def test_a_validation_is_no_rank_of_torchruns(storage, monkeypatch):
    """Its process has this one's variables, but for those that say which rank this one is."""
    pytest.importorskip("torch")
    group = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1"}
    for name, text in {**group, "MASTER_PORT": "0", "HEADWAY_TEST_VARIABLE": "there"}.items():
        monkeypatch.setenv(name, text)

    def validate(checkpoint):
        return {"ranks": "RANK" in os.environ or "WORLD_SIZE" in os.environ, "own": os.environ["HEADWAY_TEST_VARIABLE"]}

    def loop():
        report({}, validation=True)

    result = fit_here(storage, loop, validation_config=train.ValidationConfig(validate))
    assert result.metrics["ranks"] is False
    assert result.metrics["own"] == "there"


def test_ctrl_c_reaches_a_function_that_waits_for_validations(script, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    script.start(f"""
        import tempfile
        from headway import train

        def validate(checkpoint):
            print("validating", flush=True)
            with open({str(gate)!r}):
                return {{}}

        def loop():
            try:
                train.report({{}}, train.Checkpoint(tempfile.mkdtemp()), validation=True)
                train.get_all_reported_checkpoints()
            finally:
                print("left", flush=True)

        scaling, validation = train.ScalingConfig(num_workers=0), train.ValidationConfig(validate)
        train.DataParallelTrainer(loop, scaling_config=scaling, validation_config=validation).fit()
        """)
    script.wait_for("validating")
    os.kill(script.process.pid, signal.SIGINT)
    status, output = script.finish()
    assert status == 130
    assert "left" in output
    assert "nanobind" not in output, "nothing of the core outlives the interpreter"
    assert script.processes() == {}


def test_strangers_who_say_nothing_keep_no_rank_of_torchrun_waiting():
    token = "t" * TOKEN_CHARACTERS
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

        def connect(greeting):
            peer = stack.enter_context(socket.create_connection(listener.getsockname()))
            peer.sendall(greeting)
            return peer

        silent = [connect(b"") for _ in range(80)]
        half, wrong = connect(b"t" * 5), connect(b"x" * (TOKEN_CHARACTERS + RANK_CHARACTERS))
        ranks = {rank: connect(f"{token}{rank:0{RANK_CHARACTERS}d}".encode()) for rank in (2, 1)}
        peers = Door(listener, token, 2).wait()
        assert sorted(peers) == [1, 2]
        for rank, peer in peers.items():
            stack.enter_context(peer).sendall(b"hello")
            assert ranks[rank].recv(5) == b"hello"
        for stranger in (*silent, half, wrong):
            with contextlib.suppress(ConnectionResetError):
                assert stranger.recv(1) == b"", "it was closed"
