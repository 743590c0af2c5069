"""Reads publishers' files, and files of any kind: places, then records, then rows and fields.

- `places`, `fetch`: where a data set is published, patterns of its files, and one commit of it on this machine
- `files`, `tables`, `cells`, `encoding`, `compressed`: a file of any kind as records (`record`)
- `rules`: what a rules file says of files, rows and fields
- `rows`, `fields`, `values`: a block's rows, and their fields
- `left_out`: what is left out or changed, where, and why
"""
