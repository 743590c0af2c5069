"""What a paper measured, by one command, and its numbers next to those of one's own models.

- `options`: the command's options, and the parts that a paper's preset names
- `tables.toml`: titles of the printed tables, and layouts of what papers print as figures alone
- `own_numbers/`, `own`: a run's numbers keyed as the cells of `published`
- `tables`: the layout of each table, from its published cells or from `tables.toml`
- `protocol`: what a run asked otherwise than the paper
- `join`: the numbers of a table, the run's and the paper's
- `compared`: each printed number next to the run's, which is the long table of `files`
- `readable`: one layout for the terminal and LaTeX; `tables_section`: the paper's own layout, for the report
- `marks`: the marks behind numbers, and what they mean
- `answer`: the paper's findings as claims, which is what the command prints last
- `section`: the report's section with figures of cultures beside one another
"""
