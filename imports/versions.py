"""Versions of one file in a run: what is there of it already, and whether a later one would count a text twice."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import UserError
from polyculture.cache.identity import content_id
from polyculture.cache.schema import ImportedFile
from polyculture.imports.mapping import PARTS, Columns
from polyculture.imports.record import BadRow, shown
from polyculture.imports.shapes import Source
from polyculture.imports.survey import texts_of
from polyculture.imports.text import ImportedText

_MOST_TOLD = 5  # ids in a message
_KEY_DIGITS = 16  # of the 24 of an id


def there(same: ImportedFile | None, earlier: ImportedFile) -> str:
    """What the run has of a file: the `same` by other columns, or an `earlier` version."""
    if same is not None:
        return f"was imported on {same.imported_at} by other columns ({same.texts} texts)"
    return f"has changed since a file of this name was imported on {earlier.imported_at} ({earlier.texts} texts)"


def check_versions(
    earlier: Sequence[ImportedFile], source: Source, columns: Columns, catalog: Catalog, known: Collection[str]
) -> None:
    """Raises `UserError` where a later version of a file would count a text of an earlier one a second time;
    `known` are the ids of the run's texts."""
    path = source.path
    remedy = "Take this version in place of the earlier ones: --again replace. If it is another file, rename it."
    if len({_has_ids(columns.stored), *(_has_ids(json.loads(file.columns)) for file in earlier)}) > 1:
        what = "its rows are known by ids in one version and by their words in another, so each would count twice"
        raise UserError(what, where=path, remedy=remedy)
    keys = {response_id[:_KEY_DIGITS] for response_id in known}
    changed = [
        one[1].key
        for one in texts_of(source, columns, catalog)
        if not isinstance(one, BadRow)
        and one[1].key is not None
        and (response_id := keyed_id(path.name, one[1])) not in known
        and response_id[:_KEY_DIGITS] in keys
    ]
    if changed:
        most = ", ".join(map(shown, changed[:_MOST_TOLD])) + (", ..." if len(changed) > _MOST_TOLD else "")
        what = f"{len(changed)} ids have another text than in the earlier version, and would count twice: {most}"
        raise UserError(what, where=path, remedy=remedy)


def keyed_id(name: str, text: ImportedText) -> str:
    """The id of a text with a key: its first digits are the key's, so that another text of one key shows."""
    key = content_id("imported", name, *text.cell, "key", text.key)
    return key[:_KEY_DIGITS] + content_id(text.text)[_KEY_DIGITS:]


def _has_ids(stored: dict[str, str]) -> bool:
    return "id" in stored or "(?P<id>" in stored.get(PARTS, "")
