"""The exceptions of Polyculture, all of them.

- PolycultureError: the root; the front door prints its one line and exits with `exit_code`
  - UserError: a mistake that the user can correct; names what, where and the remedy (exit code 2)
    - CatalogError: a topic, language or country file that does not hold what it must
      - DataSetError: a data set that is not there, or whose files do not hold what they must
    - ExperimentError: an experiment file that cannot be run as it is written
    - ChangedExperimentError: an experiment that no longer fits the shards it left behind
    - MissingDependencyError: an optional package that is not installed, with the install line
    - EngineError: a model that cannot be opened or reached, or cannot do what is asked
      - SystematicFaultError: one fault meets many prompts in a row: the stage stops itself (exit code 6)
    - StoreError: a folder that cannot be written or a file that cannot be read
    - SnapshotError: a Wikidata snapshot that is missing, broken or of another version
    - WikidataError: the live Wikidata service cannot be reached, refuses, or was given no contact
  - JobHeldError: another process holds the lock of this job (exit code 3)
  - IncompleteError: some of the work failed; running again resumes (exit code 4)
  - BudgetError: the next answer might cost more than `max_cost` leaves (exit code 5)
  - ConditionHeldError: a condition of `compare --fail-if` holds (exit code 7)
  - UntestableError: none holds, and one cannot be tested (exit code 3)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self, TypeVar

_LINE_BREAK = re.compile(r"\s*\n\s*")  # messages of other libraries may have several lines


class PolycultureError(Exception):
    """The base of all exceptions; its message is one line, or one for each of several mistakes.

    `what` is wrong, `where` (a file, a place in it), and the `remedy`; the last two are None where nobody can say.
    """

    exit_code = 1

    def __init__(self, what: str = "", *, where: object = None, remedy: str | None = None) -> None:
        self.what, self.where, self.remedy = what, where, remedy
        super().__init__(what)


class UserError(PolycultureError):
    """What is wrong, where, and what to do: one line each, printed without a traceback."""

    exit_code = 2
    others: Sequence[UserError] = ()  # mistakes that were found with this one: the message has a line for each

    def __init__(self, what: str, *, where: object = None, remedy: str | None = None) -> None:
        super().__init__(what, where=where, remedy=remedy)
        line = f"{where}: {what}" if where is not None else what
        end = "" if line.endswith((".", "?", "!")) else "."
        self.line = _LINE_BREAK.sub(" ", f"{line}{end} {remedy}" if remedy else line)
        self.args = (self.line,)


Fault = TypeVar("Fault", bound=UserError)


def together(faults: Iterable[Fault]) -> Fault:
    """The first of some mistakes, with a line for each of the others."""
    every: list[UserError] = []
    for fault in faults:
        every += [fault, *fault.others]
    found = {one.line: one for one in every}
    first, *others = found.values()
    first.others, first.args = others, ("\n".join(found),)
    return first  # type: ignore[return-value]


class Mistakes:
    """Collects the mistakes of several blocks, so that a user is told all of them at once.

    mistakes = Mistakes()
    for name in names:
        with mistakes:
            look_up(name)
    mistakes.tell()
    """

    def __init__(self) -> None:
        self.found: list[UserError] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(fault, UserError):
            self.found.append(fault)
        return isinstance(fault, UserError)

    def tell(self) -> None:
        """Raises what was found as one error; does nothing where nothing was."""
        if self.found:
            raise together(self.found)


class CatalogError(UserError):
    """A topic, language or country file that does not hold what it must."""


class ExperimentError(UserError):
    """An experiment file that cannot be run as it is written."""


class ChangedExperimentError(ExperimentError):
    """An experiment that no longer fits the shards it left behind."""


class MissingDependencyError(UserError):
    """An optional package that is not installed."""

    def __init__(self, package: str, extra: str, needed_for: str) -> None:
        super().__init__(
            f"{needed_for} needs the package {package!r}, which is not installed",
            remedy=f"Install it with: {install_line(extra)}",
        )


class EngineError(UserError):
    """A model that cannot be opened or reached, or cannot do what is asked."""


class SystematicFaultError(EngineError):
    """One fault meets many prompts in a row: the stage of that model stops itself."""

    exit_code = 6


class DataSetError(CatalogError):
    """A data set that is not there, or whose files do not hold what they must."""


class StoreError(UserError):
    """A folder that cannot be written or a file that cannot be read."""


class SnapshotError(UserError):
    """A Wikidata snapshot that is missing, broken or of another version."""


class WikidataError(UserError):
    """The live Wikidata service cannot be reached, refuses, or was given no contact."""


class JobHeldError(PolycultureError):
    """Another process works on this job now."""

    exit_code = 3


class IncompleteError(PolycultureError):
    """Some of the work failed; the same command resumes."""

    exit_code = 4


class BudgetError(PolycultureError):
    """The next answer might exceed the run's budget. All earlier answers are kept."""

    exit_code = 5


class ConditionHeldError(PolycultureError):
    """A condition of `compare --fail-if` holds, or one of `--pass-if` is not shown."""

    exit_code = 7


class UntestableError(PolycultureError):
    """No condition of `compare` fails the candidate, and one cannot be tested."""

    exit_code = 3


def install_line(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'polyculture[{extra}]'"
