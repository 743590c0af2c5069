"""The numbers of question sets: shares and differences of shares over facets, with intervals over units and prompts.

- `tally`: the counts of one study as arrays
- `families`: what is computed of them, a function a family
- `uncertainty`: intervals of ratios of counts
- `measure`: rows of `numbers`; `paired`: rows of `differences`, of two sides or two sets
"""
