"""The front matter of the data card: what data hubs read of it, so that their viewers show the tables.

Keys and values are those of the hub of Hugging Face, which `datasets.load_dataset` reads, too:
https://huggingface.co/docs/hub/datasets-cards and https://huggingface.co/docs/hub/datasets-manual-configuration
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from polyculture.reports.export.croissant import file_name
from polyculture.reports.export.tables import ExportedTable

FIRST = "numbers"  # the table that a hub shows first
# Licences of data that the hub knows by a name, which is that of SPDX but for its capital letters, and for these.
_KNOWN = re.compile(
    r"cc0-1\.0|cc-by(-nc)?(-sa|-nd)?-(2\.0|2\.5|3\.0|4\.0)|cdla-(permissive-[12]\.0|sharing-1\.0)|mit|apache-2\.0|gfdl"
)
_OTHER_NAMES = {"odbl-1.0": "odbl", "odc-by-1.0": "odc-by", "pddl-1.0": "pddl"}
OTHER = "other"


def front_matter(name: str, licence: str | None, languages: Sequence[str], tables: Sequence[ExportedTable]) -> str:
    """The front matter as YAML, each table a config of its own. Strings are those of JSON, which YAML contains."""
    return "\n".join(["---", *_lines(name, licence, languages, tables), "---"])


def _lines(name: str, licence: str | None, languages: Sequence[str], tables: Sequence[ExportedTable]) -> Iterator[str]:
    yield f"pretty_name: {_text(name)}"
    if licence is not None:
        known = hub_licence(licence)
        yield f"license: {known}"
        if known == OTHER:
            yield f"license_name: {_text(licence)}"
    if languages:  # the hub knows a language, and lists its variants by another key
        yield from _listed("language", dict.fromkeys(code.partition("-")[0] for code in languages))
        yield from _listed("language_bcp47", [_variant(code) for code in languages if "-" in code])
    if tables:
        yield "configs:"
    first = FIRST if any(table.name == FIRST for table in tables) else tables[0].name if tables else ""
    for table in tables:
        yield f"- config_name: {table.name}"
        yield f"  data_files: {file_name(table.name)}"
        if table.name == first:
            yield "  default: true"


def hub_licence(licence: str) -> str:
    """The hub's name of a licence; 'other' where it has none that is known here."""
    folded = licence.strip().lower()
    named = _OTHER_NAMES.get(folded, folded)
    return named if named in _OTHER_NAMES.values() or _KNOWN.fullmatch(named) else OTHER


def _variant(code: str) -> str:
    """'zh-TW' of 'zh-tw'."""
    language, *parts = code.split("-")
    return "-".join([language, *(part.upper() if len(part) == 2 else part.title() for part in parts)])


def _listed(key: str, values: Sequence[str] | dict[str, None]) -> Iterator[str]:
    if values:
        yield f"{key}:"
        yield from (f"- {_text(value)}" for value in values)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
