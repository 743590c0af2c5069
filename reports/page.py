"""Renders the page: one HTML file that needs nothing else, the same bytes for the same contexts."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import (
    ChoiceLoader,
    Environment,
    FileSystemBytecodeCache,
    FileSystemLoader,
    FunctionLoader,
    StrictUndefined,
    UndefinedError,
)
from jinja2.environment import TemplateModule
from markupsafe import Markup

from polyculture.cache.errors import UserError
from polyculture.cache.files import cache_folder
from polyculture.reports.building import BuiltSection
from polyculture.reports.escaping import packed, table_link
from polyculture.reports.findings import FIRST
from polyculture.reports.opening import opening
from polyculture.reports.section import ReportData, ReportTable
from polyculture.reports.sections import ASKED_ABOUT

_FOLDER = Path(__file__).parent
_SCRIPT = (
    "state",
    "words",
    "parts",
    "filters",
    "table",
    "detail",
    "folds",
    "address",
    "figures",
    "scope",
    "heads",
    "countries",
    "start",
)


@dataclass(frozen=True, slots=True)
class Download:
    """A table for the template: its CSV as an address, and the SQL that gives its rows."""

    name: str
    csv: str
    sql: str


@dataclass(frozen=True, slots=True)
class RenderedSection:
    """A section as HTML, and its sentences for the opening; these are empty where the template has none."""

    name: str
    title: str
    asks: str
    open: bool  # it stands open when the page is opened
    body: Markup
    opening: Markup
    basis: Markup


class _UndefinedName(StrictUndefined):
    """What a template names and nobody wrote; the template has only words of a section in dictionaries."""

    @property
    def _undefined_message(self) -> str:
        if isinstance(self._undefined_obj, Mapping):
            return f"no word `{self._undefined_name}`"
        return super()._undefined_message


def render_page(
    data: ReportData,
    sections: Sequence[BuiltSection],
    evidence: Mapping[str, Any],
    begins: object = None,
    header: str = "opening.html.jinja",
) -> str:
    """The page with its opening, navigation and sections; `evidence` is the data of its script.

    The opening is the report's, or what another template makes of the context `begins`: it has a `title`, the
    `manifest` and the `names` of the report.
    """
    environment = page_environment()
    rendered = [_render_section(environment, built, data) for built in sections]
    script = _script()
    start = opening(data) if begins is None else None
    return environment.get_template("report.html.jinja").render(
        opening=start if begins is None else begins,
        header=header,
        first_findings=FIRST,
        picture_table=_download(ASKED_ABOUT, data) if start is not None and start.picture else None,
        sections=rendered,
        evidence=packed(evidence),
        style=Markup((_FOLDER / "report.css").read_text(encoding="utf-8")),  # noqa: S704  our own file
        script=Markup(script),  # noqa: S704  our own file
        script_hash=script_hash(script),
    )


def script_hash(script: str) -> str:
    """The hash by which a page's own policy lets a script of it run, and no other."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache  # the compiled templates are kept, here and on disk: to compile takes longer than to render a small page
def page_environment() -> Environment:
    """Templates of `templates/` by name, those of sections by path; every value is escaped."""
    kept = cache_folder() / "templates"
    with suppress(OSError):
        kept.mkdir(parents=True, exist_ok=True)
    return Environment(
        bytecode_cache=FileSystemBytecodeCache(str(kept)) if os.access(kept, os.W_OK) else None,
        loader=ChoiceLoader([FileSystemLoader(_FOLDER / "templates"), FunctionLoader(_load)]),
        autoescape=True,
        undefined=_UndefinedName,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _load(path: str) -> tuple[str, str, None] | None:
    file = Path(path)
    return (file.read_text(encoding="utf-8"), path, None) if file.is_file() else None


def _render_section(environment: Environment, built: BuiltSection, data: ReportData) -> RenderedSection:
    tables = {table.name: _download(table, data) for table in built.section.tables}
    template = environment.get_template(str(built.section.template))
    try:
        module = template.make_module({"section": built.context, "texts": built.texts, "tables": tables})
    except UndefinedError as error:
        own = built.section
        raise UserError(
            f"the section `{own.name}` shows what is not there: {error.message}",
            where=own.template,
            remedy=f"It sees what the section's function builds, its tables, and its words in {own.texts}",
        ) from error
    sentences = (_macro(module, name) for name in ("opening", "basis"))
    stands_open = built.section.first or not data.about_texts
    said = (built.texts.title, built.texts.asks)
    return RenderedSection(built.section.name, *said, stands_open, module.__html__(), *sentences)


def _macro(module: TemplateModule, name: str) -> Markup:
    """The output of a template's macro; empty where there is none of this name."""
    macro = getattr(module, name, None)
    return macro() if macro else Markup()


def _download(table: ReportTable, data: ReportData) -> Download:
    return Download(table.name, table_link(data.frame(table)), table.sql)


def _script() -> str:
    """The page's script: the files of `script/`, in one scope of their own."""
    files = [(_FOLDER / "script" / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPT]
    return "\n".join(['"use strict";', "(() => {", *files, "})();"])
