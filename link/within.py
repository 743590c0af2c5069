"""Names within a mention: "a plate of fish and chips" is fish and chips.

A mention that leads nowhere is asked again without its carrier words (`carriers.toml`): measures, containers,
adjectives of preparation, a creator before a title, title marks. The longest name inside that is an item of the topic
is a candidate, in the mention's own language, never for persons. It is linked where the rest is known: carrier words, a
class of the item (tom yum is a soup, so tom yum soup is tom yum) or its creator. Otherwise it is ambiguous, and only
where spaces set words apart and the name is the mention's head, with at least half of its letters: lemon cheesecake may
be something else.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog, Language
from polyculture.link.name_forms import create_name_forms
from polyculture.link.normalise import Fold, fold_of, normalise
from polyculture.link.statements import statement

Sort: TypeAlias = Literal["things", "wear", "works", "groups", "genres"]
SORTS: tuple[Sort, ...] = ("things", "wear", "works", "groups", "genres")
_Part: TypeAlias = tuple[int, str, str, str]  # the number of a spelling, a name, what stands before it and after it
SIDES = ("before", "after")
JOINTS = " ,;:."  # between a carrier word and the name, where spaces set words apart
FEW = 1000  # spellings of a language that Python looks at before patterns are compiled for them
EDGE = 3  # letters at a text's beginning or end that are compared before a pattern is
NEVER = r"[^\x00-\x{10FFFF}]"  # a pattern that nothing matches
_ROUND = " \t\n,;:.–—-"  # around a title and its marks
LONGEST = 80  # letters of a title between marks
_MARKS = (
    ("《", "》"),
    ("〈", "〉"),
    ("「", "」"),
    ("『", "』"),
    ("“", "”"),
    ("„", "“"),
    ("«", "»"),
    ("»", "«"),
    ('"', '"'),
)
_MARKED = re.compile("|".join(f"{re.escape(a)}([^{re.escape(a + b)}]{{1,{LONGEST}}}){re.escape(b)}" for a, b in _MARKS))
_GLOSSED = re.compile(r"(.*[^\s(\[（［])\s*[(\[（［]([^()\[\]（）［］]+)[)\]）］]\s*")


@cache
def carriers() -> Mapping[str, Any]:
    """The carrier words of `carriers.toml`, as they stand there: by language, and the sort of each topic."""
    return tomllib.loads(Path(__file__).with_name("carriers.toml").read_text(encoding="utf-8"))


def sorts_of(topic: str) -> Sequence[Sort]:
    """The carrier words that apply to a topic's names."""
    sorts: Mapping[Sort, Sequence[str]] = carriers()["topics"]
    return [sort for sort, topics in sorts.items() if topic in topics] or ["things"]


def create_inner_names(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Creates the tables of `sql/inner_names.sql`, and adds the names between known words to `spellings`."""
    connection.execute(statement("inner_names"))
    topics = connection.execute("SELECT DISTINCT topic FROM query_groups ORDER BY topic").fetchall()
    connection.executemany(
        "INSERT INTO sorts VALUES (?, ?)", [(topic, sort) for (topic,) in topics for sort in sorts_of(topic)]
    )
    known = _languages(connection, catalog, "unmatched")
    if not known:
        return
    _insert_languages(connection, known)
    connection.execute(statement("inner_edges"))
    for language, own in _languages(connection, catalog, "edged_spellings"):
        if not _may_be_edged(connection, language, own):
            continue
        spaced = {"spaced": own.get("spaced", True)}
        connection.execute(statement("inner_known"), patterns(language, own) | edge_patterns(language, own) | spaced)
    marked: dict[str, list[tuple[int, str]]] = {}
    for code, spelling, surface in connection.execute(statement("marked_mentions")).fetchall():
        marked.setdefault(code, []).append((spelling, surface))
    for language, own in known:
        _insert_marked(connection, marked.get(language.code, []), language, own)
    connection.execute(statement("inner_spellings"))


def match_known(connection: duckdb.DuckDBPyConnection) -> None:
    """Adds to `found` the longest name inside each query of `unmatched`, where the rest is known."""
    if len(connection.table("inner_names")):
        connection.execute(statement("inner_matches"))


def match_unknown(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Adds to `found` the longest name inside each query without any candidate: by what the rest says of its item."""
    connection.execute(statement("inner_spans"))
    for language, own in _languages(connection, catalog, "inner_spans"):
        connection.execute(statement("inner_parts"), patterns(language, own) | creator_patterns(language, own))
    if len(connection.table("inner_parts")):
        connection.execute(statement("inner_doubts"))
        if len(connection.table("named_items")):
            connection.execute(statement("named"))
            create_name_forms(connection)
        connection.execute(statement("inner_found"))


def part_patterns(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> list[dict[str, Any]]:
    """The parameters of `sql/span_sources.sql` for each language of the queries in `unmatched`."""
    return [
        {
            **patterns(language, own),
            **creator_patterns(language, own),
            "language": language.code,
            "spaced": own.get("spaced", True),
        }
        for language, own in _languages(connection, catalog, "unmatched")
    ]


def _insert_languages(
    connection: duckdb.DuckDBPyConnection, known: Iterable[tuple[Language, Mapping[str, Any]]]
) -> None:
    """Fills `carrier_languages` and `carrier_edges`."""
    edges = {
        (language.code, side, letters) for language, own in known for side, letters in _edge_letters(language, own)
    }
    languages = [(language.code, own.get("spaced", True), own["head"] == "last") for language, own in known]
    for table, rows in (("carrier_languages", languages), ("carrier_edges", sorted(edges))):
        columns = [list(column) for column in zip(*rows, strict=True)]
        unnested = ", ".join(["unnest(?)"] * len(columns))
        connection.execute(f"INSERT INTO {table} SELECT {unnested}", columns)


def _languages(
    connection: duckdb.DuckDBPyConnection, catalog: Catalog, table: str
) -> list[tuple[Language, Mapping[str, Any]]]:
    """The languages of the rows of a table, with their carrier words."""
    codes = connection.table(table).unique("language").order("language").fetchall()
    languages = [catalog.language(code) for (code,) in codes]
    return [(language, own) for language in languages if (own := carriers_of(language))]


def carriers_of(language: Language) -> Mapping[str, Any]:
    """The carrier words of a language, or of the first label language it falls back on: those of zh for zh-tw."""
    found = carriers().get(language.code) or carriers().get(language.label_languages[0].partition("-")[0])
    return found or {}


def patterns(language: Language, own: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the statements: for each sort and side a pattern of texts of carrier words alone."""
    params: dict[str, Any] = {"language": language.code}
    for side in SIDES:
        words = {sort: list(own[sort][side]) for sort in SORTS}
        words["wear"] += [word for word in words["things"] if word not in own.get("not_worn", ())]
        for sort in SORTS:
            params[f"{sort}_{side}"] = _pattern(words[sort], language, own)
    return params


def creator_patterns(language: Language, own: Mapping[str, Any]) -> dict[str, str]:
    """Patterns for a creator on either side of a title."""
    joints = own["creator"]
    return {
        "creator_before": _ending(joints["before"], language),
        "creator_after": _beginning(joints["after"], language),
    }


def _may_be_edged(connection: duckdb.DuckDBPyConnection, language: Language, own: Mapping[str, Any]) -> bool:
    """Does a spelling of the language begin or end with a carrier word, or are there too many to look?

    To compile the patterns takes ten milliseconds a language, and of a few mentions mostly none does.
    """
    asked = "SELECT key FROM edged_spellings WHERE language = $code LIMIT $most"
    keys = [key for (key,) in connection.execute(asked, {"code": language.code, "most": FEW + 1}).fetchall()]
    beginnings, endings = edge_texts(language, own)
    return len(keys) > FEW or any(key.startswith(beginnings) or key.endswith(endings) for key in keys)


def edge_texts(language: Language, own: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a text of `edge_patterns` begins with, and what it ends with."""
    firsts, lasts = (_normal_forms(tuple(words), _fold(language)) for words in _edge_words(own))
    joints = JOINTS if own.get("spaced", True) else [""]
    return tuple(f"{w}{j}" for w in firsts for j in joints), tuple(f"{j}{w}" for w in lasts for j in joints)


def edge_patterns(language: Language, own: Mapping[str, Any]) -> dict[str, str]:
    """Patterns of texts that begin or end with a carrier word: few do, and only these are looked at closely."""
    first, last = (_any_of(words, language) for words in _edge_words(own))
    joint = f"[{JOINTS}]" if own.get("spaced", True) else ""
    return {"first": f"^{first}{joint}", "last": f"{joint}{last}$"}


def _edge_letters(language: Language, own: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The sides, and the letters with which a text of `edge_patterns` begins or ends there."""
    beginnings, endings = edge_texts(language, own)
    yield from (("first", text[:EDGE]) for text in beginnings)
    yield from (("last", text[-EDGE:]) for text in endings)


def _edge_words(own: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The carrier words at the beginning and at the end of a text."""
    counts = [*own.get("numbers", ()), *own.get("measures", ())]
    first, last = ([*counts, *(word for sort in SORTS for word in own[sort][side])] for side in SIDES)
    return first, last


def _pattern(words: Iterable[str], language: Language, own: Mapping[str, Any]) -> str:
    """A pattern for texts of these words alone, in any order, and of numbers with a measure."""
    parts = [_any_of(words, language)] if words else []
    if "numbers" in own:
        parts.append(f"{_any_of(own['numbers'], language)} ?{_any_of(own['measures'], language)}")
    if not parts:
        return NEVER
    one = f"(?:{'|'.join(parts)})"
    return rf"{one}(?:[,;:]? {one})*[,;:]?" if own.get("spaced", True) else rf"(?:{one} ?)+"


def _any_of(words: Iterable[str], language: Language) -> str:
    """A pattern for one of the words, the longest first."""
    forms = sorted(_normal_forms(tuple(words), _fold(language)), key=lambda form: (-len(form), form))
    return f"(?:{'|'.join(map(re.escape, forms))})"


def _fold(language: Language) -> Fold:
    return fold_of(language.label_languages[0])


@cache
def _normal_forms(words: tuple[str, ...], fold: Fold) -> frozenset[str]:
    return frozenset(normalise(words, fold))


def _ending(joints: Sequence[str], language: Language) -> str:
    """A pattern for a creator before a title, whose group is the creator: the longest joint first."""
    forms = sorted(normalise([joint for joint in joints if joint], _fold(language)), key=len)[::-1]
    return rf"^(.+?)(?: ?(?:{'|'.join(map(re.escape, forms))}))?$" if forms else "^(.+)$"


def _beginning(joints: Sequence[str], language: Language) -> str:
    """A pattern for a creator after a title, whose group is the creator."""
    forms = sorted(normalise([joint for joint in joints if joint], _fold(language)), key=len)[::-1]
    return rf"^(?:{'|'.join(map(re.escape, forms))}) ?(.+)$" if forms else NEVER


def _insert_marked(
    connection: duckdb.DuckDBPyConnection,
    rows: Iterable[tuple[int, str]],
    language: Language,
    own: Mapping[str, Any],
) -> None:
    """Adds to `inner_names` what stands between title marks, where nothing but known words follows, or before brackets.

    A row is the number of a spelling, and the mention as it is written.
    """
    titles: list[_Part] = []
    glossed: list[_Part] = []
    for spelling, surface in rows:
        gloss = _GLOSSED.fullmatch(surface)
        text = gloss[1] if gloss else surface
        inside = list(_MARKED.finditer(text))
        if len(inside) == 1:
            title = next(group for group in inside[0].groups() if group is not None)
            before, after = text[: inside[0].start()], text[inside[0].end() :]
            if gloss and not before + after:
                glossed.append((spelling, title, "", gloss[2]))
            else:
                titles.append((spelling, title, before, after))
        elif gloss and not inside:
            glossed.append((spelling, text, "", gloss[2]))
    if titles:
        _register_marked(connection, titles, language)
        connection.execute(statement("inner_marked"), {"after": _pattern(own["works"]["after"], language, own)})
    if glossed:
        _register_marked(connection, glossed, language)
        known = patterns(language, own)
        sorts = {f"{sort}_{side}": known[f"{sort}_{side}"] for sort in ("groups", "genres") for side in SIDES}
        connection.execute(statement("inner_glossed"), sorts)


def _register_marked(connection: duckdb.DuckDBPyConnection, found: Sequence[_Part], language: Language) -> None:
    """Registers the table `marked`: the parts in their normal forms."""
    texts = {
        name: normalise([str(row[place]).strip(_ROUND) for row in found], _fold(language))
        for place, name in enumerate(("key", "before", "after"), 1)
    }
    spellings = pa.array([spelling for spelling, *_ in found], pa.uint32())
    connection.register("marked", pa.table({"spelling": spellings, **texts}))
