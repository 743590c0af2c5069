"""Two runs as the sides of a comparison: a candidate against its baseline, on the prompts that both were asked.

with connect() as connection:
    found = lay_out_runs(connection, candidate, baseline, paired_models(candidate.manifest, baseline.manifest))
    rows = compare(connection, found.sides)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from polyculture.cache.errors import StoreError, did_you_mean
from polyculture.cache.manifest import Manifest
from polyculture.metrics.comparison.compare import RUN, Sides
from polyculture.metrics.text_doubts import MOST_SHARED, same_texts, text_doubts

if TYPE_CHECKING:
    import duckdb

_PROMPTS = "SELECT language, topic, condition, country, wording, prompt_id FROM prompts"
_OTHER_PROMPTS = """
CREATE TABLE other_prompts AS
SELECT language, topic, condition, country, wording
FROM (
    SELECT language, topic, condition, country, wording, prompt_id, 1 AS of_candidate, 0 AS of_baseline
    FROM candidate_prompts
    UNION ALL
    SELECT language, topic, condition, country, wording, prompt_id, 0, 1
    FROM baseline_prompts
)
GROUP BY ALL
HAVING sum(of_candidate) > 0 AND sum(of_baseline) > 0
    AND list_sort(list(prompt_id) FILTER (of_candidate = 1)) <> list_sort(list(prompt_id) FILTER (of_baseline = 1))
"""
# A row is two compared models: how many texts of the candidate's the baseline's wrote, too, under the same prompt.
_SHARED = """
SELECT
    m.candidate, m.baseline, coalesce(sum(a.times) FILTER (b.text IS NOT NULL), 0)::BIGINT AS shared,
    sum(a.times)::BIGINT AS texts
FROM compared_models AS m
INNER JOIN candidate_texts AS a ON m.candidate = a.model
LEFT JOIN baseline_texts AS b ON m.baseline = b.model AND a.prompt_id = b.prompt_id AND a.text = b.text
WHERE a.prompt_id IN (SELECT prompt_id FROM baseline_texts)
GROUP BY ALL
HAVING shared > $most * texts
ORDER BY ALL
"""
# What a number of few answers and one of many cannot be compared in: it grows, or falls, with their number.
NEEDS_THE_SAME_N = ("diversity", "consensus", "hill_1", "hill_2", "coverage", "dominance")


@dataclass(frozen=True)
class RunNumbers:
    """What a comparison of runs needs of one: the numbers of its cells, its prompts, and how they were measured."""

    name: str
    manifest: Manifest
    values: pa.Table  # of the view `cell_values`
    prompts: pa.Table
    texts: pa.Table  # of the view `prompt_texts`
    doubts: tuple[str, ...] = ()  # what makes the run's texts doubtful: `text_doubts`

    @classmethod
    def of(cls, store: duckdb.DuckDBPyConnection, name: str, manifest: Manifest) -> RunNumbers:
        """Reads them from a run's store, which has the views of the metrics."""
        values = store.sql("FROM cell_values").to_arrow_table()
        prompts, texts = (store.sql(query).to_arrow_table() for query in (_PROMPTS, "FROM prompt_texts"))
        return cls(name, manifest, values, prompts, texts, tuple(text_doubts(store, manifest)))


@dataclass(frozen=True)
class RunSides:
    """The sides of a comparison of runs, and what a reader of it must know."""

    sides: Sides
    models: tuple[tuple[str, str], ...]  # of the candidate and of the baseline
    other_prompts: int  # cells that both were asked about, with other prompts, and that are left out
    withheld: Mapping[str, str]  # why a metric's difference is not one of the models alone
    doubts: tuple[str, ...]  # what makes the texts doubtful, as samples and as those of two models


def lay_out_runs(
    connection: duckdb.DuckDBPyConnection,
    candidate: RunNumbers,
    baseline: RunNumbers,
    models: Sequence[tuple[str, str]],
) -> RunSides:
    """Makes the numbers of two runs visible to `connection`, as `compare` reads them. Returns the sides.

    `models` has the models that are compared, each of the candidate with one of the baseline: `paired_models`.
    """
    connection.register("compared_models", _table(models))
    for side, numbers in (("candidate", candidate), ("baseline", baseline)):
        connection.register(f"{side}_values", numbers.values)
        connection.register(f"{side}_prompts", numbers.prompts)
        connection.register(f"{side}_texts", numbers.texts)
    connection.execute(_OTHER_PROMPTS)
    other_prompts = len(connection.execute("FROM other_prompts").fetchall())
    shared = [
        same_texts(f"{one} of this run and {other} of the baseline", count, texts)
        for one, other, count, texts in connection.execute(_SHARED, {"most": MOST_SHARED}).fetchall()
    ]
    return RunSides(
        Sides(RUN, candidate.name, baseline.name),
        tuple(models),
        other_prompts,
        measured_otherwise(candidate.manifest, baseline.manifest),
        (*(f"{run.name}: {doubt}" for run in (candidate, baseline) for doubt in run.doubts), *shared),
    )


def measured_otherwise(candidate: Manifest, baseline: Manifest) -> dict[str, str]:
    """Why, by metric, a difference of two runs may come from how they were measured; '' stands for all metrics."""
    topics = set(candidate.extractor_ids) & set(baseline.extractor_ids)
    differ = [
        what
        for what, other in {
            "the extractor": any(candidate.extractor_ids[topic] != baseline.extractor_ids[topic] for topic in topics),
            "the reading of its answers": candidate.reader_id != baseline.reader_id,
            "the linker": _linked_otherwise(candidate, baseline),
        }.items()
        if other
    ]
    found = {"": f"measured otherwise: {', '.join(differ)} differ between the runs"} if differ else {}
    if candidate.n != baseline.n:
        why = f"{candidate.n} samples a prompt against {baseline.n}"
        found |= dict.fromkeys(NEEDS_THE_SAME_N, f"it depends on the number of answers: {why}")
    return found


def _linked_otherwise(candidate: Manifest, baseline: Manifest) -> bool:
    if set(candidate.topics) == set(baseline.topics):
        return candidate.linker_id != baseline.linker_id
    # The linker's id is of all its topics together.
    identities = [
        (run.linker, run.snapshot.get("identity"), run.snapshot.get("source")) for run in (candidate, baseline)
    ]
    return identities[0] != identities[1]


def paired_models(
    candidate: Manifest, baseline: Manifest, model: str | None = None, other: str | None = None
) -> tuple[tuple[str, str], ...]:
    """The models of a candidate, each with that of the baseline which it is compared with.

    Those of one name; of two runs with one model each, these. `model` names one of the candidate, `other` the
    baseline's (the same name where it is not given). Raises `StoreError` where no model is to be paired.
    """
    mine, theirs = candidate.models, baseline.models
    for name, known, run in ((model, mine, "this run"), (other or model, theirs, "the baseline")):
        if name is not None and name not in known:
            raise StoreError(f"{run} has no model {name!r}", remedy=f"{did_you_mean(name, known)} {_BOTH}")
    if model is not None:
        return ((model, other or model),)
    shared = tuple((name, name) for name in mine if name in theirs)
    if shared:
        return shared
    if len(mine) == len(theirs) == 1:
        return ((mine[0], theirs[0]),)
    what = f"no model is in both this run ({_few(mine)}) and the baseline ({_few(theirs)})"
    raise StoreError(what, remedy=_BOTH)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _table(models: Sequence[tuple[str, str]]) -> pa.Table:
    return pa.table({"candidate": [one for one, _ in models], "baseline": [other for _, other in models]})


_BOTH = "Name the candidate's model and the baseline's: compare CANDIDATE MODEL MODEL --baseline BASELINE."
