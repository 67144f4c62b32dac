"""runtime_env: variables, directories and packages that workers have and the driver has not."""

import base64
import hashlib
import os
import sys
import zipfile

import headway
import pytest
from headway import train

pytestmark = pytest.mark.both_starts


@pytest.fixture(autouse=True)
def a_fresh_runtime():
    headway.shutdown()
    yield
    headway.shutdown()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    monkeypatch.setenv("HEADWAY_CACHE_DIR", str(path))
    return path


def make_wheel(folder, name, version, source, program=None, requires=""):
    """A wheel of one module, as pip takes it; perhaps with a program that calls the module's
    ``main``.
    """
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if requires:
        files[f"{info}/METADATA"] += f"Requires-Dist: {requires}\n"
    if program:
        files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{program} = {name}:main\n"
    record = ""
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for inner, content in files.items():
            wheel.writestr(inner, content)
    return str(path)


def fit_in(storage, loop, environment=None, workers=1):
    return train.DataParallelTrainer(
        loop,
        scaling_config=train.ScalingConfig(num_workers=workers),
        run_config=train.RunConfig(storage_path=storage, worker_runtime_env=environment),
    ).fit()


def test_variables_are_there_before_any_import_and_not_in_the_driver(storage):
    def loop():
        with open(
            "/proc/self/environ"
            if os.environ.get("HEADWAY_WORKER_START") == "exec"
            else f"/proc/{os.getppid()}/environ",
            "rb",
        ) as file:
            at_start = b"HEADWAY_TEST_VARIABLE=of the run" in file.read()
        train.report({"value": os.environ["HEADWAY_TEST_VARIABLE"], "at_start": at_start})

    metrics = fit_in(storage, loop, {"env_vars": {"HEADWAY_TEST_VARIABLE": "of the run"}}).metrics
    assert (metrics["value"], metrics["at_start"]) == ("of the run", True)
    assert "HEADWAY_TEST_VARIABLE" not in os.environ


def test_a_validation_and_its_trainer_have_workers_of_the_same_factory(storage):
    def ranks():
        train.report({"nested": os.environ["HEADWAY_TEST_VARIABLE"], "nested_factory": os.getppid()})

    def validate(checkpoint):
        nested = train.RunConfig(storage_path=storage + "_nested")
        found = train.DataParallelTrainer(ranks, run_config=nested).fit().metrics
        return {**found, "own": os.environ["HEADWAY_TEST_VARIABLE"], "own_factory": os.getppid()}

    def loop():
        checkpoint = train.Checkpoint.from_dict({})
        train.report({"factory": os.getppid()}, checkpoint, validation=True)

    result = train.DataParallelTrainer(
        loop,
        run_config=train.RunConfig(
            storage_path=storage, worker_runtime_env={"env_vars": {"HEADWAY_TEST_VARIABLE": "of the run"}}
        ),
        validation_config=train.ValidationConfig(validate),
    ).fit()
    metrics = result.metrics
    assert (metrics["own"], metrics["nested"]) == ("of the run", "of the run")
    assert metrics["factory"] == metrics["own_factory"] == metrics["nested_factory"]


def test_the_runs_environment_goes_over_that_of_init(storage):
    headway.init(runtime_env={"env_vars": {"HEADWAY_TEST_A": "init", "HEADWAY_TEST_B": "init"}})

    def loop():
        train.report({"a": os.environ["HEADWAY_TEST_A"], "b": os.environ["HEADWAY_TEST_B"]})

    metrics = fit_in(storage, loop, {"env_vars": {"HEADWAY_TEST_B": "run"}}).metrics
    assert (metrics["a"], metrics["b"]) == ("init", "run")
    metrics = fit_in(storage, loop).metrics
    assert (metrics["a"], metrics["b"]) == ("init", "init")


def test_variables_are_not_stored_with_the_run(storage):
    result = fit_in(storage, lambda: None, {"env_vars": {"API_KEY": "a secret that nobody may read"}})
    for folder, _, names in os.walk(result.path):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                assert b"a secret that nobody may read" not in file.read()


def test_a_working_dir_is_importable_and_is_the_directory_where_ranks_stay(storage, tmp_path, monkeypatch):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "my_project_code.py").write_text("answer = 42\n")
    (tmp_path / "project" / "data.txt").write_text("some data")
    monkeypatch.setenv("HEADWAY_CHDIR_TO_TRIAL_DIR", "0")

    def loop():
        import my_project_code

        with open("data.txt") as file:
            train.report({"answer": my_project_code.answer, "data": file.read()})

    metrics = fit_in(storage, loop, {"working_dir": str(tmp_path / "project")}).metrics
    assert (metrics["answer"], metrics["data"]) == (42, "some data")
    monkeypatch.chdir(tmp_path)
    headway.shutdown()
    headway.init(runtime_env={"working_dir": "project"})
    assert fit_in(storage, loop).metrics["answer"] == 42


def test_a_pythonpath_among_the_variables_is_searched(storage, tmp_path):
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "of_the_library.py").write_text("value = 8\n")

    def loop():
        import of_the_library

        train.report({"value": of_the_library.value, "variable": os.environ["PYTHONPATH"]})

    variable = os.pathsep.join([str(tmp_path / "library"), str(tmp_path / "gone")])
    metrics = fit_in(storage, loop, {"env_vars": {"PYTHONPATH": variable}}).metrics
    assert (metrics["value"], metrics["variable"]) == (8, variable)


def test_a_module_of_one_file(storage, tmp_path, monkeypatch):
    for name in ("first_single", "second_single"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text(f"value = {name!r}\n")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(tmp_path / "first_single"))
        import first_single

        modules = [first_single, str(tmp_path / "second_single" / "second_single.py")]
    del sys.modules["first_single"]

    def loop():
        import first_single
        import second_single

        train.report({"values": [first_single.value, second_single.value]})

    assert fit_in(storage, loop, {"py_modules": modules}).metrics["values"] == ["first_single", "second_single"]


def test_py_modules_may_be_directories_packages_and_wheels(storage, tmp_path):
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "plain_module.py").write_text("value = 1\n")
    (tmp_path / "some_package").mkdir()
    (tmp_path / "some_package" / "__init__.py").write_text("value = 2\n")
    wheel = make_wheel(tmp_path / "wheels", "wheel_module", "1.0", "value = 3\n")

    def loop():
        import plain_module
        import some_package
        import wheel_module

        train.report({"sum": plain_module.value + some_package.value + wheel_module.value})

    modules = [tmp_path / "plain", str(tmp_path / "some_package"), wheel]
    assert fit_in(storage, loop, {"py_modules": modules}).metrics["sum"] == 6


def test_pip_packages_are_there_for_the_run_alone_and_made_once(storage, tmp_path, cache, capfd):
    wheel = make_wheel(tmp_path / "wheels", "headway_test_package", "1.2", "value = 'installed'\n")

    def loop():
        import headway_test_package

        train.report({"value": headway_test_package.value, "python": sys.executable})

    metrics = fit_in(storage, loop, {"pip": [wheel]}, workers=2).metrics
    assert metrics["value"] == "installed"
    assert metrics["python"].startswith(str(cache))
    assert "headway: installing" in capfd.readouterr().err
    headway.shutdown()
    headway.init(runtime_env={"pip": {"packages": [wheel]}})
    assert fit_in(storage, loop).metrics["value"] == "installed"
    assert "headway: installing" not in capfd.readouterr().err
    headway.shutdown()
    with pytest.raises(train.WorkerGroupError, match="headway_test_package"):
        fit_in(storage, loop)


def test_a_newer_wheel_of_the_same_name_is_another_environment(storage, tmp_path, cache):
    def loop():
        import headway_test_package

        train.report({"value": headway_test_package.value})

    for value in (1, 20):
        wheel = make_wheel(tmp_path / "wheels", "headway_test_package", "1.2", f"value = {value}\n")
        assert fit_in(storage, loop, {"pip": [wheel]}).metrics["value"] == value


def test_a_requirement_that_cannot_be_installed_is_told_before_anything_starts(storage, tmp_path, cache):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(f"# of the project\n{tmp_path}/gone-1.0-py3-none-any.whl\n")
    with pytest.raises(RuntimeError, match=r"gone-1.0-py3-none-any.whl, which pip cannot install"):
        fit_in(storage, lambda: None, {"pip": str(requirements)})
    assert not os.path.exists(storage)
    assert [path.suffix for path in (cache / "environments").iterdir()] == [".lock"]


def test_an_environment_whose_maker_was_killed_is_made_again(storage, tmp_path, cache):
    wheel = make_wheel(tmp_path / "wheels", "headway_test_package", "1.2", "value = 1\n")

    def loop():
        import headway_test_package

        train.report({"value": headway_test_package.value})

    fit_in(storage, loop, {"pip": [wheel]})
    (environment,) = (path for path in (cache / "environments").iterdir() if path.is_dir())
    (environment / ".headway-complete").unlink()
    next(environment.rglob("headway_test_package.py")).unlink()
    headway.shutdown()
    assert fit_in(storage, loop, {"pip": [wheel]}).metrics["value"] == 1


def test_a_directory_that_is_not_where_a_rank_starts_is_named_before_the_function_begins(storage, tmp_path):
    (tmp_path / "project").mkdir()
    headway.init(runtime_env={"working_dir": str(tmp_path / "project")})
    (tmp_path / "project").rmdir()
    called = tmp_path / "called"
    with pytest.raises(train.WorkerGroupError) as caught:
        fit_in(storage, called.touch)
    assert f"runtime_env: {tmp_path}/project (working_dir or py_modules) is not on" in str(caught.value)
    assert not called.exists()


def test_an_interpreter_that_is_not_where_a_rank_starts_is_named(storage, tmp_path, monkeypatch):
    """As on a machine that an environment for pip was not made on."""
    gone = str(tmp_path / "environments" / "bin" / "python")
    monkeypatch.setattr("headway._runtime.environment.factory_command", lambda *_: [gone, "-c", "pass"])
    with pytest.raises(train.WorkerGroupError, match=f"{gone} cannot be run on this node: No such file or directory"):
        fit_in(storage, lambda: None, {"env_vars": {"A": "1"}})
