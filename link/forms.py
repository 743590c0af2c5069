"""The named forms of linking: what goes beyond labels and aliases as they stand."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

# Equal after normalisation, another spelling, another form of the word, a name within the mention, a slip.
Form: TypeAlias = Literal["normalised", "spelling", "inflection", "within", "fuzzy"]
FORMS: tuple[Form, ...] = get_args(Form)
