"""A stand-in for the driver's dashboard: serves the page and what is recorded. Tests say that a run
has gone on, and that the driver dies.
"""

import contextlib
import json
import mimetypes
import queue
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import recorded
from recorded_experiment import Experiment

PAGE = Path(__file__).resolve().parents[2] / "src/dashboard/page"
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address, handler):
        self.connections = set()
        super().__init__(address, handler)

    def process_request(self, request, address):
        self.connections.add(request)
        super().process_request(request, address)

    def shutdown_request(self, request):
        self.connections.discard(request)
        super().shutdown_request(request)

    def die(self):
        """Every connection ends, as those of a process do."""
        self.server_close()
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request, address):
        """A page that goes away while it is answered is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, address)


class StandIn:
    def __init__(self, port=0, trials=300, reports=240):
        self.experiment = Experiment(trials)
        self.reports = reports
        self.runs = recorded.runs()
        self.logs = {}
        self.number = 1
        self.listeners = []
        self.lock = threading.Lock()
        self.server = Server(("127.0.0.1", port), handler_of(self))
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def state(self):
        return {
            "version": 1,
            "mode": "live",
            "number": self.number,
            "taken_unix_s": recorded.BEGIN_S + 2612 + self.number,
            "driver": {"host": "node-a", "pid": 4000},
            "runs": self.runs,
            "nodes": recorded.nodes(),
            "experiments": [self.experiment.summary()],
            "waiting": [{"holder": 7, "wanted": "2 workers with {GPU: 1} each", "for_nodes": True}],
        }

    def change(self, run, **news):
        """A run has gone on: everyone who listens hears it."""
        with self.lock:
            self.number += 1
            self.runs[run - 1] |= news
            text = json.dumps(
                {
                    "number": self.number,
                    "taken_unix_s": self.state()["taken_unix_s"],
                    "changed": {"runs": [self.runs[run - 1]]},
                    "gone": {},
                }
            )
            for listener in self.listeners:
                listener.put(text)

    def stop(self):
        with self.lock:
            for listener in self.listeners:
                listener.put(None)
        self.server.shutdown()
        self.server.die()
        self.thread.join()

    def log(self, rank):
        return self.logs.setdefault(rank, recorded.log(rank).encode())

    def answer(self, path, query):
        """What a route has, or None."""
        match path:
            case ["state"]:
                return self.state()
            case ["runs", run] if int(run) <= len(self.runs):
                return recorded.details(int(run)) | self.runs[int(run) - 1]
            case ["runs", run, "metrics"]:
                return {"names": recorded.metric_names(int(run))}
            case ["runs", run, "steps"]:
                return recorded.steps(int(run))
            case ["runs", _, "logs"]:
                return self.log_part(query)
            case ["series"]:
                edges = [float(query[name]) if name in query else None for name in ("from", "to")]
                return recorded.series(
                    int(query["run"]), query["metric"], query.get("x"), *edges, int(query["points"]), self.reports
                )
            case ["experiments", "1"]:
                return self.experiment.details()
            case ["experiments", "1", "trials"]:
                return self.experiment.rows(
                    query.get("sort", "id"),
                    query.get("descending") == "true",
                    query.get("filter", ""),
                    int(query.get("from", 0)),
                    int(query.get("count", 100)),
                )
            case ["experiments", "1", "parallel"]:
                return self.experiment.parallel(int(query["max"]))
            case ["experiments", "1", "curves"]:
                return self.experiment.curves(int(query["max"]))
            case ["experiments", "1", "best"]:
                return self.experiment.best()
            case ["experiments", "1", "lineage"]:
                return self.experiment.lineage()
        return None

    def log_part(self, query):
        text = self.log(query["rank"])
        limit, found = int(query["limit"]), None
        if wanted := query.get("find", "").encode():
            place = (
                text.rfind(wanted, 0, int(query["before"]))
                if "before" in query
                else text.find(wanted, int(query["after"]))
            )
            if place < 0:
                return {"from": 0, "to": 0, "end": len(text), "text": "", "found": None}
            found = text.rfind(b"\n", 0, place) + 1
            begin, end = (
                (found, found + limit) if "after" in query else (max(0, found - limit), text.find(b"\n", place) + 1)
            )
        elif "after" in query:
            begin, end = int(query["after"]), int(query["after"]) + limit
        else:
            end = int(query.get("before", len(text)))
            begin = max(0, end - limit)
        part = text[begin:end]
        return {
            "from": begin,
            "to": begin + len(part),
            "end": len(text),
            "text": part.decode(errors="replace"),
            "found": found,
        }


def handler_of(stand_in):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            address = urlsplit(self.path)
            path = [unquote(part) for part in address.path.split("/") if part]
            if path[:2] == ["api", "events"]:
                self.events()
            elif path[:1] == ["api"]:
                answer = stand_in.answer(
                    path[1:], {name: values[0] for name, values in parse_qs(address.query).items()}
                )
                body = json.dumps(
                    answer if answer is not None else {"error": "There is nothing of that name."}
                ).encode()
                self.reply(200 if answer is not None else 404, "application/json", body)
            else:
                file = PAGE / ("/".join(path[2:]) if path[:1] == ["assets"] else "index.html")
                body = file.read_bytes().replace(b"@ASSETS@", b"/assets/0123")
                self.reply(200, mimetypes.guess_type(file.name)[0] or "text/plain", body)

        def reply(self, status, kind, body):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", POLICY)
            self.end_headers()
            self.wfile.write(body)

        def events(self):
            news = queue.Queue()
            with stand_in.lock:
                stand_in.listeners.append(news)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(b": hello\n\n")
            while (text := news.get()) is not None:
                try:
                    self.wfile.write(f"event: change\ndata: {text}\n\n".encode())
                except OSError:
                    break
            self.close_connection = True

        def log_message(self, *_):
            pass

    return Handler


if __name__ == "__main__":
    import signal

    print(StandIn(port=8123).url, flush=True)
    signal.pause()
