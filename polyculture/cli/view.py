"""`polyculture view`: pages to browse a store, also while a run is writing."""

from __future__ import annotations

import os
import threading
from typing import Annotated

import typer
from aiohttp import web

from polyculture.cache.files import scratch_folder
from polyculture.cache.store.manifest import require_run
from polyculture.cli.options import ExperimentFile, Runs
from polyculture.reports.names import Names
from polyculture.reports.view.live import PageStore
from polyculture.reports.view.pages import Pages
from polyculture.reports.view.server import LOOPBACK, application, listen, new_base
from polyculture.running.layout import store_layout
from polyculture.running.opening import open_workspace

PORT = 8765


def view(
    experiment: ExperimentFile,
    runs: Runs = None,
    port: Annotated[int, typer.Option("--port", help="The port on this machine; 0 takes a free one.")] = PORT,
) -> None:
    """Serve pages on this machine to browse the store: search, read, see two models side by side, judge, query in SQL.

    A query is stopped after a minute, and shows its first thousand rows; `polyculture sql` writes all.

    It writes nothing but the answers of judges (`polyculture audit` shows them). For this machine's browser only, at
    the printed address: whoever knows it can read the store. Ctrl-C ends it.
    """
    workspace = open_workspace(experiment, runs)
    manifest = require_run(workspace.run)
    with listen(port) as door, scratch_folder("view") as folder:
        base = new_base()
        store = PageStore(workspace.run, folder, store_layout())
        pages = Pages(store, manifest.experiment, Names(workspace.catalog, tuple(manifest.models)), base)
        typer.echo(f"http://{LOOPBACK}:{door.getsockname()[1]}{base}/  (Ctrl-C ends it)")
        web.run_app(application(workspace.run, pages, base), sock=door, print=lambda *_: None, shutdown_timeout=1)
    # A store that is being opened cannot be interrupted, and Python would wait for its thread.
    if threading.active_count() > 1:
        os._exit(0)
