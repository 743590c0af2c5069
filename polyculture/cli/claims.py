"""`polyculture compare --claims`: stated hypotheses about a run, each with its test, as the table `claims` has them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

from polyculture.cache.store.manifest import require_run
from polyculture.cache.store.schema import Condition
from polyculture.cache.store.store import open_store
from polyculture.cli.declared import print_declared
from polyculture.cli.options import Format
from polyculture.cli.tables import write_records
from polyculture.console import say
from polyculture.generate.design import known_wordings
from polyculture.metrics import KEPT
from polyculture.metrics.claims.claim import read_claims
from polyculture.metrics.claims.parts import check_values
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.reports.claims import claim_rows
from polyculture.reports.sections import CLAIMS
from polyculture.running.changes import warn_of_changes
from polyculture.running.layout import store_layout

if TYPE_CHECKING:
    from polyculture.experiment.workspace import Workspace


def print_claims(workspace: Workspace, file: Path, format: Format, output: Path | None) -> None:
    """Tests the claims of a file on a run, and prints or writes a line for each."""
    import pyarrow as pa
    from babel import Locale

    stated = read_claims(file)
    manifest = require_run(workspace.run)
    warn_of_changes(workspace)
    with open_store(workspace.run, store_layout(), KEPT) as store:
        run = ComparedRun(store, manifest.deterministic)
        named = Locale("en")  # what the catalogue lacks may be of another run, with a pack of its own
        known = {
            "language": (*workspace.catalog.languages, *named.languages),
            "country": (*workspace.catalog.countries, *named.territories),
            "topic": workspace.catalog.topics,
            "condition": get_args(Condition),
            "wording": known_wordings(),
        }
        check_values(run, stated, known)
        native = workspace.catalog.native_pairs(workspace.experiment.languages)
        rows = claim_rows(run, native, manifest, stated)
        if format is not Format.TABLE or output is not None:
            write_records(rows, format, output)
            return
        print_declared(CLAIMS.declared, store.from_arrow(pa.Table.from_pylist(rows)), title=str(file))
    tested = sum(row["p"] is not None for row in rows)
    say(f"p: by Holm over the {tested} claims with a p; intervals are of 95 %, of the comparison that is shown")
