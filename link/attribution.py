"""Creators beside a title: "Fearless by Pink Floyd" is not Taylor Swift's Fearless.

A title found within a mention whose rest names a creator is held against the item's own. Another creator: no link. An
item whose creators the snapshot lacks is `ambiguous`: nothing shows that this title of the name is meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import duckdb

from polyculture.cache.catalog import Catalog, Language
from polyculture.link.normalise import fold_of, normalise
from polyculture.link.statements import statement
from polyculture.link.within import NEVER, carriers_of, creator_patterns, patterns


def check_creators(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Drops titles within mentions from `found` whose creator is another; of unknown creators they are in doubt."""
    connection.execute(statement("titles_within"))
    codes = connection.table("titles_within").unique("language").order("language").fetchall()
    for language in (catalog.language(code) for (code,) in codes):
        if own := carriers_of(language):
            connection.execute(statement("told_creators"), _params(language, own))
    if len(connection.table("told_creators")):
        connection.execute(statement("check_creators"))


def _params(language: Language, own: Mapping[str, Any]) -> dict[str, Any]:
    known = patterns(language, own)
    chosen = {name: known[name] for name in ("language", "works_before", "works_after")}
    return (
        chosen | creator_patterns(language, own) | {"creator_follows": _joint_last(own["creator"]["after"], language)}
    )


def _joint_last(joints: list[str], language: Language) -> str:
    """A pattern of texts that end with a word after which a creator stands."""
    forms = normalise([joint for joint in joints if joint], fold_of(language.label_languages[0]))
    return rf"(?:^| )(?:{'|'.join(map(re.escape, forms))})$" if forms else NEVER
