"""The tables of data sets of contexts and entities: they decide which rows of instruments are current."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout
from polyculture.instruments.datasets.rows import DATASET_CONTEXTS, DATASET_ENTITIES

DATASETS = Layout((DATASET_CONTEXTS, DATASET_ENTITIES), Layer((Path(__file__).with_name("present.sql"),)))
