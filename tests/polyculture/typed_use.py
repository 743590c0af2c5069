"""What a user's own type checker sees of the interface. It is read by mypy in `make lint`, and never run.

Where a line that is wrong is not refused, its `type: ignore` is unused, which is an error.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa

import polyculture

run: polyculture.Run = polyculture.open(Path("exp.toml"))
frame: pd.DataFrame = run.table("granularity", language="ja", country=None)
rows: pa.Table = run.arrow("granularity", language=["ja", "en"])
report: Path = run.report()
names: list[str] = run.tables
again: polyculture.Run = polyculture.run({"name": "small"}, accept_changes=True)
try:
    run.compare("ja", "en", by=["model"], targets=["new_prompts"])
except polyculture.UserError as fault:
    remedy: str | None = fault.remedy
    line: str = fault.what

polyculture.open(3)  # type: ignore[arg-type]
polyculture.run("exp.toml", accept=True)  # type: ignore[call-arg]
polyculture.opne("exp.toml")  # type: ignore[attr-defined]
run.compare("ja", "en", targets=["pages"])  # type: ignore[list-item]
