"""The data card of an export: what it holds, how it was made, what it does not say, how to cite it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from polyculture.cache.store.manifest import Manifest
from polyculture.cache.text.sanitize import replace_control_chars
from polyculture.reports.export.asked import RunContents
from polyculture.reports.export.front_matter import front_matter
from polyculture.reports.export.redaction import Redaction
from polyculture.reports.export.tables import ExportedTable

_OWN = Path(__file__).parent


def data_card(
    manifest: Manifest, about: RunContents, tables: Sequence[ExportedTable], redaction: Redaction, licence: str | None
) -> str:
    """The card as Markdown, with front matter for data hubs.

    `about` gives the description and the citation; `licence` is what the publisher says of the whole, None
    where nobody did.
    """
    # Markdown, not HTML: what could end a table's cell is escaped by the filter.
    environment = Environment(  # noqa: S701
        loader=FileSystemLoader(_OWN), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["cell"] = _cell
    plain: dict[str, Any] = redaction.plain({**manifest.model_dump(), "extractor": manifest.extractor})
    kept = [table for table in tables if table.left_out is None]
    left = [table for table in tables if table.left_out is not None]
    text = environment.get_template("card.md.jinja").render(
        asked=plain, about=about, tables=kept, left_out=left, licence=licence
    )
    # What a server calls its model stands there: no terminal that shows the card is to obey it.
    front = front_matter(plain["experiment"], licence, manifest.languages_asked, kept)
    return replace_control_chars(f"{front}\n\n{text.rstrip()}") + "\n"


def _cell(value: object) -> str:
    """A value as one line of Markdown: no line breaks, no bars, no tags."""
    text = " ".join(str(value).split())
    for sign in "\\`|<>[]*_":
        text = text.replace(sign, f"\\{sign}")
    return text
