"""Writes the variances that `polyculture plan` takes where there is no run yet: of a run of the demo's model.

    polyculture run bench/demo_noise.toml
    python -m bench.demo_noise bench/runs/demo_noise > polyculture/running/demo_noise.toml

The run asks SmolLM2-135M-Instruct three wordings in English, the language that it writes. So it has one side of every
comparison: the variances are the most that two sides can have (`noise_of_one_side`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.metrics import KEPT, METRICS_LAYOUT
from polyculture.metrics.power import (
    LANGUAGE,
    MODEL,
    Noise,
    SideValues,
    noise_of,
    of_one_condition,
    side_values,
)
from polyculture.metrics.prompt_values import prompt_values

SMALLEST = ("{run}",)
SAYS = "SmolLM2-135M-Instruct in English: 3 topics, 4 countries, 3 wordings, 24 responses, by the gazetteer"


def main() -> None:
    """Prints the TOML file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    asked = parser.parse_args()
    sys.stdout.write(f'# Written by bench/demo_noise.py.\nrun = "{SAYS}"\n')
    with open_store(RunFolder(asked.run), METRICS_LAYOUT, KEPT) as store:
        of_metrics = prompt_values(store)
    for metric, rows in of_metrics.items():
        found = of_one_condition(rows)
        noise = found and noise_of_one_side([side_values(found[2], side) for side in (MODEL, LANGUAGE)], found[1])
        if found is None or noise is None:
            sys.exit(f"demo_noise: {asked.run} says nothing of {metric}")
        values = {name: value for name, value in asdict(noise).items() if value is not None}
        numbers = "".join(f"{name} = {value!r}\n" for name, value in values.items())
        sys.stdout.write(f'\n[{metric}]\ncondition = "{found[0]}"\n\n[{metric}.noise]\n{numbers}')


def noise_of_one_side(tables: Sequence[SideValues | None], responses: float) -> Noise | None:
    """The most noise that comparisons of two models or languages can have, from a run that asked one of each.

    The two are taken to have nothing in common: what differs between blocks and wordings of one side is all noise.
    None where there is one block, more than one side, or where nothing tells sampling from the rest.
    """
    table = tables[0]
    several = any(one is not None and one.values.shape[0] > 1 for one in tables)
    if table is None or several or table.values.shape[1] < 2:
        return None
    return noise_of(table.values, 1, table.sampling / table.count, responses, table.count)


if __name__ == "__main__":
    main()
