"""Does the live service give the links that an index gives? The same mentions through both, over the same items.

    python -m bench.linking_sources [--snapshot FILE] [--data FOLDER] [--each 12] [--half 0|1] [--unequal FILE]
                                     [--language en]

The service is a server on this machine that speaks the API's protocol and folds no more than Wikidata's search surely
does. Mentions are labels of the slice as they stand, as people spell them (without blanks, dots, accents; with other
letters), inflected and in phrases, and the hard cases. Nothing is matched fuzzily: no service lists all names.
--half takes the mentions of every other item: rules are chosen on one half and reported on the other.
"""

from __future__ import annotations

import argparse
import csv
import re
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from bench.linking_accuracy import DATA, opened
from bench.linking_forms import Taken, in_phrases, inflected
from bench.linking_sets import Name, hard_cases, labels
from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cli.tables import print_table
from polyculture.link.api.client import ApiSettings
from polyculture.link.api.source import ApiSource
from polyculture.link.audit.gold import counted_kinds
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.index.source import IndexSource
from polyculture.link.linker import Linker
from polyculture.link.rules import LinkRules
from tests.link_world import statement
from tests.wikidata_server import WikidataServer, as_wikidata

SMALLEST = ("--snapshot", "{snapshot}", "--each", "2", "--language", "ko")
EXACT = LinkRules(fuzzy_threshold=None)
QUERY = ("language", "topic", "kind", "surface")
LINK = ("status", "qid", "match", "matched")
EACH_FORM = 3  # of so many inflected forms and phrases one is asked, drawn by the item

# How people spell names: a pattern and its replacement.
SPELLINGS = {
    "joined": (r"(?<=\w)[ \-‐–·・]+(?=\w)", ""),
    "blank for a dot or hyphen": (r"(?<=\w)[\-‐–·・](?=\w)", " "),
    "hyphen for a blank": (r"(?<=\w) (?=\w)", "-"),
    "no apostrophe": (r"['’ʼ]", ""),
    "bare alef": (r"[أإآ]", "ا"),
    "heh for teh marbuta": (r"ة(?=\s|$)", "ه"),
    "Arabic yeh and kaf": (r"ی", "ي"),
    "no joiner": ("\u200c", ""),
    "no dot below": ("\u093c", ""),
    "no tone mark": ("[่-๋]", ""),
    "no final long vowel": (r"ー$", ""),
}
_KATAKANA = {code: code - 96 for code in range(ord("ァ"), ord("ヶ") + 1)}


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention, how it was made, and the item that it was made of."""

    language: str
    topic: str
    kind: str
    surface: str
    how: str
    item: int


def main() -> None:
    """Prints how many links are equal, by how the mention was made and by language, and what the others are."""
    given, catalog = _arguments(), read_catalog()
    with opened(given.snapshot, given.data, catalog) as snapshot:
        mentions = [
            one for one in dict.fromkeys(_mentions(snapshot, catalog, given)) if given.half in (None, one.item % 2)
        ]
        rows = pa.Table.from_pylist([{name: getattr(one, name) for name in QUERY} for one in mentions])
        index = _links(Linker(catalog, IndexSource(snapshot), EXACT).link(rows))
        entities = _entities(snapshot)
    began = time.monotonic()
    service, requests = _over_the_service(catalog, entities, rows)
    asked = {tuple(getattr(one, name) for name in QUERY): one for one in reversed(mentions)}
    done = [(one, index[query], service[query]) for query, one in asked.items()]
    _print(done, "how the mention is spelled", "how")
    _print(done, "language", "language")
    differs = Counter(difference(one, other) for _, one, other in done)
    print_table(
        ("over the service", "mentions"),
        differs.most_common(),
        title=f"{requests:,} requests in all, {time.monotonic() - began:.0f} s",
    )
    if given.unequal:
        _write(given.unequal, done)


def difference(index: Mapping[str, Any], service: Mapping[str, Any]) -> str:
    """How a link over the service differs from the one over an index."""
    if all(index[name] == service[name] for name in LINK):
        return "the same link"
    if index["qid"] == service["qid"]:
        return "the same item, " + (
            "found by another name" if index["status"] == service["status"] else "another status"
        )
    return (
        "no link" if service["qid"] is None else "another item" if index["qid"] else "a link where the index has none"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--snapshot", type=Path, help="an index of the items; of the slice, built where not given")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real data")
    parser.add_argument("--each", type=int, default=12, help="labels of a kind in a language (default: 12)")
    parser.add_argument("--half", type=int, choices=(0, 1), help="mentions of even or odd items alone")
    parser.add_argument("--language", nargs="*", help="default: all")
    parser.add_argument("--unequal", type=Path, help="where to write the unequal links, tab-separated")
    return parser.parse_args()


def _mentions(snapshot: Snapshot, catalog: Catalog, given: argparse.Namespace) -> Iterator[Mention]:
    names, taken = labels(snapshot, catalog, given.each, given.language), Taken(snapshot, catalog)
    for name in names:
        yield _mention(name, name.text, "as it stands")
        for how, text in _spelled(name.text):
            yield _mention(name, text, how)
    chosen = [name for name in names if (name.item // 2) % EACH_FORM == 0]
    for one in [*inflected(chosen, taken), *in_phrases(chosen, taken)[:1]]:
        for gold in one.gold:
            how = one.name.split()[0]
            yield Mention(gold.language, gold.topic, gold.kind or "", gold.mention, how, int(gold.expected[0][1:]))
    for gold in hard_cases(catalog, "slice").gold:
        if not given.language or gold.language in given.language:
            for kind in [gold.kind] if gold.kind else counted_kinds(catalog.topic(gold.topic)):
                item = int(gold.expected[0][1:]) if gold.expected else len(gold.mention)
                yield Mention(gold.language, gold.topic, kind, gold.mention, "hard case", item)


def _mention(name: Name, text: str, how: str) -> Mention:
    return Mention(name.language, name.topic, name.kind, text, how, name.item)


def _spelled(text: str) -> Iterator[tuple[str, str]]:
    others = {how: re.sub(pattern, other, text) for how, (pattern, other) in SPELLINGS.items()}
    others["lower case"] = text.lower()
    others["hiragana"] = text.translate(_KATAKANA)
    letters = unicodedata.normalize("NFD", text)
    if re.match(r"[A-Za-z]", letters):
        others["no accents"] = "".join(letter for letter in letters if not unicodedata.combining(letter))
    yield from ((how, other) for how, other in others.items() if other != text and len(other) > 1)


def _entities(snapshot: Snapshot) -> list[dict[str, Any]]:
    """The items of a snapshot, as the service gives them."""
    with duckdb.connect(str(snapshot.path), read_only=True) as connection:
        items: dict[int, dict[str, Any]] = {
            item: {"type": "item", "id": f"Q{item}", "labels": {}, "aliases": {}, "descriptions": {}, "claims": {}}
            | {"sitelinks": {f"s{number}wiki": {} for number in range(sitelinks)}}
            for item, sitelinks in connection.execute("SELECT item, sitelinks FROM items").fetchall()
        }
        for item, code, name, kind in connection.execute("SELECT item, language, name, kind FROM names").fetchall():
            value = {"language": code, "value": name}
            if kind == "label":
                items[item]["labels"][code] = value
            else:
                items[item]["aliases"].setdefault(code, []).append(value)
        for item, code, target in connection.execute("SELECT item, property, target FROM claims").fetchall():
            items[item]["claims"].setdefault(code, []).append(statement(f"Q{target}"))
    return list(items.values())


def _over_the_service(
    catalog: Catalog, entities: Sequence[Mapping[str, Any]], rows: pa.Table
) -> tuple[dict[tuple[str, ...], dict[str, Any]], int]:
    with WikidataServer(entities, folding=as_wikidata) as server, tempfile.TemporaryDirectory() as folder:
        settings = ApiSettings("bench@example.org", server.url, requests_per_minute=1e9, connections=2)
        source = ApiSource(settings, Path(folder) / "c.sqlite", catalog.label_languages)
        return _links(Linker(catalog, source, EXACT).link(rows)), source.requests


def _links(tables: Mapping[str, pa.Table]) -> dict[tuple[str, ...], dict[str, Any]]:
    return {tuple(row[name] for name in QUERY): row for row in tables["links"].to_pylist()}


def _print(done: Sequence[tuple[Mention, dict[str, Any], dict[str, Any]]], title: str, by: str) -> None:
    found: dict[str, Counter[str]] = {}
    for mention, index, service in done:
        counts = found.setdefault(getattr(mention, by), Counter())
        counts["mentions"] += 1
        counts["linked"] += index["qid"] is not None
        counts[difference(index, service)] += 1
    columns = ("mentions", "linked", "the same link", "no link")
    lines = [(key, *(counts[name] for name in columns)) for key, counts in found.items()]
    print_table((title, "mentions", "with an item in the index", "the same link", "no link over the service"), lines)


def _write(file: Path, done: Sequence[tuple[Mention, dict[str, Any], dict[str, Any]]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, delimiter="\t")
        writer.writerow(["difference", "how", *QUERY, *(f"index {name}" for name in LINK), *LINK])
        for mention, index, service in done:
            if (why := difference(index, service)) != "the same link":
                query = [getattr(mention, name) for name in QUERY]
                writer.writerow([why, mention.how, *query, *(index[n] for n in LINK), *(service[n] for n in LINK)])


if __name__ == "__main__":
    main()
