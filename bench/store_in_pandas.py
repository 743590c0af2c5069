"""The metrics with pandas, as one would write them who has read its documentation: the peer of `bench/store.py`.

Job by job, since all mentions at once do not fit; each file is read once, with the columns that are needed. It does
less than the views: no rows of other settings to leave out, no missing cells, nothing about ambiguous links.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import gammaln

from bench.timing import Seconds, TimedView

CELL = ["model", "language", "topic", "condition", "country"]
LINK = ["language", "topic", "kind", "surface"]


def read_pandas(root: Path) -> dict[str, TimedView]:
    """The same frames as the views of the same names, with how long each took."""
    started = Seconds.now()
    jobs = [job_sums(root, file) for file in sorted((root / "mentions").rglob("*.parquet"))]
    mentions, statuses, items, answers = (pd.concat(frames, ignore_index=True) for frames in zip(*jobs, strict=True))
    linked = items[items["status"] == "linked"]
    found = {"the jobs": TimedView(Seconds.now() - started, len(items))}
    steps = {
        "granularity": lambda: granularity(linked, answers),
        "diversity": lambda: diversity(linked),
        "diversity_companions": lambda: companions(linked, answers),
        "specificity": lambda: specificity(root, linked),
        "consensus": lambda: consensus(linked),
        "health": lambda: answers.merge(statuses, on=CELL, how="left").merge(mentions, on=CELL),
    }
    for view, compute in steps.items():
        started = Seconds.now()
        frame = compute()
        found[view] = TimedView(Seconds.now() - started, len(frame), frame)
    return found


def job_sums(root: Path, file: Path) -> Iterator[pd.DataFrame]:
    """Of one job: mentions of cells, statuses of cells, items of cells, answers of cells."""
    wanted = [*CELL, "kind", "surface", "granularity", "response_id", "counted", "hallucinated"]
    rows = pd.read_parquet(file, columns=wanted, partitioning=None)
    rows = rows[rows["counted"] & ~rows["hallucinated"]]
    yield rows.groupby(CELL, dropna=False).size().reset_index(name="mentions")
    rows = rows.merge(links_of(root, file), on=LINK, how="left")
    yield (
        rows.groupby([*CELL, "status"], dropna=False)
        .size()
        .unstack("status", fill_value=0)
        .reset_index()
        .rename(columns={"no candidate": "no_candidate", "no path": "no_path"})
    )
    once = rows.dropna(subset="qid").groupby([*CELL, "status", "qid", "response_id"], dropna=False)["granularity"]
    responses = once.agg(["size", "mean"]).reset_index().groupby([*CELL, "status", "qid"], dropna=False)
    yield responses.agg(linked=("size", "sum"), seen=("size", "size"), specific=("mean", "sum")).reset_index()
    yield answers_of(root, file)


def links_of(root: Path, file: Path) -> pd.DataFrame:
    """The links of a job's language and topic."""
    language, topic = (part.partition("=")[2] for part in file.parts[-3:-1])
    chosen = [("language", "==", language), ("topic", "==", topic)]
    return pd.read_parquet(root / "links.parquet", columns=[*LINK, "status", "qid"], filters=chosen)


def answers_of(root: Path, file: Path) -> pd.DataFrame:
    """What a job's responses are like, and how many were read whole."""
    wanted = [*CELL, "status", "text", "ending", "detected_language"]
    rows = pd.read_parquet(root / "responses" / file.relative_to(root / "mentions"), columns=wanted, partitioning=None)
    counts = rows[CELL].assign(
        answered=rows["status"] == "ok",
        empty=rows["text"].str.fullmatch(r"\s*"),
        cut=rows["ending"] == "cut",
        wrong_language=rows["detected_language"].str.split("-").str[0] != rows["language"].str.split("-").str[0],
    )
    told = pd.read_parquet(
        root / "extractions" / file.relative_to(root / "mentions"), columns=[*CELL, "status"], partitioning=None
    )
    read = told.assign(extracted=told["status"] == "ok").groupby(CELL, dropna=False)["extracted"].sum().reset_index()
    return counts.groupby(CELL, dropna=False).sum().reset_index().merge(read, on=CELL)


def granularity(linked: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """The mean label of items, each once per response."""
    sums = linked.groupby(CELL, dropna=False)[["specific", "seen"]].sum().reset_index()
    rows = sums.merge(answers[[*CELL, "extracted"]], on=CELL)
    rows = rows.rename(columns={"extracted": "responses", "seen": "incidences"})
    return rows.assign(granularity=rows["specific"] / rows["incidences"])


def diversity(linked: pd.DataFrame) -> pd.DataFrame:
    cells = linked.groupby(CELL, dropna=False)
    return cells.agg(diversity=("qid", "nunique"), linked=("linked", "sum"), incidences=("seen", "sum")).reset_index()


def companions(linked: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    rows = linked.merge(answers[[*CELL, "extracted"]], on=CELL)
    seen, size, smallest = rows["seen"], rows["extracted"], answers["extracted"].min()
    missed = (
        gammaln(size - seen + 1) + gammaln(size - smallest + 1) - gammaln(np.maximum(size - seen - smallest, 0) + 1)
    )
    rows = rows.assign(
        logarithms=seen * np.log(seen),
        squares=seen.astype(float) ** 2,
        once=seen == 1,
        twice=seen == 2,
        rarefied=np.where(size - seen < smallest, 1.0, 1 - np.exp(missed - gammaln(size + 1))),
    )
    cells = rows.groupby(CELL, dropna=False)
    sums = cells[["seen", "logarithms", "squares", "once", "twice", "rarefied"]].sum()
    sums["responses"] = cells["extracted"].first()
    sums["hill_1"] = sums["seen"] * np.exp(-sums["logarithms"] / sums["seen"])
    sums["hill_2"] = sums["seen"].astype(float) ** 2 / sums["squares"]
    others = (sums["responses"] - 1) * (sums["once"] - (sums["twice"] == 0))
    rest = others / (others + 2 * sums["twice"].where(sums["twice"] > 0, 1))
    sums["coverage"] = (1 - sums["once"] / sums["seen"] * rest).where(sums["once"] > 0, 1.0)
    return sums.reset_index()


def specificity(root: Path, linked: pd.DataFrame) -> pd.DataFrame:
    told = pd.read_parquet(root / "entity_countries.parquet", columns=["qid", "country"]).drop_duplicates()
    targets = pd.DataFrame({"target": sorted(linked["country"].dropna().unique())})
    named = linked[linked["country"].notna()].assign(target=lambda rows: rows["country"])
    asked = pd.concat([named, linked[linked["country"].isna()].merge(targets, how="cross")])
    told = told.rename(columns={"country": "target"}).assign(told=True)
    asked = asked.merge(told, on=["qid", "target"], how="left")
    asked["associated"] = asked["seen"].where(asked["told"].notna(), 0)
    sums = asked.groupby(["model", "language", "topic", "condition", "target"])[["seen", "associated"]]
    rows = sums.sum().reset_index().rename(columns={"target": "country", "seen": "incidences"})
    return rows.assign(specificity=rows["associated"] / rows["incidences"])


def consensus(linked: pd.DataFrame) -> pd.DataFrame:
    """Model by model: all at once do not fit."""
    return pd.concat([consensus_of(items) for _, items in linked.groupby("model")], ignore_index=True)


def consensus_of(items: pd.DataFrame) -> pd.DataFrame:
    block = ["model", "topic", "condition", "country"]
    sizes = items.groupby(CELL, dropna=False).size().reset_index(name="size")
    both = items.merge(items, on=[*block, "qid"], suffixes=("", "_other"))
    both = both[both["language"] < both["language_other"]]
    keys = [*block, "language", "language_other"]
    shared = both.groupby(keys, dropna=False).size().reset_index(name="shared")
    pairs = sizes.merge(sizes, on=block, suffixes=("", "_other"))
    pairs = pairs[pairs["language"] < pairs["language_other"]].merge(shared, on=keys, how="left").fillna({"shared": 0})
    consensus = pairs["shared"] / (pairs["size"] + pairs["size_other"] - pairs["shared"])
    return pairs.assign(consensus=consensus).rename(columns={"language_other": "other_language"})
