"""All that a paper measured on its data set, by one command; its tables and published figures beside the user's.

- `papers.toml`: the papers, and the commands that make up each
- `parts`: a paper's commands with their options
- `protocol`: the score of a table's column under a paper's protocol, and under ours
- `scored`, `needed`: what is scored of a reading of the data set, and what a protocol compares beside that
- `ledger`: from the paper's protocol to ours, one switch at a time
- `section`: the report's section
"""
