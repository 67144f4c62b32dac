"""What a rank says when it crashes in a library, meets a breakpoint, or calls Headway wrongly."""

import pytest
from headway import data, train

pytestmark = pytest.mark.both_starts


def functions_of(error):
    """Of the first traceback of a failed run: the functions of its frames."""
    lines = str(error).partition("What ")[0].splitlines()
    return [line.rpartition(", in ")[2] for line in lines if line.startswith("  File")]


def test_a_crash_within_a_library_names_the_line(fit):
    def reads_nowhere():
        import ctypes

        ctypes.string_at(0)

    with pytest.raises(train.WorkerGroupError) as caught:
        fit(reads_nowhere, workers=1)
    words = str(caught.value)
    assert "SIGSEGV" in words
    assert "Fatal Python error: Segmentation fault" in words
    assert "in reads_nowhere" in words


def test_a_breakpoint_in_a_rank_says_how_to_debug(fit):
    with pytest.raises(
        train.WorkerGroupError, match="run the training function in the script's own process: "
    ) as caught:
        fit(lambda: breakpoint(), workers=1)
    assert functions_of(caught.value) == ["<lambda>"]


def test_a_mistake_in_a_call_of_headways_is_shown_where_the_user_made_it(fit):
    rows = data.from_items([{"name": "a"}])

    def loop(config):
        import torch

        batches = train.get_dataset_shard("train")
        if config["mistake"] == "dtypes":
            batches.iter_torch_batches(dtypes=torch.float32, collate_fn=print)
        for _ in batches.iter_torch_batches():
            pass

    words = {
        "dtypes": "ValueError: dtypes is given beside collate_fn; allowed: one of them",
        "column": "TypeError: column 'name' is text, which is no tensor",
    }
    for mistake, expected in words.items():
        with pytest.raises(train.WorkerGroupError) as caught:
            fit(loop, workers=1, config={"mistake": mistake}, datasets={"train": rows})
        assert str(caught.value).startswith(expected)
        assert functions_of(caught.value) == ["loop"]


def test_an_error_that_headway_meets_and_does_not_raise_keeps_its_frames(fit):
    class Odd(dict):
        def items(self):
            raise LookupError("of the user's class")

    with pytest.raises(train.WorkerGroupError, match="of the user's class") as caught:
        fit(lambda: train.report(Odd()), workers=1)
    assert functions_of(caught.value)[-1] == "items"
    assert "to_json" in functions_of(caught.value)
