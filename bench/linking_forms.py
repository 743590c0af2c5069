"""Gold sets for `bench/linking_accuracy.py` made of names: inflected, misspelt, invented, asked in the wrong topic."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb

from bench.linking_sets import GoldSet, Name
from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.link.audit.gold import GoldMention
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.queries import label_chain

PHRASES = Path(__file__).with_name("phrases.toml")
INFLECTIONS = Path(__file__).with_name("inflections.toml")
SEED = 20261121
MISSPELT_FROM = 6  # letters: in shorter words a typo makes another word
_HANGUL, _SYLLABLES, _FINALS = 0xAC00, 11_172, 28
_SYLLABIC = re.compile(r"[ぁ-ヿ一-龠가-힣]")


class Taken:
    """Every name in a snapshot: `(language, folded name) in taken`, through the language's fallback chain."""

    def __init__(self, snapshot: Snapshot, catalog: Catalog) -> None:
        self._chains = {
            language.code: [code for _, code, *_ in label_chain(language)] for language in catalog.languages.values()
        }
        self._names: dict[str, set[str]] = {}
        with duckdb.connect(str(snapshot.path), read_only=True) as connection:
            for code, name in connection.execute("SELECT language, name FROM names").fetchall():
                self._names.setdefault(code, set()).add(name.casefold())

    def __contains__(self, key: tuple[str, str]) -> bool:
        language, name = key
        return any(name.casefold() in self._names.get(code, ()) for code in self._chains[language])


def inflected(names: Sequence[Name], taken: Taken) -> list[GoldSet]:
    """The names in the forms of `inflections.toml`, a set a language.

    Left out: a form that is itself a name of some item, for then nobody knows what is meant; and plurals of persons and
    of titles, which are no common nouns.
    """
    persons = _persons(titles=True)
    rules = tomllib.loads(INFLECTIONS.read_text(encoding="utf-8"))
    gold = [
        _meant(form, name, {"form": rule["form"], "of": name.text})
        for name in names
        for rule in rules.get(name.language, ())
        if name.kind not in persons or "plural" not in rule["form"]
        for form in _inflect(name.text, rule)
        if (name.language, form) not in taken
    ]
    return [
        GoldSet(f"inflected {language}", [one for one in gold if one.language == language])
        for language in sorted({one.language for one in gold})
    ]


def in_phrases(names: Sequence[Name], taken: Taken) -> list[GoldSet]:
    """The names in the phrases of `phrases.toml`: where the item is meant, and where another is.

    Each name stands in one phrase of each set, drawn by the name. Left out: persons, and phrases that are some item's
    name.
    """
    phrases = tomllib.loads(PHRASES.read_text(encoding="utf-8"))
    persons, sorts = _persons(), {"food": "food", "beverage": "food", "clothing": "wear", "transportation": "wear"}
    gold: dict[str, list[GoldMention]] = {"meant": [], "other": []}
    for name in names:
        own = phrases.get(name.language.partition("-")[0])
        sort = "genres" if (name.topic, name.kind) == ("music", "genre") else sorts.get(name.topic, "works")
        if not own or name.kind in persons or (sort == "works" and name.kind not in ("title", "song")):
            continue
        chance = random.Random(f"{SEED} {name.language} {name.item} {name.topic}")
        form = chance.choice(own[sort]).replace("{name}", name.text)
        if (name.language, form) not in taken:
            gold["meant"].append(_meant(form, name, {"of": name.text}))
        if sort == "food":
            form = chance.choice(own["other"]).replace("{name}", name.text)
            if (name.language, form) not in taken:
                gold["other"].append(GoldMention(form, name.language, name.topic, (), name.kind, {"of": name.text}))
    return [GoldSet("phrases", gold["meant"]), GoldSet("NIL: another thing by a name within", gold["other"])]


def misspelt(names: Sequence[Name], taken: Taken) -> GoldSet:
    """The names with one typo each: a letter dropped, doubled, replaced, two swapped; not in scripts of syllables."""
    chance = random.Random(SEED)
    letters: dict[str, str] = {}
    for name in names:
        letters[name.language] = letters.get(name.language, "") + "".join(filter(str.isalpha, name.text.lower()))
    gold = []
    for name in names:
        if sum(map(str.isalpha, name.text)) >= MISSPELT_FROM and not _SYLLABIC.search(name.text):
            form = _typo(chance, name.text, letters[name.language])
            if form.casefold() != name.text.casefold() and (name.language, form) not in taken:
                gold.append(_meant(form, name, {"of": name.text}))
    return GoldSet("misspelt", gold)


def invented(names: Sequence[Name], taken: Taken, each: int) -> GoldSet:
    """Names that nothing bears: pieces of real names of a language and kind, put together anew; `each` a kind."""
    chance = random.Random(SEED)
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name in names:
        groups.setdefault((name.language, name.topic, name.kind), []).append(name.text)
    gold: list[GoldMention] = []
    for (language, topic, kind), texts in sorted(groups.items()):
        pieces = [piece for text in texts for piece in _pieces(text)]
        made = {_compose(chance, pieces, chance.choice(texts)) for _ in range(3 * each)}
        free = sorted(text for text in made if len(text) > 1 and (language, text) not in taken)
        gold += [GoldMention(text, language, topic, (), kind) for text in chance.sample(free, min(each, len(free)))]
    return GoldSet("NIL: invented names", gold)


def displaced(names: Sequence[Name], each: int) -> GoldSet:
    """Names of items that do not belong to a topic, asked within it: what is found there is something else.

    Some of what is found is what a text would mean (a dish named like the song): look at it before you call it wrong.
    """
    chance = random.Random(SEED)
    gold: list[GoldMention] = []
    for language in sorted({name.language for name in names}):
        for topic, kind in sorted({(name.topic, name.kind) for name in names}):
            others = [name for name in names if name.language == language and topic not in name.topics]
            for name in chance.sample(others, min(each, len(others))):
                other = {"of": f"{name.topic} {name.kind} Q{name.item}"}
                gold.append(GoldMention(name.text, language, topic, (), kind, other=other))
    return GoldSet("NIL: names of another topic", gold)


def _meant(form: str, name: Name, other: dict[str, str]) -> GoldMention:
    return GoldMention(form, name.language, name.topic, (f"Q{name.item}",), name.kind, other=other)


def _inflect(text: str, rule: dict[str, Any]) -> Iterable[str]:
    """The form that the rule makes of a name, if it makes one."""
    if "after" in rule:
        code = ord(text[-1]) - _HANGUL
        if 0 <= code < _SYLLABLES:
            yield text + rule["after"][0 if code % _FINALS else 1]
        return
    form = re.sub(rule["pattern"], rule["replacement"], text)
    if form != text and form.strip():
        yield form


def _typo(chance: random.Random, text: str, letters: str) -> str:
    """The text with one typo somewhere after its first letter."""
    at = chance.choice([place for place, letter in enumerate(text) if letter.isalpha() and place > 0])
    before, letter, after = text[:at], text[at], text[at + 1 :]
    typos = [before + after, before + letter + letter + after, before + chance.choice(letters) + after]
    if after[:1].isalpha():
        typos.append(before + after[0] + letter + after[1:])
    return chance.choice(typos)


def _pieces(text: str) -> list[str]:
    """A name cut into pieces of three letters, of one where a letter is a syllable or a word."""
    size = 1 if _SYLLABIC.search(text) else 3
    return [word[start : start + size] for word in text.split() for start in range(0, len(word), size)]


def _compose(chance: random.Random, pieces: Sequence[str], like: str) -> str:
    """Pieces put together until the words are as long as those of a real name."""
    words = []
    for word in like.split():
        made = ""
        while len(made) < len(word):
            made += chance.choice(pieces)
        words.append(made)
    return " ".join(words)


def _persons(*, titles: bool = False) -> set[str]:
    """The kinds of the catalogue that are persons, and with `titles` those of single works."""
    kinds = [each for topic in read_catalog().topics.values() for each in topic.kinds.items()]
    return {name for name, kind in kinds if kind.occupations or (titles and kind.members == "instances")}
