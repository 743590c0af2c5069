"""Makes the pages that only say what the program says of itself, before MkDocs reads the folder. None is kept."""

from __future__ import annotations

import api_page
import commands_page
import exceptions_page
import lists_page
import tables_page
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PAGES = {
    "commands.md": commands_page.page,
    "tables.md": tables_page.page,
    "lists.md": lists_page.page,
    "exceptions.md": exceptions_page.page,
    "api.md": api_page.page,
    "interfaces.md": api_page.extensions_page,
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages: https://www.mkdocs.org/dev-guide/plugins/#on_files."""
    for name, content in PAGES.items():
        files.append(File.generated(config, name, content=content()))
    return files
