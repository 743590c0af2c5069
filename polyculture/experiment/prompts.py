"""The prompts that an experiment asks: built from wordings, or read from a file, and checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import CatalogError, ExperimentError, Mistakes
from polyculture.cache.store.schema import CONDITIONS, Prompt
from polyculture.experiment.file import Experiment
from polyculture.generate.design import PLAIN, PromptDesign
from polyculture.generate.integrity import check_prompts, check_wording, refuse
from polyculture.generate.names import has_names, read_names
from polyculture.generate.prompt_file import read_prompt_file
from polyculture.generate.prompts import build_prompts
from polyculture.generate.review import with_template_ids
from polyculture.generate.wording import read_wording, topic_wordings, with_plain

_NAMED = 5  # values of a key in a line


def asked_prompts(e: Experiment, catalog: Catalog, file: Path) -> list[Prompt]:
    """The prompts of an experiment in `file`.

    Raises `CatalogError` where the user's own wording fails the integrity gate, `ExperimentError` where a file of
    prompts lacks what is asked for.
    """
    if e.prompts.file:
        return _prompts_of_file(e, catalog, file)
    _check_wordings(e, catalog)
    prompts = build_prompts(
        catalog,
        languages=e.languages,
        topics=e.topics,
        countries=e.countries,
        conditions=e.conditions,
        implicit_countries=e.implicit_countries,
        answer_in_language=e.answer_in_language is True,
        design=prompt_design(e, catalog),
    )
    refuse([*check_wording(catalog, e.languages, e.topics, e.countries), *check_prompts(prompts)])
    return with_template_ids(prompts, catalog)


def review_prompts(catalog: Catalog, language: str, topics: Sequence[str] = ()) -> list[Prompt]:
    """The prompts of a language that its speakers review where there is no experiment: each topic's in its first
    wording, without the conditions that name a person where the language has no names.

    `topics` are by default those that have a sentence in it. Raises `CatalogError` for an unknown language or topic.
    """
    spoken = catalog.language(language)
    wording = read_wording(spoken, catalog.countries)
    worded = [one.code for one in catalog.topics.values() if with_plain(one, spoken, wording)]
    names, home = {**read_names(), **wording.names}, spoken.first_country
    conditions = [one for one in CONDITIONS if not one.startswith("implicit") or has_names(home, one, spoken, names)]
    prompts: list[Prompt] = []
    for topic in topics or worded:
        asked = Experiment(
            name="review",
            models=("nobody",),
            languages=(language,),
            topics=(topic,),
            countries=(home,),
            conditions=tuple(conditions),
        )
        prompts += asked_prompts(asked, catalog, Path())
    return prompts


def prompt_design(e: Experiment, catalog: Catalog) -> PromptDesign:
    """What an experiment asks of each cell: the wordings that it names, or else the first.

    Where it names none and the first has no form of one of its countries, or none of a topic in a language, all prompts
    are in the wording `plain`, which has every country by its name: one run mixes no two wordings unasked.
    """
    design = e.prompts.design
    if "wordings" in e.prompts.model_fields_set or e.prompts.file or e.imported:
        return design
    try:
        languages = [catalog.language(code) for code in e.languages]
        wordings = [(language, read_wording(language, catalog.countries)) for language in languages]
        topics = [catalog.topic(code) for code in e.topics]
        is_worded = all(code in wording.countries for _, wording in wordings for code in e.countries) and all(
            topic_wordings(topic, language, wording) for language, wording in wordings for topic in topics
        )
    except CatalogError:  # whoever builds the prompts says what is wrong
        return design
    if is_worded or not all(wording.plain for _, wording in wordings):
        return design
    return replace(design, wordings=(PLAIN,))


def prompt_lines(e: Experiment, catalog: Catalog, file: Path) -> Iterator[str]:
    """What a user should know of the prompts of an experiment in `file`, a sentence each: why other wordings are asked
    than the first, where the experiment names none; which prompts of its file of prompts are not asked, and why."""
    if e.prompts.file:
        yield from _left_out(e, catalog, file)
        return
    design, first = prompt_design(e, catalog), e.prompts.design
    if design != first:
        yield (
            f"wording: {', '.join(design.wordings)}, which has every country: {', '.join(first.wordings)} lacks some "
            'of these languages, topics or countries. To choose, write wordings = ["..."] under [prompts]'
        )


def _check_wordings(e: Experiment, catalog: Catalog) -> None:
    """Raises `CatalogError` of languages that packs leave unwritten, a line each with its file and the command."""
    mistakes = Mistakes()
    for language in map(catalog.language, e.languages):
        try:
            read_wording(language, catalog.countries)
        except CatalogError as fault:
            own = [pack.folder for pack in catalog.packs if Path(str(fault.where)).is_relative_to(pack.folder)]
            for folder in own[:1]:  # else the file is ours
                remedy = f"{fault.remedy} All of the pack: polyculture pack check {folder}"
                fault = CatalogError(fault.what, where=fault.where, remedy=remedy)
            mistakes.found.append(fault)
    mistakes.tell()


def _prompts_of_file(e: Experiment, catalog: Catalog, file: Path) -> list[Prompt]:
    """Of the prompts in a file those that the experiment asks for. Raises `ExperimentError` for a job without."""
    if e.answer_in_language is True:
        what = "prompts.file is asked as it is, and answer_in_language is set"
        remedy = "Write the sentence into the prompts, and leave answer_in_language out."
        raise ExperimentError(what, where=file, remedy=remedy)
    read_from = file.parent / str(e.prompts.file)
    prompts = read_prompt_file(read_from, catalog, e.prompts.design.wordings)
    asked = [prompt for prompt in prompts if _why_not(prompt, e) is None]
    have = {(prompt.language, prompt.topic) for prompt in asked}
    for language, topic in ((language, topic) for language in e.languages for topic in e.topics):
        if (language, topic) not in have:
            what = f"has no prompt in {language} on {topic} that is asked for"
            remedy = "Add some, or leave the language or the topic out of the experiment."
            raise ExperimentError(what, where=read_from, remedy=remedy)
    refuse(check_prompts(asked))
    return asked


def _why_not(prompt: Prompt, e: Experiment) -> tuple[str, str] | None:
    """The key of the experiment that leaves a prompt of a file out, and what the prompt has; None where it is asked."""
    has = {"languages": prompt.language, "topics": prompt.topic, "conditions": prompt.condition}
    if prompt.condition in ("explicit", "audience"):
        has["countries"] = prompt.country or ""
    return next(((key, value) for key, value in has.items() if value not in getattr(e, key)), None)


def _left_out(e: Experiment, catalog: Catalog, file: Path) -> Iterator[str]:
    """A sentence on the prompts of a file that are not asked, with the keys of the experiment that leave them out."""
    read_from = file.parent / str(e.prompts.file)
    prompts = read_prompt_file(read_from, catalog, e.prompts.design.wordings)
    found = [reason for prompt in prompts if (reason := _why_not(prompt, e)) is not None]
    if not found:
        return
    lacking = dict[str, dict[str, None]]()
    for key, value in found:
        lacking.setdefault(key, {})[value] = None
    whys = list[str]()
    for key, values in lacking.items():
        first, more = list(values)[:_NAMED], len(values) - _NAMED
        whys.append(f"{key} lacks {', '.join(first)}{f' and {more} more' if more > 0 else ''}")
    yield f"{read_from.name}: {len(found)} of {len(prompts)} prompts are not asked: {'; '.join(whys)}"
