"""Topics, languages and countries: data files that every room reads, and that a user can add to.

A built-in topic stands in `topics/<code>.toml`, a language in `languages/<code>.toml`, the countries in
`countries.toml`, all beside this file. A user's folder may hold `topics/` and `languages/` of the same form; its
files come first.
"""

from polyculture.cache.catalog.model import Catalog, Country, Kind, Language, Topic
from polyculture.cache.catalog.read import read_catalog

__all__ = ["Catalog", "Country", "Kind", "Language", "Topic", "read_catalog"]
