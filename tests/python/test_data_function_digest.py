"""Functions are the same ones in the next process, whatever their pickles are, so that a run that
resumes goes on in the middle of its epoch.
"""

import os
import subprocess
import sys
import textwrap

import pytest
from headway import data

pytestmark = pytest.mark.usefixtures("the_engine_ends")
SCRIPT = """
    import enum
    import functools
    import numpy as np
    from headway import data
    {above}
    NAMES = {{"Oslo", "Rome", "Paris", "Lima"}}

    class Colour(enum.Enum):
        RED = 1

    class Held:
        def __init__(self, names):
            self.names = names

        def __call__(self, row):
            return row["id"] in self.names

    class Base:
        factor = {factor}

    class Scales(Base):
        \"\"\"Scales.\"\"\"

        def __init__(self, among=frozenset(NAMES)):
            self.among = among

        def __call__(self, batch):
            return {{"id": np.asarray(batch["id"]) * self.factor}}

    def closed(names):
        return lambda row: row["id"] in names

    rows = data.range(10)
    plans = [
        rows.map_batches(Scales, concurrency=1, fn_constructor_args=[NAMES]),
        rows.filter(lambda row: row["id"] in {{"Oslo", "Rome", "Paris", "Lima"}} or {factor} == 2),
        rows.filter(closed({{"names": [NAMES, {factor}]}})),
        rows.filter(Held(NAMES | {{{factor}}})),
        rows.map(functools.partial(lambda row, colour: {{"x": colour.value * {factor}}}, colour=Colour.RED)),
        rows.groupby("id").map_groups(Scales()),
    ]
    for plan in plans:
        print(plan._plan.blobs[-1][-49:].decode())
"""


def digests(folder, seed, above="", factor=2):
    path = folder / f"script{seed}.py"
    path.write_text(textwrap.dedent(SCRIPT).format(above=above, factor=factor))
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    return subprocess.check_output([sys.executable, path], env=environment, text=True, timeout=60).splitlines()


def test_the_same_functions_of_another_script_and_hash_seed_have_the_same_digest(tmp_path):
    first = digests(tmp_path, 1)
    assert all(each.startswith("headway-function:") for each in first)
    assert len(set(first)) == 6
    assert digests(tmp_path, 2, above="# A line.\n") == first


def test_functions_that_do_something_else_have_another_digest(tmp_path):
    assert not set(digests(tmp_path, 1)) & set(digests(tmp_path, 1, factor=3))


def test_what_has_no_digest_is_known_by_its_pickle():
    endless = []
    endless.append(endless)
    rows = data.range(3).map(lambda row: {"rows": len(endless)})
    assert b"headway-function:" not in rows._plan.blobs[0]
    assert rows.take_all() == [{"rows": 1}] * 3


@pytest.mark.parametrize("names", [{"a": {1, 2}}, [frozenset("ab")], ("a", {"b"})])
def test_functions_get_their_sets(names):
    assert data.range(1).map(lambda row, given: {"same": given == names}, fn_args=[names]).take_all() == [
        {"same": True}
    ]


def test_a_class_of_a_script_resumes_in_the_middle_of_an_epoch(tmp_path):
    script = textwrap.dedent("""
        import json, os, sys
        from headway import data

        class Same:
            def __call__(self, batch):
                return batch

        iterator = data.range(100).map_batches(Same, concurrency=1).iterator()
        if os.path.exists("state"):
            iterator.load_state_dict(json.load(open("state")))
        batches = iter(iterator.iter_batches(batch_size=10))
        print(next(batches)["id"][0])
        json.dump(iterator.state_dict(), open("state", "w"))
    """)
    command = [sys.executable, "-c", script]
    firsts = [subprocess.check_output(command, cwd=tmp_path, text=True, timeout=60).strip() for _ in range(3)]
    assert firsts == ["0", "10", "20"]
