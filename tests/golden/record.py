"""Records the numbers of the golden run anew, in `golden/`:

python -m tests.golden.record             runs it in a temporary folder
python -m tests.golden.record FOLDER      keeps the run there; where there is one already, only reads it

Do so where a difference is meant in many rows, and say why in the commit. For a few, `golden/changed.tsv` names each
with its reason; recording anew empties it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from polyculture.cache.store.run_folder import RunFolder
from tests.golden.experiment import NAME, golden_models, run_all, write_workspace
from tests.golden.numbers import GOLDEN, golden_files, read_numbers, write_golden


def main() -> None:
    """Writes the numbers of a run."""
    if len(sys.argv) > 1:
        record(Path(sys.argv[1]).absolute())
        return
    with tempfile.TemporaryDirectory() as folder:
        record(Path(folder))


def record(folder: Path) -> None:
    """Writes the numbers of the run in a folder, which is made first where there is none."""
    run = RunFolder(folder / "runs" / NAME)
    if not run.report.exists():
        with golden_models() as requests:
            write_workspace(folder, requests.server.url)
            run_all(folder, requests)
    found = read_numbers(folder / "runs")
    GOLDEN.mkdir(exist_ok=True)
    for name in golden_files():
        (GOLDEN / f"{name}.tsv").unlink()
    for name, rows in found.items():
        write_golden(name, rows)
        print(name, len(rows))
    (GOLDEN / "changed.tsv").write_text("file\trow\told\tnew\treason\tcommit\n", encoding="utf-8")


if __name__ == "__main__":
    main()
