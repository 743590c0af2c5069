"""Croissant metadata of an exported folder: its files with their hashes, its tables with typed columns.

Croissant (MLCommons, version 1.0) and not Frictionless: venues for data sets of machine learning ask for it, search
engines and hubs read it, and it describes Parquet files, which a table schema of Frictionless needs plug-ins for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any

from polyculture.reports.export.asked import RunContents
from polyculture.reports.export.tables import ExportedColumn, ExportedTable

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
_CONTEXT = Path(__file__).with_name("croissant_context.json")  # as the specification prints it, term by term
_PARQUET = "application/x-parquet"
_TYPES = {
    "VARCHAR": "sc:Text",
    "BOOLEAN": "sc:Boolean",
    "DOUBLE": "sc:Float",
    "FLOAT": "sc:Float",
    "DATE": "sc:Date",
    "TIMESTAMP": "sc:DateTime",
}


def croissant(
    name: str,
    asked: RunContents,
    version: str,
    tables: Sequence[ExportedTable],
    hashes: Mapping[str, str],
    licence: str | None,
    published: date,
    records: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """The metadata as JSON-LD. `asked` gives the description and the citation.

    `hashes` has the SHA-256 of each table's file, by the table's name; `records` that of each file of Every Eval Ever,
    by its path.
    """
    return {
        "@context": json.loads(_CONTEXT.read_text(encoding="utf-8")),
        "@type": "sc:Dataset",
        "name": name,
        "description": asked.description,
        "conformsTo": CONFORMS_TO,
        "version": version,
        "datePublished": published.isoformat(),
        "citeAs": asked.citation,
        **({"license": licence} if licence else {}),
        "distribution": [
            *(_file(file_name(table.name), _PARQUET, hashes[table.name]) for table in tables),
            *(_file(path, "application/json", sha256) for path, sha256 in records.items()),
        ],
        "recordSet": [_records(table) for table in tables],
    }


def file_name(table: str) -> str:
    """The file of a table in an exported folder."""
    return f"{table}.parquet"


def _file(path: str, form: str, sha256: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "encodingFormat": form,
        "sha256": sha256,
    }


def _records(table: ExportedTable) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.meaning,
        "field": [_field(table, column) for column in table.columns],
    }


def _field(table: ExportedTable, column: ExportedColumn) -> dict[str, Any]:
    listed = column.type.endswith("[]")
    plain = column.type.removesuffix("[]")
    kind = "sc:Integer" if "INT" in plain else _TYPES.get(plain.partition("(")[0], "sc:Text")
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{column.name}",
        "name": f"{table.name}/{column.name}",
        "description": column.meaning,
        "dataType": kind,
        **({"repeated": True} if listed else {}),
        "source": {"fileObject": {"@id": file_name(table.name)}, "extract": {"column": column.name}},
    }
