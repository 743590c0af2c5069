"""The accuracy of an extractor: precision, recall and F1 on gold texts.

There are four matchings. `strict`: the same span and kind. `span`: the same span. `name` and `english`: the same span,
and one of its dictionary forms, or English names, in `gold/names.tsv`. Their gold is the mentions with such a name,
their found those in the same span that were given one: precision says how often a given name is right. Overall scores
are of counted kinds; each kind also has its own score. A text whose extraction failed is counted as failed, and is in
no score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.proportions import ShareInterval, wilson_interval
from polyculture.cache.store.schema import AuditedText
from polyculture.cache.text.folding import NAMES as FOLDED_NAMES
from polyculture.cache.text.folding import fold
from polyculture.cache.work.outcome import Outcome, Progress, silent
from polyculture.extract.base import Extracted, Extractor, FoundMention, ResponseText
from polyculture.extract.gold import OR, GoldText

MATCHINGS = ("strict", "span", "name", "english")
NAMES = MATCHINGS[2:]

# An extractor for texts of a language and a topic.
ExtractorByTopic = Callable[[str, str], Extractor]


@dataclass(slots=True)
class MentionCounts:
    """The counts of gold mentions, found mentions, and matches between them."""

    texts: int = 0
    failed: int = 0
    hallucinated: int = 0
    gold: Counter[str] = field(default_factory=Counter)  # by matching, as the two below
    found: Counter[str] = field(default_factory=Counter)
    hits: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class ExtractionAuditRow:
    """A line of the audit: all texts, or those of a language, topic, kind or trap, under one matching."""

    by: str  # 'all' | 'language' | 'topic' | 'kind' | 'trap'
    value: str
    matching: str
    texts: int
    failed: int
    gold: int
    found: int
    hits: int
    hallucinated: int
    precision: float | None  # of found mentions the share that is right; None where nothing was found
    precision_interval: ShareInterval
    recall: float | None  # of gold mentions the share that was found; None where there are none
    recall_interval: ShareInterval
    f1: float | None  # the harmonic mean of both; None where there is neither a gold nor a found mention
    f1_interval: ShareInterval


@dataclass(frozen=True, slots=True)
class ExtractionAudit:
    """The audit's lines, with its requests and costs."""

    rows: tuple[ExtractionAuditRow, ...]
    texts: int
    named: tuple[AuditedText, ...]  # the texts that were read, with the names that were given there
    failures: Mapping[str, str]  # text id -> reason
    extractor_ids: Mapping[str, str]  # topic -> identity
    attempts: int
    prompt_tokens: int
    completion_tokens: int

    def as_json(self) -> dict[str, Any]:
        """The result in JSON types."""
        return asdict(self)


def audit_extractor(
    open_extractor: ExtractorByTopic, gold: Sequence[GoldText], catalog: Catalog, progress: Progress = silent
) -> ExtractionAudit:
    """Runs an extractor over `gold` and scores it. Texts of one language and topic are extracted together."""
    tallies: dict[tuple[str, str], MentionCounts] = {}
    results: list[Extracted] = []
    named: list[AuditedText] = []
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
            if extracted.status == "ok":
                named.append(_named(texts[extracted.response_id], extracted, counted, extractor.extractor_id))
            outcome += Outcome(1, 0) if extracted.status == "ok" else Outcome(0, 1)
            progress(outcome)
    last = [one for one in results if one.status != "unusable"]
    return ExtractionAudit(
        rows=tuple(row for (by, value), counts in sorted(tallies.items()) for row in _rows(by, value, counts)),
        texts=len(last),
        named=tuple(named),
        failures={one.response_id: one.error or "" for one in last if one.status != "ok"},
        extractor_ids=ids,
        attempts=sum(one.attempts for one in last),
        prompt_tokens=sum(one.prompt_tokens or 0 for one in results),
        completion_tokens=sum(one.completion_tokens or 0 for one in results),
    )


def _score(
    tallies: dict[tuple[str, str], MentionCounts], text: GoldText, extracted: Extracted, counted: set[str]
) -> None:
    groups = [("all", "all"), ("language", text.language), ("topic", text.topic), ("trap", text.trap or "none")]
    for group in groups:
        _add(tallies.setdefault(group, MentionCounts()), text, extracted, counted)
    for kind in {mention.kind for mention in (*text.mentions, *extracted.mentions)}:
        _add(tallies.setdefault(("kind", f"{text.topic} {kind}"), MentionCounts()), text, extracted, {kind})


def _named(text: GoldText, extracted: Extracted, counted: set[str], extractor_id: str) -> AuditedText:
    counts = MentionCounts()
    _add(counts, text, extracted, counted)
    given = [number for name in NAMES for number in (counts.found[name], counts.hits[name])]
    return AuditedText(text.text_id, text.language, text.topic, extractor_id, *given)


def _add(counts: MentionCounts, text: GoldText, extracted: Extracted, kinds: set[str]) -> None:
    counts.texts += 1
    if extracted.status != "ok":
        counts.failed += 1
        return
    gold = [mention for mention in text.mentions if mention.kind in kinds]
    mentions = [mention for mention in extracted.mentions if mention.kind in kinds]
    counts.hallucinated += sum(mention.hallucinated for mention in mentions)
    for matching, key in _KEYS.items():
        counts.gold[matching] += len(gold)
        counts.found[matching] += len(mentions)
        counts.hits[matching] += _common(map(key, gold), map(key, mentions))
    for matching in NAMES:
        expected = {_KEYS["span"](mention): _names(mention, matching) for mention in gold}
        given = [(expected.get(_KEYS["span"](one)), _names(one, matching)) for one in mentions]
        counts.gold[matching] += sum(map(bool, expected.values()))
        counts.found[matching] += sum(bool(right and names) for right, names in given)
        counts.hits[matching] += sum(bool(right and right & names) for right, names in given)


def _names(mention: FoundMention, field: str) -> set[str]:
    """The dictionary forms or English names of a mention, folded."""
    return {fold(name, FOLDED_NAMES) for name in (getattr(mention, field) or "").split(OR) if name}


_KEYS: Mapping[str, Callable[[FoundMention], Any]] = {
    "strict": lambda mention: (mention.start, mention.end, mention.kind),
    "span": lambda mention: (mention.start, mention.end),
}


def _common(one: Iterable[Any], other: Iterable[Any]) -> int:
    return (Counter(one) & Counter(other)).total()


def _rows(by: str, value: str, counts: MentionCounts) -> list[ExtractionAuditRow]:
    return [_row(by, value, matching, counts) for matching in MATCHINGS]


def _row(by: str, value: str, matching: str, counts: MentionCounts) -> ExtractionAuditRow:
    gold, found, hits = counts.gold[matching], counts.found[matching], counts.hits[matching]
    # Wilson's interval of Jaccard's index J, a share of all mentions, mapped by F1 = 2J / (1 + J).
    jaccard = wilson_interval(hits, gold + found - hits)
    return ExtractionAuditRow(
        by,
        value,
        matching,
        counts.texts,
        counts.failed,
        gold,
        found,
        hits,
        counts.hallucinated,
        hits / found if found else None,
        wilson_interval(hits, found),
        hits / gold if gold else None,
        wilson_interval(hits, gold),
        2 * hits / (gold + found) if gold + found else None,
        None if jaccard is None else (2 * jaccard[0] / (1 + jaccard[0]), 2 * jaccard[1] / (1 + jaccard[1])),
    )
