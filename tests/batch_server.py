"""A local provider with Files and Batches, as OpenAI's API reference describes them; every call can be made to fail."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.servers import Reply, completion

# What becomes of a call: its name ('upload', 'create', 'list', 'poll', 'download'), whether its work is done.
Trouble = Callable[[str, bool], Reply | None]
# What becomes of a line, besides an answer: its body, and how often the same was sent before.
Fate = Callable[[Mapping[str, Any], int], Mapping[str, Any] | None]
EXPIRED = {"response": None, "error": {"code": "batch_expired", "message": "could not be executed in time"}}


def status_line(status: int, message: str) -> dict[str, Any]:
    """A line that failed as a call would have."""
    return {"response": {"status_code": status, "request_id": "r", "body": {"error": {"message": message}}}}


def completion_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a well-behaved request."""
    answer: dict[str, Any] = json.loads(completion(body, body["messages"][-1]["content"], body["seed"]))
    return answer


class BatchServer:
    """Serves on the loopback interface while the `with` block lasts. A batch ends after `polls` looks at it."""

    def __init__(self, polls: int = 1, fate: Fate | None = None, trouble: Trouble | None = None) -> None:
        self.polls, self.fate, self.trouble = polls, fate, trouble
        self.refusal: Mapping[str, str] | None = None  # the fault for which whole batches fail
        self.ending = "completed"
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.paid: Counter[tuple[str, int]] = Counter()  # (prompt, seed) of every line of every batch
        self.calls: list[str] = []
        self.lock = Lock()
        self._looks: Counter[str] = Counter()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        owner = self

        class Handler(_Handler):
            server_state = owner

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()

    def upload(self, content: bytes) -> dict[str, Any]:
        ident = f"file-{len(self.files)}"
        self.files[ident] = content
        return self.file(ident)

    def file(self, ident: str) -> dict[str, Any]:
        size = len(self.files[ident])
        return {
            "id": ident, "object": "file", "bytes": size, "created_at": int(time.time()), "filename": "x.jsonl",
            "purpose": "batch", "status": "processed",
        }  # fmt: skip

    def create(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        ident = f"batch_{len(self.batches)}"
        batch = {
            "id": ident, "object": "batch", "endpoint": asked["endpoint"], "input_file_id": asked["input_file_id"],
            "completion_window": asked["completion_window"], "created_at": int(time.time()),
            "metadata": asked.get("metadata"), "status": "in_progress",
        }  # fmt: skip
        self.batches[ident] = batch
        for line in self.files[asked["input_file_id"]].splitlines():
            body = json.loads(line)["body"]
            self.paid[body["messages"][-1]["content"], body["seed"]] += 1
        return batch

    def poll(self, ident: str) -> dict[str, Any]:
        self._looks[ident] += 1
        batch = self.batches[ident]
        if self._looks[ident] > self.polls and batch["status"] == "in_progress":
            self._end(batch)
        return batch

    def list(self, after: str | None) -> dict[str, Any]:
        """Two a page, the newest first."""
        newest = list(self.batches.values())[::-1]
        start = next((n + 1 for n, batch in enumerate(newest) if batch["id"] == after), 0)
        page = newest[start : start + 2]
        return {"object": "list", "data": page, "has_more": start + 2 < len(newest)}

    def _end(self, batch: dict[str, Any]) -> None:
        if self.refusal:
            batch.update(status="failed", errors={"object": "list", "data": [dict(self.refusal)]})
            return
        good, bad = [], []
        for text in self.files[batch["input_file_id"]].splitlines():
            line = json.loads(text)
            body = line["body"]
            prompt, seed = body["messages"][-1]["content"], body["seed"]
            fate = self.fate(body, self.paid[prompt, seed] - 1) if self.fate else None
            said = fate if fate is not None else {"response": {"status_code": 200, "body": completion_body(body)}}
            result = {"id": f"line-{len(good)}", "custom_id": line["custom_id"], "error": None, **said}
            (good if fate is None else bad).append(json.dumps(result).encode() + b"\n")
        batch["status"] = self.ending
        for key, lines in (("output_file_id", good[::-1]), ("error_file_id", bad)):  # in no order that one may rely on
            if lines:
                batch[key] = self.upload(b"".join(lines))["id"]


class _Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # head and body are two packets: the second would wait 40 ms
    server_state: BatchServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/v1/files":
            self._do("upload", lambda state: state.upload(self._uploaded(content)))
        elif self.path == "/v1/batches":
            self._do("create", lambda state: state.create(json.loads(content)))
        else:
            self._do("chat", lambda _: completion_body(json.loads(content)))

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/v1/batches":
            self._do("list", lambda state: state.list(parse_qs(url.query).get("after", [None])[0]))
        elif found := re.fullmatch(r"/v1/batches/(\w+)", url.path):
            self._do("poll", lambda state: state.poll(found[1]))
        elif found := re.fullmatch(r"/v1/files/([\w-]+)/content", url.path):
            self._do("download", lambda state: state.files[found[1]])

    def _do(self, call: str, work: Callable[[BatchServer], Any]) -> None:
        state = self.server_state
        with state.lock:
            state.calls.append(call)
            reply = state.trouble(call, False) if state.trouble else None
            if reply is None:
                done = work(state)
                reply = state.trouble(call, True) if state.trouble else None
                reply = reply or Reply(body=done if isinstance(done, bytes) else json.dumps(done).encode())
        with suppress(ConnectionError):  # the client was killed
            self.send_response(reply.status)
            self.send_header("content-type", reply.content_type)
            self.send_header("content-length", str(len(reply.body)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

    def _uploaded(self, content: bytes) -> bytes:
        head = f"content-type: {self.headers['content-type']}\r\n\r\n".encode()
        form = BytesParser(policy=HTTP).parsebytes(head + content)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
        assert parts["purpose"].get_payload() == "batch"
        payload = parts["file"].get_payload(decode=True)
        assert isinstance(payload, bytes)
        return payload
