"""Builds lists of entities from web-scale text and from Wikidata."""
