"""Packages that only some commands need: each is imported where it is used, and an extra of Polyculture installs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from polyculture.cache.errors import MissingDependencyError


@dataclass(frozen=True)
class Extra:
    """An extra by its name in pyproject.toml, and the packages of it that are looked for."""

    name: str
    packages: tuple[str, ...]

    @property
    def missing(self) -> Sequence[str]:
        """The packages that are not installed. Imports nothing."""
        return [package for package in self.packages if find_spec(package) is None]

    def check(self, who: str) -> None:
        """Raises `MissingDependencyError`, with the install line, where a package is missing. Imports nothing."""
        for package in self.missing:
            raise MissingDependencyError(package, self.name, who)


DUMPS = Extra("dumps", ("isal",))
MINING = Extra("mining", ("icu4py",))
