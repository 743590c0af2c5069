"""What a paper measured, by one command, and its tables with one's own models above the paper's.

- `options`: the command's options, and the parts that a paper's preset names
- `tables.toml`: titles of the printed tables, and layouts of what papers print as figures alone
- `own_numbers.sql`, `own`: a run's numbers keyed as the cells of `published`
- `tables`: the layout of each table, from its published cells or from `tables.toml`
- `protocol`: what a run asked otherwise than the paper
- `join`: the rows of a table; `files`: the terminal, CSV, LaTeX and HTML
- `answer`: the paper's findings as claims, which is what the command prints last
- `section`: the report's section with figures of cultures beside one another
"""
