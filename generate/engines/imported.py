"""The declaration of `imported`: models whose texts somebody else generated. They are asked nothing.

`polyculture import` brings their texts into a run; `imported:gpt-4o` is a name under which they count.
"""

from __future__ import annotations

from polyculture.generate.engines.capabilities import SAMPLING
from polyculture.generate.engines.kind import EngineKind
from polyculture.generate.engines.options import Options

IMPORTED = "imported"
PREFIX = f"{IMPORTED}:"


KIND = EngineKind(
    name=IMPORTED,
    options=Options,
    paid=False,
    offers=(),
    lacks=lambda _spec, _options: {SAMPLING: "Its texts are imported, never generated: polyculture import FILE."},
)
