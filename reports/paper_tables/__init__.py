"""A paper's tables in its layout, for `report --paper`: what each paper gives, and the study's own.

- `paper`: what the front door asks of a paper, and what it gets back
- `published`: published figures that stand beside a user's
- `makieval`: the tables of the study whose metrics these are
"""
