"""The numbers of question sets: shares and differences of shares over facets, with intervals over units and prompts.

- `tally`: the counts of one study as arrays
- `words`, `declared`: what a declared number counts of them; `families`: the declared numbers that sets ask for by name
- `uncertainty`: intervals of ratios of counts
- `measure`: rows of `numbers`; `paired`: rows of `differences`, of two sides or two sets
"""
