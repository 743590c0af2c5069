"""Whether a model's answers are sound enough to be ranked, and whether two models are one that was asked once.

A leaderboard ranks models by texts, or by scores of items: `Soundness` says what is asked of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.database import memory_database
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store
from polyculture.metrics.means import MOST_UNKNOWN
from polyculture.metrics.text_doubts import MOST_ASIDE

MOST_SHARED = 0.5  # of a model's answers: with more that another one has, too, under the same request, it is that model
MOST_MISSING = 0.05
_SQL = Path(__file__).with_name("boards")


@dataclass(frozen=True)
class Soundness:
    """How the answers of models are judged.

    `bounds` has the highest share of what was asked, or of the answers, with which a model is ranked. The file `health`
    selects each model's shares by these names, NULL where a model has no such share, with `asked` and `answered`;
    `answers` selects `model` and `answer`, a hash that two models have in common where one of them gave the other's
    answer.
    """

    bounds: Mapping[str, float]
    health: Path
    answers: Path


OF_TEXTS = Soundness(
    {
        "missing": MOST_MISSING,
        "unextracted": 0.05,
        "refused": MOST_ASIDE,
        "off-language": MOST_ASIDE,
        "cut": MOST_ASIDE,
    },
    _SQL / "model_health.sql",
    _SQL / "text_answers.sql",
)


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """What became of what a model was asked: shares by name, those of `Soundness.bounds` that it has."""

    asked: int
    answered: int
    shares: Mapping[str, float]

    def beyond(self, bounds: Mapping[str, float]) -> tuple[str, ...]:
        """The names of the shares that are above their bounds."""
        return tuple(name for name, most in bounds.items() if self.shares.get(name, 0.0) > most)


@dataclass(frozen=True, slots=True)
class SharedAnswers:
    """A model that shares answers with one of an earlier run. Each model is the number of its run, and its name."""

    model: tuple[int, str]
    earlier: tuple[int, str]
    shared: int
    answers: int  # of the model

    @property
    def is_one_model(self) -> bool:
        """Whether so many are shared that both are one model, which was asked once."""
        return self.shared > MOST_SHARED * self.answers

    @property
    def are_dependent(self) -> bool:
        """Whether too many are shared for a test of the difference, which takes answers for independent."""
        return self.shared > MOST_UNKNOWN * self.answers


def model_health(store: Store, soundness: Soundness = OF_TEXTS) -> dict[str, ModelHealth]:
    """The health of each model that was asked anything, by name."""
    cursor = store.execute(soundness.health.read_text(encoding="utf-8"))
    names = [column[0] for column in cursor.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return {
        row["model"]: ModelHealth(
            row["asked"],
            row["answered"],
            {name: row[name] for name in soundness.bounds if row[name] is not None},
        )
        for row in rows
    }


def shared_answers(stores: Sequence[Store], soundness: Soundness = OF_TEXTS) -> list[SharedAnswers]:
    """The models of later stores that share answers to the same requests with a model of an earlier store."""
    answers = soundness.answers.read_text(encoding="utf-8")
    with memory_database() as connection:
        connection.execute("CREATE TABLE answers (run BIGINT, model VARCHAR, answer UBIGINT)")
        for at, store in enumerate(stores):
            found = store.sql(f"SELECT {at} AS run, model, answer FROM ({answers})")  # noqa: S608  our own file
            connection.from_arrow(found.to_arrow_table()).insert_into("answers")
        rows = connection.execute(read_sql(_SQL, "shared_answers")).fetchall()
    return [SharedAnswers((b, model), (a, other), shared, of) for b, model, a, other, shared, of in rows]
