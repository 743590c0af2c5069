"""Gold mentions, whose item is known: a table of tab-separated values, described in `gold/README.md`.

The header names the columns: `mention`, `language`, `topic` and `expected` are required; `kind`, `name` and `english`
(what an extractor says of the mention: its dictionary form and English name) are optional; others are kept unchanged.
`expected` is a QID, several equally correct QIDs separated by `|`, or NIL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from polyculture.cache.catalog import Catalog, Topic
from polyculture.cache.errors import CatalogError, StoreError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.link.qid import number as item_number

HARD_CASES = Path(__file__).with_name("gold") / "hard.tsv"
NIL = "NIL"
REQUIRED = ("mention", "language", "topic", "expected")
KIND = "kind"
OPTIONAL = (KIND, "name", "english")

_OTHER_NAMES = {"surface": "mention", "lang": "language", "qid": "expected", "expected_qid": "expected"}
_FORM = "See link/audit/gold/README.md."


@dataclass(frozen=True, slots=True)
class GoldMention:
    """A mention and the items that are correct links; none for NIL."""

    mention: str
    language: str
    topic: str
    expected: tuple[str, ...]
    kind: str | None = None  # None: any of the topic's counted kinds
    line: int = 0  # of its file
    other: Mapping[str, str] = field(default_factory=dict)  # the file's other columns
    name: str | None = None  # its dictionary form
    english: str | None = None  # its English name


def read_gold_mentions(file: Path, catalog: Catalog, wanted: Iterable[str] = ()) -> list[GoldMention]:
    """The gold mentions of a file, in its order; a repeated line is a further mention.

    `wanted` are further required columns. Lines before the header that begin with # are comments. Raises `StoreError`,
    with file and line, where the file cannot be read, a column is missing, or a line is malformed or refers to
    something that the catalogue lacks.
    """
    lines = _read_lines(file)
    first = next((number for number, line in lines if not line.startswith("#")), None)
    if first is None:
        raise StoreError("holds no gold mentions", where=file, remedy=_FORM)
    columns = _columns(dict(lines)[first], f"{file}, line {first}")
    for name in wanted:
        if name not in columns:
            raise StoreError(f"no column {name!r}", where=file, remedy=did_you_mean(name, columns))
    gold = list(_rows(file, lines, first, columns, catalog))
    if not gold:
        raise StoreError("holds no gold mentions below its header", where=file, remedy=_FORM)
    return gold


def contradictions(gold: Sequence[GoldMention]) -> list[list[GoldMention]]:
    """The gold mentions that a linker cannot tell apart, and that mean different items, together; in their order.

    In a corpus one name means a dish here and a sauce there, and only the text around it says which.
    """
    alike: dict[tuple[str | None, ...], list[GoldMention]] = {}
    for one in gold:
        alike.setdefault((one.mention, one.language, one.topic, one.kind, one.name, one.english), []).append(one)
    return [together for together in alike.values() if len({frozenset(one.expected) for one in together}) > 1]


def at_most_right(contradictory: Sequence[Sequence[GoldMention]]) -> int:
    """In how many of the lines a linker can be right that gives one answer to each mention."""
    return sum(
        max(Counter(item for one in together for item in one.expected or (NIL,)).values()) for together in contradictory
    )


def counted_kinds(topic: Topic) -> list[str]:
    """The counted kinds of the topic, in the order of its file."""
    return [name for name, kind in topic.kinds.items() if kind.counted]


def _read_lines(file: Path) -> list[tuple[int, str]]:
    """Number and text of every line that is not blank."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as fault:
        raise StoreError(f"is not UTF-8: {fault}", where=file, remedy="Save it as UTF-8.") from fault
    except OSError as fault:
        raise StoreError(
            f"cannot be read: {fault.strerror}", where=file, remedy="Name a file of gold mentions."
        ) from fault
    lines = text.replace("\r\n", "\n").split("\n")
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def _columns(header: str, where: str) -> list[str]:
    given = [name.strip().lower() for name in header.split("\t")]
    columns = [_OTHER_NAMES.get(name, name) for name in given]
    for name in REQUIRED:
        if name not in columns:
            remedy = f"The header must name {', '.join(REQUIRED)}, with tabs between them."
            raise StoreError(f"no column {name!r}", where=where, remedy=remedy)
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise StoreError(f"two columns {twice!r}", where=where, remedy="Keep one of them.")
    return columns


def _rows(
    file: Path, lines: Sequence[tuple[int, str]], header: int, columns: Sequence[str], catalog: Catalog
) -> Iterator[GoldMention]:
    for number, line in lines:
        if number <= header:
            continue
        where, cells = f"{file}, line {number}", line.split("\t")
        if len(cells) > len(columns) or len(cells) < 1 + max(columns.index(name) for name in REQUIRED):
            what = f"{len(cells)} columns where the header has {len(columns)}"
            raise StoreError(what, where=where, remedy="Put one tab between two columns, and none inside one.")
        yield _row(dict(zip(columns, map(str.strip, cells), strict=False)), number, where, catalog)


def _row(cells: Mapping[str, str], line: int, where: str, catalog: Catalog) -> GoldMention:
    if not cells["mention"]:
        raise StoreError("an empty mention", where=where, remedy="Write the mention, or delete the line.")
    try:
        language, topic = catalog.language(cells["language"]).code, catalog.topic(cells["topic"])
    except CatalogError as fault:
        raise StoreError(fault.what, where=where, remedy=fault.remedy) from fault
    kind = cells.get(KIND) or None
    if kind is not None and kind not in counted_kinds(topic):
        what = f"{topic.code} has no counted kind {kind!r}"
        raise StoreError(what, where=where, remedy=did_you_mean(kind, counted_kinds(topic)))
    expected = _expected(cells["expected"], where)
    other = {name: cell for name, cell in cells.items() if name not in (*REQUIRED, *OPTIONAL)}
    names = cells.get("name") or None, cells.get("english") or None
    return GoldMention(cells["mention"], language, topic.code, expected, kind, line, other, *names)


def _expected(text: str, where: str) -> tuple[str, ...]:
    if text.upper() == NIL:
        return ()
    qids = tuple(dict.fromkeys(part.strip().upper() for part in text.split("|")))
    remedy = "Write a QID (Q234646), several with | between them, or NIL alone."
    if not all(qids):
        raise StoreError("no expected QID", where=where, remedy=remedy)
    try:
        return tuple(f"Q{item_number(qid)}" for qid in qids)
    except ValueError as fault:
        raise StoreError(str(fault), where=where, remedy=remedy) from fault
