"""The names of items in the forms that mentions are compared with: spelled loosely, without articles or brackets.

A snapshot knows from its building on which items have a name of which loose form (`loose_names`), so that a few
mentions cost a look at a few items. A source without that table, or with one of other rules, gets it while it links,
for the items of the topics.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import duckdb

from polyculture.cache.identity import content_id
from polyculture.cache.inflection import ALL, Rule, inflection_of_names, inflections
from polyculture.link.normalise import NORMALISATION
from polyculture.link.statements import statement

if TYPE_CHECKING:
    from polyculture.link.index.source import IndexSource

STATEMENTS = ("loose", "name_forms", "names_without_article", "names_otherwise", "loose_names")


@cache
def loose_names_version() -> str:
    """A hash of all that decides the rows of `loose_names`, DuckDB's function `hash` among it."""
    rules = {code: [own.get("articles"), own.get("names")] for code, own in inflections().items()}
    return content_id(NORMALISATION, duckdb.__version__, [statement(name) for name in STATEMENTS], rules)


def create_name_forms(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the view `name_forms` of the names in `named`, which has the columns of the table `names`."""
    connection.execute(statement("name_forms"))
    rules: list[tuple[str, Rule]] = [("", rule) for rule in inflections()[ALL]["names"]]
    for (code,) in connection.execute("SELECT DISTINCT language FROM named ORDER BY language").fetchall():
        inflection = inflection_of_names(code)
        if articles := inflection.get("articles"):
            connection.execute(statement("names_without_article"), {"language": code, "articles": articles})
        rules += [(code, rule) for rule in inflection.get("names", [])]
    for code, (pattern, other) in rules:
        params = {"language": code, "pattern": pattern, "other": other}
        connection.execute(statement("names_otherwise"), params)


def load_loose_names(connection: duckdb.DuckDBPyConnection, source: IndexSource) -> None:
    """Creates `loose_names`: a view of the source's, else a table for the items of the topics."""
    if source.loose_names == loose_names_version():
        connection.execute("CREATE VIEW loose_names AS FROM wikidata.loose_names")
        return
    connection.execute("CREATE TABLE named_items AS FROM topic_items")
    connection.execute(statement("named"))
    create_name_forms(connection)
    connection.execute(statement("loose_names"))
