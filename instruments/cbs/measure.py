"""The Cultural Bias Scores of a run with their intervals, by our protocol, into `numbers` and `differences`.

Entities are linked to Wikidata by the experiment's linker, where their type is a topic. Models with scores from several
versions are found here, as versions are known only after the models open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from polyculture.cache.store.layout import Measure, compose
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.schema.measured import Difference, Number
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store, open_store
from polyculture.instruments.cbs.averages import TypeScores, tally
from polyculture.instruments.cbs.bias_rows import ScoredType, ScoreGroup, bias_differences, score_number, scored_cells
from polyculture.instruments.cbs.corpus_pairs import pair_numbers
from polyculture.instruments.cbs.layout import CBS, CORPUS, CULTURAL_LINKS, MEASURE
from polyculture.instruments.cbs.score_matrix import ContextCondition, score_matrices
from polyculture.instruments.contract import AskedExperiment
from polyculture.instruments.differences import with_verdicts
from polyculture.instruments.linked_names import NameQuery, NameToLink, kinds_in, link_names
from polyculture.metrics.measured import renew

RULES = ("sum", "mean", "probability")
GROUNDED, NEUTRAL = "grounded", "neutral"
QUERIES = Path(__file__).parent / "queries"
_OF_TYPE = """
FROM model_likelihoods
WHERE dataset = $dataset AND language = $language AND culture = $culture AND entity_type = $entity_type AND form = $form
    AND model = $model
ORDER BY setting, context_id, entity_id
"""


def measure_bias(run: RunFolder) -> None:
    """Writes the scores of every type, over types, and over languages, under all rules, and their differences.

    Only where they are to be renewed. Raises as `renew`.
    """
    renew(run, compose(CORE, CBS), [MEASURE], _measured)


def _measured(store: Store, _: Measure, inputs: str) -> tuple[list[Number], list[Difference]]:
    types = list(scored_types(store, RULES))
    numbers = [*_numbers(types, inputs)]
    return numbers, with_verdicts(bias_differences(types, scored_cells(store), inputs))


def scored_types(store: Store, rules: Sequence[str]) -> Iterator[ScoredType]:
    """Every type that was scored, under each rule that has a likelihood."""
    model = None
    for *names, again in store.execute(read_sql(QUERIES, "units")).fetchall():
        group = ScoreGroup(*names)
        if group.model != model:  # all of a model at once: the views below take longer to plan than to read
            model = group.model
            store.execute(read_sql(QUERIES, "likelihoods"), {"model": model})
        likelihoods = store.execute(_OF_TYPE, group._asdict()).fetchnumpy()
        for rule, matrices in score_matrices(likelihoods, rules).items():
            found = {condition: tally(matrix, group.entity_type) for condition, matrix in matrices.items()}
            yield ScoredType(rule, group, again, {name: one for name, one in found.items() if one is not None})


def _numbers(types: Sequence[ScoredType], inputs: str) -> Iterator[Number]:
    """The score of every type, then those over several; of a corpus what its other pairs come to, too."""
    places: dict[tuple[str, ScoreGroup, ContextCondition], list[TypeScores]] = {}
    for one in types:
        for condition, found in one.tallies.items():
            places[one.rule, one.group, condition] = [found]
    for one in types:
        for level in one.levels:
            for condition, found in one.tallies.items():
                places.setdefault((one.rule, level, condition), []).append(found)
    for (rule, group, condition), tallies in places.items():
        yield (score := score_number(rule, group, condition, tallies, inputs))
        if group.model.startswith(CORPUS):
            yield from pair_numbers(score, tallies)


TOPICS = Path(__file__).with_name("entity_topics.toml")
_ENTITIES = "SELECT DISTINCT language, entity_type, entity FROM scores ORDER BY ALL"


def link_entities(asked: AskedExperiment) -> None:
    """Writes the table `cultural_links`: the link of each scored entity."""
    with open_store(asked.run, compose(CORE, CBS)) as store:
        entities = store.sql(_ENTITIES).fetchall()
    names = [
        NameToLink(
            {"language": language, "entity_type": entity_type, "entity": entity},
            [NameQuery(language, *kind, entity) for kind in kinds_in(TOPICS)[entity_type]],
        )
        for language, entity_type, entity in entities
        if entity_type in kinds_in(TOPICS) and language in asked.catalog.languages
    ]
    if names:
        link_names(asked, "entities", CULTURAL_LINKS, names)


_VERSIONS = """
SELECT model, list(DISTINCT model_version ORDER BY model_version) AS versions
FROM scores WHERE model_version IS NOT NULL GROUP BY model HAVING len(versions) > 1 ORDER BY model
"""


def mixed_versions(run: RunFolder) -> list[tuple[str, list[str]]]:
    """The models with several versions among their present scores, each with these."""
    with open_store(run, compose(CORE, CBS)) as store:
        return store.sql(_VERSIONS).fetchall()
