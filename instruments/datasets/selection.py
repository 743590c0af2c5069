"""Select the contexts and entities of a data set to query.

A limited selection takes the lowest ids. Ids are hashes, so the choice is as good as drawn,
the same on every machine, and each larger choice holds the smaller ones. A translation goes by the id of its original,
so that the same are chosen; where one has no translation, the next takes its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice

from polyculture.cache.errors import DataSetError
from polyculture.cache.log import Tell
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.instruments.datasets.load import ANY, QA
from polyculture.instruments.datasets.model import CAUSAL, CulturalEntity, DataSet, MaskedContext

ContextGroup = tuple[str, str, str]  # language, culture, entity type: what one job asks
Fitting = tuple[ContextGroup, str | None, str | None]  # with the gender, and the language that it is translated from
_LISTED = 12  # kinds of contexts that an error names


@dataclass(frozen=True, slots=True)
class DataSelection:
    """The requested part of a data set; None means all."""

    languages: tuple[str, ...] = ()
    cultures: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    form: str = CAUSAL
    contexts: int | None = None  # of each type and setting
    entities: int | None = None  # of each culture and type
    phrasings: bool = False  # contexts that are put in two ways, and no others; else those that are not


def untold(_line: str) -> None:
    """For callers that only want to know what can be asked."""


def chosen_contexts(
    dataset: DataSet, selection: DataSelection, tell: Tell | None = None
) -> list[tuple[ContextGroup, list[MaskedContext]]]:
    """The contexts of each language, native culture and type. Raises `DataSetError` where there is nothing to ask.

    With `tell` only those that entities of both cultures fit; it gets a line about the others.
    """
    chosen = [context for context in dataset.contexts if _wanted(context, selection, dataset)]
    if not chosen:
        raise _nothing(dataset, selection)
    if tell:
        chosen = of_both_sides(dataset, chosen, tell)
    grouped = groupby(sorted(chosen, key=_unit), key=_unit)
    return [(unit, first_contexts(list(contexts), selection.contexts)) for unit, contexts in grouped]


def first_contexts(contexts: Sequence[MaskedContext], limit: int | None) -> list[MaskedContext]:
    """At most `limit` contexts of each setting; the two phrasings of one count as one."""
    if limit is None:
        return list(contexts)
    by_setting = groupby(sorted(contexts, key=lambda c: (c.setting, c.rank)), key=lambda c: c.setting)
    chosen: list[MaskedContext] = []
    for _, of_setting in by_setting:
        for _, same in islice(groupby(of_setting, key=lambda c: c.rank), limit):
            chosen += same
    return chosen


def first_entities(entities: Sequence[CulturalEntity], limit: int | None, language: str) -> list[CulturalEntity]:
    """At most `limit` entities of each culture, those that are chosen beside contexts of a language."""
    if limit is None:
        return list(entities)
    by_culture = groupby(sorted(entities, key=lambda e: (e.culture, e.rank(language))), key=lambda e: e.culture)
    return [entity for _, of_culture in by_culture for entity in list(of_culture)[:limit]]


def of_both_sides(dataset: DataSet, contexts: Sequence[MaskedContext], tell: Tell) -> list[MaskedContext]:
    """The contexts that entities of both cultures fit. A line each tells which others are not asked, and how many.

    A side without an entity is reported, never counted as 0. Raises `DataSetError` where no context is left.
    """
    kept, lacking = [], Counter[tuple[ContextGroup, str]]()
    for context, missing in with_missing_sides(dataset, contexts):
        if missing:
            lacking[_unit(context), " and no ".join(missing)] += 1
        else:
            kept.append(context)
    if not kept and contexts:
        ((language, _, kind), side), _ = lacking.most_common(1)[0]
        raise DataSetError(
            f"none of {len(contexts)} contexts can be asked: no {side} entity of type {kind!r} in {language!r} fits",
            where=dataset.folder / str(contexts[0].place),
            remedy=f"Add entities. What is not read: {dataset.check_command}",
        )
    for ((language, culture, kind), side), count in sorted(lacking.items()):
        noun = "context is" if count == 1 else "contexts are"
        tell(
            f"{dataset.name} {language} {culture} {kind}: {count} {noun} not asked: no {side} entity fits. "
            f"See: {dataset.check_command}"
        )
    return kept


def with_missing_sides(
    dataset: DataSet, contexts: Sequence[MaskedContext]
) -> Iterator[tuple[MaskedContext, list[str]]]:
    """Each context with the sides of which no entity fits it; one of the reference has no other side."""
    known: dict[Fitting, set[str]] = {}
    for context in contexts:
        key = (_unit(context), context.gender, context.source_language)
        if key not in known:
            known[key] = {entity.culture for entity in dataset.fitting(context)}
        sides = ("other",) if context.culture == dataset.reference else (context.culture, dataset.reference)
        yield context, [side for side in sides if side not in known[key]]


def _wanted(context: MaskedContext, selection: DataSelection, dataset: DataSet) -> bool:
    if context.setting == QA and QA not in selection.settings:
        return False
    return (
        selection.phrasings == bool(context.phrasing)
        and context.form in (selection.form, ANY)
        and context.language in (selection.languages or (context.language,))
        and context.culture in (selection.cultures or (context.culture,))
        and context.entity_type in (selection.types or (context.entity_type,))
        and context.setting in (selection.settings or (context.setting,))
        and (selection.form != CAUSAL or dataset.as_published or not context.starts_with_gap)
    )


def without_the_form(dataset: DataSet, selection: DataSelection) -> list[str]:
    """The settings that are asked for and have contexts, none of them in the form that is chosen."""
    forms = {context.form for context in dataset.contexts}
    found = {
        form: {c.setting for c in dataset.contexts if _wanted(c, replace(selection, form=form), dataset)}
        for form in forms | {selection.form}
    }
    return sorted(set().union(*found.values()) - found[selection.form])


def _unit(context: MaskedContext) -> ContextGroup:
    return context.language, context.culture, context.entity_type


def unknown_word(dataset: DataSet, selection: DataSelection) -> DataSetError | None:
    """The error of the first chosen word that no context of the data set has; None where it has all."""
    known = {
        "language": (selection.languages, {c.language for c in dataset.contexts}),
        "culture": (selection.cultures, {c.culture for c in dataset.contexts}),
        "type": (selection.types, {c.entity_type for c in dataset.contexts}),
        "setting": (selection.settings, {c.setting for c in dataset.contexts}),
        "form": ((selection.form,), {c.form for c in dataset.contexts}),
    }
    for name, (wanted, there) in known.items():
        for word in wanted:
            if word not in there and ANY not in (word, *there):
                what = f"{dataset.name} has no context of {name} {word!r}"
                damaged = sorted({lo.place.file for lo in dataset.left_out if lo.reason.startswith("cannot be read")})
                named = f" These files cannot be read: {', '.join(damaged)}." if damaged else ""
                return DataSetError(what, where=dataset.folder, remedy=did_you_mean(word, there) + named)
    return None


def _nothing(dataset: DataSet, selection: DataSelection) -> DataSetError:
    if error := unknown_word(dataset, selection):
        return error
    if selection.phrasings and not any(c.phrasing for c in dataset.contexts):
        remedy = "Give your own contexts the columns phrasing and pair: see docs/datasets.md."
        return DataSetError(f"{dataset.name} has no context in two phrasings", where=dataset.folder, remedy=remedy)
    kinds = sorted({(c.language, c.culture, c.entity_type, c.setting, c.form) for c in dataset.contexts})
    listed = "; ".join(" ".join(one) for one in kinds[:_LISTED]) + ("; ..." if kinds[_LISTED:] else "")
    remedy = f"Choose a language, culture, type, setting and form that go together: {listed}."
    return DataSetError(f"{dataset.name} has no context of this selection", where=dataset.folder, remedy=remedy)
