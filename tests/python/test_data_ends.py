"""What is left of data sets when a script, the data process or a function's child ends."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import data_streams
import headway
import processes
import pytest
from headway import data
from headway.data import _elsewhere

pytestmark = pytest.mark.usefixtures("the_engine_ends")
#: A hang ends the test.
LIMIT_S = 30


@pytest.mark.parametrize("ask", ["count()", "schema()", "write_csv('written')"])
def test_functions_that_hang_end_with_the_script_that_asked(script, ask):
    script.start(f"""
        import signal
        from headway import data

        def hangs(batch):
            print("hangs", flush=True)
            signal.pause()

        data.range(10).map_batches(hangs).{ask}
    """)
    script.wait_for("hangs")
    script.process.kill()
    assert not processes.wait_gone(script.processes, LIMIT_S)


def test_a_listing_that_hangs_does_not_keep_the_data_process(script):
    script.start("""
        import signal
        import fsspec
        from headway import data

        class Hangs(fsspec.AbstractFileSystem):
            protocol = "hangs"

            def info(self, path, **options):
                print("hangs", flush=True)
                signal.pause()

        data.read_csv("x", filesystem=Hangs()).count()
    """)
    script.wait_for("hangs")
    script.process.kill()
    assert not processes.wait_gone(script.processes, LIMIT_S)


def test_after_the_end_of_the_data_process_another_one_is_started():
    assert data.range(10).count() == 10
    rows = data.range(10**9).iterator().iter_batches(batch_size=1000)
    reading = iter(rows)
    next(reading)
    [killed] = data_streams.data_processes()
    # Readable when all threads have ended: until then one of them may hold the sockets.
    end = os.pidfd_open(killed)
    os.kill(killed, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="the data process has ended unexpectedly"):
        for _ in reading:
            pass
    assert select.select([end], [], [], LIMIT_S)[0]
    os.close(end)
    assert data.range(10).map_batches(lambda batch: batch).take_all()[-1] == {"id": 9}


def test_a_question_right_after_the_end_of_the_data_process_finds_another_one():
    """Its connections close one after the other, that of the reader before others."""
    for _ in range(20):
        reading = iter(data.range(10**9).iterator().iter_batches(batch_size=1000))
        next(reading)
        [killed] = data_streams.data_processes()
        os.kill(killed, signal.SIGKILL)
        with pytest.raises(RuntimeError, match="the data process has ended unexpectedly"):
            for _ in reading:
                pass
        assert data.range(10).count() == 10


def test_a_worker_whose_child_lives_on_is_seen_to_end(tmp_path):
    children = tmp_path / "children"

    def dies(batch):
        child = os.fork()
        if child == 0:
            signal.pause()
        with children.open("a") as file:
            file.write(f"{child}\n")
        os._exit(5)

    def end_them():
        for child in children.read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)

    late = threading.Timer(LIMIT_S, end_them)
    late.start()
    with pytest.raises(OSError, match="the worker exited with code 5; this was its second attempt"):
        data.range(10).map_batches(dies, concurrency=1).count()
    assert late.is_alive()
    late.cancel()
    end_them()


@pytest.mark.parametrize("end", ["pass", "os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_what_functions_have_started_ends_with_the_script(script, end):
    code, output = script.run(f"""
        import os, signal, subprocess
        from headway import data

        def starts(batch):
            subprocess.Popen(["tail", "-f", "/dev/null"])
            if os.fork() == 0:
                signal.pause()
            return batch

        assert data.range(10).map_batches(starts).count() == 10
        {end}
    """)
    assert code == (128 + signal.SIGKILL if "SIGKILL" in end else 0), output
    assert not processes.wait_gone(script.processes, LIMIT_S)


def test_what_a_function_has_started_ends_with_its_worker(tmp_path):
    started = tmp_path / "started"

    def dies(batch):
        started.write_text(str(subprocess.Popen(["tail", "-f", "/dev/null"]).pid))
        os._exit(5)

    with pytest.raises(OSError, match="the worker exited with code 5"):
        data.range(10).map_batches(dies).count()
    assert not processes.wait_gone(
        lambda: {pid for pid in [int(started.read_text())] if os.path.exists(f"/proc/{pid}")}, 5
    )


def test_a_budget_that_comes_too_late_says_so(monkeypatch, capfd):
    assert data.range(10).count() == 10
    late = data.ExecutionResources.for_limits(object_store_memory=96 << 20)
    options = data.ExecutionOptions(resource_limits=late)
    monkeypatch.setattr(data.DataContext.get_current(), "execution_options", options)
    assert data.range(10).count() == 10
    assert capfd.readouterr().err.count("object_store_memory is 96 MiB, which changes nothing now") == 1
    assert data.range(20).count() == 20
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("seconds", [0.001, 60])
def test_a_thread_that_reads_when_the_script_ends_is_no_crash(script, seconds):
    code, text = script.run(f"""
        import threading
        from headway import data

        def slow(batch):
            threading.Event().wait({seconds})
            return batch

        rows = data.range(10**9).map_batches(slow, batch_size=10)
        count = threading.Thread(target=rows.count, daemon=True)
        read = threading.Thread(target=lambda: [0 for _ in rows.iter_batches(batch_size=10)], daemon=True)
        count.start()
        read.start()
        assert data.range(10).map_batches(lambda batch: batch).count() == 10  # Both have begun by then.
        print("ends")
    """)
    assert (code, text) == (0, "ends\n")


def test_a_child_that_returns_from_a_function_gives_no_rows():
    def forks(batch):
        os.fork()
        return batch

    rows = data.range(1000).repartition(target_num_rows_per_block=10).map_batches(forks)
    assert [row["id"] for row in rows.take_all()] == list(range(1000))


def test_the_data_process_may_have_as_many_descriptors_as_there_are(script):
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    code, text = script.run("""
        import os, resource
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, most))
        from headway import data
        assert data.range(10).count() == 10
        children = open(f"/proc/self/task/{os.getpid()}/children").read().split()
        [pid] = [int(each) for each in children if open(f"/proc/{each}/comm").read() == "headway-data\\n"]
        print("limit:", resource.prlimit(pid, resource.RLIMIT_NOFILE)[0])
    """)
    assert (code, f"limit: {min(most, 1 << 16)}" in text) == (0, True), text


def test_a_data_process_that_lets_no_workers_of_other_nodes_in_says_so(monkeypatch, capfd):
    setup = {"json": '{"nodes_may_join": true}'}
    context = {"setup": setup, "plan": {"slot": {"node_ip": "10.0.0.1"}}}
    answer = json.dumps({"port": 0, "token": "", "workers": 0, "cpus": 0, "problem": "no ports are left"})
    session = SimpleNamespace(local=False, context=context)
    monkeypatch.setattr(_elsewhere.worker_session, "active", lambda: session)
    rows = data.range(10).map_batches(lambda batch: batch, concurrency=8)
    client = SimpleNamespace(invite=lambda text: answer)
    assert _elsewhere.ask_for_workers(rows._plan, data.DataContext.get_current(), client) == "never"
    assert "which cannot listen: no ports are left" in capfd.readouterr().err


def test_a_data_process_that_others_outlived_the_driver_s_end_of_is_reaped_by_the_next_one():
    reading = iter(data.range(10**9).iterator().iter_batches(batch_size=1000))
    next(reading)
    [left] = data_streams.data_processes()
    headway.shutdown()
    end = os.pidfd_open(left)
    del reading
    poll = select.poll()
    poll.register(end, select.POLLIN)
    assert poll.poll(10_000)
    os.close(end)
    assert data.range(3).take_all() == [{"id": 0}, {"id": 1}, {"id": 2}]
    assert not os.path.exists(f"/proc/{left}")


def test_rows_that_are_kept_and_find_no_place_say_where_they_were_to_be_written(script, tmp_path):
    """Neither the end of the file can be written."""
    status, output = script.run(
        """
        import resource, signal
        from headway import data

        rows = data.range(1_000_000)
        rows.take(1)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        try:
            rows.materialize()
        except OSError as error:
            print(error)
        """,
        TMPDIR=str(tmp_path),
    )
    assert status == 0, output
    assert f"rows that are kept cannot be written to {tmp_path}" in output
    assert output.rstrip().endswith("(set TMPDIR): File too large")


def test_the_data_process_of_a_program_without_standard_output_ends_with_it(tmp_path):
    mark, counted = str(tmp_path), tmp_path / "counted"
    code = (
        f"from headway import data; open({str(counted)!r}, 'w').write(str(data.range(5).map(lambda row: row).count()))"
    )
    command = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', sys.executable, "-c", code]
    subprocess.run(command, env={**os.environ, processes.MARK: mark}, check=True, timeout=LIMIT_S)
    assert counted.read_text() == "5"
    assert not processes.wait_gone(lambda: processes.marked(mark), LIMIT_S)


def check_import_fails(script, tmp_path, words):
    """A script that imports ``imported.py`` says ``words``, and leaves no process."""
    code, output = script.run(f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import imported
    """)
    assert code == 1
    assert words in output
    assert not processes.wait_gone(script.processes, LIMIT_S)


def test_a_module_that_uses_data_sets_when_functions_import_it_starts_no_endless_chain(script, tmp_path):
    (tmp_path / "imported.py").write_text(
        "from headway import data\ndef same(batch): return batch\ndata.range(10).map_batches(same).count()\n"
    )
    check_import_fails(script, tmp_path, 'needs `if __name__ == "__main__":` before them')


def test_a_module_that_trains_when_functions_import_it_starts_no_endless_chain(script, tmp_path):
    (tmp_path / "loops.py").write_text(
        "from headway import train\ndef loop(): print(sum(1 for _ in train.get_dataset_shard('train').iter_rows()))\n"
    )
    (tmp_path / "imported.py").write_text(
        "import loops\nfrom headway import data, train\ndef same(batch): return batch\n"
        "rows = data.range(10).map_batches(same)\n"
        "config = train.RunConfig(verbose=0, storage_path='stored')\n"
        "train.DataParallelTrainer(loops.loop, datasets={'train': rows}, run_config=config).fit()\n"
    )
    check_import_fails(script, tmp_path, "fit() was called in a function of a data set")


def test_a_function_may_use_a_data_set():
    def counts(batch):
        return {"rows": [data.range(len(batch["id"])).map_batches(lambda inner: inner).count()]}

    assert data.range(10).map_batches(counts).take_all() == [{"rows": 10}]


def test_ranks_that_wait_for_a_data_process_that_is_stopped_say_so(script):
    script.start("""
        import glob, os, signal
        from headway import data, train

        def data_process():
            own = os.environ["HEADWAY_TEST_MARK"].encode()
            for path in glob.glob("/proc/[0-9]*"):
                try:
                    is_it = open(path + "/comm").read() == "headway-data\\n"
                    if is_it and own in open(path + "/environ", "rb").read():
                        return int(path.split("/")[-1])
                except OSError:
                    pass

        def loop():
            for number, batch in enumerate(train.get_dataset_shard("train").iter_batches(batch_size=10)):
                if number == 3:
                    os.kill(data_process(), signal.SIGSTOP)

        train.DataParallelTrainer(
            loop,
            datasets={"train": data.range(100_000_000).map_batches(lambda batch: batch, batch_size=10)},
            run_config=train.RunConfig(storage_path="stored", failure_config=train.FailureConfig(hang_warn_s=3)),
        ).fit()
    """)
    script.wait_for("has had no output for")
    script.process.kill()
    assert not processes.wait_gone(script.processes, LIMIT_S)
