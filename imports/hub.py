"""A data set of the Hugging Face hub, by `hub:OWNER/NAME`: its data files, downloaded once."""

from __future__ import annotations

import re
from pathlib import Path

from polyculture.cache.errors import UserError

_NAME = re.compile(r"hub:([A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})")
_DATA = [f"*.{suffix}" for suffix in ("parquet", "pq", "jsonl", "ndjson", "csv", "tsv")]


def named_on_hub(path: Path) -> str | None:
    """OWNER/NAME of a data set; None for a path on this machine. Raises `UserError` where the name is none."""
    if not str(path).startswith("hub:"):
        return None
    match = _NAME.fullmatch(str(path))
    if match is None:
        raise UserError(f"{path} is no name of a data set", remedy="Write hub:OWNER/NAME.")
    return match[1]


def download(name: str) -> Path:
    """The folder with the data files of a data set. Raises `UserError`, with the remedy, where it cannot be had."""
    try:
        from huggingface_hub import snapshot_download
    except ModuleNotFoundError as fault:
        remedy = "Install it with: pip install huggingface_hub, or download its files and import their folder."
        raise UserError(f"hub:{name} needs the package huggingface_hub", remedy=remedy) from fault
    try:
        return Path(snapshot_download(name, repo_type="dataset", allow_patterns=_DATA))
    except Exception as fault:  # the hub's library lets errors of several network libraries through
        why = " ".join(str(fault).split())[:200] or type(fault).__name__
        remedy = "Check the name and the network, or download its files and import their folder."
        raise UserError(f"hub:{name} cannot be downloaded: {why}", remedy=remedy) from fault
