"""Comparisons as frames."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from polyculture.cache.errors import StoreError
from polyculture.experiment.workspace import Workspace
from polyculture.metrics.comparison.compare import TARGETS
from polyculture.metrics.comparison.table import as_table, remarks_of
from polyculture.running.comparing import Question, compared

if TYPE_CHECKING:
    import pandas as pd


def compared_frame(workspace: Workspace, question: Question) -> pd.DataFrame:
    """The rows of `polyculture compare`; `attrs["remarks"]` has its remarks."""
    for target in question.targets:
        if target not in TARGETS:
            raise StoreError(f"there is no target {target!r}", remedy=f"Known: {', '.join(TARGETS)}.")
    remarks: list[str] = []
    with ExitStack() as stack:
        found = compared(stack, workspace, question, remarks.append)
    frame: pd.DataFrame = as_table(found.rows).to_pandas()
    frame.attrs["remarks"] = [*remarks, *remarks_of(found.rows)]
    return frame
