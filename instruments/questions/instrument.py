"""Question sets as an instrument: `polyculture ask kobbq --model openai:gpt-4o-mini`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.instruments.contract import Asked, Command, Demo, Study
from polyculture.instruments.questions.asking import GENERATED
from polyculture.instruments.questions.options import AskOptions

if TYPE_CHECKING:
    from polyculture.generate.engines import Capability
    from polyculture.reports.section import Section

_FOLDER = Path(__file__).parent
_DEMO = _FOLDER / "demo"


def study(asked: Asked, options: AskOptions) -> Study:
    """Asks the questions and reads the answers. Raises `DataSetError` without any question."""
    from polyculture.instruments.questions.study import study as made

    return made(asked, options)


def _needs(options: AskOptions) -> tuple[Capability[Any], ...]:
    """Texts where an answer is written, log-probabilities where likelihoods are compared."""
    from polyculture.generate.engines import SAMPLING, SCORING

    methods = options.methods
    return (*((SAMPLING,) if GENERATED in methods else ()), *((SCORING,) if methods - {GENERATED} else ()))


class Questions:
    """What models answer to sets of questions."""

    name = "questions"
    commands: Mapping[str, Command] = {
        "ask": Command(
            AskOptions,
            study,
            "polyculture ask kobbq --model openai:gpt-4o-mini --units 20",
            Demo(
                _DEMO / "ask_demo.toml",
                "ask-demo",
                "The embedded model, questions of our own; in ask-demo/.",
                {"set": str(_DEMO / "made-up.toml")},
                ("set", "folder"),
            ),
            argument="set",
            own_experiment=AskOptions.opened,
            tables=(_FOLDER / "question_answers.sql", _FOLDER / "question_tests.sql"),
            needs=_needs,
        )
    }

    def sections(self) -> Sequence[Section]:
        from polyculture.instruments.questions.section import SECTIONS

        return SECTIONS


INSTRUMENT = Questions()
