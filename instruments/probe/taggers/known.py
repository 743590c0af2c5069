"""Which tagger a language gets: the one that is named, the package for the language, or the rule without any."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from polyculture.cache.errors import DataSetError, MissingDependencyError, did_you_mean
from polyculture.instruments.probe.words import RULE

AUTO, SPACY = "auto", "spacy"
_RULE_NUMBER = 1  # of how tags become content words: another number asks anew


@dataclass(frozen=True, slots=True)
class Package:
    """A package with a tagger."""

    name: str
    languages: tuple[str, ...]
    distributions: tuple[str, ...]
    kinds: Mapping[str, str]  # the beginning of a tag -> 'noun' | 'verb' | 'proper noun' | ''

    def kind(self, tag: str) -> str | None:
        """What a tag means; None: no content word."""
        return next(
            (self.kinds[tag[:size]] or None for size in range(len(tag), 0, -1) if tag[:size] in self.kinds), None
        )

    @property
    def installed(self) -> bool:
        return _version(self.distributions[0]) is not None


@cache
def packages() -> Mapping[str, Package]:
    """The packages of `taggers.toml`, by name."""
    told = tomllib.loads(Path(__file__).with_name("taggers.toml").read_text(encoding="utf-8"))
    return {
        name: Package(name, tuple(one["languages"]), tuple(one["distributions"]), one["kinds"])
        for name, one in told.items()
    }


def choose_taggers(names: Sequence[str], languages: Iterable[str]) -> dict[str, str]:
    """The tagger of each language: the first of `names` that serves it, else the rule; 'auto' is an installed package.

    Raises `DataSetError` for a name that is none or serves no language, `MissingDependencyError` for one not installed.
    """
    asked, serving = list(languages), {name: _serves(name) for name in names}
    for name, served in serving.items():
        if served and not {_base(one) for one in asked} & set(served):
            remedy = f"It tags {', '.join(served)}; give --tagger auto, or one for {', '.join(asked)}."
            raise DataSetError(f"the tagger {name!r} serves no language that is asked", remedy=remedy)
    return {language: _chosen(language, serving) for language in asked}


def without_tagger(chosen: Mapping[str, str]) -> list[str]:
    """Languages that get the rule although a package would serve them, each with the package that is not installed."""
    return sorted(
        f"{language} ({one.name})"
        for language, name in chosen.items()
        for one in packages().values()
        if name == RULE and _base(language) in one.languages and not one.installed
    )


@cache
def recorded(tagger: str) -> str:
    """What is recorded of a tagger: packages and model with their versions."""
    name, _, model = tagger.partition(":")
    told = [f"{one} {_version(one)}" for one in packages()[name].distributions]
    if model:
        from polyculture.instruments.probe.taggers.spacy_model import spacy_model_version

        told.append(spacy_model_version(model)[1])
    return f"tagger {_RULE_NUMBER}, {', '.join(told)}"


def _serves(name: str) -> tuple[str, ...]:
    """The languages of a tagger that is named; none of 'auto' and 'rule', which serve all."""
    if name in (AUTO, RULE):
        return ()
    package, _, model = name.partition(":")
    if package == SPACY and model:
        from polyculture.instruments.probe.taggers.spacy_model import spacy_model_version

        return (spacy_model_version(model)[0],)
    if package not in packages() or model or package == SPACY:
        known = [AUTO, RULE, *(one for one in packages() if one != SPACY)]
        remedy = f"{did_you_mean(name, known)} spaCy's are spacy:MODEL, e.g. spacy:en_core_web_sm."
        raise DataSetError(f"there is no tagger {name!r}", remedy=remedy)
    one = packages()[package]
    if not one.installed:
        raise MissingDependencyError(one.distributions[0], "taggers", f"The tagger {name!r}")
    return one.languages


def _chosen(language: str, serving: Mapping[str, tuple[str, ...]]) -> str:
    for name, served in serving.items():
        if name == RULE or _base(language) in served:
            return name
        if name == AUTO:
            found = (one.name for one in packages().values() if _base(language) in one.languages and one.installed)
            if package := next(found, None):
                return package
    return RULE


def _base(language: str) -> str:
    """A language without its script or region: 'zh-tw' is 'zh'."""
    return language.partition("-")[0]


@cache
def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
