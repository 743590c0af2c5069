"""The options of `polyculture ask`: which sets, which of their questions, and how they are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, ValidationInfo, field_validator

from polyculture.cache.errors import DataSetError
from polyculture.cache.validation import ClosedModel
from polyculture.cache.written_paths import FilePath, NamesOrRules
from polyculture.instruments.contract import AtLeastOne, SeveralNames, in_file
from polyculture.instruments.questions.asking import METHODS, Method, Orders

if TYPE_CHECKING:
    from pathlib import Path

    from polyculture.instruments.questions.model import QuestionKind, QuestionSet


class SetOptions(ClosedModel):
    """Which questions of which sets."""

    set: Annotated[NamesOrRules, Field(description="A shipped set, or a rules file; several with commas.")]
    folder: Annotated[FilePath | None, Field(description="The folder of its files, if they were not fetched.")] = None
    model: Annotated[str | None, Field(description="ENGINE:NAME; with an experiment, only this one of it.")] = None
    language: Annotated[SeveralNames, Field(description="Only questions in this language.")] = ()
    only: Annotated[SeveralNames, Field(description="Only questions with this facet, as category=age.")] = ()
    units: Annotated[AtLeastOne | None, Field(description="Only so many units (templates), drawn by the seed.")] = None

    @field_validator("only")
    @classmethod
    def _facets(cls, only: SeveralNames) -> SeveralNames:
        for word in only:
            if not all(word.partition("=")):
                raise ValueError(f"{word!r} is not FACET=VALUE, as category=age")
        return only

    @property
    def sets(self) -> list[tuple[str, str | None]]:
        """The name or file of each set, and its selection."""
        named = [name.strip().partition(":") for name in self.set.split(",")]
        return [(name, selection or None) for name, _, selection in named]

    def check_names(self) -> None:
        """Raises `DataSetError` of a set that there is not."""
        from polyculture.instruments.questions.rules.opened import SHELF

        for named, _ in self.sets:
            SHELF.of(named)

    def opened(self, run: Path | None = None, concepts: Path | None = None) -> list[QuestionSet]:
        """The sets as they are read; `run` is the folder of those about a run, where no other is named.

        Raises `DataSetError`, also where two are called alike.
        """
        from polyculture.instruments.questions.rules.opened import RELEVANCE, SHELF, open_set

        found = {}
        for named, selection in self.sets:
            folder = self.folder or (run if SHELF.of(named).loader == RELEVANCE else None)
            one = open_set(named, folder, selection, concepts)
            if one.name in found:
                remedy = "Leave one out, or give it another name in its rules."
                raise DataSetError(f"two sets are called {one.name!r}", where=named, remedy=remedy)
            found[one.name] = one
        return list(found.values())


class AskOptions(SetOptions):
    """Ask a set of questions: multiple choice, pairs of sentences, gaps with candidates, or open questions.

    SET is a shipped set (`polyculture data list`) or a rules file of yours; NAME:SELECTION is one of its selections.
    Several sets are separated by commas. With --model no experiment is needed: one is written, with a run of its own.
    Existing answers are kept.
    """

    questions: Annotated[
        AtLeastOne | None,
        Field(description="Ask only so many questions: of the first unit that the seed draws, then of the next, "
                          "spread evenly over the languages."),
    ] = None  # fmt: skip
    prompts: Annotated[SeveralNames, Field(description="The set's prompts: 3, or 1..5. Default: all.")] = ()
    orders: Annotated[
        Orders,
        Field(description="Orders of the options: the set's own; cyclic: each once at each place; one: as they "
                          "stand."),
    ] = "published"  # fmt: skip
    method: Annotated[
        tuple[Method, ...],
        Field(description="generated: the model writes an answer; letter, text: the likelihood of each option's label "
                          "or text; attention: how much attention the model pays to each option before it answers. "
                          "Sentence pairs and gaps have methods of their own."),
    ] = ()  # fmt: skip
    temperature: Annotated[float, in_file("0: the likeliest answer.", ge=0, allow_inf_nan=False)] = 0.0
    n: Annotated[AtLeastOne, in_file("Answers to each request; several at a temperature above 0.")] = 1
    max_tokens: Annotated[AtLeastOne, Field(description="Of an answer, its reasoning included.")] = 30
    concepts: Annotated[FilePath | None, in_file("For relevance: another source's concepts by culture.")] = None

    @field_validator("n")
    @classmethod
    def _samples(cls, n: int, info: ValidationInfo) -> int:
        if n > 1 and info.data.get("temperature") == 0:
            raise ValueError("several answers to a request need a temperature above 0")
        return n

    @property
    def methods(self) -> frozenset[Method]:
        """How models are asked, of all sets together. Raises `DataSetError` of unknown sets, and as `methods_of`."""
        from polyculture.instruments.questions.rules.opened import SHELF

        return frozenset(method for name, _ in self.sets for method in self.methods_of(SHELF.of(name).kind))

    def methods_of(self, kind: QuestionKind) -> tuple[Method, ...]:
        """What is named, else as a kind of questions is asked. Raises `DataSetError` of a method of another kind."""
        wrong = next((method for method in self.method if method not in METHODS[kind]), None)
        if wrong is not None:
            what = f"--method {wrong}: no questions of kind {kind!r} are asked so"
            raise DataSetError(what, remedy=f"They are asked by {' or '.join(METHODS[kind])}.")
        return self.method or METHODS[kind][:1]

    def opened(self, run: Path | None = None, concepts: Path | None = None) -> list[QuestionSet]:
        """As `SetOptions`, with the concepts that the experiment file names."""
        return super().opened(run, concepts or self.concepts)
