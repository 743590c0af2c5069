"""Our own contexts in two phrasings, for use with a published data set.

*english-like*: every pronoun is present, as in English; *pro-drop*: pronouns that the language omits are absent.
The published data sets hold no such pairs. `paired/contexts.tsv` has the columns of one's own contexts: Japanese,
Korean, Chinese and Arabic, neutral, ending at the gap.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from polyculture.instruments.datasets.load import Loader
from polyculture.instruments.datasets.model import DataSet
from polyculture.instruments.datasets.rules import rules_of

FOLDER = Path(__file__).parent / "paired"


def with_phrasings(dataset: DataSet) -> DataSet:
    """The data set with the pairs in its languages and of its cultures and types; it is kept apart from its own."""
    fitting = {(entity.language, entity.culture, entity.entity_type) for entity in dataset.entities}
    added = [
        replace(context, dataset=dataset.name)
        for context in Loader(rules_of("own"), FOLDER).load().contexts
        if (context.language, context.culture, context.entity_type) in fitting
    ]
    return replace(dataset, contexts=(*dataset.contexts, *added))
