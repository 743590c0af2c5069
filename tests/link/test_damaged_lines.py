"""The reader of dumps skips what linking does not need; a parser of whole lines is its oracle."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from polyculture.link.entity import NotAnItemError
from polyculture.link.entity_json import Rows

LANGUAGES = ["en", "ja", "tr", "zh", "zh-hant"]
WHOLE, DAMAGED = 1_000, 4_000
# What people write in names, and what a dump's text is made of.
PIECES = [
    b'"',
    b"\\",
    b"{}",
    b"[]",
    b",",
    b":",
    b"0",
    b"Q1",
    b"e",
    b"\\u0130",
    b"\\ud83c\\udf5c",
    b"\\ud83c",
    b"\\/",
    b"\xff",
]
PIECES += [b"\x00", b" ", b"\t", b"null", b'"en":', b'"rank":"preferred",', b'"labels":{},', b"\n", b"\xe3\x83\xa9"]


def entity(number: int, rng: random.Random) -> dict[str, Any]:
    """An item as Wikidata writes it, with names that need every rule."""
    names = [
        "ramen",
        "Rāmen",
        "I-Ⅸ  İstanbul",
        "拉麵",
        "ラーメン",
        "'-'",
        '"quoted"',
        "a/b",
        "Ünï code",
        "\u200b",
        "x\ny",
        "🍜",
        " two  blanks ",
    ]
    texts = {code: {"language": code, "value": rng.choice(names)} for code in rng.sample([*LANGUAGES, "pl"], 4)}
    aliases = {
        code: [{"language": code, "value": name} for name in rng.choices(names, k=rng.randint(1, 4))]
        for code in rng.sample([*LANGUAGES, "pl"], 3)
    }
    claims = {
        name: [_statement(name, rng) for _ in range(rng.randint(1, 3))]
        for name in rng.sample(["P31", "P279", "P495", "P18"], 2)
    }
    links = {
        site: {"site": site, "title": "Ramen", "badges": []} for site in rng.sample(["enwiki", "jawiki", "dewiki"], 2)
    }
    return {
        "type": "item", "id": f"Q{number}", "labels": texts, "descriptions": rng.choice([texts, {}, []]),
        "aliases": rng.choice([aliases, []]), "claims": rng.choice([claims, []]), "sitelinks": rng.choice([links, {}]),
        "pageid": 1.5e-3, "lastrevid": rng.randint(1, 10**9), "modified": f"20{rng.randint(10, 26)}-01-02T03:04:05Z",
    }  # fmt: skip


def _statement(name: str, rng: random.Random) -> dict[str, Any]:
    target = rng.choice([5, 746549, 999_999_999])
    value = {"entity-type": "item", "numeric-id": target, "id": f"Q{target}"}
    snak = {
        "snaktype": "value",
        "property": name,
        "hash": "ab",
        "datavalue": {"value": value, "type": "wikibase-entityid"},
    }
    if rng.random() < 0.1:
        snak = {"snaktype": "somevalue", "property": name, "hash": "ab"}
    rank = rng.choice(["normal", "normal", "preferred", "deprecated"])
    return {"mainsnak": {**snak, "datatype": "wikibase-item"}, "type": "statement", "id": "x$1", "rank": rank}


def line(of: Any, rng: random.Random) -> bytes:
    """The JSON as PHP writes it, or with letters unescaped."""
    return json.dumps(of, ensure_ascii=rng.random() < 0.5, separators=(",", ":")).encode()


def damaged(text: bytes, rng: random.Random) -> bytes:
    """The text with a piece inserted, deleted or repeated."""
    start = rng.randrange(len(text))
    end = min(len(text), start + rng.choice([0, 1, 1, 5, 30]))
    return text[:start] + rng.choice([b"", *PIECES, text[start:end] * 2, text[: rng.randrange(60)]]) + text[end:]


def result_of(add: Callable[[Rows], None]) -> str:
    """What becomes of a line."""
    try:
        add(Rows(LANGUAGES))
    except NotAnItemError:
        return "skipped"
    except ValueError:
        return "broken"
    return "item"


def test_the_reader_gives_the_rows_of_the_whole_line_also_of_damaged_ones() -> None:
    rng = random.Random(2)
    whole = [line(entity(number, rng), rng) for number in range(1, WHOLE)]
    broken = [damaged(line(entity(number, rng), rng), rng) for number in range(WHOLE, WHOLE + DAMAGED)]
    read, parsed = Rows(LANGUAGES), Rows(LANGUAGES)
    seen: Counter[tuple[str, str]] = Counter()
    for text in [*whole, *broken]:
        results = (
            result_of(lambda rows, text=text: rows.add_json(text)),
            result_of(lambda rows, text=text: rows.add(msgspec.json.decode(text))),
        )
        seen[results] += 1
        if results[1] == "item":
            read.add_json(text)
            parsed.add(msgspec.json.decode(text))
    # Damage in texts of other languages is skipped unread; no other difference is allowed.
    assert set(seen) == {("item", "item"), ("broken", "broken"), ("skipped", "skipped"), ("item", "broken")}
    assert seen["item", "item"] > WHOLE
    # Once for all lines: the keys of names are made of a language's rules, which are compiled for each table.
    for (name, rows), expected in zip(read.tables().items(), parsed.tables().values(), strict=True):
        assert rows.equals(expected), name
