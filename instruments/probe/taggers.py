"""Part-of-speech taggers: spaCy's pipelines, packages or folders, that the user has; the rule where there is none.

No list of languages stands here: spaCy has pipelines for some thirty, and takes those that others train.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from polyculture.cache.errors import DataSetError, MissingDependencyError
from polyculture.cache.identity import content_id, file_sha256

AUTO, RULE = "auto", "rule"
_NUMBER = 2  # of how tags become content words: another number asks anew
_CONTENT = ("NOUN", "PROPN", "VERB")  # universal tags; auxiliaries are tags of their own
_LINE = re.compile(r"[^\r\n]+")  # no sentence goes over it
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")  # lone surrogates are no UTF-8
_REMEDY = "Install one with: python -m spacy download NAME, e.g. en_core_web_sm; or give auto, or rule."


def choose_taggers(names: Sequence[str], languages: Iterable[str]) -> dict[str, str]:
    """The tagger of each language: the first of `names` that serves it, else the rule; 'auto' is an installed pipeline.

    Raises `DataSetError` for a name that is no pipeline or serves no language that is asked.
    """
    asked = list(languages)
    serving = {name: None if name in (AUTO, RULE) else described(name)[0] for name in names}
    for name, served in serving.items():
        if served and served not in map(_base, asked):
            remedy = f"It tags {served}; give --tagger auto, or one for {', '.join(asked)}."
            raise DataSetError(f"the tagger {name!r} serves no language that is asked", remedy=remedy)
    installed = _installed() if AUTO in names else {}

    def chosen(language: str) -> str:
        for name, served in serving.items():
            if name == RULE or served == _base(language):
                return name
            if name == AUTO and _base(language) in installed:
                return installed[_base(language)]
        return RULE

    return {language: chosen(language) for language in asked}


@cache
def recorded(tagger: str) -> str:
    """What is recorded of a tagger: the versions of spaCy and of the pipeline."""
    from spacy.about import __version__

    return f"tagger {_NUMBER}, spacy {__version__}, {described(tagger)[1]}"


def tagged_words(text: str, tagger: str) -> Iterator[tuple[int, int]]:
    """Where the content words of a text begin and end, in order; no two overlap.

    Marks behind a letter belong to its word, also where the tagger cuts them off. What has no letter is none.
    """
    done = 0
    for line in _LINE.finditer(_UNREADABLE.sub(" ", text)):
        for token in _opened(tagger)(line[0]):
            start, end = max(line.start() + token.idx, done), line.start() + token.idx + len(token.text)
            while end < len(text) and unicodedata.combining(text[end]):
                end += 1
            while start < end and unicodedata.combining(text[start]):
                start += 1
            while start < end and unicodedata.category(text[end - 1])[0] not in "LMN":
                end -= 1
            if token.pos_ in _CONTENT and any(letter.isalpha() for letter in text[start:end]):
                done = end
                yield start, end


@cache
def described(model: str) -> tuple[str, str]:
    """A pipeline's language and what is recorded of it, not loaded. Raises `DataSetError` where there is none."""
    try:
        import spacy.util
    except ImportError as fault:
        raise MissingDependencyError("spacy", "taggers", f"The tagger {model!r}") from fault
    try:
        folder = Path(model) if Path(model).is_dir() else Path(spacy.util.get_package_path(model))
        inner = folder if (folder / "meta.json").is_file() else next(folder.glob("*/meta.json")).parent
        meta: Any = spacy.util.get_model_meta(inner)
    except (OSError, ValueError, ImportError, StopIteration) as fault:
        raise DataSetError(f"there is no tagger {model!r}", remedy=_REMEDY) from fault
    told = f"{meta['lang']}_{meta['name']} {meta['version']}"
    if Path(model).is_dir():  # a package's version says all; of a folder, its files do
        files = [one for one in sorted(folder.rglob("*")) if one.is_file()]
        told += f" {content_id(*([one.relative_to(folder).as_posix(), file_sha256(one)] for one in files))[:12]}"
    return str(meta["lang"]), told


@cache
def _opened(model: str) -> Any:
    import spacy

    try:
        nlp = spacy.load(model, exclude=["ner", "parser", "senter", "textcat"])
    except (OSError, ValueError, ImportError, KeyError) as fault:
        reason = " ".join(str(fault).split())[:200]
        raise DataSetError(f"the spaCy model {model!r} cannot be loaded: {reason}", remedy=_REMEDY) from fault
    if not {"tagger", "morphologizer"} & set(nlp.pipe_names):
        what = f"the spaCy model {model!r} has no tagger and no morphologizer"
        raise DataSetError(what, remedy="Name one with part-of-speech tags, e.g. en_core_web_sm.")
    return nlp


def _installed() -> dict[str, str]:
    """An installed pipeline of each language: of several the first by name."""
    found: dict[str, str] = {}
    for name in sorted({one.name for one in entry_points(group="spacy_models")}):
        with suppress(DataSetError, MissingDependencyError):  # it is told when it is named
            found.setdefault(described(name)[0], name)
    return found


def _base(language: str) -> str:
    """A language without its script or region: 'zh-tw' is 'zh'."""
    return language.partition("-")[0]
