"""Topics, languages and countries: data files that every room reads, and that a user can add to.

Built-in files are `topics/<code>.toml`, `languages/<code>.toml` and `countries.toml`, beside this file. A user's folder
may hold `topics/` and `languages/` of the same form; its files take precedence.
"""

from polyculture.cache.catalog.model import Catalog, Country, Kind, Language, Topic
from polyculture.cache.catalog.read import read_catalog

__all__ = ["Catalog", "Country", "Kind", "Language", "Topic", "read_catalog"]
