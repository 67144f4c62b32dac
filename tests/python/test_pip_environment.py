"""runtime_env["pip"]: requirements as pip itself takes them, and what an environment has beside
them.
"""

import os
import subprocess
import sys
import sysconfig
import textwrap
import venv
import zipfile

import headway
import pytest
from conftest import PACKAGES
from headway import train
from headway._runtime.environment import check_runtime_env
from test_runtime_env import cache, fit_in, make_wheel  # noqa: F401


@pytest.fixture(autouse=True)
def a_fresh_runtime():
    headway.shutdown()
    yield
    headway.shutdown()


def asked_for(pip):
    return list(check_runtime_env("runtime_env", {"pip": pip}).pip.packages)


def test_a_requirements_file_has_comments_options_and_other_files(storage, tmp_path, cache):  # noqa: F811
    wheels = tmp_path / "wheels"
    make_wheel(wheels, "headway_test_one", "1.0", "value = 1\n")
    make_wheel(wheels, "headway_test_one", "2.0", "value = 2\n")
    make_wheel(wheels, "headway_test_two", "1.0", "value = 10\n")
    (tmp_path / "nested").mkdir()
    (tmp_path / "nested" / "two.txt").write_text("headway-test-two  # of the same project\n")
    (tmp_path / "below.txt").write_text("headway-test-one<2\n")
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(
        f"# what we need\n--no-index\n--find-links {wheels}\nheadway-test-one >= \\\n  1.0  # any\n"
        "-r nested/two.txt\n-c below.txt\nno-such-package; python_version < '3.0'\n"
    )

    def loop():
        import headway_test_one
        import headway_test_two

        train.report({"sum": headway_test_one.value + headway_test_two.value})

    assert fit_in(storage, loop, {"pip": str(requirements)}).metrics["sum"] == 11
    assert asked_for(["--no-index", f"-r {tmp_path}/nested/two.txt"]) == ["--no-index", "headway-test-two"]
    with pytest.raises(FileNotFoundError, match=r"runtime_env\['pip'\] is .*gone.txt', which is no file"):
        asked_for(["-r gone.txt"])
    with pytest.raises(FileNotFoundError, match=r"runtime_env\['pip'\] has '-c gone.txt', which is no file"):
        asked_for(["-c gone.txt"])


def test_passwords_of_package_indexes_are_not_shown(cache, capfd):  # noqa: F811
    pip = ["--index-url https://me:secret@127.0.0.1:9/simple", "it @ https://me:secret@127.0.0.1:9/it-1.0.tar.gz"]
    with pytest.raises(RuntimeError, match="asks for it @ https://") as caught:
        check_runtime_env("runtime_env", {"pip": {"packages": pip, "pip_install_options": ["--retries=0"]}}).prepare()
    assert "secret" not in str(caught.value) + capfd.readouterr().err


def test_files_of_requirements_that_name_each_other_end(tmp_path):
    (tmp_path / "a.txt").write_text("one\n-r b.txt\n")
    (tmp_path / "b.txt").write_text("two\n-r a.txt\n")
    assert asked_for(str(tmp_path / "a.txt")) == ["one", "two"]


def test_programs_of_packages_are_found_as_in_an_activated_environment(storage, tmp_path, cache):  # noqa: F811
    source = "def main():\n    print('the program ran')\n"
    wheel = make_wheel(tmp_path / "wheels", "headway_test_package", "1.0", source, program="headway-test-program")

    def loop():
        output = subprocess.run(["headway-test-program"], capture_output=True, text=True, check=True).stdout
        which = subprocess.run(["python", "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True)
        train.report({"output": output, "prefix": which.stdout.strip(), "active": os.environ["VIRTUAL_ENV"]})

    metrics = fit_in(storage, loop, {"pip": [wheel]}).metrics
    assert metrics["output"] == "the program ran\n"
    assert metrics["prefix"] == metrics["active"]
    assert metrics["active"].startswith(str(cache))


def test_settings_of_pips_own(storage, tmp_path, cache):  # noqa: F811
    wheels = tmp_path / "wheels"
    make_wheel(wheels, "headway_test_package", "1.0", "value = 1\n")
    pip = {"packages": ["headway-test-package"], "pip_install_options": ["--no-index", f"--find-links={wheels}"]}
    environment = check_runtime_env("runtime_env", {"pip": {**pip, "pip_check": False, "pip_version": None}})
    assert environment.as_dict() == {"pip": pip}, "as it is stored with a run"

    def loop():
        import headway_test_package

        train.report({"value": headway_test_package.value})

    assert fit_in(storage, loop, {"pip": pip}).metrics["value"] == 1
    with pytest.raises(RuntimeError, match="which pip cannot install"):
        fit_in(storage, loop, {"pip": {**pip, "pip_version": "==0.0.1.no.such"}})


def test_a_check_that_finds_something_wrong_is_told(tmp_path, cache):  # noqa: F811
    wheel = make_wheel(tmp_path / "wheels", "headway_test_package", "1.0", "", requires="headway-test-gone")
    pip = {"packages": [wheel], "pip_install_options": ["--no-deps"], "pip_check": True}
    with pytest.raises(RuntimeError, match=r"(?s)in which `pip check` finds something wrong:.*headway-test-gone"):
        check_runtime_env("runtime_env", {"pip": pip}).prepare()


# What an editable installation of setuptools or scikit-build-core leaves.
HOOK = """
import importlib.util, sys

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "headway_test_editable":
            return importlib.util.spec_from_file_location(name, {path!r})

sys.meta_path.append(Finder)
"""


def test_the_interpreters_own_packages_stay_and_are_found_behind_those_of_the_run(tmp_path):
    base = tmp_path / "base"
    venv.EnvBuilder(symlinks=True).create(base)
    (site_packages,) = base.glob("lib/*/site-packages")
    (site_packages / "parents.pth").write_text(sysconfig.get_path("purelib") + "\n")
    with zipfile.ZipFile(make_wheel(tmp_path / "old", "headway_test_package", "1.0", "value = 'old'\n")) as old:
        old.extractall(site_packages)
    (tmp_path / "editable.py").write_text("value = 'editable'\n")
    (site_packages / "headway_test_hook.py").write_text(HOOK.format(path=str(tmp_path / "editable.py")))
    (site_packages / "editable.pth").write_text("import headway_test_hook\n")
    new = make_wheel(tmp_path / "new", "headway_test_package", "2.0", "value = 'new'\n")
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        from headway import train

        def loop():
            import headway_test_editable
            import headway_test_package
            return headway_test_package.value, headway_test_editable.value

        run = train.RunConfig(storage_path={str(tmp_path / "runs")!r}, worker_runtime_env={{"pip": [{new!r}]}})
        print(train.DataParallelTrainer(loop, run_config=run).fit().return_value)
        import headway_test_package
        print(headway_test_package.value)
        """)
    )
    environment = dict(os.environ, PYTHONPATH=PACKAGES, HEADWAY_CACHE_DIR=str(tmp_path / "cache"))
    python = base / "bin" / "python"
    done = subprocess.run([python, script], env=environment, capture_output=True, text=True, timeout=110, check=False)
    assert done.stdout.splitlines() == ["('new', 'editable')", "old"], done.stdout + done.stderr
    assert sys.prefix != str(base)
