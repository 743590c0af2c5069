"""A SPARQL endpoint over Wikidata on this machine, for tests: a real engine over given entities, behind HTTP.

Entities become RDF as the Wikidata Query Service has them, or as Wikidata's own dump does, which puts counts and
times at the page of an item's data. It misbehaves when told to.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QueryResultsFormat, QuerySolutions, Store

from polyculture.link.entity import PROPERTIES, Claims, convert
from polyculture.link.entity import best_targets as targets_of

Entity = Mapping[str, Any]
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
_SCHEMA = "http://schema.org/"
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
_SITELINKS = "http://wikiba.se/ontology#sitelinks"
_SAME = "http://www.w3.org/2002/07/owl#sameAs"


class SparqlServer:
    """Serves `entities`; `redirects` maps a merged QID to its target.

    `faults` are answered first, one a request; None stands for the right answer. `refuses` is asked of every query:
    where it says so, the query takes too long.
    """

    def __init__(
        self, entities: Iterable[Entity], redirects: Mapping[str, str] | None = None, *, as_dump: bool = False
    ) -> None:
        self.faults: list[Fault | None] = []
        self.refuses: Callable[[str], bool] = lambda _query: False
        self.queries: list[str] = []
        self.agents: set[str] = set()
        self.connections = self.at_once = self.most_at_once = 0
        self.store = Store()
        self.store.extend(quad for entity in entities for quad in _quads(entity, as_dump))
        self.store.extend(
            Quad(_item(origin), NamedNode(_SAME), _item(target)) for origin, target in (redirects or {}).items()
        )
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/sparql"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, query: str) -> Fault:
        """The answer to one query."""
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


def _quads(entity: Entity, as_dump: bool) -> Iterable[Quad]:
    item, subject = convert(entity), _item(entity["id"])
    for code, name in (item.labels or {}).items():  # type: ignore[union-attr]
        yield Quad(subject, NamedNode(_LABEL), Literal(name.value, language=code))
        yield Quad(subject, NamedNode(_SCHEMA + "name"), Literal(name.value, language=code))
    for code, text in (item.descriptions or {}).items():  # type: ignore[union-attr]
        yield Quad(subject, NamedNode(_SCHEMA + "description"), Literal(text.value, language=code))
    for code, names in (item.aliases or {}).items():  # type: ignore[union-attr]
        for name in names:
            yield Quad(subject, NamedNode(_ALIAS), Literal(name.value, language=code))
    yield from _statements(entity, subject)
    data = NamedNode(f"https://www.wikidata.org/wiki/Special:EntityData/{item.id}")
    yield Quad(data, NamedNode(_SCHEMA + "about"), subject)
    where = data if as_dump else subject
    yield Quad(where, NamedNode(_SITELINKS), _number(len(item.sitelinks or ())))
    yield Quad(where, NamedNode(_SCHEMA + "version"), _number(item.lastrevid or 1))
    if item.modified:
        time = NamedNode("http://www.w3.org/2001/XMLSchema#dateTime")
        yield Quad(where, NamedNode(_SCHEMA + "dateModified"), Literal(item.modified, datatype=time))


def _statements(entity: Entity, subject: NamedNode) -> Iterable[Quad]:
    """The statements of best rank; an unknown value is a blank node, or an IRI that stands for one."""
    claims = convert(entity).claims
    for code in PROPERTIES if isinstance(claims, Claims) else ():
        statements = getattr(claims, code)
        for target, end in targets_of(statements).items():
            yield Quad(subject, NamedNode(_DIRECT + code), _item(f"Q{target}"))
            if end is not None:
                said, time = BlankNode(), "http://www.w3.org/2001/XMLSchema#dateTime"
                yield Quad(subject, NamedNode(f"http://www.wikidata.org/prop/{code}"), said)
                yield Quad(said, NamedNode(f"http://www.wikidata.org/prop/statement/{code}"), _item(f"Q{target}"))
                ended = Literal(f"{end}-01-01T00:00:00Z", datatype=NamedNode(time))
                yield Quad(said, NamedNode("http://www.wikidata.org/prop/qualifier/P582"), ended)
        if any(statement.mainsnak.snaktype == "somevalue" for statement in statements):
            yield Quad(subject, NamedNode(_DIRECT + code), BlankNode())
            unknown = f"http://www.wikidata.org/.well-known/genid/{subject.value[-9:].replace('/', '')}"
            yield Quad(subject, NamedNode(_DIRECT + code), NamedNode(unknown))


def _item(qid: str) -> NamedNode:
    return NamedNode(_ENTITY + qid)


def _number(value: int) -> Literal:
    return Literal(json.dumps(value), datatype=NamedNode("http://www.w3.org/2001/XMLSchema#integer"))
