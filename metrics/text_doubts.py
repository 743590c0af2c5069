"""What makes a run's texts doubtful as independent samples of the models that are named, in one line each.

`run`, `generate` and `compare` say the lines; the report has the same counts, from `health`, as warnings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from polyculture.cache.database import memory_database
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.schema import SHARED_TEXTS
from polyculture.cache.text.sanitize import CUT_WORDS

MOST_ASIDE = 0.5  # of the texts: with more in another language, or refusals, a language's numbers say little of it
_SAME_TEXTS = "texts are the same, word for word, under the same prompts"
MOST_RENUMBERED = 0.1  # of the texts, that differ from another one in digits or punctuation alone

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.store.store import Store

# A row is a count of a model's responses in a language, with one version and one ending: what several doubts add up. A
# word of an imported file that is missing says nothing; a server that gives none leaves the ending open.
_COUNTED = f"""
SELECT
    model, language, model_version, finish_reason,
    status = 'ok' AND ending = 'unknown' AND (finish_reason IS NOT NULL OR origin IS NULL) AS open_ending,
    count(*) AS responses,
    count(*) FILTER (status = 'ok') AS texts,
    count(*) FILTER (status = 'ok' AND is_off_language(detected_language, language, script_share)) AS elsewhere,
    count(*) FILTER (status = 'ok' AND refused) AS refused,
    count(*) FILTER (status = 'ok' AND contains(note, '{CUT_WORDS}')) AS cut
FROM checked_responses GROUP BY ALL ORDER BY ALL
"""  # noqa: S608
# A row where two texts under a prompt are equal, or their letters are: else nothing is copied, renumbered or shared.
_REPEATED = """
SELECT true FROM (
    SELECT prompt_id, text FROM answer_texts GROUP BY ALL HAVING count(*) > 1
    UNION ALL
    SELECT prompt_id, letters FROM answer_texts WHERE letters IS NOT NULL GROUP BY ALL HAVING count(*) > 1
)
LIMIT 1
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
# The same of answers to questions, most of which are asked once: all are equal, and not all one answer.
_SHARED_ANSWERS = """
SELECT s.model, s.other_model, s.shared, s.texts
FROM shared_texts AS s
INNER JOIN (SELECT model, count(DISTINCT text) AS several FROM prompt_texts GROUP BY model) AS t ON s.model = t.model
WHERE s.model < s.other_model AND (s.alike OR (s.shared = s.texts AND s.texts >= $fewest AND t.several > 1))
ORDER BY ALL
"""
FEWEST_ANSWERS = 8  # of two models: fewer may well be equal
# The views that several of these queries read, to be kept where nothing else is asked of a store.
KEPT_FOR_DOUBTS = ("answer_texts", "copies")


class _Counted(NamedTuple):
    """A row of `_COUNTED`."""

    model: str
    language: str
    version: str | None
    finish_reason: str | None
    has_open_ending: bool | None
    responses: int
    texts: int
    elsewhere: int
    refused: int
    cut: int


def text_doubts(store: Store, manifest: Manifest, models: Collection[str] | None = None) -> Iterator[str]:
    """The doubts about the texts of a store; with `models`, those about them alone."""

    def rows(query: str, **values: float) -> Iterator[tuple[Any, ...]]:
        found = store.execute(query, values).fetchall() if values else store.sql(query).fetchall()
        return (row for row in found if models is None or row[0] in models)

    by_model = groupby(map(_Counted._make, rows(_COUNTED)), attrgetter("model"))
    counted = {model: list(group) for model, group in by_model}
    for model, group in counted.items():
        versions = _sums((row.version, row.responses) for row in group)
        if len(versions) > 1:
            named = ", ".join(f"{version} ({texts})" for version, texts in sorted(versions.items()))
            several = f"its texts are of several versions behind one name: {named}"
            yield f"{model}: {several}; the view health lists them by cell"
    if store.sql(_REPEATED).fetchall():  # most runs repeat no text, and what follows from that is planned for long
        yield from _of_repeated_texts(rows, manifest, models)
    for model, group in counted.items():
        if aside := _aside(group, "elsewhere"):
            texts, off, languages = aside
            yield f"{model}: of what was asked in {languages}, {off} of {texts} texts came in another language"
    for model, group in counted.items():
        if aside := _aside(group, "refused"):
            texts, refused, languages = aside
            yield f"{model}: in {languages} {refused} of {texts} texts are refusals, which name nothing"
    for model, group in counted.items():
        endings = _sums((row.finish_reason or "none", row.texts) for row in group if row.has_open_ending)
        if endings:
            told, words = sum(endings.values()), ", ".join(sorted(endings, key=lambda word: (word == "none", word)))
            yield f"{model}: {told} of its texts ended with words that are not known, and count as whole: {words}"
    for model, group in counted.items():
        if cut := sum(row.cut for row in group):
            texts = sum(row.texts for row in group)
            yield f"{model}: {cut} of {texts} texts lost a next turn that they began; `note` in responses says at what"


def _of_repeated_texts(
    rows: Callable[..., Iterator[tuple[Any, ...]]], manifest: Manifest, models: Collection[str] | None
) -> Iterator[str]:
    """The doubts about texts that are equal under a prompt, but for digits and punctuation; `rows` are of a query."""
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


def _sums(counts: Iterable[tuple[str | None, int]]) -> Counter[str]:
    """The sum of the counts under each name; what has no name is left out."""
    found = Counter[str]()
    for name, count in counts:
        if name is not None:
            found[name] += count
    return found


def _aside(counted: Iterable[_Counted], column: str) -> tuple[int, int, str] | None:
    """Of the languages with more than `MOST_ASIDE` of the texts in a column: all texts, those, and the languages."""
    texts = _sums((row.language, row.texts) for row in counted)
    aside = _sums((row.language, getattr(row, column)) for row in counted)
    languages = sorted(language for language in texts if aside[language] > MOST_ASIDE * texts[language])
    if not languages:
        return None
    return sum(texts[one] for one in languages), sum(aside[one] for one in languages), ", ".join(languages)


def answer_doubts(answers: pa.Table) -> Iterator[str]:
    """The doubts about answers to questions, in the columns of `prompt_texts`: models whose answers are equal."""
    with memory_database() as connection:
        connection.register("prompt_texts", answers)
        connection.execute(SHARED_TEXTS.read_text(encoding="utf-8"))
        pairs = connection.execute(_SHARED_ANSWERS, {"fewest": FEWEST_ANSWERS}).fetchall()
    for line in _alike(pairs, "answers are the same, word for word, to the same questions"):
        yield f"{line} Short answers may also be equal by chance."


def _alike(pairs: Sequence[tuple[str, str, int, int]], what: str = _SAME_TEXTS) -> Iterator[str]:
    """A line for each model that others are like: of many models alike, not one for each pair of them."""
    first_of = _first_of(pairs)
    for model in dict.fromkeys(first_of.values()):
        like = [row[1:] for row in pairs if row[0] == model and first_of.get(row[1]) == model]
        more = f" and {len(like) - 1} more models" if len(like) > 1 else ""
        yield same_texts(f"{model} and {like[0][0]}{more}", *min(row[1:] for row in like), what)


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


def same_texts(models: str, shared: int, texts: int, what: str = _SAME_TEXTS) -> str:
    """The doubt whether two models are two."""
    return f"{models}: {shared} of {texts} {what}. Is it one model under two names?"
