"""Gold sets for `bench/linking_accuracy.py` made of names: invented ones, and names asked in the wrong topic."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from bench.linking_sets import GoldSet, SetName
from polyculture.cache.catalog import Catalog
from polyculture.cache.database import connect
from polyculture.link.audit.gold import GoldMention
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.queries import label_chain

SEED = 20261121
_SYLLABIC = re.compile(r"[ぁ-ヿ一-龠가-힣]")


class KnownNames:
    """Every name in a snapshot: `(language, folded name) in taken`, through the language's fallback chain."""

    def __init__(self, snapshot: Snapshot, catalog: Catalog) -> None:
        self._chains = {
            language.code: [code for code, *_ in label_chain(language)] for language in catalog.languages.values()
        }
        self._names: dict[str, set[str]] = {}
        with connect(snapshot.path, read_only=True) as connection:
            for code, name in connection.execute("SELECT language, name FROM names").fetchall():
                self._names.setdefault(code, set()).add(name.casefold())

    def __contains__(self, key: tuple[str, str]) -> bool:
        language, name = key
        return any(name.casefold() in self._names.get(code, ()) for code in self._chains[language])


def invented(names: Sequence[SetName], taken: KnownNames, each: int) -> GoldSet:
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
    return GoldSet("invented names", gold)


def displaced(names: Sequence[SetName], each: int) -> GoldSet:
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
    return GoldSet("names of another topic", gold)


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
