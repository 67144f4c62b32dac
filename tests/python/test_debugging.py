"""What a rank says when it crashes within a library, and when it meets a breakpoint."""

import pytest
from headway import train

pytestmark = pytest.mark.both_starts


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
    with pytest.raises(train.WorkerGroupError, match="run the training function in the script's own process: "):
        fit(lambda: breakpoint(), workers=1)
