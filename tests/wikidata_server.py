"""A Wikidata Action API on this machine, for tests: `wbsearchentities` and `wbgetentities` over given entities.

It answers as the recorded exchanges of the real service do, refuses what the real one refuses, and misbehaves when
told to. Its search finds beginnings of names in any language, those of the asked language first, exact ones before
longer ones, as the real one does. It folds spelling as we do, or as it is told to.
"""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
import time
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from polyculture.link.normalise import Fold, fold_of, normalise

Entity = Mapping[str, Any]
Folding = Callable[[Sequence[str], Fold], list[str]]
Answer = tuple[int, dict[str, str], bytes]  # status, headers, body
Trick = Callable[[BaseHTTPRequestHandler], None]  # does something to a connection instead of answering
Fault = Answer | Trick

MAXLAG_BODY = {"error": {"code": "maxlag", "info": "Waiting for 10.192.16.41: 6.1 seconds lagged.", "lag": 6.1}}
MAXLAG_200: Fault = (200, {"Retry-After": "5"}, json.dumps(MAXLAG_BODY).encode())
TOO_MANY: Fault = (429, {"Retry-After": "7"}, b"Too many requests")
UNAVAILABLE: Fault = (503, {}, b"upstream connect error")
HTML: Fault = (200, {"Content-Type": "text/html"}, b"<!doctype html><title>Welcome</title>")
CUT_OFF: Fault = (200, {}, b'{"entities": {"Q5": {"type": "item", "id"')


def reset(handler: BaseHTTPRequestHandler) -> None:
    """Drops the connection."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True


def truncated(handler: BaseHTTPRequestHandler) -> None:
    """Promises more than it sends."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"entities": {"Q5"')
    handler.close_connection = True


def slow(handler: BaseHTTPRequestHandler) -> None:
    """Takes longer over an answer than the tests wait."""
    time.sleep(1.0)
    handler.close_connection = True


def moved_to(address: str) -> Trick:
    """Sends a client to another address with the same question."""

    def move(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", f"{address}?{urlsplit(handler.path).query}")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return move


_BLANKS = dict.fromkeys(map(ord, "'’ʼ_-"), " ")


def as_wikidata(names: Sequence[str], fold: Fold) -> list[str]:
    """Names as the real search compares them, no more alike than it surely does: case, width, and accents of Latin
    letters are folded, apostrophes, hyphens and underscores are blanks. Quotation marks, Arabic letters and marks,
    blanks, scripts and kana stay as they are.

    See CirrusSearch's AnalysisConfigBuilder (near_space_flattener, icu_normalizer, icu_folding).
    """
    cased = [unicodedata.normalize("NFKC", name.translate(_BLANKS)).casefold().strip() for name in names]
    return ["".join(map(_without_accent, name)).replace("i\u0307", "i") for name in cased]


def _without_accent(letter: str) -> str:
    return unicodedata.normalize("NFD", letter)[0] if "À" <= letter <= "ɏ" or "Ḁ" <= letter <= "ỿ" else letter


class WikidataServer:
    """Serves `entities`; `redirects` maps a merged QID to its target. `faults` are answered first, one a request.

    `folding` makes of names, and of what is searched, what its search compares.

    It takes `most_ids` in a request, and sends `most_sent` of the items.

    `delay` is how long it thinks about an answer, in seconds; `busiest` how many it has thought about at once.
    """

    def __init__(
        self, entities: Sequence[Entity], redirects: Mapping[str, str] | None = None, folding: Folding = normalise
    ) -> None:
        self.entities: Mapping[str, Entity] = {entity["id"]: entity for entity in entities}
        self.redirects = dict(redirects or {})
        self.faults: list[Fault] = []
        self.requests: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.agents: set[str] = set()
        self.most_ids = self.most_sent = 50
        self.connections = 0
        self.delay, self.busiest, self._busy = 0.0, 0, 0
        self._counting = threading.Lock()
        self._folding = folding
        self._names = sorted(_names(entities, folding))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/w/api.php"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, params: dict[str, str]) -> dict[str, Any]:
        """The answer to one request."""
        actions = {"wbsearchentities": self._search, "wbgetentities": self._get}
        if params.get("action") not in actions:
            return _error("badvalue", 'Unrecognized value for parameter "action".')
        return actions[params["action"]](params)

    def _search(self, params: dict[str, str]) -> dict[str, Any]:
        term, language = params["search"], params["language"]
        start, limit = int(params.get("continue", "0")), int(params.get("limit", "7"))
        if limit > 50:
            return _error("toomany", "limit may not be over 50.")
        hits: dict[str, tuple[bool, bool, int, dict[str, Any]]] = {}
        for key, at, kind, text, qid in self._beginning_with(term, language):
            sought = self._folding([term], fold_of(at))[0]
            hit = (key != sought, at != language, len(key), {"type": kind, "language": at, "text": text})
            hits[qid] = min(hits.get(qid, hit), hit, key=lambda found: found[:3])
        ranked = sorted(hits, key=lambda qid: (*hits[qid][:3], int(qid[1:])))
        page = [{"id": qid, "title": qid, "match": hits[qid][3]} for qid in ranked[start : start + limit]]
        following = {"search-continue": start + limit} if len(ranked) > start + limit else {}
        return {"searchinfo": {"search": term}, "search": page, **following, "success": 1}

    def _beginning_with(self, term: str, language: str) -> list[tuple[str, str, str, str, str]]:
        found = []
        folds: list[Fold] = ["plain", fold_of(language)]
        for start in {self._folding([term], fold)[0] for fold in folds}:
            position = bisect_left(self._names, (start,))
            while position < len(self._names) and self._names[position][0].startswith(start):
                found.append(self._names[position])
                position += 1
        return found

    def _get(self, params: dict[str, str]) -> dict[str, Any]:
        ids = params["ids"].split("|")
        if len(ids) > self.most_ids:
            return _error("toomany", f'Too many values supplied for parameter "ids". The limit is {self.most_ids}.')
        for qid in ids:
            if not (qid.startswith("Q") and qid[1:].isdecimal() and qid != "Q0"):
                return _error("no-such-entity", f"Could not find such an entity (Invalid id: {qid})", id=qid)
        languages = set(params["languages"].split("|"))
        return {"entities": {qid: self._entity(qid, languages) for qid in ids[: self.most_sent]}, "success": 1}

    def _entity(self, qid: str, languages: set[str]) -> dict[str, Any]:
        target = self.redirects.get(qid, qid)
        if target not in self.entities:
            return {"id": qid, "missing": ""}
        entity = self.entities[target]
        texts: dict[str, Any] = {
            key: {code: text for code, text in (entity.get(key) or {}).items() if code in languages} or []
            for key in ("labels", "descriptions", "aliases")
        }
        moved = {"redirects": {"from": qid, "to": target}} if target != qid else {}
        return {**entity, **texts, **moved}

    def _note(self, params: dict[str, str], headers: dict[str, str]) -> Fault | None:
        with self._counting:
            self.requests.append(params)
            self.headers.append(headers)
            self.agents.add(headers["User-Agent"])
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
            return self.faults.pop(0) if self.faults else None

    def _forget(self) -> None:
        with self._counting:
            self._busy -= 1

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                server.connections += 1

            def do_GET(self) -> None:
                params = {key: values[0] for key, values in parse_qs(urlsplit(self.path).query).items()}
                fault = server._note(params, dict(self.headers))
                try:
                    time.sleep(server.delay)
                    if callable(fault):
                        fault(self)
                    else:
                        self._answer(*(fault or (200, {}, json.dumps(server.answer(params)).encode())))
                finally:
                    server._forget()

            def _answer(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
                packed = {}
                if "gzip" in self.headers.get("Accept-Encoding", ""):
                    body, packed = gzip.compress(body, 1), {"Content-Encoding": "gzip"}
                self.send_response_only(status)
                for name, value in {"Content-Type": "application/json", **headers, **packed}.items():
                    self.send_header(name, value)
                if headers.get("Transfer-Encoding") == "chunked":
                    body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:1000], body[1000:], b""))
                else:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with suppress(ConnectionError):  # whoever asked was killed
                    self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


def _names(entities: Sequence[Entity], folding: Folding) -> list[tuple[str, str, str, str, str]]:
    rows = []
    for entity in entities:
        for language, label in (entity.get("labels") or {}).items():
            rows.append((language, "label", label["value"], entity["id"]))
        for language, aliases in (entity.get("aliases") or {}).items():
            rows += [(language, "alias", alias["value"], entity["id"]) for alias in aliases]
    folds = {fold_of(language) for language, *_ in rows}
    keyed = []
    for fold in folds:
        own = [row for row in rows if fold_of(row[0]) == fold]
        keys = folding([text for _, _, text, _ in own], fold)
        keyed += [(key, *row) for key, row in zip(keys, own, strict=True)]
    return keyed


def _error(code: str, info: str, **more: str) -> dict[str, Any]:
    return {"error": {"code": code, "info": info, **more}, "servedby": "local"}
