"""What a model is asked in one job: all that an instrument says of items and requests. The steps are in `row_step`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from polyculture.cache.store.manifest import setup_id

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


def values_of(names: Iterable[str], *places: object) -> dict[str, Any]:
    """The attributes of these names, each of the first that has it; without those that none has."""
    having = ((name, next((place for place in places if hasattr(place, name)), None)) for name in names)
    return {name: getattr(place, name) for name, place in having if place is not None}


A = TypeVar("A", bound=AskedSample)
J = TypeVar("J", bound="ModelJob[Any]")


class ModelJob(ABC, Generic[A]):
    """What a model is asked in one job under its setup; before a model is chosen, of none. A frozen dataclass.

    The columns of its rows, of what is asked as of the answers, are attributes of an item, of this or of the job.
    """

    requested: ClassVar[type[Requested]]  # the rows that say what is asked now
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

    @cached_property
    def setup_id(self) -> str:
        """The id of the setup."""
        return setup_id(self.setup)

    def places(self, item: A) -> tuple[Any, ...]:
        """Whose attributes the columns of an item's rows are: those of the first that has one."""
        return item, self, self.job

    def wanted(self) -> Iterator[Requested]:
        """The rows that say that it is asked now: one for all items of which it has the same columns."""
        names = [column.name for column in fields(self.requested)]
        rows = (self.requested(**values_of(names, *self.places(item))) for item in self.asks())
        return iter(dict.fromkeys(rows))

    def loads(self) -> Iterator[Load] | None:
        """What all of it takes, where that is said faster than item by item."""
        return None

    def of_model(self: J, model: str, setup: Mapping[str, Any]) -> J:
        """The same, of a model under its setup."""
        changed: J = replace(self, job=replace(self.job, model=model), setup=setup)  # type: ignore[type-var]
        return changed
