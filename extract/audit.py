"""How well an extractor finds what people marked: precision, recall and F1 on gold texts.

Three ways of matching. `strict`: the same characters and the same kind. `span`: the same characters. `surface`: the
same words, folded, wherever they stand. Only kinds that metrics count are scored together; each kind is scored alone as
well. A text whose extraction failed is counted as that and is in no score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.outcome import Outcome, Progress, silent
from polyculture.cache.proportions import ShareInterval, wilson_interval
from polyculture.extract.base import Extracted, Extractor, FoundMention, ResponseText
from polyculture.extract.folding import fold_name
from polyculture.extract.gold import GoldText

MATCHINGS = ("strict", "span", "surface")

# An extractor for texts of a language and a topic.
OpenExtractor = Callable[[str, str], Extractor]


@dataclass(slots=True)
class Tally:
    """What was marked, what was found, and how much of each has a partner in the other."""

    texts: int = 0
    failed: int = 0
    gold: int = 0
    found: int = 0
    hallucinated: int = 0
    hits: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MATCHINGS, 0))

    def precision(self, matching: str) -> float | None:
        """The share of the found that is right; None where nothing was found."""
        return self.hits[matching] / self.found if self.found else None

    def recall(self, matching: str) -> float | None:
        """The share of the marked that was found; None where nothing is marked."""
        return self.hits[matching] / self.gold if self.gold else None

    def f1(self, matching: str) -> float | None:
        """The harmonic mean of both; None where there is neither a marked nor a found mention."""
        together = self.gold + self.found
        return 2 * self.hits[matching] / together if together else None

    def f1_interval(self, matching: str) -> ShareInterval:
        """F1 is 2J / (1 + J) of Jaccard's index J, a share of all mentions: Wilson's interval of J, mapped."""
        hits = self.hits[matching]
        bounds = wilson_interval(hits, self.gold + self.found - hits)
        return None if bounds is None else (2 * bounds[0] / (1 + bounds[0]), 2 * bounds[1] / (1 + bounds[1]))


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One line of the audit: all texts, or those of a language, topic, kind or trap, under one way of matching."""

    by: str  # 'all' | 'language' | 'topic' | 'kind' | 'trap'
    value: str
    matching: str
    texts: int
    failed: int
    gold: int
    found: int
    hits: int
    hallucinated: int
    precision: float | None
    precision_interval: ShareInterval
    recall: float | None
    recall_interval: ShareInterval
    f1: float | None
    f1_interval: ShareInterval


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The audit's lines, and what was asked and spent for it."""

    rows: tuple[AuditRow, ...]
    texts: int
    failures: Mapping[str, str]  # text id -> reason
    extractor_ids: Mapping[str, str]  # topic -> identity
    attempts: int
    prompt_tokens: int
    completion_tokens: int

    def as_json(self) -> dict[str, Any]:
        """The result as JSON can hold it."""
        return asdict(self)


def audit(
    open_extractor: OpenExtractor, gold: Sequence[GoldText], catalog: Catalog, progress: Progress = silent
) -> AuditResult:
    """Runs an extractor over `gold` and scores it. Texts of one language and topic are given to it together."""
    tallies: dict[tuple[str, str], Tally] = {}
    results: list[Extracted] = []
    ids: dict[str, str] = {}
    outcome = Outcome(0, 0)
    for (language, topic), group in groupby(gold, key=lambda text: (text.language, text.topic)):
        texts = {text.text_id: text for text in group}
        extractor = open_extractor(language, topic)
        ids[topic] = extractor.extractor_id
        counted = {name for name, kind in catalog.topic(topic).kinds.items() if kind.counted}
        for extracted in extractor.extract(ResponseText(t.text_id, language, t.text) for t in texts.values()):
            results.append(extracted)
            if extracted.status == "unusable":  # another follows
                continue
            _score(tallies, texts[extracted.response_id], extracted, counted)
            outcome += Outcome(1, 0) if extracted.status == "ok" else Outcome(0, 1)
            progress(outcome)
    last = [one for one in results if one.status != "unusable"]
    return AuditResult(
        rows=tuple(row for (by, value), tally in sorted(tallies.items()) for row in _rows(by, value, tally)),
        texts=len(last),
        failures={one.response_id: one.error or "" for one in last if one.status != "ok"},
        extractor_ids=ids,
        attempts=sum(one.attempts for one in last),
        prompt_tokens=sum(one.prompt_tokens or 0 for one in results),
        completion_tokens=sum(one.completion_tokens or 0 for one in results),
    )


def _score(tallies: dict[tuple[str, str], Tally], text: GoldText, extracted: Extracted, counted: set[str]) -> None:
    groups = [("all", "all"), ("language", text.language), ("topic", text.topic), ("trap", text.trap or "none")]
    for group in groups:
        _add(tallies.setdefault(group, Tally()), text, extracted, counted)
    for kind in {mention.kind for mention in (*text.mentions, *extracted.mentions)}:
        _add(tallies.setdefault(("kind", f"{text.topic} {kind}"), Tally()), text, extracted, {kind})


def _add(tally: Tally, text: GoldText, extracted: Extracted, kinds: set[str]) -> None:
    tally.texts += 1
    if extracted.status != "ok":
        tally.failed += 1
        return
    gold = [mention for mention in text.mentions if mention.kind in kinds]
    found = [mention for mention in extracted.mentions if mention.kind in kinds]
    tally.gold += len(gold)
    tally.found += len(found)
    tally.hallucinated += sum(mention.hallucinated for mention in found)
    for matching, key in _KEYS.items():
        tally.hits[matching] += _common(map(key, gold), map(key, found))


_KEYS: Mapping[str, Callable[[FoundMention], Any]] = {
    "strict": lambda mention: (mention.start, mention.end, mention.kind),
    "span": lambda mention: (mention.start, mention.end),
    "surface": lambda mention: fold_name(mention.surface),
}


def _common(one: Iterable[Any], other: Iterable[Any]) -> int:
    return (Counter(one) & Counter(other)).total()


def _rows(by: str, value: str, tally: Tally) -> list[AuditRow]:
    return [
        AuditRow(
            by,
            value,
            matching,
            tally.texts,
            tally.failed,
            tally.gold,
            tally.found,
            tally.hits[matching],
            tally.hallucinated,
            tally.precision(matching),
            wilson_interval(tally.hits[matching], tally.found),
            tally.recall(matching),
            wilson_interval(tally.hits[matching], tally.gold),
            tally.f1(matching),
            tally.f1_interval(matching),
        )
        for matching in MATCHINGS
    ]
