"""Weights & Biases, the real library without a server: what it has written is read back."""

import json
import os
import pickle
import re

import pytest
import wandb_file
from headway._trackers.wandb_login import missing_login
from headway.air.integrations.wandb import WandbLoggerCallback
from headway.train import DataParallelTrainer, RunConfig


def test_a_run_without_a_project_is_an_error_before_anything_starts(tmp_path, monkeypatch):
    monkeypatch.delenv("WANDB_PROJECT_NAME", raising=False)
    monkeypatch.delenv("WANDB_PROJECT", raising=False)
    monkeypatch.setattr(WandbLoggerCallback, "module", "json")
    config = RunConfig(storage_path=str(tmp_path / "storage"), callbacks=[WandbLoggerCallback()])
    with pytest.raises(ValueError, match=r"no project; give project=\.\.\., or set the variable WANDB_PROJECT_NAME"):
        DataParallelTrainer(print, run_config=config).fit()
    assert not (tmp_path / "storage").exists()


@pytest.mark.parametrize(
    ("content", "options", "error", "words"),
    [
        (None, {}, FileNotFoundError, "key"),
        ("", {}, ValueError, r"api_key_file is '.*', which is empty"),
        ("key", {"api_key": "another"}, ValueError, "api_key and api_key_file are both given"),
    ],
)
def test_a_key_that_cannot_be_had_is_an_error_before_anything_starts(
    tmp_path, monkeypatch, content, options, error, words
):
    monkeypatch.setattr(WandbLoggerCallback, "module", "json")
    if content is not None:
        (tmp_path / "key").write_text(content)
    callback = WandbLoggerCallback("digits", api_key_file=str(tmp_path / "key"), **options)
    config = RunConfig(storage_path=str(tmp_path / "storage"), callbacks=[callback])
    with pytest.raises(error, match=words):
        DataParallelTrainer(print, run_config=config).fit()
    assert not (tmp_path / "storage").exists()


def test_the_key_is_not_stored_with_the_run():
    stored = pickle.dumps(WandbLoggerCallback("digits", api_key="secret" * 7))
    assert b"secret" not in stored
    assert pickle.loads(stored).project == "digits"


TRAIN = """
import sys
from headway import train
from headway.air.integrations.wandb import WandbLoggerCallback, setup_wandb


def loop(config):
    saved = train.get_checkpoint()
    for step in range(saved.to_dict()["step"] + 1 if saved else 0, config["steps"]):
        checkpoint = train.Checkpoint.from_dict({"step": step}) if train.get_context().get_world_rank() == 0 else None
        train.report({"loss": 1 / (step + 1), "eval": {"accuracy": step}, "secret": 1}, checkpoint=checkpoint)
        if step == config["fails_at"] and saved is None:
            raise ValueError("fails once")


def fit(callback, loop=loop, workers=2, max_failures=1, **config):
    return train.DataParallelTrainer(
        loop,
        train_loop_config={"steps": 2, "fails_at": -1, "model": print, **config},
        scaling_config=train.ScalingConfig(num_workers=workers),
        run_config=train.RunConfig(
            name="digits", callbacks=[callback] if callback else [],
            failure_config=train.FailureConfig(max_failures),
        ),
    ).fit()
"""
OFFLINE = {"WANDB_MODE": "offline", "WANDB_SILENT": "true"}


def parts(folder):
    """What each W&B folder of a run has that got so far: the run, its reports by step, its
    artifacts, exit code.
    """
    found = []
    for file in sorted(folder.glob("wandb/offline-run-*/run-*.wandb")):
        records = list(wandb_file.records(file))
        kinds = [record.WhichOneof("record_type") for record in records]
        if "run" not in kinds:
            continue
        history = {}
        for record in (record.history for record, kind in zip(records, kinds, strict=True) if kind == "history"):
            values = {"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.item}
            history[record.step.num] = {name: value for name, value in values.items() if not name.startswith("_")}
        run = records[kinds.index("run")].run
        artifacts = [record.artifact for record, kind in zip(records, kinds, strict=True) if kind == "artifact"]
        exit_code = records[kinds.index("exit")].exit.exit_code if "exit" in kinds else None
        found.append((run, history, artifacts, exit_code))
    return found


def config_of(run):
    return {item.key: json.loads(item.value_json) for item in run.config.update if item.key != "_wandb"}


@pytest.mark.heavy
def test_a_run_with_a_restart_and_a_later_driver_is_one_w_and_b_run_whose_steps_go_on(script):
    code = TRAIN + 'fit(WandbLoggerCallback(project="p", excludes=["secret"], tags=["a"]), steps=int(sys.argv[1]))\n'
    code = code.replace("int(sys.argv[1])", "{steps}, fails_at=0")
    folder = script.folder / "storage/digits"
    for steps in (2, 3):
        status, output = script.run(code.replace("{steps}", str(steps)), **OFFLINE)
        assert status == 0, output
    first, second = parts(folder)
    run, history, artifacts, exit_code = first
    assert (run.project, run.run_group, run.display_name, list(run.tags)) == ("p", "digits", "digits", ["a"])
    assert config_of(run) == {"steps": 2, "fails_at": 0, "model": "print"}
    assert {step: (line["loss"], line["eval/accuracy"]) for step, line in history.items()} == {1: (1.0, 0), 2: (0.5, 1)}
    assert history[1]["checkpoint"] == str(folder / "checkpoint_000000")
    assert "secret" not in history[1]
    assert history[2]["training_iteration"] == 2
    assert (artifacts, exit_code) == ([], 0)
    assert second[0].run_id == run.run_id
    assert [(step, line["eval/accuracy"]) for step, line in second[1].items()] == [(3, 2)]


@pytest.mark.heavy
def test_checkpoints_are_uploaded_where_asked_for_and_a_failed_run_is_failed(script):
    code = TRAIN + (
        'callback = WandbLoggerCallback("p", "g", upload_checkpoints=True, log_config=True, settings={"quiet": True})\n'
        "try:\n    fit(callback, workers=1, max_failures=0, fails_at=1)\n"
        "except train.WorkerGroupError as error:\n    print(error)\n"
    )
    status, output = script.run(code, **OFFLINE)
    assert (status, "fails once" in output) == (0, True), output
    ((run, history, artifacts, exit_code),) = parts(script.folder / "storage/digits")
    assert (run.run_group, exit_code) == ("g", 1)
    assert [artifact.type for artifact in artifacts] == ["model"] * 2
    assert {entry.path for artifact in artifacts for entry in artifact.manifest.contents} >= {".headway.json"}
    assert [sorted(artifact.aliases)[0] for artifact in artifacts] == ["checkpoint_000000", "checkpoint_000001"]
    assert history[1]["config/steps"] == 2


@pytest.mark.heavy
@pytest.mark.parametrize("rank_zero_only", [True, False])
def test_setup_wandb_in_a_training_function_is_one_run_over_restarts(script, rank_zero_only):
    code = TRAIN + (
        "def own(config):\n"
        f'    run = setup_wandb(config, project="p", dir="{script.folder}", rank_zero_only={rank_zero_only})\n'
        '    run.log({"mine": train.get_context().get_world_rank()})\n'
        "    loop(config)\n"
        "    run.finish()\n"
        "fit(None, own, fails_at=0)\n"
    )
    status, output = script.run(code, **OFFLINE)
    assert status == 0, output
    trial_id = json.loads((script.folder / "storage/digits/result.json").read_text().splitlines()[0])["trial_id"]
    names = ["digits"] if rank_zero_only else ["digits-rank-0", "digits-rank-1"]
    # One file for each attempt. The first attempt's are as far as W&B had come when it was killed.
    files = [path.name for path in (script.folder / "wandb").glob("offline-run-*/run-*.wandb")]
    assert sorted(files) == sorted(f"run-{name.replace('digits', trial_id)}.wandb" for name in names * 2)
    logged = {run.display_name: history[0]["mine"] for run, history, *_ in parts(script.folder) if history}
    assert logged == {name: rank for rank, name in enumerate(names)}


@pytest.fixture
def nobody(tmp_path, monkeypatch):
    """A user without a login; the home directory."""
    home = tmp_path / "home"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith("WANDB_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("NETRC", raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)
    return home


def test_a_login_is_looked_for_where_w_and_b_has_it(nobody, monkeypatch):
    assert missing_login({}) == "https://api.wandb.ai"
    assert missing_login({"settings": {"base_url": "https://w.example:8080"}}) == "https://w.example:8080"
    assert missing_login({"mode": "online"}) == "https://api.wandb.ai"
    for arguments in ({"mode": "disabled"}, {"settings": {"mode": "offline"}}, {"settings": {"api_key": "k" * 40}}):
        assert missing_login(arguments) is None
    for name, value in {"WANDB_MODE": "dryrun", "WANDB_API_KEY": "k" * 40, "WANDB_IDENTITY_TOKEN_FILE": "t"}.items():
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert missing_login({}) is None
    for machine in ("api.forge.coreweave.com", "api.wandb.ai"):  # W&B's server has several names.
        (nobody / ".netrc").write_text(f"machine {machine}\n  login user\n  password {'k' * 40}\n")
        assert missing_login({}) is None
        assert missing_login({"settings": {"base_url": "https://api.forge.coreweave.com"}}) is None
    monkeypatch.setenv("WANDB_BASE_URL", "https://w.example")
    assert missing_login({}) == "https://w.example"
    settings = nobody / ".config/wandb/settings"
    settings.parent.mkdir(parents=True)
    settings.write_text("[default]\nmode = offline\n")
    assert missing_login({}) is None
    settings.write_text("of another shape")
    assert missing_login({}) == "https://w.example"


def test_a_missing_login_is_warned_of_before_anything_starts(nobody, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(WandbLoggerCallback, "module", "json")
    for options, warned in (({}, True), ({"mode": "offline"}, False), ({"api_key": "k" * 40}, False)):
        # The second one is refused, so that nothing starts.
        callbacks = [WandbLoggerCallback("digits", **options), WandbLoggerCallback()]
        config = RunConfig(storage_path=str(tmp_path / "storage"), callbacks=callbacks)
        with pytest.raises(ValueError, match="no project"):
            DataParallelTrainer(print, run_config=config).fit()
        shown = capsys.readouterr()
        words = "warning: W&B: there is no login for https://api.wandb.ai: set WANDB_API_KEY"
        assert (words in shown.out + shown.err) == warned
    assert not (tmp_path / "storage").exists()


@pytest.mark.heavy
def test_a_login_that_is_missing_is_a_warning(script, nobody):
    status, output = script.run(TRAIN + 'print(fit(WandbLoggerCallback("p")).metrics)\n', HOME=str(nobody))
    assert status == 0, output
    assert re.search(r"warning: nothing of this run is logged to W&B: .*no login for .*WANDB_MODE=offline", output)
    assert "warning: W&B: there is no login for https://api.wandb.ai" in output


@pytest.mark.heavy
def test_setup_wandb_without_a_login_is_a_warning_and_logs_into_files(script, nobody):
    code = TRAIN + (
        "def own(config):\n"
        f'    run = setup_wandb(config, project="p", dir="{script.folder}")\n'
        '    run.log({"mine": 1})\n'
        "    run.finish()\n"
        "fit(None, own)\n"
    )
    status, output = script.run(code, HOME=str(nobody), WANDB_SILENT="true")
    assert status == 0, output
    assert output.count("warning: setup_wandb(): there is no login for https://api.wandb.ai") == 1
    ((run, history, _, exit_code),) = parts(script.folder)
    assert (run.project, history[0]["mine"], exit_code) == ("p", 1, 0)


SILENT_SERVER = """
import os, socket
server = socket.create_server(("127.0.0.1", 0))
os.environ["WANDB_BASE_URL"] = f"http://127.0.0.1:{server.getsockname()[1]}"
"""


@pytest.mark.heavy
def test_a_server_that_never_answers_holds_up_neither_the_run_nor_the_end_of_the_process(script):
    code = SILENT_SERVER + TRAIN + f'fit(WandbLoggerCallback("p", api_key="{"a" * 40}"))\n'
    status, output = script.run(code, limit_s=30, HEADWAY_TRACKER_END_S="0.5")
    assert status == 0, output
    assert "warning: W&B had not taken everything 0.5 s after the run's end" in output
    assert script.processes() == {}
