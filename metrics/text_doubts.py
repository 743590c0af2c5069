"""What makes a run's texts doubtful as independent samples of the models that are named, in one line each.

`run`, `generate` and `compare` say the lines; the report has the same counts, from `health`, as warnings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from polyculture.cache.store.manifest import Manifest
from polyculture.cache.text.sanitize import CUT_WORDS

MOST_ASIDE = 0.5  # of the texts: with more in another language, or refusals, a language's numbers say little of it
MOST_RENUMBERED = 0.1  # of the texts, that differ from another one in digits or punctuation alone

if TYPE_CHECKING:
    from polyculture.cache.store.store import Store

# A row is a model that reported several versions in the texts that count now.
_VERSIONS = """
SELECT model, string_agg(format('{} ({})', model_version, texts), ', ' ORDER BY model_version)
FROM (SELECT model, model_version, count(*) AS texts FROM responses WHERE model_version IS NOT NULL GROUP BY ALL)
GROUP BY model HAVING count(*) > 1 ORDER BY model
"""
_COPIED = """
SELECT model, sum(texts)::BIGINT, sum(copies)::BIGINT, string_agg(language, ', ' ORDER BY language)
FROM (SELECT model, language, count(*) AS copies FROM copies GROUP BY ALL)
INNER JOIN (SELECT model, language, count(*) AS texts FROM answer_texts GROUP BY ALL) USING (model, language)
GROUP BY model ORDER BY model
"""
_RENUMBERED = """
SELECT model, sum(texts)::BIGINT, sum(renumbered)::BIGINT, string_agg(language, ', ' ORDER BY language)
FROM (SELECT model, language, count(*) AS renumbered FROM renumbered GROUP BY ALL)
INNER JOIN (SELECT model, language, count(*) AS texts FROM answer_texts GROUP BY ALL) USING (model, language)
WHERE renumbered > $most * texts GROUP BY model ORDER BY model
"""
_SHARED = """
SELECT model, other_model, shared, texts FROM shared_texts WHERE model < other_model AND alike ORDER BY ALL
"""
_ASIDE = """
SELECT model, sum(texts)::BIGINT, sum(aside)::BIGINT, string_agg(language, ', ' ORDER BY language)
FROM (
    SELECT model, language, count(*) AS texts, count(*) FILTER ({condition}) AS aside
    FROM checked_responses WHERE status = 'ok' GROUP BY ALL
)
WHERE aside > $most * texts GROUP BY model ORDER BY model
"""
_ELSEWHERE = _ASIDE.format(condition="is_off_language(detected_language, language, script_share)")
_REFUSED = _ASIDE.format(condition="refused")
# A word of an imported file that is missing says nothing; a server that gives none leaves the ending open.
_ENDINGS = """
SELECT model, sum(texts)::BIGINT, string_agg(coalesce(finish_reason, 'none'), ', ' ORDER BY finish_reason)
FROM (
    SELECT model, finish_reason, count(*) AS texts FROM responses
    WHERE status = 'ok' AND ending = 'unknown' AND (finish_reason IS NOT NULL OR origin IS NULL)
    GROUP BY ALL
)
GROUP BY model ORDER BY model
"""
_CUT = f"""
SELECT model, count(*), count(*) FILTER (contains(note, '{CUT_WORDS}')) AS cut FROM responses
WHERE status = 'ok' GROUP BY model HAVING cut > 0 ORDER BY model
"""  # noqa: S608
ASKED = " ".join(
    (_VERSIONS, _COPIED, _RENUMBERED, _SHARED, _ELSEWHERE, _REFUSED, _ENDINGS, _CUT)
)  # all that `text_doubts` asks a store


def text_doubts(store: Store, manifest: Manifest, models: Collection[str] | None = None) -> Iterator[str]:
    """The doubts about the texts of a store; with `models`, those about them alone."""

    def rows(query: str, **values: float) -> Iterator[tuple[Any, ...]]:
        found = store.execute(query, values).fetchall() if values else store.sql(query).fetchall()
        return (row for row in found if models is None or row[0] in models)

    for model, versions in rows(_VERSIONS):
        several = f"its texts are of several versions behind one name: {versions}"
        yield f"{model}: {several}; the view health lists them by cell"
    why = ""
    if manifest.deterministic:
        why = ": sampling is deterministic by the experiment's settings"
    elif not manifest.imported:
        why = ". Does the server ignore the seed, or does a cache answer in its place?"
    for model, texts, copies, languages in rows(_COPIED):
        many = f"in {languages} {copies} of {texts} texts copy another answer to their prompt"
        yield f"{model}: {many}, which chance does not explain, and each text counts once{why}"
    for model, texts, renumbered, languages in rows(_RENUMBERED, most=MOST_RENUMBERED):
        many = f"in {languages} {renumbered} of {texts} texts differ from another answer to their prompt"
        unknown = "if somebody copied and numbered them, intervals are too narrow"
        yield f"{model}: {many} in digits or punctuation alone; {unknown}"
    yield from _alike([row for row in rows(_SHARED) if models is None or row[1] in models])
    for model, texts, off, languages in rows(_ELSEWHERE, most=MOST_ASIDE):
        yield f"{model}: of what was asked in {languages}, {off} of {texts} texts came in another language"
    for model, texts, refused, languages in rows(_REFUSED, most=MOST_ASIDE):
        yield f"{model}: in {languages} {refused} of {texts} texts are refusals, which name nothing"
    for model, texts, words in rows(_ENDINGS):
        yield f"{model}: {texts} of its texts ended with words that are not known, and count as whole: {words}"
    for model, texts, cut in rows(_CUT):
        yield f"{model}: {cut} of {texts} texts lost a next turn that they began; `note` in responses says at what"


def _alike(pairs: Sequence[tuple[str, str, int, int]]) -> Iterator[str]:
    """A line for each model that others are like: of many models alike, not one for each pair of them."""
    first_of = _first_of(pairs)
    for model in dict.fromkeys(first_of.values()):
        like = [row[1:] for row in pairs if row[0] == model and first_of.get(row[1]) == model]
        more = f" and {len(like) - 1} more models" if len(like) > 1 else ""
        yield same_texts(f"{model} and {like[0][0]}{more}", *min(row[1:] for row in like))


def models_alike(store: Store) -> dict[str, str]:
    """Models that wrote most of what another one wrote, more than chance explains, with that one: they may be one."""
    return _first_of(store.sql(_SHARED).fetchall())


def _first_of(pairs: Sequence[tuple[str, str, int, int]]) -> dict[str, str]:
    """Of each model that is like one before it, that one."""
    first_of: dict[str, str] = {}
    for model, other, *_ in pairs:
        if model not in first_of:
            first_of.setdefault(other, model)
    return first_of


def same_texts(models: str, shared: int, texts: int) -> str:
    """The doubt whether two models are two."""
    same = f"{shared} of {texts} texts are the same, word for word, under the same prompts"
    return f"{models}: {same}. Is it one model under two names?"
