"""An exception where nobody expects one, on the driver's own thread: the run ends with it, and the
next one works.
"""

import pytest

CODE = """
    from headway import train

    def loop():
        train.report({"x": 1})

    def fit(name):
        config = train.RunConfig(name=name, storage_path=STORAGE)
        return train.DataParallelTrainer(loop, run_config=config).fit()

    try:
        fit("first")
    except train.ControllerError as error:
        print("raised:", error)
    print("then:", fit("second").metrics["x"])
"""


@pytest.mark.parametrize("point", ["run.event", "loop.handler"])
def test_an_exception_on_the_drivers_thread_ends_the_run_with_its_words(script, point):
    count = 4 if point == "run.event" else 1
    code = CODE.replace("STORAGE", repr(script.storage))
    status, output = script.run(code, HEADWAY_FAULT_POINT=f"{point}:{count}:throw")
    assert status == 0, output
    assert f"the fault point {point}" in output
    assert "then: 1" in output
