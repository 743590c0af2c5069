"""What a data set holds that no row is at fault for, and that leaves contexts without entities: `data check`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache

from babel.core import get_global

from polyculture.cache.folding import fold
from polyculture.instruments.datasets.model import CulturalEntity, DataSet, LeftOut, MaskedContext


def findings(dataset: DataSet) -> Iterator[LeftOut]:
    """Words that differ and mean one thing, and contexts that no entity of a side fits, each at its first place."""
    yield from _alike(dataset, "language", _language, "are one language by CLDR")
    yield from _alike(dataset, "culture", fold, "differ in case alone")
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
    """A code in full, by CLDR: 'tl-Latn' and 'fil' are 'fil_latn_ph', 'zh-TW' is 'zh_hant_tw'."""
    base, *more = code.casefold().replace("-", "_").split("_")
    base = get_global("language_aliases").get(base, base)
    script = next((part for part in more if len(part) == 4), "")
    region = next((part for part in more if len(part) in (2, 3)), "")
    likely = _likely()
    keys = ("_".join(filter(None, (base, *own))) for own in ((script, region), ("", region), (script, ""), ("", "")))
    usual = next((likely[key] for key in keys if key in likely), None)
    return "_".join([base, script or usual[1], region or usual[2]]) if usual else code


@cache
def _likely() -> dict[str, list[str]]:
    return {code.casefold(): full.casefold().split("_") for code, full in get_global("likely_subtags").items()}


def _sides(dataset: DataSet) -> Iterator[LeftOut]:
    """Where one side has no entity for contexts of a kind: they are not asked."""
    known: dict[tuple[str | None, ...], set[str]] = {}
    lacking: dict[tuple[str, ...], list[LeftOut]] = defaultdict(list)
    for context in dataset.contexts:
        kind = (context.language, context.culture, context.entity_type, context.gender, context.source_language)
        if kind not in known:
            known[kind] = {entity.culture for entity in dataset.fitting(context)}
        of_reference = context.culture == dataset.reference
        for side in ("other",) if of_reference else (context.culture, dataset.reference):
            if side not in known[kind]:
                of = f"{context.gender} " if context.gender else ""
                reason = f"no {side} entity of type {of}{context.entity_type!r} in {context.language!r}"
                lacking[context.language, context.culture, reason].append(LeftOut(context.place, reason))
    for (_, culture, reason), lines in sorted(lacking.items()):
        yield LeftOut(lines[0].place, f"{len(lines)} contexts of {culture} are not asked: {reason}")
