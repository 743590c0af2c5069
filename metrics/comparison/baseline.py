"""Two runs as the sides of a comparison: a candidate against its baseline, on the prompts that both were asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from polyculture.cache.database import memory_database
from polyculture.cache.errors import StoreError
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.schema import SHARED_TEXTS
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.metrics.text_doubts import same_texts

if TYPE_CHECKING:
    from polyculture.cache.store.store import Store

_SHARED = "SELECT shared, texts FROM shared_texts WHERE model = $one AND other_model = $other AND alike"
# How many answers of a candidate's model are those of the baseline: of the same request, which one of them did not ask.
_SAME = """
SELECT count(*) FILTER (b.request_id IS NOT NULL) AS same, count(*) AS answers
FROM (FROM candidate WHERE model = $one) AS a
LEFT JOIN (FROM baseline WHERE model = $other) AS b
    ON a.request_id = b.request_id AND a.sample = b.sample AND a.text = b.text
        AND (a.purchase IS NULL OR b.purchase IS NULL)
"""
_ANSWERS = "SELECT model, request_id, sample, text, purchase FROM responses WHERE status = 'ok'"
SAME_ANSWERS, LINKED_TWICE = "same answers", "linked twice"  # why there is no interval
_BOTH = "Name the candidate's model and the baseline's: compare CANDIDATE MODEL MODEL --baseline BASELINE."
ModelPairs = tuple[tuple[str, str], ...]  # of the candidate, and of the baseline


def paired_models(
    candidate: Manifest, baseline: Manifest, model: str | None = None, other: str | None = None
) -> ModelPairs:
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


def texts_of_both(candidate: Store, baseline: Store, models: ModelPairs) -> Iterator[str]:
    """A line for each two models most of whose texts are the same, more than chance explains: they may be one."""
    with memory_database() as connection:
        for name, store in (("a", candidate), ("b", baseline)):
            connection.register(name, store.sql("FROM prompt_texts").to_arrow_table())
        connection.execute(
            "CREATE VIEW prompt_texts AS SELECT * REPLACE ('a ' || model AS model) FROM a"
            " UNION ALL SELECT * REPLACE ('b ' || model AS model) FROM b"
        )
        connection.execute(SHARED_TEXTS.read_text(encoding="utf-8"))
        for one, other in models:
            for shared, texts in connection.execute(_SHARED, {"one": f"a {one}", "other": f"b {other}"}).fetchall():
                yield same_texts(f"{one} of this run and {other} of the baseline", shared, texts)


def same_answers(candidate: Store, baseline: Store, models: ModelPairs) -> tuple[int, int]:
    """How many of the candidate's answers one run took over from the other, and of how many."""
    same = answers = 0
    with memory_database() as connection:
        for name, store in (("candidate", candidate), ("baseline", baseline)):
            connection.register(name, store.sql(_ANSWERS).to_arrow_table())
        for one, other in models:
            [(own, all_of)] = connection.execute(_SAME, {"one": one, "other": other}).fetchall()
            same, answers = same + own, answers + all_of
    return same, answers


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
