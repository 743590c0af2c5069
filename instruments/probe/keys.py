"""What items are told apart by: the string as it is written, or the item of Wikidata that it is linked to."""

from __future__ import annotations

from typing import Literal

Key = Literal["string", "item"]
TOGETHER = " + "  # between asking languages that stand together, as `keys.sql` writes them
