"""Data sets of random steps have the rows that plain Python makes of them."""

import random
import threading
from collections import Counter

import pytest
from headway import data
from random_plans import Case, plan

pytestmark = pytest.mark.usefixtures("the_engine_ends")


def texts(rows):
    return [repr(sorted(row.items())) for row in rows]


def check(case: Case, got, what: str, ordered: bool | None = None):
    got, wanted = texts(got), texts(case.rows)
    if ordered is False or not case.ordered:
        got, wanted = Counter(got), Counter(wanted)
    assert got == wanted, f"{what} of {case.steps}"


def in_batches(case: Case, rnd: random.Random, folder):
    size = rnd.choice([3, 256, None])
    batches = list(case.made.iter_batches(batch_size=size, batch_format="pyarrow"))
    assert size is None or all(batch.num_rows == size for batch in batches[:-1])
    check(case, [row for batch in batches for row in batch.to_pylist()], f"batches of {size}")


def shuffled_locally(case: Case, rnd: random.Random, folder):
    batches = case.made.iter_batches(batch_size=64, batch_format="pyarrow", local_shuffle_buffer_size=200)
    check(case, [row for batch in batches for row in batch.to_pylist()], "a local shuffle", ordered=False)


def in_shares(case: Case, rnd: random.Random, folder):
    shares: list[list] = [[], []]

    def take(rank, part):
        for batch in part.iter_batches(batch_size=50, batch_format="pyarrow"):
            shares[rank] += batch.to_pylist()

    threads = [threading.Thread(target=take, args=each) for each in enumerate(case.made.streaming_split(2, equal=True))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(share) for share in shares] == [len(case.rows) // 2] * 2, case.steps
    assert not Counter(texts(shares[0] + shares[1])) - Counter(texts(case.rows)), case.steps


def resumed(case: Case, rnd: random.Random, folder):
    size = max(1, len(case.rows) // 5)
    iterator, seen, state, before = case.made.iterator(), [], None, 0
    for number, batch in enumerate(iterator.iter_batches(batch_size=size, batch_format="pyarrow")):
        seen += batch.to_pylist()
        if number == 1:
            state, before = iterator.state_dict(), len(seen)
    if state is None:
        return
    again = case.made.iterator()
    again.load_state_dict(state)
    rest = [row for batch in again.iter_batches(batch_size=size, batch_format="pyarrow") for row in batch.to_pylist()]
    assert texts(rest) == texts(seen[before:]), f"the rest of {case.steps}"


def written(case: Case, rnd: random.Random, folder):
    case.made.write_parquet(str(folder / "written"))
    if case.rows:
        check(case, data.read_parquet(str(folder / "written")).take_all(), "what was written")


def asked(case: Case, rnd: random.Random, folder):
    assert case.made.count() == len(case.rows), case.steps
    if case.rows:
        assert case.made.columns() == case.names, case.steps
        assert case.made.sum("id") == sum(row["id"] for row in case.rows), case.steps


USES = [in_batches, shuffled_locally, in_shares, resumed, written, asked]


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.heavy if seed >= 8 else ()) for seed in range(16)]
)
def test_rows_are_those_of_plain_python(seed, tmp_path):
    rnd = random.Random(seed)
    (tmp_path / "read").mkdir()
    case = plan(rnd, tmp_path / "read")
    check(case, case.made.take_all(), "all rows")
    for use in rnd.sample(USES, 2):
        use(case, rnd, tmp_path)
