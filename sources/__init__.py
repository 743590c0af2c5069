"""Reads files of any kind as records: what a file is, its encoding, tables, cells, and paths into them."""
