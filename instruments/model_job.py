"""What a model is asked in one job: all that an instrument says of items and requests. The steps are in `row_step`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from polyculture.cache.store.manifest import CurrentId
    from polyculture.cache.store.run_folder import Job
    from polyculture.cache.store.schema.asked import Requested
    from polyculture.cache.work.worker import Load


class AskedSample(Protocol):
    """What a model is asked, and the keys of the rows of its answers."""

    @property
    def keys(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """What a model is asked for one answer, which is one row."""

    answer_id: str
    request_id: str

    @property
    def keys(self) -> tuple[str, ...]:
        """That of the row."""
        return (self.answer_id,)


A = TypeVar("A", bound=AskedSample)
J = TypeVar("J", bound="ModelJob[Any]")


class ModelJob(ABC, Generic[A]):
    """What a model is asked in one job under its setup; before a model is chosen, of none. A frozen dataclass."""

    job: Job
    setup: Mapping[str, Any]

    @property
    @abstractmethod
    def size(self) -> int:
        """The keys of all items together."""

    @property
    def prompt_count(self) -> int | None:
        """How many prompts that is, where it is another number."""
        return None

    def ids(self) -> Iterator[CurrentId]:
        """The ids that these answers are kept under, of an instrument whose requests have an `asked_id`."""
        return iter(())

    @abstractmethod
    def asks(self) -> Iterator[A]:
        """All that is asked."""

    @abstractmethod
    def wanted(self) -> Iterator[Requested]:
        """The rows that say that it is asked now."""

    def loads(self) -> Iterator[Load] | None:
        """What all of it takes, where that is said faster than item by item."""
        return None

    def of_model(self: J, model: str, setup: Mapping[str, Any]) -> J:
        """The same, of a model under its setup."""
        changed: J = replace(self, job=replace(self.job, model=model), setup=setup)  # type: ignore[type-var]
        return changed
