"""Question sets as an instrument: `polyculture ask kobbq --model openai:gpt-4o-mini`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from polyculture.instruments.contract import AskedExperiment, Command, Demo, Need, Study
from polyculture.instruments.questions.layout import USES
from polyculture.instruments.questions.options import AskOptions

_FOLDER = Path(__file__).parent
_DEMO = _FOLDER / "demo"


def study(asked: AskedExperiment, options: AskOptions) -> Study:
    """Asks the questions and reads the answers. Raises `DataSetError` without any question."""
    from polyculture.instruments.questions.study import study as made

    return made(asked, options)


def _needs(options: AskOptions) -> tuple[Need, ...]:
    """Texts where an answer is written, log-probabilities where likelihoods are compared, or attention."""
    needs: Mapping[str, Need] = {"answer": "sample", "score": "score", "attend": "attend"}
    uses = {USES.get(method, "answer") for method in options.methods}
    return tuple(need for use, need in needs.items() if use in uses)


COMMANDS: Mapping[str, Command] = {
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
