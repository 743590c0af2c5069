"""The numbers by which linking decides, and the identity of the whole: what a link depends on besides its surface."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from polyculture.cache.catalog import Catalog
from polyculture.cache.identity import content_id
from polyculture.link.calibration import bases
from polyculture.link.normalise import NORMALISATION
from polyculture.link.ontology import pages, scope_of
from polyculture.link.source import Source
from polyculture.link.variants import inflections

ALGORITHM = 8  # raise when the same input may give other links


@dataclass(frozen=True, slots=True)
class Rules:
    """Thresholds."""

    # Of two survivors with equal match and equal distance, the more prominent one is meant if it has twice the
    # sitelinks (both counted plus one, so that 1 against 0 still decides and 0 against 0 does not).
    clear_lead: float = 2.0
    # rapidfuzz's ratio of the normal forms. 90 takes one wrong letter in ten, or one too many in five: a plural, an
    # ending, a slip; and leaves alone names of up to four letters, where one letter makes another word. None: never.
    fuzzy_threshold: float | None = 90.0
    # Below this the two must hardly differ (link/slips.py): 94 takes a letter too many or too few in nine. Of 59 fuzzy
    # links of real answers and names 48 were right before there were slips.py and this, 28 of 30 with them.
    fuzzy_plain: float = 94.0
    # The same for persons, and in Arabic and Devanagari letters. At 90, about a fifth of the persons that were linked
    # when their own alias was taken out of the index were others (Odo of Cluny, Odilo of Cluny).
    fuzzy_strict: float = 95.0


DEFAULT_RULES = Rules()


def linker_id(source: Source, catalog: Catalog, topics: Iterable[str], rules: Rules = DEFAULT_RULES) -> str:
    """A hash of all that decides which item a surface is linked to: snapshot, classes, languages, rules, algorithm."""
    kinds = {
        f"{topic.code}/{name}": asdict(scope_of(topic, kind))
        for topic in map(catalog.topic, sorted(set(topics)))
        for name, kind in topic.kinds.items()
        if kind.counted
    }
    chains = {code: language.label_languages for code, language in catalog.languages.items()}
    countries = {code: (country.qid, *country.includes) for code, country in catalog.countries.items()}
    counts = {f"{match}, {company}": [basis.right, basis.of] for (match, company), basis in bases().items()}
    parts = (
        ALGORITHM,
        NORMALISATION,
        source.identity,
        source.complete,
        asdict(rules),
        inflections(),
        asdict(pages()),
        counts,
    )
    return content_id(*parts, kinds, chains, countries)
