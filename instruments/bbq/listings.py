"""What `polyculture bbq --table` lists of the answers that there are: tests, the people's votes, published figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from polyculture.instruments.bbq.kobbq import load_templates
from polyculture.instruments.bbq.numbers import METRICS, Study, TemplateRow, counts_of, parts_of, template_rows
from polyculture.instruments.bbq.published_scores import PROMPTS, differences, read_published
from polyculture.instruments.bbq.significance import FEWEST, anova, false_discovery, rank_sum, template_values, tukey
from polyculture.instruments.bbq.treatments import untreated
from polyculture.instruments.bbq.votes import bias_by_votes, template_votes
from polyculture.instruments.choices.uncertainty import Numbers
from polyculture.instruments.contract import Listing

TESTED = ("acc_a", "acc_d", "diff_bias_a", "diff_bias_d")
_OWN = Path(__file__).parent
_WHO = ("model", "method", "reader")


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """A test of one number between groups of templates: a row of the table `tests`."""

    number: str  # one of `TESTED`
    test: str
    one: str  # a group, or what the groups are
    other: str | None
    statistic: float | None  # F of ANOVA, U of Wilcoxon's rank-sum test
    difference: float | None  # Tukey: the mean of one group less that of the other
    low: float | None  # of its 99 % interval
    high: float | None
    p: float | None
    templates: int
    note: str = ""


def significance_rows(store: duckdb.DuckDBPyConnection, dataset: str, models: Sequence[str]) -> Listing:
    """Categories, labels and data sets against each other, with q over all p-values of the table."""
    studies = list(template_rows(store))
    found = [
        (study, row)
        for study, rows in studies
        if study.dataset == dataset and study.model in models
        for number in TESTED
        for row in _tests(number, study, rows, studies)
    ]
    adjusted = false_discovery([row.p for _, row in found])
    columns = (*_WHO, "number", "test", "one", "other", "statistic", "difference", "low", "high", "p", "q", "templates",
               "note")  # fmt: skip
    return Listing(columns, [
        (study.model, study.answer_method, study.reader, row.number, row.test, row.one, row.other, row.statistic,
         row.difference, row.low, row.high, row.p, q, row.templates, row.note)
        for (study, row), q in zip(found, adjusted, strict=True)
    ])  # fmt: skip


def _tests(
    number: str, study: Study, rows: Sequence[TemplateRow], studies: Sequence[tuple[Study, list[TemplateRow]]]
) -> Iterator[ComparisonRow]:
    groups: defaultdict[str, dict[str, Numbers]] = defaultdict(dict)
    for part, own in parts_of(rows).items():
        if part.name is not None:
            groups[part.part][part.name] = _values(number, own)
    for kind, values in sorted(groups.items()):
        if len(values) > 1:
            yield from _between_groups(number, kind, values)
    for other, theirs in studies:
        if untreated(other.dataset) == untreated(study.dataset):  # arms of one data set are paired: `paired`
            continue
        if other._replace(dataset=study.dataset, language=study.language) == study:
            found = rank_sum(_values(number, rows), _values(number, theirs))
            if found is not None:
                yield ComparisonRow(
                    number, "Wilcoxon", study.dataset, other.dataset, found.u, None, None, None, found.p,
                    found.one + found.other, f"a template of the first is the higher one in {found.higher:.3f}",
                )  # fmt: skip


def _between_groups(number: str, kind: str, groups: Mapping[str, Numbers]) -> Iterator[ComparisonRow]:
    whole = anova(groups)
    left_out = f"fewer than {FEWEST} templates: {', '.join(whole.left_out)}" if whole.left_out else ""
    yield ComparisonRow(
        number, "ANOVA", f"{len(whole.groups)} of {kind}", None, whole.f, None, None, None, whole.p,
        sum(whole.groups.values()), left_out,
    )  # fmt: skip
    for pair in tukey(groups):
        yield ComparisonRow(
            number, "Tukey", pair.one, pair.other, None, pair.difference, pair.low, pair.high, pair.p,
            whole.groups[pair.one] + whole.groups[pair.other],
        )  # fmt: skip


def _values(number: str, rows: Sequence[TemplateRow]) -> Numbers:
    prompts = sorted({row[3] for row in rows})
    return template_values(METRICS[number](counts_of(rows, prompts)))


def bias_against_votes(
    store: duckdb.DuckDBPyConnection, dataset: str, models: Sequence[str], templates: Path
) -> tuple[Listing, list[str]]:
    """How diff-bias follows the people's votes over stereotypes, and a line where votes cannot be read."""
    votes, remarks = template_votes(load_templates(templates)[0])
    lines = [f"{len(remarks)} variants without votes, the first: {remarks[0].place}"] if remarks else []
    bias: defaultdict[tuple[Any, ...], dict[str, float]] = defaultdict(dict)
    query = (_OWN / "template_bias.sql").read_text(encoding="utf-8")
    for *key, template, value in store.execute(query, {"dataset": dataset, "models": list(models)}).fetchall():
        bias[tuple(key)][template] = value
    found = [(key, bias_by_votes(votes, values)) for key, values in bias.items()]
    adjusted = false_discovery([one.p for _, one in found])
    columns = (*_WHO, "number", "spearman", "low", "high", "p", "q", "stereotypes")
    rows = [
        (*key, one.spearman, one.low, one.high, one.p, q, one.pairs)
        for (key, one), q in zip(found, adjusted, strict=True)
    ]
    return Listing(columns, rows), lines


def beside_published(
    store: duckdb.DuckDBPyConnection, dataset: str, models: Sequence[str], asked_otherwise: Sequence[str]
) -> Listing:
    """The paper's figures, then the run's, each with what its protocol has otherwise than the paper's.

    `asked_otherwise` says so of what the store does not know, as the temperature.
    """
    rows: list[tuple[Any, ...]] = [
        (cell.paper, cell.model, None, None, cell.context, cell.measure, cell.value, cell.deviation, True, "")
        for cell in read_published()
    ]
    query = (_OWN / "beside_published.sql").read_text(encoding="utf-8")
    values = {"dataset": dataset, "models": list(models), "prompts": list(PROMPTS)}
    found = store.execute(query, values)
    names = [column[0] for column in found.description or ()]
    for line in (dict(zip(names, row, strict=True)) for row in found.fetchall()):
        protocol, size = differences(line, asked_otherwise)
        note = "; ".join([*protocol, *size])
        rows.append((
            "this run", line["model"], line["answer_method"], line["reader"], line["context"], line["measure"],
            line["value"], line["deviation"], not protocol, note,
        ))  # fmt: skip
    columns = ("source", *_WHO, "context", "measure", "value", "deviation", "same protocol", "note")
    return Listing(columns, rows)
