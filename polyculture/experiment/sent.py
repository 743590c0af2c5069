"""Each prompt of an experiment as its models receive it. Nothing is opened, and no file of a model is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from polyculture.cache.errors import ExperimentError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines.options import SYSTEM
from polyculture.generate.sampling import with_sentence


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """One chat: the system prompt if there is one, and the text of the user's turn."""

    models: tuple[str, ...]  # that are sent exactly this
    language: str
    topic: str
    wording: str
    condition: str
    country: str | None
    name: str | None
    system: str | None
    text: str
    prompt_id: str


@dataclass(frozen=True, slots=True)
class PromptFilter:
    """Which prompts are wanted, by column: those of any of the values; all where there are none."""

    model: Sequence[str] = ()
    language: Sequence[str] = ()
    topic: Sequence[str] = ()
    condition: Sequence[str] = ()
    wording: Sequence[str] = ()
    country: Sequence[str] = ()

    def check(self, workspace: Workspace) -> None:
        """Raises `ExperimentError` for a value that no prompt of the experiment has."""
        known: dict[str, set[str | None]] = {"model": {*workspace.experiment.models}}
        for column in ("language", "topic", "condition", "wording", "country"):
            known[column] = {getattr(prompt, column) for prompt in workspace.prompts}
        for column, values in known.items():
            for value in getattr(self, column):
                if value not in values:
                    near = did_you_mean(value, [one for one in values if one])
                    what = f"no prompt of the experiment has the {column} {value!r}"
                    raise ExperimentError(what, where=workspace.file, remedy=near)

    def takes(self, column: str, value: str | None) -> bool:
        """Is a value of a column wanted?"""
        wanted = getattr(self, column)
        return not wanted or value in wanted


def sent_prompts(workspace: Workspace, wanted: PromptFilter) -> Iterator[SentPrompt]:
    """The wanted prompts in their order; one for all models that are sent the same. Raises as `PromptFilter.check`.

    An imported prompt has the models that answered it.
    """
    wanted.check(workspace)
    imported = workspace.experiment.imported
    answered = {(one.model, one.prompt_id) for one in workspace.imports.wanted} if imported else set()
    models = [model for model in workspace.experiment.models if wanted.takes("model", model)]
    system_of = {model: workspace.experiment.model_spec(model).options.get(SYSTEM) for model in models}
    for prompt in workspace.prompts:
        columns = ("language", "topic", "condition", "wording", "country")
        if not all(wanted.takes(column, getattr(prompt, column)) for column in columns):
            continue
        alike: dict[tuple[str | None, str | None], list[str]] = {}
        for model in models:
            if imported and (model, prompt.prompt_id) not in answered:
                continue
            sentence = workspace.appended.get(model, {}).get(prompt.language)
            alike.setdefault((system_of[model], sentence), []).append(model)
        for (system, sentence), asked in alike.items():
            text = prompt.text if sentence is None else with_sentence(prompt.text, sentence)
            yield SentPrompt(
                models=tuple(asked),
                language=prompt.language,
                topic=prompt.topic,
                wording=prompt.wording or "",
                condition=prompt.condition,
                country=prompt.country,
                name=prompt.name,
                system=system,
                text=text,
                prompt_id=prompt.prompt_id,
            )
