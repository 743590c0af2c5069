"""The strip of trust: on one line, what the numbers of the page rest on, and where they are weakest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyculture.cache.store.manifest import Manifest
from polyculture.metrics.limits import PUBLISHED, STARTER, by_construction
from polyculture.reports.figures.style import plain
from polyculture.reports.headline import totals
from polyculture.reports.names import Names, short_name
from polyculture.reports.numbers import FEWEST, Rows, count, share

_SHARES = (
    ("Without an item", "unlinked", "mentions", "of mentions"),
    ("Off-language", "off_language", "answered", "of texts"),
    ("Copies", "copies", "texts", "of texts, each counted once"),
    ("Cut", "cut", "answered", "of texts, at the token limit"),
    ("Refused", "refused", "asked", "of what was asked"),
)
_LONGEST = 24  # letters of a name in the strip
_HASH = re.compile(r"[-_.]?[0-9a-f]{12,}")


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of the strip."""

    name: str
    value: str
    says: str


def trust(
    health: Rows, countryless: Rows, thin: Sequence[Mapping[Any, Any]], manifest: Manifest, names: Names
) -> tuple[Fact, ...]:
    """The facts, from the rows of the tables of these names; a share of nothing is left out."""
    whole = totals(health)
    found = [
        Fact(name, said, _worst(part, of, _what(part, says, manifest), health, names))
        for name, part, of, says in _SHARES
        if (said := share(whole.get(part, 0), whole.get(of, 0)))
    ]
    unknown = whole.get("unrecorded_ending", 0)
    if unknown > whole.get(
        "cut", 0
    ):  # the share would be that of texts whose end is known, and it is not known of most
        all_of = f"for {count(unknown)} of {count(whole['answered'])} texts no reason is recorded why they ended"
        found = [Fact("Cut", "not known", all_of) if fact.name == "Cut" else fact for fact in found]
    found = [_refused(fact, whole) if fact.name == "Refused" else fact for fact in found]
    thinnest = [_thinnest(thin, names)] if whole.get("linked") else []
    return (*found, *_without_country(countryless, names), *thinnest, *_readers(manifest))


def _refused(fact: Fact, whole: Mapping[str, int]) -> Fact:
    """The share of refusals among the texts of which somebody knows whether they decline."""
    unknown = whole.get("unchecked", 0)
    if not unknown:
        return fact
    known = whole["asked"] - unknown
    says = f"for {count(unknown)} of {count(whole['answered'])} texts nobody knows whether they decline"
    if unknown > known:
        return Fact("Refused", "not known", says)
    return Fact("Refused", share(whole["refused"], known) or "not known", f"of the others; {says}")


def _without_country(countryless: Rows, names: Names) -> list[Fact]:
    """Of how many different items of each topic no country is known, and the topic with the largest share."""
    items, without = (sum(row[name] for row in countryless) for name in ("items", "without_country"))
    if (said := share(without, items)) is None:
        return []
    worst = max(countryless, key=lambda row: row["without_country"] / row["items"])
    where = f"{count(worst['without_country'])} of {count(worst['items'])} in {names.topic(worst['topic'])}"
    return [Fact("Without a country", said, f"of different items; {where}")]


def _what(part: str, says: str, manifest: Manifest) -> str:
    if part == "refused" and manifest.imported:  # what was asked and did not come, nobody knows
        return "of texts"
    return f"{says}, by construction" if part == "unlinked" and by_construction(manifest) else says


def _worst(part: str, of: str, says: str, health: Rows, names: Names) -> str:
    """What it is a share of, and where that is highest."""
    rows = [row for row in health if row[of]]
    if len({share(row[part], row[of]) for row in rows}) < 2:
        return says
    row = max(rows, key=lambda row: row[part] / row[of])
    model = f", {names.model(row['model'])}" if len(names.models) > 1 else ""
    return f"{says}; {share(row[part], row[of])} in {names.language(row['language'])}{model}"


def _thinnest(thin: Sequence[Mapping[Any, Any]], names: Names) -> Fact:
    if not thin:
        return Fact("Thinnest number", f"≥ {FEWEST}", "linked items under every number of the figures")
    row = min(thin, key=lambda row: int(row["incidences"]))
    items = int(row["incidences"])
    where = names.place(row, "country", "condition", "model")
    says = f"linked {'item' if items == 1 else 'items'}: {where}; {count(len(thin))} below {FEWEST}"
    return Fact("Thinnest number", count(items), says)


def _readers(manifest: Manifest) -> list[Fact]:
    """Who found the mentions, and what they were linked to."""
    extractor = plain(short_name(str(manifest.extractor.get("with") or "")), _LONGEST)
    source = manifest.snapshot.get("source")
    kind = source.get("kind") if isinstance(source, Mapping) else None
    file = manifest.snapshot.get("snapshot") or manifest.snapshot.get("name")
    # Files of snapshots are named by their hashes, which say nothing here; Method has the whole name.
    stem = _HASH.sub("", Path(str(file)).stem) if file else ""
    name = plain(str((STARTER if kind == STARTER else stem) or kind or manifest.linker.get("source") or ""), _LONGEST)
    when = str(manifest.snapshot.get("made") or manifest.snapshot.get("modified") or "")[:10]
    facts = [Fact("Extractor", extractor, "found the mentions")] if extractor else []
    if manifest.extractor.get("with") == PUBLISHED:
        facts = [Fact("Extractor", "none here", "the mentions came with the texts")]
    return facts + ([Fact("Snapshot", name, f"of Wikidata{', ' + when if when else ''}")] if name else [])
