"""The page on which a speaker of a language reviews its prompts: one file without a network, which saves a sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from markupsafe import Markup

from polyculture.cache.catalog import Catalog, Language
from polyculture.cache.identity import content_id
from polyculture.reports.names import Names
from polyculture.reports.page import page_environment, script_hash
from polyculture.reports.template_origin import template_origin

FOLDER = Path(__file__).parent
# What a saved sheet has besides: its judge, whatever its file is called by then, and what nobody answered.
_SAVED = ("judge", "unanswered")


def review_page(
    rows: Sequence[Mapping[str, str]], questions: Sequence[Sequence[str]], language: Language, catalog: Catalog
) -> str:
    """The page with the rows of a language's sheet, one a step; `questions` are the verdicts that each row asks for."""
    data = {
        "id": content_id(*(row["id"] for row in rows)),
        "language": language.code,
        "columns": [*rows[0], *_SAVED],
        "rows": rows,
    }
    script = (FOLDER / "review_page.js").read_text(encoding="utf-8")
    style = "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("report.css", "review_page.css"))
    return (
        page_environment()
        .get_template("review_page.html.jinja")
        .render(
            rows=rows,
            questions=questions,
            language=language,
            names=Names(catalog, ()),
            by_language_models=all(_is_built_in(row, language, catalog) for row in rows),
            data=_json(data),
            style=Markup(style),  # noqa: S704  our own files
            script=Markup(script),  # noqa: S704  our own file
            script_hash=script_hash(script),
        )
    )


def _is_built_in(row: Mapping[str, str], language: Language, catalog: Catalog) -> bool:
    """Whether the row's template is one of Polyculture's own, all of which language models wrote."""
    template = {"template_id": row["id"], "language": language.code, "topic": row["topic"]}
    return template_origin(template, catalog) == "ours"


def _json(data: Any) -> Markup:
    """JSON within a script's tags, which no text of a pack can close."""
    return Markup(orjson.dumps(data).decode().replace("<", "\\u003c"))  # noqa: S704  no markup is left
