"""Serves the pages on loopback, to browsers on this machine.

The Host header must be loopback's own name, against DNS rebinding. A page of another site may link here but not run a
query.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import duckdb
from aiohttp import web

from polyculture.cache.errors import StoreError
from polyculture.cache.run_folder import RunFolder
from polyculture.reports.view.pages import FOLDER, Pages

LOOPBACK = "127.0.0.1"
HOSTS = (LOOPBACK, "localhost")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def listen(port: int) -> socket.socket:
    """A listening socket on loopback; port 0 takes any free port. Raises `StoreError` where the port is taken."""
    try:
        return socket.create_server((LOOPBACK, port))
    except (OSError, OverflowError) as fault:
        remedy = "Name another one: --port 0 takes any that is free."
        raise StoreError(f"port {port} cannot be opened on {LOOPBACK}", remedy=remedy) from fault


def application(run: RunFolder, pages: Pages) -> web.Application:
    """The pages at their addresses, and the run's report where there is one."""
    app = web.Application(middlewares=[guard])

    def page(make: Callable[[web.Request], str]) -> Handler:
        async def answer(request: web.Request) -> web.Response:
            # DuckDB answers in a thread: others may ask meanwhile.
            try:
                return _html(await asyncio.to_thread(make, request))
            except (StoreError, duckdb.Error) as fault:
                return _html(pages.fault(str(fault).splitlines()[0]), status=503)

        return answer

    async def part(request: web.Request) -> web.StreamResponse:
        return await _sent(run.report_data / request.match_info["name"])

    app.router.add_get("/", page(lambda request: pages.search(request.query)))
    app.router.add_get(r"/item/{qid:Q\d+}", page(lambda request: pages.item(request.match_info["qid"])))
    app.router.add_get("/responses", page(lambda request: pages.responses(request.query)))
    app.router.add_get("/sql", page(lambda request: pages.sql(request.query)))
    app.router.add_get("/report.css", _file(FOLDER.parent / "report.css"))
    app.router.add_get("/view.css", _file(FOLDER / "view.css"))
    app.router.add_get("/report.html", _file(run.report))
    app.router.add_get(r"/report-data/{name:\d+-\d+\.js}", part)
    return app


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuses requests of other sites, and adds security headers to every answer."""
    host = re.sub(r":\d+$", "", request.headers.get("Host", ""))
    elsewhere = request.headers.get("Sec-Fetch-Site") == "cross-site"
    if host not in HOSTS or (elsewhere and request.path == "/sql"):
        raise web.HTTPForbidden(text="This page answers its own machine only, under its own name.")
    response = await handler(request)
    for name, value in HEADERS.items():
        if not (name == "Content-Security-Policy" and request.path.startswith("/report")):  # it has its own
            response.headers.setdefault(name, value)
    return response


def _html(page: str, status: int = 200) -> web.Response:
    return web.Response(text=page, content_type="text/html", status=status)


def _file(path: Path) -> Handler:
    async def send(_request: web.Request) -> web.StreamResponse:
        return await _sent(path)

    return send


async def _sent(path: Path) -> web.StreamResponse:
    if not path.is_file():
        raise web.HTTPNotFound(text="There is no report yet: polyculture report writes it.")
    return web.FileResponse(path)
