"""Lists of entities to begin with: from web-scale text, and from Wikidata."""
