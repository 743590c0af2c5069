"""Topics, languages and countries: data files that every room reads, and that a user can add to.

Built-in files are `topics/<code>.toml`, `languages/<code>.toml`, `countries.toml`, `former_states.toml` and
`regions.toml`, beside this file. A culture pack may hold all but the former states in the same form; its files take
precedence.
"""

from polyculture.cache.catalog.model import Catalog, Country, FormerState, Kind, Language, Region, Topic
from polyculture.cache.catalog.pack import Pack
from polyculture.cache.catalog.read import read_catalog
from polyculture.cache.catalog.written import WrittenNames

__all__ = [
    "Catalog",
    "Country",
    "FormerState",
    "Kind",
    "Language",
    "Pack",
    "Region",
    "Topic",
    "WrittenNames",
    "read_catalog",
]
