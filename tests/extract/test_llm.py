"""The extractor `llm`: possible answers and their results. Nothing partial counts, nothing is dropped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.catalog import Topic, read_catalog
from polyculture.cache.errors import ExperimentError
from polyculture.extract.answer import (
    CUT_SHORT,
    MOST_MENTIONS,
    REPEATED,
    UnusableAnswerError,
    answer_schema,
    read_answer,
)
from polyculture.extract.base import Extracted, ResponseText
from polyculture.extract.llm import TEMPERATURES, LlmExtractor, llm_extractor_id, prompt_head, read_prompt
from polyculture.extract.room import room_named
from polyculture.generate.engines import open_engine
from polyculture.generate.engines.answer import completed
from polyculture.generate.engines.answer import read_answer as answer_of_body
from polyculture.generate.engines.base import Completion, ModelSpec, Request
from polyculture.generate.engines.endings import ending_of
from tests.extract_engines import Script, ScriptedEngine, answer
from tests.servers import Reply, StubServer, failure

CATALOG = read_catalog()
FOOD = CATALOG.topic("food")
TEXT = "Aiko eats ramen in Kyoto. Her ramen has pork."
GOOD = answer(("Aiko", "person"), ("ramen", "dish"), ("Kyoto", "place"), ("pork", "ingredient"))


def extract(script: Script, *texts: str) -> list[Extracted]:
    extractor = LlmExtractor(ScriptedEngine(script), "stub:model", FOOD)
    responses = [ResponseText(f"r{number}", "en", text) for number, text in enumerate(texts or (TEXT,))]
    found = [one for one in extractor.extract(responses) if one.status != "unusable"]
    return sorted(found, key=lambda one: one.response_id)


def test_a_good_answer() -> None:
    (one,) = extract(lambda _text, _attempt: GOOD)
    assert (one.status, one.attempts, one.error, one.raw) == ("ok", 1, None, GOOD)
    assert [(m.surface, m.kind, m.start) for m in one.mentions] == [
        ("Aiko", "person", 0), ("ramen", "dish", 10), ("Kyoto", "place", 19), ("ramen", "dish", 30),
        ("pork", "ingredient", 40),
    ]  # fmt: skip
    assert (one.prompt_tokens, one.completion_tokens) == (100, 10)


CALL = {"name": "list_mentions", "arguments": GOOD}
CALLS: tuple[dict[str, Any], ...] = (
    {
        "choices": [
            {"message": {"content": None, "tool_calls": [{"id": "1", "function": CALL}]}, "finish_reason": "stop"}
        ]
    },
    {"choices": [{"message": {"function_call": CALL}, "finish_reason": "function_call"}]},
    {
        "type": "message",
        "content": [{"type": "tool_use", "id": "1", "name": "list_mentions", "input": json.loads(GOOD)}],
        "stop_reason": "tool_use",
    },
)


@pytest.mark.parametrize("body", CALLS, ids=["tool calls", "a function call", "Anthropic's tool use"])
def test_the_arguments_of_a_tool_call_are_the_answer(body: dict[str, Any]) -> None:
    def calls(_text: str, attempt: int) -> Completion:
        return completed("r0", attempt, answer_of_body(body))

    (one,) = extract(calls)
    assert (one.status, one.attempts, one.error) == ("ok", 1, None)
    assert [m.surface for m in one.mentions] == ["Aiko", "ramen", "Kyoto", "ramen", "pork"]
    assert one.raw is not None
    assert "list_mentions" in one.raw


def cut(text: str, attempt: int) -> Completion:
    return Completion("r0", attempt, GOOD[:20], "cut", "length", prompt_tokens=100, completion_tokens=1024)


def endless(text: str, attempt: int) -> str:
    return answer(*[("ramen", "dish")] * MOST_MENTIONS)


@pytest.mark.parametrize(
    ("script", "error"),
    [
        (lambda _text, _attempt: "Here are the entities: ramen, pork", "no list of mentions"),
        (lambda _text, _attempt: "", "no list of mentions"),
        (lambda _text, _attempt: '["ramen"]', "no list of mentions"),
        (lambda _text, _attempt: '{"mentions": ["ramen"]}', "no list of mentions"),
        (lambda _text, _attempt: answer(("ramen", "noodle thing")), "noodle thing"),
        (cut, "was cut"),
        (endless, "is endless"),
    ],
)
def test_an_answer_that_is_none_fails_after_all_attempts(script: Script, error: str) -> None:
    (one,) = extract(script)
    assert one.status == "failed"
    assert one.mentions == ()
    assert one.attempts == len(TEMPERATURES)
    assert one.retryable is False
    assert one.raw is not None
    assert one.error is not None
    with pytest.raises(AssertionError, match=error):
        raise AssertionError(one.error)
    assert "\n" not in one.error


PLAIN = {"Aiko": "person", "ramen": "dish", "Kyoto": "place", "pork": "ingredient"}
KEPT = {
    "prose around it": f"Sure! {GOOD} That is all.",
    "a mark before it": f"\ufeff{GOOD}",
    "a fence": f"Here:\n```json\n{GOOD}\n```\nDone.",
    "a trailing comma": GOOD.replace("}]", "},]"),
    "a kind in capitals": GOOD.replace('"dish"', '"Dish"'),
    "a kind in the plural": GOOD.replace('"ingredient"', '"Ingredients"'),
    "one unknown kind": answer(("fork", "utensil"), ("Aiko", "person"), ("ramen", "dish"), ("Kyoto", "place"),
                               ("pork", "ingredient")),
    "a list at the top": json.dumps(json.loads(GOOD)["mentions"]),
    "texts with their kinds": '{"Aiko": "person", "ramen": "dish", "Kyoto": "place", "pork": "ingredient"}',
    "kinds with their texts": '{"person": ["Aiko"], "dish": ["ramen"], "place": ["Kyoto"], "ingredient": ["pork"]}',
    "kinds with tables": json.dumps({k: [{"name": t}] for t, k in PLAIN.items()}),
    "kinds with texts as keys": json.dumps({"result": {k: {t: {}} for t, k in PLAIN.items()}}),
    "a kind with a remark": GOOD.replace('"dish"', '"Dish (specific)"'),
    "fields of two words": GOOD.replace('"text"', '"entity_text"').replace('"kind"', '"mentionType"'),
    "single quotes": str(json.loads(GOOD)),
    "a line for each": "\n".join(json.dumps(one) for one in json.loads(GOOD)["mentions"]),
    "a comma within": GOOD.replace('"}', '",}'),
    "curly quotes": GOOD.replace('"text"', "“text”"),
    "keys without quotes": GOOD.replace('"text"', "text").replace('"kind"', "kind"),
    "kinds in capitals": GOOD.replace('"dish"', '"DISHES"'),
    "a text for a kind": '{"person": "Aiko", "dish": "ramen", "place": "Kyoto", "ingredient": "pork"}',
    "a table in a table": '{"mentions": {"Aiko": "person", "ramen": "dish", "Kyoto": "place", "pork": "ingredient"}}',
    "pairs": '[["Aiko", "person"], ["ramen", "dish"], ["Kyoto", "place"], ["pork", "ingredient"]]',
    "a call of a tool": json.dumps({"name": "extract", "arguments": json.loads(GOOD)}),
    "within a result": f'{{"result": {GOOD}}}',
    "JSON in a string": json.dumps(GOOD),
    "a text that is a number": GOOD.replace("[{", '[{"text": 5, "kind": "dish"}, {', 1),
    "YAML": "mentions:\n" + "".join(f"- text: {t}\n  kind: {k}\n" for t, k in PLAIN.items()),
    "a Markdown list": "Here they are:\n\n" + "".join(f"- **{t}** ({k.title()})\n" for t, k in PLAIN.items()),
    "numbered lines": "".join(f"{n}. {t}: {k}\n" for n, (t, k) in enumerate(PLAIN.items(), 1)),
    "a Markdown table": "| text | kind |\n|---|---|\n" + "".join(f"| {t} | {k} |\n" for t, k in PLAIN.items()),
    "lists under kinds": "".join(f"**{k.title()}:**\n- {t}\n" for t, k in PLAIN.items()),
    "CSV": "text,kind,name\n" + "".join(f'"{t}",{k.title()},"{t}, a name"\n' for t, k in PLAIN.items()),
    "CSV in a fence, of semicolons": "```csv\nEntity;Type\n" + "".join(f"{t};{k}\n" for t, k in PLAIN.items()) + "```",
    "CSV without a header": "".join(f"{t}, {k}\n" for t, k in PLAIN.items()),
    "TSV with one unknown kind": "text\tkind\nfork\tutensil\n" + "".join(f"{t}\t{k}\n" for t, k in PLAIN.items()),
    "XML": "".join(f"<mention><text>{t}</text><kind>{k}</kind></mention>" for t, k in PLAIN.items()),
    "XML with kinds as attributes": "".join(f'<entity type="{k}">\n{t}\n</entity>' for t, k in PLAIN.items()),
    "XML of attributes": "<list>" + "".join(f"<e text='{t}' kind='{k}'/>" for t, k in PLAIN.items()) + "</list>",
    "XML with kinds as elements": "```xml\n" + "".join(f"<{k}>{t}</{k}>\n" for t, k in PLAIN.items()) + "```",
    "an unknown kind among texts": json.dumps({**PLAIN, "fork": "utensil"}),
    "an unknown kind among kinds": json.dumps({**{k: [t] for t, k in PLAIN.items()}, "utensil": ["fork"]}),
    "an unknown kind among pairs": json.dumps([*PLAIN.items(), ["fork", "utensil"]]),
    "other names": GOOD.replace('"text"', '"entity"').replace('"kind"', '"entity_type"'),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_what_is_good_in_an_answer_is_kept(name: str) -> None:
    engine = ScriptedEngine(lambda _text, _attempt: KEPT[name])
    (one,) = LlmExtractor(engine, "stub:model", FOOD).extract([ResponseText("r", "en", TEXT)])
    assert (one.status, one.attempts) == ("ok", 1)
    assert {mention.surface for mention in one.mentions} == {"Aiko", "ramen", "Kyoto", "pork"}
    assert ("utensil" in (one.note or "")) == ("unknown kind" in name)


NAMED = {
    "all fields": '[{"text": "tacos", "kind": "dish", "name": "taco", "english": "taco"}]',
    "as Python writes it": "[{'text': 'tacos', 'kind': 'dish', 'name': 'taco', 'english': None}]",
    "single quotes and null": "[{'text': 'tacos', 'kind': 'dish', 'name': 'taco', 'english': null}]",
    "no English name": '[{"text": "tacos", "kind": "dish", "name": "taco", "english": null}]',
    "none in words": '[{"text": "tacos", "kind": "dish", "name": " taco ", "english": "None"}]',
    "a lemma": '[{"entity": "tacos", "type": "dish", "lemma": "taco"}]',
    "fields of an earlier form": '[{"text": "tacos", "kind": "dish"}]',
    "no fields but the name": '[{"name": "tacos", "kind": "dish"}]',
}


READ = {
    "ramen (dish), pork (ingredient)": "ramen pork",
    "ramen - dish; pork - ingredient": "ramen pork",
    "[ramen](dish), [pork](ingredient)": "ramen pork",
    "（ramen，dish）（pork，ingredient）": "ramen pork",
    "ramen/dish\npork/ingredient": "ramen pork",
    "dish: ramen\ningredient: pork, egg": "ramen pork egg",
    "## dish\n- ramen\n## ingredient\n- pork": "ramen pork",
    '{"mentions": [{"文本": "ramen", "类型": "dish"}]}': "ramen",
    '{"entities": {"ramen": {"type": "dish"}, "pork": {"type": "ingredient"}}}': "ramen pork",
    '{"mentions": [{"text": ["ramen", "udon"], "kind": "dish"}]}': "ramen udon",
    '{"mentions": [{"text": "ramen" "kind": "dish"}]}': "ramen",
    '[{"text": "ramen", "kind": ["dish", "ingredient"]}]': "ramen",
    '[("ramen", "dish"), ("pork", "ingredient")]': "ramen pork",
    "```python\n{'mentions': [('ramen', 'dish')]}\n```": "ramen",
    '{"mentions": [{"text": "a "hot" ramen", "kind": "dish"}]}': 'a "hot" ramen',
    '{"function": {"name": "x", "arguments": "{\\"text\\": \\"ramen\\", \\"kind\\": \\"a dish\\"}"}}': "ramen",
    "**None**": "",
    "[]": "",
}


@pytest.mark.parametrize("raw", READ)
def test_an_answer_in_another_form_lists_the_same(raw: str) -> None:
    found = read_answer(raw, ("dish", "ingredient"), "whole").entities
    assert " ".join(one.text for one in found) == READ[raw]


def test_tuples_of_python_are_read_without_a_remark() -> None:
    assert read_answer('[("ramen", "dish")]', ("dish",), "whole").note is None
    with pytest.raises(UnusableAnswerError):
        read_answer("{'ramen', 'pork'}", ("dish",), "whole")


def test_kinds_of_other_topics_alone_are_dropped_and_told() -> None:
    found = read_answer('[{"text": "sake", "kind": "drink"}]', FOOD.kinds, "whole")
    assert (found.entities, found.note) == ((), "1 of unknown kind 'drink' dropped")


def test_what_cannot_be_read_among_good_mentions_is_told() -> None:
    found = read_answer(
        '[{"text": "ramen", "kind": "dish"}, {"te, "dish"}, {"text": "pork", "kind": "dish"}]', ("dish",), "whole"
    )
    assert [one.text for one in found.entities] == ["ramen", "pork"]
    assert found.note == "1 that cannot be read dropped"


@pytest.mark.parametrize("raw", ["no JSON", "No, I cannot.", "I cannot help.", "ramen is nice - really"])
def test_a_sentence_that_names_no_reason_for_an_empty_list_is_asked_again(raw: str) -> None:
    with pytest.raises(UnusableAnswerError):
        read_answer(raw, ("dish",), "whole")


@pytest.mark.parametrize("raw", ["- ramen (dish)\n- a fork of wood", "- Good: I think so", "dish: ramen and pork",
                                 "ramen, dish\na fork, of wood", "<p>ramen is a dish</p>"])  # fmt: skip
def test_lines_that_are_not_clearly_entities_are_asked_again(raw: str) -> None:
    with pytest.raises(UnusableAnswerError, match="has no list"):
        read_answer(raw, FOOD.kinds, "whole")


def test_a_sentence_of_the_text_is_no_mention() -> None:
    """As a small model fills a table: the sentence as the text, and what it is about as its name."""
    sentence = {"text": "She eats a bowl of ramen in Kyoto every day.", "kind": "dish", "name": "ramen"}
    japanese = {"text": "彼女は毎日京都でラーメンを食べます。", "kind": "dish", "name": "ラーメン"}
    dish, title = {"text": "ramen", "kind": "dish"}, {"text": "Goodbye, Mr. Chips.", "kind": "dish"}
    read = read_answer(json.dumps([sentence, dish, title]), FOOD.kinds, "whole")
    assert ([one.text for one in read.entities], read.unreadable) == (["ramen", "Goodbye, Mr. Chips."], 1)
    with pytest.raises(UnusableAnswerError, match="sentences"):
        read_answer(json.dumps([sentence, japanese, dish]), FOOD.kinds, "whole")


@pytest.mark.parametrize("form", NAMED)
def test_names_are_read_and_may_be_missing(form: str) -> None:
    (one,) = read_answer(NAMED[form], FOOD.kinds, "whole").entities
    assert (one.text, one.kind) == ("tacos", "dish")
    assert one.name == (None if "no fields" in form or "earlier" in form else "taco")
    assert one.english == ("taco" if form == "all fields" else None)


BOOK = CATALOG.topic("book")
BORGES = {"Ficciones": "title", "Jorge Luis Borges": "author"}
OF_BOOKS = {
    "a column for each kind": "| title | author |\n|---|---|\n| Ficciones | Jorge Luis Borges |",
    "CSV of kinds": "title,author\nFicciones,Jorge Luis Borges",
    "tables of kinds": '[{"title": "Ficciones", "author": "Jorge Luis Borges"}]',
    "kinds as labels": "title: Ficciones\nauthor: Jorge Luis Borges",
    "an author beside": '[{"text": "Ficciones", "kind": "title", "name": "Ficciones", "author": "Borges"},'
    ' {"text": "Jorge Luis Borges", "kind": "author"}]',
}  # fmt: skip


@pytest.mark.parametrize("form", OF_BOOKS)
def test_kinds_that_could_be_fields_are_kinds(form: str) -> None:
    found = read_answer(OF_BOOKS[form], BOOK.kinds, "whole").entities
    assert {one.text: one.kind for one in found} == BORGES


def test_half_a_character_can_be_stored() -> None:
    raw = r'[{"text": "\ud800x", "kind": "dish", "name": "\udc00y", "english": "z\ud83d"}]'
    (one,) = read_answer(raw, FOOD.kinds, "whole").entities
    assert (one.text, one.name) == ("\ufffdx", "\ufffdy")


@pytest.mark.parametrize(
    "answer",
    [
        "{}",
        "```json\n{ }\n```",
        "null",
        "None.",
        '"none"',
        "N/A",
    ],
)
def test_an_answer_that_is_a_word_for_nothing_names_nothing_and_says_so(answer: str) -> None:
    read = read_answer(answer, FOOD.kinds, "whole")
    assert (read.entities, str(read.note).endswith("is read as no mention")) == ((), True)
    with pytest.raises(UnusableAnswerError):
        read_answer(f"I cannot say {answer}", FOOD.kinds, "whole")


@pytest.mark.parametrize(
    "answer",
    [
        *('{"mentions": null}', '{"mentions": {}}', '{"dish": [], "person": []}'),
        *('{"entities": []}', '{"items": null}', '{"dish": [], "vegetable": []}', "[[]]", "[{}]", "[]"),
        *('{"mentions": "none"}', '{"mentions": ["None"]}', '{"mentions": [{"text": "N/A", "kind": "dish"}]}'),
        *('{"mentions": [{"text": "", "kind": "dish"}]}', '{"dish": "-", "ingredient": "none"}'),
        *("<mentions/>", "```xml\n<mentions>\n</mentions>\n```", "text,kind,name,english"),
    ],
)
def test_an_answer_of_nothing_is_read_under_any_name(answer: str) -> None:
    """Else a study's own prompt would lose every text that names nothing, and keep those that name something."""
    read = read_answer(answer, FOOD.kinds, "whole")
    assert (read.entities, read.note) == ((), None)


@pytest.mark.parametrize("ending", ["stop", "eos_token", "end_turn", "length", None, "a new word"])
def test_whole_answer_is_read_whatever_its_ending_is_called(ending: str | None) -> None:
    completion = Completion("r0", 0, GOOD, finish_reason=ending)
    (one,) = LlmExtractor(ScriptedEngine(lambda *_: completion), "stub:model", FOOD).extract(
        [ResponseText("r0", "en", TEXT)]
    )
    assert (one.status, one.attempts, len(one.mentions)) == ("ok", 1, 5)


def limited(text: str, attempt: int, room: int) -> Completion:
    """What a model gives that has `room` tokens, of ten characters each, for the good answer."""
    cut, tokens = len(GOOD) > 10 * room, min(room, len(GOOD) // 10)
    reason = "length" if cut else "stop"
    return Completion(
        "r0", attempt, GOOD[: 10 * room], ending_of(reason), reason, prompt_tokens=100, completion_tokens=tokens
    )


class LimitedEngine(ScriptedEngine):
    """A model whose answers end at the tokens that it is given, or at the end of its window."""

    def __init__(self, window: int = 10_000) -> None:
        super().__init__(lambda *_: "")
        self.window = window

    def _complete(self, request: Request) -> Completion:
        room = min(request.decoding.max_tokens, self.window)
        return replace(limited("", request.seeds[0], room), request_id=request.request_id)


def test_a_cut_answer_is_asked_again_with_more_room_and_loses_no_mention() -> None:
    engine = LimitedEngine()
    extractor = LlmExtractor(engine, "stub:model", FOOD, max_tokens=len(GOOD) // 30)
    *before, one = extractor.extract([ResponseText("r0", "en", TEXT)])
    assert [(each.status, each.error, each.completion_tokens) for each in before] == [
        ("unusable", CUT_SHORT, extractor._max_tokens), ("unusable", CUT_SHORT, 2 * extractor._max_tokens),
    ]  # fmt: skip
    assert (one.status, one.attempts, one.cut, len(one.mentions)) == ("ok", 3, False, 5)
    asked = [(request.decoding.max_tokens, request.decoding.temperature) for request in engine.requests]
    assert asked == [(extractor._max_tokens * 2**n, 0.0) for n in range(3)]
    assert len({request.messages for request in engine.requests}) == 1


def test_where_a_model_has_no_more_room_the_whole_mentions_count_and_are_marked_as_cut() -> None:
    engine = LimitedEngine(window=len(GOOD) // 10 - 3)
    (one,) = LlmExtractor(engine, "stub:model", FOOD, max_tokens=1000).extract([ResponseText("r0", "en", TEXT)])
    assert (one.status, one.attempts, one.cut) == ("ok", 1, True)
    assert {mention.surface for mention in one.mentions} == {"Aiko", "ramen", "Kyoto"}
    assert "cut" in (one.note or "")


def test_of_answers_that_stay_cut_the_longest_list_counts_and_no_cost_is_lost() -> None:
    """Also where the last attempt brings less, or the server refuses the room that is asked for."""
    for last in (Completion("r0", 2, "I", "whole", "stop", prompt_tokens=100, completion_tokens=1),
                 Completion("r0", 2, None, error="the prompt is too long")):  # fmt: skip
        found = {0: limited("", 0, 6), 1: limited("", 1, 12), 2: last}
        engine = ScriptedEngine(lambda _text, attempt, found=found: found[attempt])
        extractor = LlmExtractor(engine, "stub:model", FOOD, max_tokens=6)
        results = list(extractor.extract([ResponseText("r0", "en", TEXT)]))
        assert [(one.status, one.attempts) for one in results] == [
            ("unusable", 1), ("unusable", 2), ("unusable", 3), ("ok", 3),
        ]  # fmt: skip
        assert [one.completion_tokens for one in results] == [6, 12, last.completion_tokens, None]
        assert (results[-1].raw, results[-1].cut, results[-1].purchase) == (found[1].text, True, None)
        # Killed right before the last result: it is made again, and nothing is asked.
        rest = list(extractor.extract([ResponseText("r0", "en", TEXT, tuple(results[:3]))]))
        assert [(one.status, one.mentions) for one in rest] == [("ok", results[-1].mentions)]
    assert len(engine.requests) == 3


def test_a_killed_run_asks_for_as_much_room_as_it_had_come_to() -> None:
    engine = LimitedEngine()
    extractor = LlmExtractor(engine, "stub:model", FOOD, max_tokens=len(GOOD) // 30)
    first = next(iter(extractor.extract([ResponseText("r0", "en", TEXT)])))
    engine.requests.clear()
    *_, one = extractor.extract([ResponseText("r0", "en", TEXT, (first,))])
    assert [request.decoding.max_tokens for request in engine.requests] == [
        2 * extractor._max_tokens, 4 * extractor._max_tokens,
    ]  # fmt: skip
    assert (one.status, one.attempts, len(one.mentions)) == ("ok", 3, 5)


def test_a_cut_answer_that_repeats_itself_is_asked_again_otherwise_and_not_for_more_of_it() -> None:
    looping = GOOD[:-2] + f", {json.dumps({'text': 'pork', 'kind': 'ingredient'})}" * 20
    answers = {0: Completion("r0", 0, looping, "cut", "length", completion_tokens=1024), 1: GOOD}
    engine = ScriptedEngine(lambda _text, attempt: answers[attempt])
    first, one = LlmExtractor(engine, "stub:model", FOOD).extract([ResponseText("r0", "en", TEXT)])
    assert (first.status, first.error, one.status, len(one.mentions)) == ("unusable", REPEATED, "ok", 5)
    asked = [(request.decoding.max_tokens, request.decoding.temperature) for request in engine.requests]
    assert asked == [(1024, 0.0), (1024, 0.4)]


def test_the_room_is_in_the_identity() -> None:
    assert llm_extractor_id("a:b", FOOD, max_tokens=2048) != llm_extractor_id("a:b", FOOD)


@pytest.mark.parametrize(
    ("raw", "declined"),
    [('{"declined": true, "mentions": []}', True), (GOOD[:-1] + ', "declined": false}', False), (GOOD, None),
     ('{"declined": "perhaps", "mentions": []}', None)],
)  # fmt: skip
def test_whether_a_text_declines_its_task_is_kept(raw: str, declined: bool | None) -> None:
    (one,) = extract(lambda *_: raw)
    assert (one.status, one.declined) == ("ok", declined)


def test_unknown_kinds_and_what_cannot_be_read_are_counted() -> None:
    (one,) = extract(lambda *_: GOOD.replace("}]", '}, {"text": "fork", "kind": "utensil"}, {"te, "dish"}]'))
    assert (one.status, len(one.mentions), one.unknown_kinds, one.unreadable) == ("ok", 5, 1, 1)


@pytest.mark.parametrize(
    "raw",
    ["[" * 50_000, "{" * 50_000, '{"a":' * 20_000, "[{" * 20_000, " " * 150_000 + "x", "a" * 150_000, "|" * 50_000,
     "- a: b\n" * 20_000, "ramen (" * 20_000, '"' * 50_000, "<a>" * 20_000, "a = " * 30_000],
    ids=lambda raw: raw[:3],
)  # fmt: skip
def test_hostile_brackets_end(raw: str) -> None:
    with pytest.raises(UnusableAnswerError):
        read_answer(raw, FOOD.kinds, "whole")


def test_an_unusable_answer_is_retried_with_another_seed_and_counted() -> None:
    engine = ScriptedEngine(lambda _text, attempt: GOOD if attempt == 2 else "{")
    found = list(LlmExtractor(engine, "stub:model", FOOD).extract([ResponseText("r", "en", TEXT)]))
    assert [(one.status, one.attempts) for one in found] == [("unusable", 1), ("unusable", 2), ("ok", 3)]
    assert {(one.prompt_tokens, one.completion_tokens, one.purchase) for one in found} == {(100, 10, "direct")}
    asked = [(request.seeds, request.decoding.temperature) for request in engine.requests]
    assert asked == [((0,), 0.0), ((1,), 0.4), ((2,), 0.8)]


NOTHING = ("No mentions were found.", "Keine Erwähnungen gefunden.", "文本中没有提到任何菜肴。", "لا توجد إشارات.")


@pytest.mark.parametrize("words", NOTHING)
def test_the_model_itself_says_what_its_words_mean(words: str) -> None:
    """No list of languages tells "nothing" from a refusal, so that texts of nothing would fail more often in others."""
    engine = ScriptedEngine(lambda _text, attempt: '{"mentions": []}' if attempt else words)
    found = list(LlmExtractor(engine, "stub:model", FOOD).extract([ResponseText("r", "de", TEXT)]))
    assert [(one.status, one.mentions) for one in found] == [("unusable", ()), ("ok", ())]
    assert [turn.content for turn in engine.requests[1].messages][-3:-1] == [TEXT, words]
    assert engine.requests[1].messages[:-2] == engine.requests[0].messages


REFUSALS = ("I cannot do that.", "Das kann ich nicht tun.", 'I cannot help with that. {"mentions": []}')


@pytest.mark.parametrize("script", [cut, *(lambda _text, _seed, said=said: said for said in REFUSALS)])
def test_a_cut_answer_or_a_refusal_is_not_shown_again(script: Script) -> None:
    """Asked to write a refusal as JSON, many models would write an empty list. They refuse in any language."""
    engine = ScriptedEngine(script)
    found = list(LlmExtractor(engine, "stub:model", FOOD).extract([ResponseText("r0", "th", TEXT)]))
    assert len({request.messages for request in engine.requests}) == 1
    assert found[-1].status == "failed"


DRAFT, FINAL = answer(("pork", "ingredient"), ("ramen", "dish")), answer(("ramen", "dish"))


@pytest.mark.parametrize(
    ("raw", "names"),
    [
        (f"Draft: {DRAFT}\nPork is none. Final: {FINAL}", "ramen"),
        (f"```json\n{DRAFT}\n```\nWait.\n```json\n{FINAL}\n```", "ramen"),
        (f'{DRAFT}\nNothing of this is meant: {{"mentions": []}}', ""),
        (f"{json.dumps(json.loads(DRAFT)['mentions'])} or rather {json.dumps(json.loads(FINAL)['mentions'])}", "ramen"),
        (f"{DRAFT} Final: {FINAL.replace('}]', '},]')}", "ramen"),
        (f'The form is {{"mentions": [{{"text": "...", "kind": "dish"}}]}}: {FINAL}', "ramen"),
        # Lists side by side, as of two paragraphs.
        (f"{FINAL}\n{answer(('udon', 'dish'))}", "ramen udon"),
        (f"{DRAFT}\n{answer(('ramen', 'dish'), ('udon', 'dish'))}", "pork ramen ramen udon"),
        (f'{FINAL}\n{{"mentions": []}}', "ramen"),
        (f"Dishes: {json.dumps(json.loads(FINAL)['mentions'])} Drinks: []", "ramen"),
    ],
)
def test_a_list_that_corrects_a_draft_stands_alone(raw: str, names: str) -> None:
    assert " ".join(one.text for one in read_answer(raw, FOOD.kinds, "whole").entities) == names


def test_an_unusable_answer_of_an_earlier_command_is_not_requested_again() -> None:
    engine = ScriptedEngine(lambda _text, _attempt: "{")
    before = tuple(Extracted("old", "unusable", attempts=n, raw="{", ending="whole") for n in (1, 2))
    left = [ResponseText("new", "en", TEXT), ResponseText("old", "en", TEXT, before)]
    found = list(LlmExtractor(engine, "stub:model", FOOD).extract(left))
    assert {(request.request_id, *request.seeds) for request in engine.requests} == {
        ("new", 0), ("new", 1), ("new", 2), ("old", 2),
    }  # fmt: skip
    assert {(one.response_id, one.status, one.attempts) for one in found} == {
        ("new", "unusable", 1), ("new", "unusable", 2), ("new", "failed", 3), ("old", "failed", 3),
    }  # fmt: skip


def test_a_hallucination_is_kept_and_flagged() -> None:
    (one,) = extract(lambda _text, _attempt: answer(("ramen", "dish"), ("sushi", "dish")))
    assert [(m.surface, m.hallucinated, m.start) for m in one.mentions] == [
        ("ramen", False, 10), ("ramen", False, 30), ("sushi", True, None),
    ]  # fmt: skip


def test_an_empty_text_needs_no_request() -> None:
    engine = ScriptedEngine(lambda _text, _attempt: "never")
    found = list(LlmExtractor(engine, "stub:model", FOOD).extract([ResponseText("r", "en", " \n")]))
    assert [(one.status, one.mentions, one.attempts) for one in found] == [("ok", (), 0)]
    assert engine.requests == []


def test_a_failure_of_the_engine_is_recorded_as_it_says() -> None:
    def script(text: str, attempt: int) -> Completion:
        return Completion("r0", attempt, None, error="the server is busy", retryable=True)

    (one,) = extract(script)
    assert (one.status, one.error, one.retryable, one.raw, one.attempts) == (
        "failed", "the server is busy", True, None, 1,
    )  # fmt: skip


def test_one_bad_answer_does_not_touch_the_others() -> None:
    texts = [TEXT, "", "bad text", TEXT, "bad text"]
    found = extract(lambda text, _attempt: "?" if text.startswith("bad") else GOOD, *texts)
    assert [one.status for one in found] == ["ok", "ok", "failed", "ok", "failed"]


def test_responses_are_taken_as_they_are_needed() -> None:
    taken: list[int] = []

    def endless() -> Any:
        for number in range(1_000_000):
            taken.append(number)
            yield ResponseText(f"r{number}", "en", TEXT)

    extractor = LlmExtractor(ScriptedEngine(lambda _text, _attempt: GOOD), "stub:model", FOOD)
    results = extractor.extract(endless())
    for _ in range(5):
        next(results)
    assert len(taken) < 20


def test_the_prompt_is_made_of_the_topics_kinds() -> None:
    for topic in CATALOG.topics.values():
        head = prompt_head(topic)
        assert all(f"- {name}: {kind.description}" in head[0].content for name, kind in topic.kinds.items())
        for question, shown in zip(head[1::2], head[2::2], strict=True):
            entities = read_answer(shown.content, topic.kinds, "whole").entities
            places = [question.content.index(one.text) for one in entities]
            assert places == sorted(places)
            assert all(one.name for one in entities)


def test_a_users_topic_needs_no_examples() -> None:
    kinds = {"festival": {"granularity": 1, "description": "a festival", "roots": ["Q132241"]}}
    topic = Topic.model_validate({"code": "festival", "name": "Festivals", "kinds": kinds})
    assert [message.role for message in prompt_head(topic)] == ["system"]
    assert answer_schema(topic.kinds)["properties"]["mentions"]["items"]["properties"]["kind"]["enum"] == ["festival"]


def test_examples_of_kinds_that_the_topic_has_no_more_are_left_out() -> None:
    kinds = {"meal": {"granularity": 1, "description": "a meal", "roots": ["Q6460735"]}}
    assert len(prompt_head(Topic.model_validate({"code": "food", "name": "Food", "kinds": kinds}))) == 1


def test_a_prompt_of_ones_own_takes_the_place_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text("\ufeffList the $topic for $$5:\n$kinds", encoding="utf-8")
    (message,) = prompt_head(FOOD, read_prompt(file))
    assert message.content.startswith("List the food for $5:\n- dish: ")
    assert llm_extractor_id("a:b", FOOD, instruction=read_prompt(file)) != llm_extractor_id("a:b", FOOD)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "No such file"),
        (b"", "is empty"),
        (b"  \n", "is empty"),
        ("für $topic".encode("cp1252"), "is not UTF-8"),
        (b"Find $kind in $topic", r"\$kind, which nothing fills in"),
        (b"It costs $ 5", r"a \$ that begins no name"),
    ],
)
def test_a_bad_prompt_file_is_one_line(tmp_path: Path, content: bytes | None, what: str) -> None:
    file = tmp_path / "prompt.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ExperimentError, match=rf"prompt\.txt: extract\.prompt .*{what}") as fault:
        read_prompt(file)
    assert "\n" not in str(fault.value)
    assert fault.value.remedy


def test_the_identity_is_of_model_and_kinds() -> None:
    other = FOOD.model_copy(update={"kinds": {**FOOD.kinds, "dish": FOOD.kinds["ingredient"]}})
    ids = {llm_extractor_id("a:b", FOOD), llm_extractor_id("a:c", FOOD), llm_extractor_id("a:b", other)}
    assert len(ids) == 3
    assert llm_extractor_id("a:b", FOOD) in ids


def test_a_server_that_refuses_more_room_is_asked_for_what_it_has_and_loses_no_whole_mention() -> None:
    """As OpenAI's does beyond the tokens that a model can write."""

    def behave(body: Mapping[str, Any], times: int) -> Reply:
        room = body["max_tokens"]
        if room > 20:
            return failure(400, f"max_tokens is too large: {room}. This model supports at most 20 completion tokens.")
        choice = {"finish_reason": "length", "message": {"content": GOOD[: 6 * room]}}
        usage = {"prompt_tokens": 7, "completion_tokens": room}
        return Reply(body=json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode())

    with StubServer(behaviour=behave) as server:
        spec = ModelSpec("openai:m", {"base_url": server.url})
        with open_engine(spec) as engine:
            extractor = LlmExtractor(engine, spec.model, FOOD, max_tokens=15)
            first, refused, one = extractor.extract([ResponseText("r", "en", TEXT)])
            # Killed behind the refusal: the same is asked again.
            (rest,) = extractor.extract([ResponseText("r", "en", TEXT, (first, refused))])
        assert [body["max_tokens"] for body in server.bodies] == [15, 30, 20, 20]
        assert {body["temperature"] for body in server.bodies} == {0.0}
    assert (first.error, first.completion_tokens) == (CUT_SHORT, 15)
    assert (refused.status, "at most 20" in (refused.error or "")) == ("unusable", True)
    assert (one.status, one.cut, one.attempts) == ("ok", True, 3)
    assert {mention.surface for mention in one.mentions} == {"Aiko", "ramen", "Kyoto"}
    assert rest.mentions == one.mentions


@pytest.mark.parametrize(
    "words",
    [
        "HTTP 400: no.",  # of a bound that it does not tell
        "max_tokens is too large: 12. This model supports at most 6 completion tokens.",  # what was cut before
        "This model's maximum context length is 100 tokens and your request has 100 input tokens",
    ],
)
def test_where_there_is_no_more_room_nothing_is_asked_again(words: str) -> None:
    found = {0: limited("", 0, 6), 1: Completion("r0", 1, None, error=words)}
    engine = ScriptedEngine(lambda _text, attempt: found[attempt])
    extractor = LlmExtractor(engine, "stub:model", FOOD, max_tokens=6)
    *_, one = extractor.extract([ResponseText("r0", "en", TEXT)])
    assert (one.status, one.cut, len(engine.requests)) == ("ok", True, 2)


ROOMS: list[tuple[str | None, int | None]] = [
    ("This model's maximum context length is 4097 tokens. However, you requested 4927 tokens (831 in the messages, "
     "4096 in the completion). Please reduce the length of the messages or completion.", 3266),
    ("max_tokens is too large: 8192. This model supports at most 4096 completion tokens, whereas you provided 8192.",
     4096),
    ("'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens "
     "and your request has 611 input tokens (4096 > 4096 - 611).", 3485),
    ("This model's maximum context length is 4096 tokens. However, you requested 4096 output tokens and your prompt "
     "contains at least 611 input tokens, for a total of at least 4707 tokens.", 3485),
    ("Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 8217 "
     "tokens: 25 tokens from the input messages and 8192 tokens for the completion.", 8167),
    ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 600 `inputs` tokens and 4096 `max_new_tokens`", 3496),
    ("max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-opus", 4096),
    ("`max_tokens` must be less than or equal to `8,192`, the maximum value for `max_tokens` is less than the "
     "`context_window` for this model", 8192),
    ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
    ("the prompt's 600 tokens and the answer exceed the 2048 it reads", 1448),
    ("Prompt contains 600 tokens, too large for model with 512 maximum context length", None),
    ("Rate limit reached for 40000 tokens per minute", None),
    (None, None),
]  # fmt: skip


@pytest.mark.parametrize(("words", "room"), ROOMS)
def test_the_room_that_servers_name(words: str | None, room: int | None) -> None:
    assert room_named(words) == room


def test_against_a_server() -> None:
    """Through the `openai` engine and HTTP: the schema is sent, and an unusable first answer retried."""

    def behave(body: Mapping[str, Any], times: int) -> Reply:
        good = body["seed"] != 0
        choice = {"finish_reason": "stop", "message": {"content": GOOD if good else "I"}}
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        return Reply(body=json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode())

    with StubServer(behaviour=behave) as server:
        spec = ModelSpec("openai:m", {"base_url": server.url})
        with open_engine(spec) as engine:
            bad, one = LlmExtractor(engine, spec.model, FOOD).extract([ResponseText("r", "en", TEXT)])
        bodies = sorted(server.bodies, key=lambda body: int(body["seed"]))
    assert (bad.status, bad.raw, bad.prompt_tokens) == ("unusable", "I", 7)
    assert (one.status, one.attempts, len(one.mentions), one.prompt_tokens) == ("ok", 2, 5, 7)
    assert [body["seed"] for body in bodies] == [0, 1]
    assert bodies[0]["response_format"]["json_schema"]["schema"] == answer_schema(FOOD.kinds)
    assert bodies[0]["messages"][-1] == {"role": "user", "content": TEXT}
