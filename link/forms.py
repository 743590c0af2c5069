"""Which forms of a mention are looked up, and how alike a name must be."""

from __future__ import annotations

from typing import Literal, TypeAlias

# "paper": the surface alone, as labels and aliases stand, in capital letters or small ones, as in the MAKIEval study.
Forms: TypeAlias = Literal["all", "paper"]
# What is written after a name to tell it from others: "1984 (novel)". Python and DuckDB read the pattern alike.
PARENTHESIS = r"\s*[(（][^()（）]*[)）]\s*$"
MATCHED_BY = ("surface", "name", "english")  # what of a mention is looked up, in the order of ranking
MATCHES = ("exact", "normalised", "key")  # how alike the name is, in the order of ranking
