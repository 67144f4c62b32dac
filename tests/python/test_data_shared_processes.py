"""Data sets, and the iterators of one streaming_split, that other processes get."""

import os
import pickle
import subprocess
import sys
import textwrap

import pytest
from headway import data

SCRIPT = """
    import multiprocessing
    import sys
    import headway.data

    def give(share, rows):
        rows.put([[int(row["id"]) for row in share.iter_rows()] for _ in range(2)])

    if __name__ == "__main__":
        method, before = sys.argv[1:]
        if before == "used":
            assert headway.data.range(3).count() == 3
        shares = headway.data.range(16).map(lambda row: row).streaming_split(2, equal=True)
        processes = multiprocessing.get_context(method)
        rows = processes.Queue()
        children = [processes.Process(target=give, args=(share, rows)) for share in shares]
        if before == "used":  # The first one is consumed here.
            children = children[1:]
        for child in children:
            child.start()
        if before == "used":
            give(shares[0], rows)
        first, second = rows.get(), rows.get()
        for child in children:
            child.join()
        assert sorted(first[0] + second[0]) == sorted(first[1] + second[1]) == list(range(16))
        assert len(first[0]) == len(second[0]) == 8
"""


@pytest.mark.parametrize("before", ["unused", "used"])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_share_the_rows_of_a_streaming_split(method, before, tmp_path):
    script = tmp_path / "shares.py"
    script.write_text(textwrap.dedent(SCRIPT))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        [sys.executable, str(script), method, before],
        env={**os.environ, "TMPDIR": str(scratch)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert not list(scratch.glob("headway-data-*/*"))


def test_a_copy_that_outlives_the_rows_in_memory_says_so():
    copy = pickle.dumps(data.from_items(["of this test alone"]))
    with pytest.raises(FileNotFoundError, match="was deleted with the last data set that used it"):
        pickle.loads(copy).count()
