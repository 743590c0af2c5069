"""Serves the pages on loopback, to browsers on this machine.

Every address begins with a random token that the terminal prints, and no other page knows: also a page that another
port of this machine serves, which browsers count as the same site. What a browser says of where a request comes from
must be this page, or the user. The Host header must be loopback's own name, against DNS rebinding. SQL, and the answers
of judges, come by POST.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import duckdb
import pyarrow as pa
from aiohttp import web
from aiohttp.typedefs import Middleware

from polyculture.cache.errors import PolycultureError, StoreError
from polyculture.cache.log import get_logger
from polyculture.cache.store.damage import damaged_file
from polyculture.cache.store.layout import Layout
from polyculture.cache.store.run_folder import RunFolder
from polyculture.reports.view.pages import FOLDER, NotInRunError, Pages

LOOPBACK = "127.0.0.1"
HOSTS = (LOOPBACK, "localhost")
FROM = ("same-origin", "none")  # Sec-Fetch-Site: a page of ours, or an address that the user typed
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

_log = get_logger(__name__)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def listen(port: int) -> socket.socket:
    """A listening socket on loopback; port 0 takes any free port. Raises `StoreError` where the port is taken."""
    try:
        return socket.create_server((LOOPBACK, port))
    except (OSError, OverflowError) as fault:
        remedy = "Name another one: --port 0 takes any that is free."
        raise StoreError(f"port {port} cannot be opened on {LOOPBACK}", remedy=remedy) from fault


def new_base() -> str:
    """The beginning of all addresses of one server: a slash and 128 random bits."""
    return f"/{secrets.token_urlsafe(16)}"


def application(run: RunFolder, pages: Pages, base: str) -> web.Application:
    """The pages at their addresses below `base`, and the run's report where there is one."""
    app = web.Application(middlewares=[_guard(base, pages)])

    async def stop(_app: web.Application) -> None:
        pages.interrupt()

    app.on_shutdown.append(stop)
    layout = pages.layout

    def page(
        make: Callable[[web.Request, Mapping[str, str]], str], sent: Callable[[str], web.Response] = _html
    ) -> Handler:
        async def answer(request: web.Request) -> web.Response:
            asked = await request.post()
            # DuckDB answers in a thread: others may ask meanwhile.
            try:
                return sent(await asyncio.to_thread(make, request, _texts(asked)))
            except (PolycultureError, duckdb.Error, pa.ArrowException) as fault:
                missing = isinstance(fault, NotInRunError)
                return _html(pages.fault(_line(fault, layout)), status=404 if missing else 503)

        return answer

    async def part(request: web.Request) -> web.StreamResponse:
        return await _sent(run.report_data / request.match_info["name"])

    routes = app.router
    routes.add_get(f"{base}/", page(lambda request, _: pages.search(request.query)))
    routes.add_get(rf"{base}/item/{{qid:Q\d+}}", page(lambda request, _: pages.item(request.match_info["qid"])))
    routes.add_get(f"{base}/responses", page(lambda request, _: pages.responses(request.query)))
    routes.add_get(f"{base}/side-by-side", page(lambda request, _: pages.side_by_side(request.query)))
    routes.add_get(f"{base}/judge", page(lambda request, _: pages.judge(request.query)))
    routes.add_post(f"{base}/judge", page(lambda _, asked: pages.answered(asked), _see))
    routes.add_get(f"{base}/judge.js", _file(FOLDER / "judge.js"))
    routes.add_get(f"{base}/sql", page(_form(pages)))
    routes.add_post(f"{base}/sql", page(lambda _, asked: pages.sql(asked)))
    routes.add_get(f"{base}/report.css", _file(FOLDER.parent / "report.css"))
    routes.add_get(f"{base}/view.css", _file(FOLDER / "view.css"))
    routes.add_get(f"{base}/report.html", _file(run.report))
    routes.add_get(rf"{base}/report-data/{{name:\d+-\d+\.js}}", part)
    return app


def _form(pages: Pages) -> Callable[[web.Request, Mapping[str, str]], str]:
    def show(request: web.Request, _asked: Mapping[str, str]) -> str:
        if "query" in request.query:  # an image's or a link's address would do, too
            raise web.HTTPMethodNotAllowed("GET", ["POST"], text="A query is asked by POST, from the page itself.")
        return pages.sql({})

    return show


def _texts(asked: Mapping[str, object]) -> dict[str, str]:
    """The fields of a form without its files."""
    return {name: value for name, value in asked.items() if isinstance(value, str)}


def _line(fault: Exception, layout: Layout) -> str:
    """A fault in one line, as the command line says it: which file is damaged, and what to do."""
    return str(damaged_file(fault, layout) or fault).splitlines()[0]


def _guard(base: str, pages: Pages) -> Middleware:
    """Refuses requests without the token or of other pages, and adds security headers to every answer.

    Whoever has the token reads of a wrong address or an unforeseen fault on a page; the terminal has its trace.
    """

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not _may_ask(request, base):
            text = "This page answers its own machine only, at the address that the terminal shows."
            return _with_headers(web.Response(status=403, text=text), request.path, base)
        try:
            response = await handler(request)
        except web.HTTPException as refusal:
            response = _html(pages.fault(*_refusal(refusal)), refusal.status)
        except Exception as fault:  # noqa: BLE001  whatever it is, a reader gets a page, and the terminal the trace
            _log.exception("a page could not be made")
            reason = f"This page could not be made ({type(fault).__name__}); the terminal says more. Others still work."
            response = _html(pages.fault(reason, "A fault of ours"), 500)
        return _with_headers(response, request.path, base)

    return guard


def _refusal(refusal: web.HTTPException) -> tuple[str, str]:
    """What a page says of an address that has no answer, and its heading."""
    said = refusal.text or refusal.reason
    if refusal.status == 404 and said.startswith("404"):
        said = "There is no such page here. The links above lead to all there are."
    return said, "Not found" if refusal.status == 404 else "No answer"


def _may_ask(request: web.Request, base: str) -> bool:
    host = re.sub(r":\d+$", "", request.headers.get("Host", ""))
    token = f"/{request.path.split('/')[1]}"
    # A program that is no browser, as curl, does not say where a request comes from; it has the token.
    origin = request.headers.get("Sec-Fetch-Site", "none")
    return host in HOSTS and origin in FROM and hmac.compare_digest(token.encode(), base.encode())


def _with_headers(response: web.StreamResponse, path: str, base: str) -> web.StreamResponse:
    for name, value in HEADERS.items():
        if not (name == "Content-Security-Policy" and path.startswith(f"{base}/report")):  # it has its own
            response.headers.setdefault(name, value)
    return response


def _html(page: str, status: int = 200) -> web.Response:
    return web.Response(text=page, content_type="text/html", status=status)


def _see(address: str) -> web.Response:
    """After a form was kept: the page that is next, so that going back or reloading keeps nothing twice."""
    return web.Response(status=303, headers={"Location": address})


def _file(path: Path) -> Handler:
    async def send(_request: web.Request) -> web.StreamResponse:
        return await _sent(path)

    return send


async def _sent(path: Path) -> web.StreamResponse:
    if not path.is_file():
        raise web.HTTPNotFound(text="There is no report yet: polyculture report writes it.")
    return web.FileResponse(path)
