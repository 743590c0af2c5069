"""What a snapshot keeps of the topics' scopes: the classes below their roots, and the items that reach them.

Both follow from the claims and from the rules of a scope. A snapshot names each scope by its rules (`rules_id`): with
topics of one's own, or rules of another version, linking climbs the classes itself, to the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping

import duckdb

from polyculture.cache.catalog import read_catalog
from polyculture.link.ontology import Ontology
from polyculture.link.statements import statement

TABLES = ("scope_classes", "scope_members")


def keep_scopes(connection: duckdb.DuckDBPyConnection) -> Mapping[str, int]:
    """Creates `TABLES` in the attached database `snapshot`, of the built-in topics; returns their scopes by rules."""
    connection.execute("CREATE SCHEMA wikidata")
    for table in ("items", "claims"):
        connection.execute(f"CREATE VIEW wikidata.{table} AS FROM snapshot.{table}")
    catalog = read_catalog()
    ontology = Ontology(connection, catalog, catalog.topics)
    ontology.expand_classes()
    ontology.find_members()
    connection.execute(statement("keep_scopes"))
    return ontology.numbers
