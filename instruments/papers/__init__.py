"""All that a paper measured on its data set, by one command; its tables and published figures beside the user's.

- `papers.toml`: the papers, and the commands that make up each
- `parts`: a paper's commands with their options
- `scored`, `needed`: what is scored of a reading of the data set, and what a protocol compares beside that
- `section`: the report's section
"""
