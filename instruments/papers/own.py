"""A run's numbers keyed as the cells of `published`; Cultural Bias Scores by the paper's protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path

from polyculture.cache.store.schema.measured import EVERY
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store
from polyculture.instruments.cbs.measure import scored_types
from polyculture.instruments.cbs.options import CbsOptions
from polyculture.instruments.cbs.protocol import PlaceScore, lacking, place_scores, unscored
from polyculture.instruments.datasets.presets import PaperPreset
from polyculture.instruments.papers.options import AsPaper
from polyculture.metrics.audit.scores import answer_shares, audit_scores
from polyculture.published.cells import NONE, NumberKey
from polyculture.reports.text_labels import shown_shares

_FOLDER = Path(__file__).parent
# Measures of papers, and the file in `own_numbers` that reads their numbers.
_QUERIES = {
    **dict.fromkeys(("sentiment", "qa", "ner"), "swaps"),
    **{name: name for name in ("attention", "embeddings", "entities", "linking", "probe", "questions", "tokens")},
}
_UNSAID = {"metric": "", **dict.fromkeys(("language", "culture", "topic"), EVERY)}  # of a query's row
_OF_COUNTRY = "model, language, condition, country"  # the level of the numbers that MAKIEval counts otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNumber(NumberKey):
    """A number of the run, or why a model has none: the metric of one that was stopped is empty."""

    variant: str = ""  # what tells the rows of a model apart: how it was asked, who read; '' as the paper does
    level: str = NONE
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    no_interval: str | None = None
    n: int | None = None
    unit: str = ""
    lacking: str = ""  # what of the answers is missing
    questions: int | None = None  # of a question set, that were asked
    spread: float | None = None  # standard deviation over prompts (n - 1), where there are several; over items
    told: str | None = None  # what was done otherwise than the paper, by the rows themselves
    form: str = ""  # of the contexts; '' where they have none, or one for all models


def own_numbers(
    store: Store,
    preset: PaperPreset,
    measures: Set[str],
    data: str | None,
    seed: int,
    counting: AsPaper,
    extractor: str,
) -> Iterator[OwnNumber]:
    """The numbers of a run of some measures. Those of `data` are in the place of the paper's data set.

    `counting` chooses what MAKIEval counts otherwise than we do; `extractor` names whoever found the mentions.
    """
    for file in dict.fromkeys(file for measure, file in _QUERIES.items() if measure in measures):
        for one in _counted_as_paper(store, _read(store, file), counting):
            yield _placed(one, preset, data)
    if "cbs" in measures:
        for one in _scores(store, preset, seed):
            yield _placed(one, preset, data)
    if "texts" in measures:
        yield from _texts(store)
    if "extraction" in measures:
        yield from _extraction(store, extractor)


def _read(store: Store, file: str) -> list[OwnNumber]:
    """The rows of a query. A column that it lacks, and NULL, are the default: of a number's place, all."""
    cursor = store.execute(read_sql(_FOLDER / "own_numbers", file))
    names = [column[0] for column in cursor.description or ()]
    rows = (
        {name: value for name, value in zip(names, row, strict=True) if value is not None} for row in cursor.fetchall()
    )
    return [OwnNumber(**{**_UNSAID, **row}) for row in rows]


def _counted_as_paper(store: Store, stored: list[OwnNumber], counting: AsPaper) -> Iterator[OwnNumber]:
    """The stored numbers, with those that the paper counts otherwise in the place of ours."""
    found: dict[tuple[str, ...], tuple[float | None, int | None]] = {}
    if counting.union or counting.countries:
        values = {"union": counting.union, "countries": counting.countries}
        for row in store.execute(read_sql(_FOLDER, "counted_as_paper"), values).fetchall():
            found[row[:5]] = row[5], row[6]
    for one in stored:
        key = one.metric, one.model, one.language, one.condition, one.culture
        if one.measure != "entities" or one.level != _OF_COUNTRY or key not in found:
            yield one
            continue
        estimate, n = found[key]
        told = "; ".join(filter(None, (one.told, counting.words)))
        yield replace(
            one, estimate=estimate, n=n, low=None, high=None, spread=None, told=told,
            no_interval="intervals are of our own way to count",
        )  # fmt: skip


def _extraction(store: Store, extractor: str) -> Iterator[OwnNumber]:
    """Precision, recall and F1 of the extractor by language, and F1 in English by topic, as people judged a sample."""
    metrics = {"extraction precision": "precision", "extraction recall": "recall", "extraction F1": "f1"}
    for one in (*audit_scores(store), *answer_shares(store)):
        if one.what in metrics and one.language is not None and one.value is not None:
            yield OwnNumber(
                model=extractor, measure="extraction", metric=metrics[one.what], language=one.language, culture=NONE,
                topic=one.topic or EVERY, estimate=one.value, low=one.low, high=one.high, n=round(one.of),
                unit="judged mention",
            )  # fmt: skip


def _placed(one: OwnNumber, preset: PaperPreset, data: str | None) -> OwnNumber:
    return replace(one, dataset=preset.data) if data is not None and one.dataset == data else one


def _scores(store: Store, preset: PaperPreset, seed: int) -> Iterator[OwnNumber]:
    """Cultural Bias Scores by the paper's protocol, of the rows of the data set as they were last read."""
    options = CbsOptions.model_validate(preset.values("cbs"))
    forms = _forms(store, options.form)
    without = unscored(store)
    found: dict[tuple[str, ...], OwnNumber] = {}
    scored: set[tuple[str, ...]] = set()
    for one in place_scores(list(scored_types(store, (options.rule,))), options.protocol, seed):
        row = _score(one, forms.get(one.group.model, options.form), lacking(one, without))
        if row is None:
            continue
        scored.add((row.model, row.dataset, one.group.form, row.condition))
        yield row
        if phrasing := row.facets.get("phrasing"):
            found[
                row.model, row.variant, row.dataset, row.language, row.culture, row.condition, one.column, phrasing
            ] = row
    yield from _unscored(without, scored, forms, options.form)
    for key, row in found.items():
        other = found.get((*key[:-1], "pro-drop")) if key[-1] == "english-like" else None
        if other is not None and other.estimate is not None and row.estimate is not None:
            facets = {**row.facets, "other_phrasing": "pro-drop"}
            yield replace(
                row, metric="cbs_difference", estimate=row.estimate - other.estimate, low=None, high=None,
                facets=facets, no_interval="see the paired difference: [instruments.cbs] phrasings = true",
            )  # fmt: skip


def _forms(store: Store, form: str) -> dict[str, str]:
    """The form that the paper asks each model in, where it is the model's own; without a score nobody knows it."""
    if form != "model":
        return {}
    found = store.execute("SELECT model, bool_or(masked) FROM stored_scores WHERE masked IS NOT NULL GROUP BY ALL")
    return {model: "masked" if masked else "causal" for model, masked in found.fetchall()}


def _unscored(
    without: Mapping[tuple[str, ...], str], scored: set[tuple[str, ...]], forms: Mapping[str, str], form: str
) -> Iterator[OwnNumber]:
    """Why a model has no score in a setting: what nobody could score is no row of a table without it."""
    for (model, dataset, language, culture, of_form, setting, kind), why in without.items():
        if kind == EVERY and (model, dataset, of_form, setting) not in scored:
            variant = "" if of_form == forms.get(model, of_form if form == "model" else form) else of_form
            yield OwnNumber(
                model=model, variant=variant, measure="cbs", metric="", dataset=dataset, language=language,
                culture=culture, topic=EVERY, condition=setting,
                lacking=why, form=of_form,
            )  # fmt: skip


def _score(one: PlaceScore, form: str, lacking: str) -> OwnNumber | None:
    if one.score is None:
        return None
    group, condition, every = one.group, one.condition, one.score.every
    said = {"phrasing": condition.phrasing, "context_prefix": condition.context_prefix, "gender": one.gender}
    return OwnNumber(
        model=group.model, variant="" if group.form == form else group.form, measure="cbs", metric="cbs",
        dataset=group.dataset, language=group.language, culture=group.culture, topic=group.entity_type or EVERY,
        condition=condition.setting, facets={k: v for k, v in said.items() if v}, estimate=one.score.value,
        low=every.low, high=every.high, no_interval=every.lacking, n=one.score.contexts, unit="context",
        lacking=lacking, form=group.form,
    )  # fmt: skip


def _texts(store: Store) -> Iterator[OwnNumber]:
    """The shares of texts of each culture, of runs with regions of their own."""
    for one in shown_shares(store):
        if one.share is not None:
            yield OwnNumber(
                model=one.model, measure="texts", metric="share", language=one.language, culture=NONE,
                topic=one.topic or EVERY, condition=one.condition, facets={"label": one.label}, estimate=one.share,
                low=one.low, high=one.high, no_interval=one.no_interval, n=one.prompts, unit="prompt",
            )  # fmt: skip
