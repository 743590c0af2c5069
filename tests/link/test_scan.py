"""The compiled reader of large dumps: the same rows as the reader of all others, whatever stands in a line."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

from polyculture.link.dumps.build import BuildSettings, build_index
from polyculture.link.dumps.columns import Scanner
from polyculture.link.dumps.ingest import Intake, take_lines
from polyculture.link.entity_json import Rows
from tests.link_world import CLASSES, item, write_dump

LANGUAGES = ["en", "ja", "tr", "zh", "zh-hant"]
DAMAGED = 3_000
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
    """As PHP writes it, or with its letters as they are."""
    return json.dumps(of, ensure_ascii=rng.random() < 0.5, separators=(",", ":")).encode()


def damaged(text: bytes, rng: random.Random) -> bytes:
    """With a piece too much, too little, or twice."""
    start = rng.randrange(len(text))
    end = min(len(text), start + rng.choice([0, 1, 1, 5, 30]))
    return text[:start] + rng.choice([b"", *PIECES, text[start:end] * 2, text[: rng.randrange(60)]]) + text[end:]


def read(text: bytes, scanner: Scanner | None = None) -> tuple[dict[str, list[Any]], Intake]:
    """The rows of all tables, sorted, and what became of the lines."""
    rows, intake = Rows(LANGUAGES), Intake()
    lines, tables = list(enumerate(io.BytesIO(text))), []
    if scanner:
        columns = scanner.read(text)
        lines, tables = columns.left, [columns.tables]
        intake.add(Intake(items=columns.items, modified=columns.modified))
    intake.add(take_lines(lines, rows))
    tables.append(rows.tables())
    return {name: _sorted(name, tables) for name in rows.tables()}, intake


def _sorted(name: str, tables: list[Any]) -> list[Any]:
    return sorted(map(str, (row for some in tables if name in some for row in some[name].to_pylist())))


@pytest.fixture(scope="module")
def scanner() -> Scanner:
    return Scanner(LANGUAGES)


def test_whole_items_are_read_without_the_other_reader(scanner: Scanner) -> None:
    rng = random.Random(1)
    text = b"".join(line(entity(number, rng), rng) + b",\n" for number in range(1, 400))
    found, intake = read(text, scanner)
    assert (found, intake) == read(text)
    assert intake.items == 399
    # Statements without a value are left to the other reader.
    assert 0 < len(scanner.read(text).left) < 100


def test_names_of_any_letters_are_folded_as_by_the_other_reader(scanner: Scanner) -> None:
    rng = random.Random(4)
    near = [*"aIiİı´'-= \t\n\u00a0", *map(chr, [*range(0x300, 0x370), *range(0x5D0, 0x700), *range(0x900, 0x980)])]
    near += map(chr, [*range(0xE01, 0xE5C), *range(0x1100, 0x1200), *range(0x2000, 0x2070), *range(0x3041, 0x3100)])

    def letter() -> str:
        code = rng.choice([rng.randrange(1, 0xD800), rng.randrange(0xE000, 0x20000)])
        return rng.choice([rng.choice(near), rng.choice("ab ñ"), chr(code)])

    names = ["".join(letter() for _ in range(rng.randint(1, 5))) for _ in range(30_000)]
    names += [chr(code) for code in range(1, 0x10000) if not 0xD800 <= code < 0xE000]
    text = b"".join(
        line(
            {"type": "item", "id": "Q1", "labels": {code: {"language": code, "value": name} for code in LANGUAGES}}, rng
        )
        + b"\n"
        for name in names
    )
    assert read(text, scanner) == read(text)


def test_damaged_lines_are_read_as_by_the_other_reader(scanner: Scanner) -> None:
    rng = random.Random(2)
    lines = [damaged(line(entity(number, rng), rng), rng) for number in range(1, DAMAGED)]
    for start in range(0, DAMAGED, 20):  # few at a time: a text that is no UTF-8 leaves all lines of its chunk
        text = b",\n".join(lines[start : start + 20])
        assert read(text, scanner) == read(text), text


def test_a_build_does_not_depend_on_the_reader(tmp_path: Path) -> None:
    rng = random.Random(3)
    entities = [entity(number, rng) for number in range(10, 200)]
    whole = write_dump(tmp_path / "dump.json", [*CLASSES, *entities, item("P31", "a property") | {"type": "property"}])
    text = whole.read_bytes().replace(b'"type":"item","id":"Q20"', b'"type":"item","id":"Q20', 1)
    (tmp_path / "dump.json").write_bytes(text)
    reports = [
        build_index(whole, tmp_path / f"{compiled}.duckdb", LANGUAGES, BuildSettings(workers=1, compiled=compiled))
        for compiled in (True, False)
    ]
    assert reports[0].snapshot.meta == reports[1].snapshot.meta
    assert reports[0].intake == reports[1].intake
    assert (reports[0].intake.broken, reports[0].intake.skipped) == (1, 1)
