"""The table of rooms in `docs/architecture.md` says what the house's own test allows."""

from __future__ import annotations

import re

from tests.test_house import MAY_IMPORT, ROOT

PAGE = ROOT / "docs" / "architecture.md"


def test_the_table_says_who_may_import_whom() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    said = {room: set(re.findall(r"`([\w.]+)`", cell)) for room, cell in rows if cell != "all rooms"}
    allowed = {room: doors for room, doors in MAY_IMPORT.items() if room != "polyculture"}
    assert {room: said[room] for room in allowed} == allowed
    assert MAY_IMPORT["polyculture"] == allowed.keys()
