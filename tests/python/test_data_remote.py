"""Data sets on object stores: a real S3 server, between which and the data process the network may
fail.
"""

from __future__ import annotations

import contextlib
import socket
import threading

import numpy
import object_store
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import storage_servers

BUSY = b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
FORBIDDEN = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class BusyAtFirst:
    """Answers the first connections with 503, and hands the others on to a server."""

    def __init__(self, port, busy=0):
        self._to = port
        self.busy = busy
        #: That were handed on.
        self.requests = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self._socket.close()

    def _serve(self):
        with contextlib.suppress(OSError):  # Closed.
            while True:
                caller, _ = self._socket.accept()
                threading.Thread(target=self._answer, args=[caller], daemon=True).start()

    def _answer(self, caller):
        with contextlib.suppress(OSError):
            if self.busy > 0:
                self.busy -= 1
                caller.recv(1 << 16)
                caller.sendall(BUSY)
                caller.close()
                return
            server = socket.create_connection(("127.0.0.1", self._to))
            threading.Thread(target=self._carry, args=[caller, server, True], daemon=True).start()
            self._carry(server, caller, False)

    def _carry(self, one, other, asks):
        with contextlib.suppress(OSError):
            while received := one.recv(1 << 16):
                self.requests += asks and received.count(b"GET /")
                other.sendall(received)
            other.shutdown(socket.SHUT_WR)


class RefusesFiles(BusyAtFirst):
    """Hands everything on to a server, but Parquet files beyond the first ones."""

    def __init__(self, port, accepted):
        self.accepted = accepted
        super().__init__(port)

    def _carry(self, one, other, asks):
        with contextlib.suppress(OSError):
            while received := one.recv(1 << 16):
                if asks and received.startswith(b"PUT /") and b".parquet" in received.partition(b"\r\n")[0]:
                    self.accepted -= 1
                    if self.accepted < 0:
                        one.sendall(FORBIDDEN)
                        one.shutdown(socket.SHUT_RDWR)
                        return
                other.sendall(received)
            other.shutdown(socket.SHUT_WR)


@pytest.fixture(scope="module")
def store():
    with object_store.serve() as store:
        yield store


def test_urls_are_written_and_read(store):
    output = object_store.run(
        f"""
        import headway.data
        headway.data.range(1000).write_parquet("{store.url("runs/numbers")}", max_rows_per_file=300)
        rows = headway.data.read_parquet("{store.url("runs/numbers")}")
        print(rows.count(), rows.sum("id"), len(rows.input_files()))
        """
    )
    assert output.split() == ["1000", "499500", "4"]


@pytest.mark.parametrize(("mode", "rows"), [("append", 3), ("overwrite", 3), ("create", 0)])
def test_of_a_write_that_fails_nothing_is_there(store, mode, rows):
    """Its first file was sent when the second one is refused."""
    proxy = RefusesFiles(store.port, accepted=1)
    url = store.url(f"runs/half-{mode}")
    output = object_store.run(
        f"""
        import headway.data
        if {rows}:
            headway.data.range({rows}).write_parquet("{url}")
        try:
            headway.data.range(20).write_parquet(
                "{url.replace(str(store.port), str(proxy.port))}", max_rows_per_file=10, mode="{mode}"
            )
        except OSError as error:
            print(error)
        if {rows}:
            print(headway.data.read_parquet("{url}").count())
        """
    )
    proxy.close()
    assert "cannot write s3://runs/half" in output
    assert proxy.accepted < 0
    assert len(store.objects(f"runs/half-{mode}")) == bool(rows)
    assert output.endswith("\n3\n" if rows else "\n")


@pytest.mark.heavy
def test_google_cloud_storage_is_written_and_read():
    with storage_servers.gs() as google:
        port = google.url().rpartition("%3A")[2]
        output = object_store.run(
            f"""
            import headway.data
            from pyarrow import fs
            url = "{google.url("numbers")}"
            headway.data.range(1000).write_parquet(url, max_rows_per_file=300)
            rows = headway.data.read_parquet(url)
            print(rows.count(), rows.sum("id"), len(rows.input_files()))
            store = fs.GcsFileSystem(anonymous=True, scheme="http", endpoint_override="127.0.0.1:{port}")
            print(headway.data.read_parquet("runs/numbers", filesystem=store).sum("id"))
            headway.data.range(2).write_csv(url, mode="overwrite")
            print(headway.data.read_csv(url).count())
            try:
                headway.data.read_csv("{google.url("nothing.csv")}").count()
            except FileNotFoundError as error:
                print("nothing" in str(error))
            """,
            **google.env,
        )
    assert output.split() == ["1000", "499500", "4", "499500", "2", "True"]


def test_reads_that_fail_are_tried_again(store):
    proxy = BusyAtFirst(store.port, busy=3)
    query = store.query.replace(str(store.port), str(proxy.port))
    output = object_store.run(
        f"""
        import headway.data
        headway.data.range(1000).write_parquet("{store.url("runs/busy")}")
        print(headway.data.read_parquet("s3://runs/busy?{query}").sum("id"))
        """
    )
    proxy.close()
    assert (output.split(), proxy.busy) == (["499500"], 0)


@pytest.mark.heavy
def test_reads_of_google_cloud_storage_that_fail_are_tried_again():
    with storage_servers.gs() as google:
        url, port = google.url("busy"), google.url().rpartition("%3A")[2]
        proxy = BusyAtFirst(int(port), busy=3)
        output = object_store.run(
            f"""
            import headway.data
            headway.data.range(1000).write_parquet("{url}")
            print(headway.data.read_parquet("{url.replace(port, str(proxy.port))}").sum("id"))
            """,
            **google.env,
        )
        proxy.close()
    assert (output.split(), proxy.busy) == (["499500"], 0)


def read_through_proxy(store, name, column):
    """The words of a script that counts a file's rows by batches, and how many requests it made."""
    proxy = BusyAtFirst(store.port)
    query = store.query.replace(str(store.port), str(proxy.port))
    output = object_store.run(
        f"""
        import headway.data
        rows = headway.data.read_parquet("s3://runs/{name}?{query}")
        print(sum(len(batch["{column}"]) for batch in rows.iter_batches()))
        """
    )
    proxy.close()
    return output.split(), proxy.requests


def test_a_large_row_group_is_read_by_few_requests(store):
    """72 MB in one row group of three columns, which is read in parts."""
    random = numpy.random.default_rng(0)
    table = pa.table({name: random.random(3_000_000) for name in "xyz"})
    pq.write_table(table, "runs/large.parquet", row_group_size=3_000_000, filesystem=store.filesystem())
    output, requests = read_through_proxy(store, "large.parquet", "x")
    assert output == ["3000000"]
    assert 10 < requests < 60


def test_a_wide_row_group_is_read_by_few_requests(store):
    """72 MB of 1500 columns, which hardly take bytes in the file."""
    table = pa.table({f"{number:04}": numpy.zeros(6000) for number in range(1500)})
    pq.write_table(table, "runs/wide.parquet", filesystem=store.filesystem())
    output, requests = read_through_proxy(store, "wide.parquet", "0000")
    assert output == ["6000"]
    assert requests < 20


def test_a_server_that_is_not_there_is_an_error_in_words():
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    output = object_store.run(
        f"""
        import headway.data
        try:
            headway.data.read_parquet("s3://runs/x?endpoint_override=127.0.0.1:{port}&scheme=http").count()
        except OSError as error:
            print(error)
        """
    )
    assert "cannot look for s3://runs/x: " in output
    assert "tried 5 times within" in output
