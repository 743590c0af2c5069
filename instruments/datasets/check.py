"""What a data set holds that no row is at fault for, and that leaves contexts without entities: `data check`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from babel.core import get_global

from polyculture.instruments.datasets.model import CulturalEntity, DataSet, LeftOut, MaskedContext


def findings(dataset: DataSet) -> Iterator[LeftOut]:
    """Words that differ and mean one thing, and contexts that no entity of a side fits, each at its first place."""
    yield from _alike(dataset, "language", _language, "are one language by CLDR")
    yield from _alike(dataset, "culture", str.casefold, "differ in case alone")
    yield from _sides(dataset)


def _alike(dataset: DataSet, attribute: str, plain: Callable[[str], str], why: str) -> Iterator[LeftOut]:
    rows: list[CulturalEntity | MaskedContext] = [*reversed(dataset.contexts), *reversed(dataset.entities)]
    places = {getattr(row, attribute): row.place for row in rows}
    groups: dict[str, list[str]] = defaultdict(list)
    for word in sorted(places):
        groups[plain(word)].append(word)
    for words in groups.values():
        if len(words) > 1:
            told = f"{attribute}s {' and '.join(map(repr, words))} {why}"
            yield LeftOut(places[words[-1]], f"{told}: contexts of one do not meet entities of the other")


def _language(code: str) -> str:
    """A code without what CLDR takes for granted: 'tl-Latn' is 'fil'."""
    base, *more = code.replace("-", "_").split("_")
    base = get_global("language_aliases").get(base.lower(), base.lower())
    usual = get_global("likely_subtags").get(base, "").split("_")[1:]
    return "_".join([base, *(part for part in more if part not in usual)])


def _sides(dataset: DataSet) -> Iterator[LeftOut]:
    """Where one side has no entity for contexts of a kind: they are not asked."""
    known: dict[tuple[str | None, ...], set[str]] = {}
    lacking: dict[tuple[str, ...], list[LeftOut]] = defaultdict(list)
    for context in dataset.contexts:
        kind = (context.language, context.culture, context.entity_type, context.gender, context.source_language)
        if kind not in known:
            known[kind] = {entity.culture for entity in dataset.fitting(context)}
        for side in (context.culture, dataset.reference):
            if side not in known[kind]:
                of = f"{context.gender} " if context.gender else ""
                reason = f"no {side} entity of type {of}{context.entity_type!r} in {context.language!r}"
                lacking[context.language, context.culture, reason].append(LeftOut(context.place, reason))
    for (_, culture, reason), lines in sorted(lacking.items()):
        yield LeftOut(lines[0].place, f"{len(lines)} contexts of {culture} are not asked: {reason}")
