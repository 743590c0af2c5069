"""The named forms of linking: what goes beyond labels and aliases as they stand."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

# Another spelling, another form of the word, a name within the mention, a slip.
Form: TypeAlias = Literal["spelling", "inflection", "within", "fuzzy"]
FORMS: tuple[Form, ...] = get_args(Form)
