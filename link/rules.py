"""The thresholds of linking, and a linker's identity: all that decides a link besides the surface."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from polyculture.cache.catalog import Catalog
from polyculture.cache.identity import content_id
from polyculture.cache.inflection import inflections
from polyculture.link.calibration import bases
from polyculture.link.forms import FORMS, Form
from polyculture.link.index.source import IndexSource
from polyculture.link.normalise import NORMALISATION
from polyculture.link.ontology import pages, scope_of
from polyculture.link.origins import origin_rules
from polyculture.link.within import carriers

ALGORITHM = 12  # raise when the same input may give other links


@dataclass(frozen=True, slots=True)
class LinkRules:
    """Thresholds of linking."""

    # Of two survivors with equal match kind and distance, the first is linked if it has this many times the sitelinks
    # of the second (both plus one: 1 against 0 decides, 0 against 0 does not).
    clear_lead: float = 2.0
    # rapidfuzz's ratio of the normal forms. 90 allows one replaced letter in ten, or one inserted letter in five (a
    # plural, an ending, a typo), and excludes names of up to four letters. None: no fuzzy matching.
    fuzzy_threshold: float | None = 90.0
    # Below this the two must be near-identical (link/typos.py): 94 allows one inserted or deleted letter in nine. On
    # real answers and names 48 of 59 fuzzy links were right without this rule, 28 of 30 with it.
    fuzzy_plain: float = 94.0
    # The threshold for persons, and for Arabic and Devanagari letters. At 90, about a fifth of the persons linked after
    # their own alias was held out of the index were other persons (Odo of Cluny, Odilo of Cluny).
    fuzzy_strict: float = 95.0
    forms: tuple[Form, ...] = FORMS


DEFAULT_RULES = LinkRules()


def linker_id(source: IndexSource, catalog: Catalog, topics: Iterable[str], rules: LinkRules = DEFAULT_RULES) -> str:
    """A hash of what decides the item of a surface: snapshot, classes, languages, rules, algorithm."""
    kinds = {
        f"{topic.code}/{name}": asdict(scope_of(topic, kind))
        for topic in map(catalog.topic, sorted(set(topics)))
        for name, kind in topic.kinds.items()
        if kind.counted
    }
    chains = {code: language.label_languages for code, language in catalog.languages.items()}
    counts = {f"{match}, {competition}": [basis.right, basis.of] for (match, competition), basis in bases().items()}
    parts = (
        ALGORITHM,
        NORMALISATION,
        source.identity,
        source.complete,
        asdict(rules),
        inflections(),
        carriers(),
        asdict(pages()),
        counts,
    )
    return content_id(*parts, kinds, chains, origin_rules(catalog))
