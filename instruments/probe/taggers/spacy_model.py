"""spaCy with a model that the user installs as a package, or a folder that `nlp.to_disk` wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polyculture.cache.errors import DataSetError, MissingDependencyError
from polyculture.cache.identity import content_id, file_sha256
from polyculture.instruments.probe.taggers.packages import Tag, Tagged


def open_spacy(model: str) -> Tag:
    """The pipeline of a model. Raises `DataSetError` where it is not there, or has no part-of-speech tags."""
    try:
        import spacy
    except ImportError as fault:
        raise MissingDependencyError("spacy", "taggers", f"The tagger 'spacy:{model}'") from fault
    try:
        nlp: Any = spacy.load(model, exclude=["ner", "parser", "senter", "textcat"])
    except (OSError, ValueError, ImportError, KeyError) as fault:
        reason = " ".join(str(fault).split())[:200]
        what = f"the spaCy model {model!r} cannot be loaded: {reason}"
        raise DataSetError(what, remedy=f"Install it with: python -m spacy download {model}") from fault
    if not {"tagger", "morphologizer"} & set(nlp.pipe_names):
        what = f"the spaCy model {model!r} has no tagger and no morphologizer"
        raise DataSetError(what, remedy="Name one with part-of-speech tags, e.g. spacy:en_core_web_sm.")

    def tag(text: str) -> Iterator[Tagged]:
        for token in nlp(text):
            yield token.idx, token.idx + len(token.text), token.pos_

    return tag


def spacy_model_version(model: str) -> tuple[str, str]:
    """A model's language and what is recorded of it, without loading it. Raises `DataSetError` where there is none."""
    try:
        import spacy.util
    except ImportError as fault:
        raise MissingDependencyError("spacy", "taggers", f"The tagger 'spacy:{model}'") from fault
    try:
        folder = Path(model) if Path(model).is_dir() else Path(spacy.util.get_package_path(model))
        meta: Any = spacy.util.get_model_meta(folder if (folder / "meta.json").is_file() else _inner(folder))
    except (OSError, ValueError, ImportError, StopIteration) as fault:
        remedy = f"Install it with: python -m spacy download {model}"
        raise DataSetError(f"there is no spaCy model {model!r}", remedy=remedy) from fault
    told = f"{meta['lang']}_{meta['name']} {meta['version']}"
    if Path(model).is_dir():  # a package's version says all; of a folder, its files do
        files = [one for one in sorted(folder.rglob("*")) if one.is_file()]
        told += f" {content_id(*([one.relative_to(folder).as_posix(), file_sha256(one)] for one in files))[:12]}"
    return str(meta["lang"]), told


def _inner(package: Path) -> Path:
    """The folder of the data within a package."""
    return next(one.parent for one in package.glob("*/meta.json"))
