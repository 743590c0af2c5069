"""What a run knows of the data sets of contexts and entities: it decides which rows of several instruments count."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.layout import Layer, Layout
from polyculture.instruments.datasets.rows import DATASET_CONTEXTS, DATASET_ENTITIES

DATASETS = Layout((DATASET_CONTEXTS, DATASET_ENTITIES), Layer((Path(__file__).with_name("current.sql"),)))
