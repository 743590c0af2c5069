"""Data sets of masked contexts and cultural entities: their sources and readers.

A data set is a TOML file in `rules/`: which files, which columns, which spellings. `own.toml` is the plain form for a
user's own. `load` reads a folder by such rules and lists what it leaves out, with the reason.
"""
