"""A claim: what is said of a metric, between what, and how large a difference counts. A file of claims is TOML.

Those of the papers are shipped, a file each, with words, bounds and targets of ours.

[[claims]]
name = "native-diversity"
says = "Prompts in a country's own language bring more different entities."
metric = "diversity"
contrast = { native = true }
expect = "higher"
target = "new_prompts"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from polyculture.cache.errors import ExperimentError, together
from polyculture.cache.toml_files import read_toml
from polyculture.cache.validation import ClosedModel, explain
from polyculture.metrics import MEASURE
from polyculture.metrics.comparison.sides import DIMENSIONS
from polyculture.metrics.declared import COMPARED, ON_REQUEST, RANGES, is_overlap, is_per_country
from polyculture.metrics.responses import DataSlice

PAPERS = {file.stem: file for file in sorted(Path(__file__).parent.glob("*.toml"))}
_REMEDY = "docs/claims.md has the keys of a claim, with examples."
_NUMBERED = re.compile(r"\bclaims\.(\d+)(\.?)")
_KNOWN = (*COMPARED, *ON_REQUEST)

Dimension = Literal[  # of texts, and of what instruments compare
    "model", "language", "condition", "country", "wording",
    "context_prefix", "phrasing", "dataset", "level", "option", "native", "method",
]  # fmt: skip
NonEmptyText = Annotated[str, Field(min_length=1)]


class ClaimContrast(ClosedModel):
    """Between what: one of `native`, `each`, `a`, `within`, `than`."""

    native: Literal[True] | None = None  # a country's own language against the other languages
    each: Dimension | None = None  # each value against all others together; of instruments each pair
    a: NonEmptyText | None = None  # a value of the run ...
    # ... against another one, several one after the other, "rest" (all others together), or "each" of the others
    against: NonEmptyText | tuple[NonEmptyText, ...] = "rest"
    # Pairs of languages of one group against pairs across groups.
    within: tuple[tuple[NonEmptyText, ...], ...] | None = None
    than: Annotated[float, Field(allow_inf_nan=False)] | None = None  # each model's number against this one

    @model_validator(mode="after")
    def _one(self) -> ClaimContrast:
        named = [name for name in ("native", "each", "a", "within", "than") if getattr(self, name) is not None]
        if len(named) != 1:
            raise ValueError(f"a contrast has one of native, each, a, within and than, and there is {named or 'none'}")
        if "against" in self.model_fields_set and self.a is None:
            raise ValueError("against needs a")
        if self.a is not None and (self.a == self.against or self.a in self.named):
            raise ValueError(f"{self.a!r} is compared with itself")
        languages = [language for group in self.within or () for language in group]
        if self.within is not None and (len(self.within) < 2 or len(set(languages)) < len(languages)):
            raise ValueError("within needs two or more groups, and each language in one of them")
        return self

    @property
    def named(self) -> tuple[str, ...]:
        """The values that `a` is set against, where they are named."""
        if isinstance(self.against, tuple):
            return self.against
        return () if self.against in ("rest", "each") else (self.against,)


class Claim(ClosedModel):
    """A hypothesis. `bound`: up to which difference two numbers are the same, or beyond which one is higher."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    says: NonEmptyText
    measure: NonEmptyText = MEASURE.name  # what measured it, as in `numbers`: 'cbs', 'qa', 'questions', ...
    metric: str
    where: Mapping[str, NonEmptyText] = {}  # only numbers with these facets; '-': without the facet
    by: tuple[NonEmptyText, ...] = ()  # a comparison for each value of these facets
    contrast: ClaimContrast
    expect: Literal["higher", "lower", "same", "different"]
    bound: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    parts: Literal["all", "any"] | None = None  # of the comparisons of a contrast: which must be so
    target: Literal["same_prompts", "new_prompts"]  # new samples of the same prompts, or new prompts like these
    source: NonEmptyText | None = None  # where it is said: 'section 6.3'

    @model_validator(mode="after")
    def _testable(self) -> Claim:
        if self.expect == "same" and not self.bound:
            raise ValueError("'same' needs a bound above 0: no data show a difference of exactly 0")
        if self.measure == MEASURE.name:
            self._check_of_texts()
        elif self.contrast.native or self.contrast.within is not None:
            raise ValueError(f"native and within are contrasts of {MEASURE.name}: name sides with a and against")
        return self

    def _check_of_texts(self) -> None:
        if self.metric not in _KNOWN:
            raise ValueError(f"there is no metric {self.metric!r}: there are {', '.join(_KNOWN)}; or name its measure")
        least, most = RANGES[self.metric]
        if self.bound >= most - least:
            raise ValueError(f"no difference of {self.metric} is as large as the bound {self.bound:g}")
        if unknown := [name for name in (*self.where, *self.by) if name not in DataSlice._fields]:
            raise ValueError(f"{MEASURE.name} have no facet {unknown[0]!r}: they have {', '.join(DataSlice._fields)}")
        if self.contrast.within is not None and not is_overlap(self.metric):
            raise ValueError("within is of consensus, which is of two languages")
        if self.contrast.native and is_overlap(self.metric):
            raise ValueError("consensus is of two languages, and in no native contrast")
        if self.contrast.each not in (None, *DIMENSIONS):
            raise ValueError(f"{MEASURE.name} are compared by {', '.join(DIMENSIONS)}")
        if self.contrast.each == "condition":
            raise ValueError("conditions are compared two at a time: name them, a and against")
        alone = self.contrast.a is None and self.contrast.than is None
        if is_per_country(self.metric) and "condition" not in self.where and alone:
            raise ValueError(f"{self.metric} is per condition: add where = {{ condition = 'explicit' }}")

    @property
    def of_all(self) -> bool:
        """Whether every comparison must be so; else one is enough."""
        return (self.parts or ("any" if self.expect == "different" else "all")) == "all"


class _ClaimFile(ClosedModel):
    claims: Annotated[list[Claim], Field(min_length=1)]

    @model_validator(mode="after")
    def _names(self) -> _ClaimFile:
        names = [claim.name for claim in self.claims]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two claims have the name {twice[0]!r}")
        return self


def read_claims(file: Path) -> tuple[Claim, ...]:
    """The claims of a file or of one of `PAPERS`, in order. Raises a `UserError` that names the place of a mistake."""
    file = file if file.exists() else PAPERS.get(str(file), file)
    data = read_toml(file)
    try:
        return tuple(_ClaimFile.model_validate(data).claims)
    except ValidationError as fault:
        found = ((_numbered(what), remedy) for what, remedy in explain(fault, _ClaimFile, _REMEDY))
        raise together(ExperimentError(what, where=file, remedy=remedy) for what, remedy in found) from fault


def _numbered(what: str) -> str:
    """The same with 'claim 2' in place of 'claims.1.'."""
    return _NUMBERED.sub(lambda found: f"claim {int(found[1]) + 1}{', ' if found[2] else ''}", what)
