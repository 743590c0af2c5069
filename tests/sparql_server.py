"""A SPARQL endpoint over Wikidata on this machine, for tests: a real engine over given entities, behind HTTP.

It has their statements as the Wikidata Query Service does, and beside it an Action API, `items`, has the entities
themselves. It misbehaves when told to.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs

import orjson
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QueryResultsFormat, QuerySolutions, Store

from polyculture.link.api.names import is_tag
from polyculture.link.entity import PROPERTIES, Claims, best_targets, decoder
from tests.wikidata_server import WikidataServer

Entity = dict[str, Any]
Fault = tuple[int, dict[str, str], bytes]  # status, headers, body

TOO_MANY: Fault = (429, {"Retry-After": "7"}, b"Too many requests")
TOO_MANY_UNTOLD: Fault = (429, {}, b"Too many requests")
UNAVAILABLE: Fault = (503, {}, b"upstream connect error")
HTML: Fault = (200, {"Content-Type": "text/html"}, b"<!doctype html><title>Welcome</title>")
TIMED_OUT: Fault = (500, {}, b"SPARQL-QUERY: queryStr=SELECT\njava.util.concurrent.TimeoutException\n\tat java.util")
# What Blazegraph sends when its time is over after it has begun to answer.
CUT: Fault = (
    200,
    {},
    b'{"head":{"vars":["item"]},"results":{"bindings":[{"item":{"type":"uri","value":"' + TIMED_OUT[2],
)
FORBIDDEN: Fault = (403, {}, b"Please set a user-agent")

_ENTITY = "http://www.wikidata.org/entity/"
_DIRECT = "http://www.wikidata.org/prop/direct/"
_SAME = "http://www.w3.org/2002/07/owl#sameAs"
_LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
_ALIAS = NamedNode("http://www.w3.org/2004/02/skos/core#altLabel")


class SparqlServer:
    """Serves `entities`; `redirects` maps a merged QID to its target.

    `faults` are answered first, one a request; None stands for the right answer. `refuses` is asked of every query:
    where it says so, the query takes too long. It sends `most_rows` of an answer, without saying so.
    """

    def __init__(
        self,
        entities: Iterable[Entity],
        redirects: Mapping[str, str] | None = None,
        items: WikidataServer | None = None,
    ) -> None:
        self.faults: list[Fault | None] = []
        self.refuses: Callable[[str], bool] = lambda _query: False
        self.most_rows: int | None = None
        self._after: int | None = None
        self.queries: list[str] = []
        self.agents: set[str] = set()
        self.connections = self.at_once = self.most_at_once = 0
        self.store = Store()
        self.store.bulk_extend(quad for entity in entities for quad in _quads(entity))
        self.store.extend(
            Quad(_item(origin), NamedNode(_SAME), _item(target)) for origin, target in (redirects or {}).items()
        )
        self.items = items or WikidataServer(list(entities), redirects)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/sparql"

    def __enter__(self) -> Self:
        self._thread.start()
        self.items.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.items.__exit__(kind, value, trace)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait_after(self, queries: int) -> Self:
        """From this query on, callers wait until the server is opened."""
        self._after = queries
        return self

    def is_full(self) -> bool:
        return self._after is not None and len(self.queries) >= self._after

    def open(self) -> None:
        self._after = None

    def answer(self, query: str) -> Fault:
        """The answer to one query."""
        while self.is_full():
            time.sleep(0.01)
        fault = self.faults.pop(0) if self.faults else None
        if fault:
            return fault
        if self.refuses(query):
            return TIMED_OUT
        try:
            results = self.store.query(query)
        except SyntaxError as fault:
            return 400, {}, str(fault).encode()
        assert isinstance(results, QuerySolutions)
        body = results.serialize(format=QueryResultsFormat.JSON)
        if self.most_rows is not None:
            whole = orjson.loads(body or b"")
            del whole["results"]["bindings"][self.most_rows :]
            body = orjson.dumps(whole)
        return 200, {"Content-Type": "application/sparql-results+json"}, body or b""

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            disable_nagle_algorithm = True  # head and body are two packets: the second would wait 40 ms
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                server.connections += 1

            def do_POST(self) -> None:
                server.at_once += 1
                server.most_at_once = max(server.most_at_once, server.at_once)
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                server.queries.append(form["query"][0])
                server.agents.add(self.headers["User-Agent"])
                assert "application/sparql-results+json" in self.headers["Accept"]
                status, headers, body = server.answer(form["query"][0])
                server.at_once -= 1
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


def _quads(entity: Entity) -> Iterable[Quad]:
    """Names, and the statements of best rank; an unknown value is a blank node, or an IRI that stands for one."""
    claims, subject = decoder(())(orjson.dumps(entity)).claims, _item(entity["id"])
    for label in (entity.get("labels") or {}).values():
        if is_tag(label["language"]):
            yield Quad(subject, _LABEL, Literal(label["value"], language=label["language"]))
    for alias in (one for several in (entity.get("aliases") or {}).values() for one in several):
        if is_tag(alias["language"]):
            yield Quad(subject, _ALIAS, Literal(alias["value"], language=alias["language"]))
    for code in PROPERTIES if isinstance(claims, Claims) else ():
        statements = getattr(claims, code)
        for target in best_targets(statements):
            yield Quad(subject, NamedNode(_DIRECT + code), _item(f"Q{target}"))
        if any(statement.mainsnak.snaktype == "somevalue" for statement in statements):
            yield Quad(subject, NamedNode(_DIRECT + code), BlankNode())
            unknown = f"http://www.wikidata.org/.well-known/genid/{subject.value[-9:].replace('/', '')}"
            yield Quad(subject, NamedNode(_DIRECT + code), NamedNode(unknown))


def _item(qid: str) -> NamedNode:
    return NamedNode(_ENTITY + qid)
