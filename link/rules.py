"""The rules of linking, and a linker's identity: all that decides a link besides the query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from polyculture.cache.catalog import Catalog
from polyculture.cache.identity import content_id
from polyculture.link.forms import Forms
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.keys import keys_version
from polyculture.link.normalise import NORMALISATION
from polyculture.link.ontology import scopes_of
from polyculture.link.origins import origin_rules

ALGORITHM = 14  # raise when the same input may give other links


@dataclass(frozen=True, slots=True)
class LinkRules:
    """What may be chosen of linking."""

    # Of two candidates with equal match and distance, the first is linked if it has this many times the sitelinks of
    # the second (both plus one: 1 against 0 decides, 0 against 0 does not).
    clear_lead: float = 2.0
    forms: Forms = "all"


DEFAULT_RULES = LinkRules()


def linker_id(source: Snapshot, catalog: Catalog, topics: Iterable[str], rules: LinkRules = DEFAULT_RULES) -> str:
    """A hash of what decides the item of a query: snapshot, classes, languages, rules, algorithm."""
    kinds = {"/".join(key): scope.rules for key, scope in scopes_of(catalog, sorted(set(topics))).items()}
    chains = {code: language.label_languages for code, language in catalog.languages.items()}
    versions = (ALGORITHM, NORMALISATION, keys_version())
    return content_id(*versions, source.identity, asdict(rules), kinds, chains, origin_rules(catalog))
