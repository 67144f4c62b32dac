"""What can't be sent to the workers is named with the path to it, wherever it hides."""

import collections
import os
import subprocess
import sys
import textwrap
import threading
from types import SimpleNamespace

import pytest
from headway import train

pytestmark = pytest.mark.both_starts


class WithSlots:
    __slots__ = ("lock",)


class WithAttributes(dict):
    pass


def hidden_locks():
    """By name: an object that a training function uses, and the path from its variable to the lock
    in it.
    """
    lock = threading.Lock()
    slots = WithSlots()
    slots.lock = lock
    attributes = WithAttributes()
    attributes.lock = lock

    class Model:
        def step(self):
            return lock

    class Derived(Model):
        pass

    class Property:
        @property
        def value(self):
            return lock

    class Static:
        @staticmethod
        def make():
            return lock

    class Key:
        def __init__(self):
            self.lock = lock

    def helper():
        pass

    helper.lock = lock
    return {
        "slots": (slots, "closure variable 'hidden'.lock"),
        "attributes of a dict": (attributes, "closure variable 'hidden'.lock"),
        "a class's method": (Model, "closure variable 'hidden'.step → closure variable 'lock'"),
        "a base class": (Derived, "closure variable 'hidden' → base class 'Model'.step → closure variable 'lock'"),
        "a property": (Property, "closure variable 'hidden'.value → closure variable 'lock'"),
        "a static method": (Static, "closure variable 'hidden'.make → closure variable 'lock'"),
        "a key": ({Key(): 1}, "a key of train_loop_per_worker → closure variable 'hidden'.lock"),
        "a deque": (collections.deque([1, lock]), "closure variable 'hidden'[1]"),
        "a function's attribute": (helper, "closure variable 'hidden'.lock"),
        "a namespace": (SimpleNamespace(inner=[lock]), "closure variable 'hidden'.inner[0]"),
    }


def refusal(loop, config=None):
    with pytest.raises(TypeError, match="cannot be sent to the workers") as caught:
        train.DataParallelTrainer(loop, train_loop_config=config).fit()
    return str(caught.value)


@pytest.mark.parametrize("case", hidden_locks())
def test_a_lock_is_found_wherever_it_hides(case):
    hidden, path = hidden_locks()[case]

    def loop():
        return hidden

    assert f"{path} is a _thread.lock, which cannot be pickled" in refusal(loop)


def test_a_lock_is_found_beside_a_variable_that_has_no_value_yet():
    def loop():
        return later, lock

    lock = threading.Lock()
    told = refusal(loop)
    later = None
    assert "closure variable 'lock' is a _thread.lock" in told


def test_a_global_that_only_a_function_within_uses_is_found(tmp_path):
    code = """
        import threading
        from headway import train

        LOCK = threading.Lock()

        class Model:
            lock = LOCK

        def inside():
            def inner():
                return LOCK
            return inner()

        def comprehends():
            return [LOCK for _ in range(2)]

        def uses_class():
            return Model().lock

        for loop in (inside, comprehends, uses_class):
            try:
                train.DataParallelTrainer(loop).fit()
            except TypeError as error:
                print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=dict(os.environ, HEADWAY_STORAGE=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=60,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 3, done.stderr
    assert all("train_loop_per_worker → global variable 'LOCK' is a _thread.lock" in line for line in lines[:2])
    assert "train_loop_per_worker → global variable 'Model'.lock is a _thread.lock" in lines[2]


def test_a_module_of_a_derived_class_goes_by_its_name(tmp_path):
    """`torch.backends.cudnn` is one."""
    (tmp_path / "settings.py").write_text(
        textwrap.dedent("""
            import sys
            import types

            class Settings(types.ModuleType):
                benchmark = False

            sys.modules[__name__] = Settings(__name__)
        """)
    )
    code = """
        import settings
        from headway import train

        def loop():
            settings.benchmark = True
            train.report({"is": type(settings).__name__, "benchmark": settings.benchmark})

        print(train.DataParallelTrainer(loop).fit().metrics)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=dict(os.environ, HEADWAY_STORAGE=str(tmp_path), PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path])),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.splitlines()[-1] == "{'is': 'Settings', 'benchmark': True}", done.stderr


def test_what_is_nested_without_end_is_told_in_a_line():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    told = refusal(lambda config: None, {"deep": deep})
    assert "train_loop_config['deep'][0]" in told
    assert "deep recursion" in told
    assert len(told) < 1000
