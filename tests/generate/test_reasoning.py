"""Reasoning before an answer: in tags, told apart by a server, cut, and what the stages make of it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import RESPONSES
from polyculture.cache.store.shards import JobShards
from polyculture.cache.work.worker import do_works
from polyculture.extract.base import ResponseText
from polyculture.extract.llm import LlmExtractor
from polyculture.generate.engines import Completion, Decoding, Message, ModelSpec, Request, open_engine
from polyculture.generate.engines.mock import MockEngine
from polyculture.generate.engines.models import OneModel
from polyculture.generate.engines.reasoning import Split, split_reasoning
from polyculture.generate.engines.turns import end_turn
from polyculture.generate.prompts import build_prompts
from polyculture.generate.sampling import SamplingSettings
from polyculture.generate.step import SamplingStep
from tests.servers import Reply, StubServer

SPLITS = [
    ("Pizza.", "Pizza.", None),
    ("<think>They ask\nfor food.</think>\n\nPizza.", "Pizza.", "They ask\nfor food."),
    ("<thinking>Hm.</thinking>Pizza.", "Pizza.", "Hm."),
    ("[THINK]Hm.[/THINK]Pizza.", "Pizza.", "Hm."),
    ("<think></think>\nPizza.", "Pizza.", None),
    ("They ask for food.</think>\nPizza.", "Pizza.", "They ask for food."),
    ("<think>One.</think>Well, <think>two.</think>pizza.", "Well, pizza.", "One.\n\ntwo."),
    ("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Pizza.", "Pizza.",
     "Hm."),
    ("analysisThey ask for food.assistantfinalPizza.", "Pizza.", "They ask for food."),
    ("analysis of the dish", "analysis of the dish", None),
    ("The tag <think> opens reasoning.", "The tag <think> opens reasoning.", None),
    ("<think>Never closed", None, "Never closed"),
    ("", "", None),
    ("<Thought>Hm</Thought>\n<Output>Pizza</Output>", "Pizza", "Hm"),
    ("<thinking>a</thinking><reflection>b</reflection><output>Pizza</output>", "Pizza", "a\n\nb"),
    ("◁think▷Hm◁/think▷Pizza", "Pizza", "Hm"),
    ("<|begin_of_thought|>Hm<|end_of_thought|>\n<|begin_of_solution|>Pizza<|end_of_solution|>", "Pizza", "Hm"),
    ("<|START_THINKING|>Hm<|END_THINKING|><|START_RESPONSE|>Pizza<|END_RESPONSE|>", "Pizza", "Hm"),
    ("<|startthought|>Hm<|endthought|>Pizza", "Pizza", "Hm"),
    ("<|think|>Hm<|end|><|begin|>assistant<|content|>Pizza", "Pizza", "Hm"),
    ("<|channel|>analysis<|message|>Hm<|end|><|channel|>final <|constrain|>json<|message|>{}", "{}", "Hm"),
    ("Here are my reasoning steps:\nHm\n[BEGIN FINAL RESPONSE]\nPizza", "Pizza", "Hm"),
    ("<мышление>Hm?</мышление>Pizza", "Pizza", "Hm?"),
    ("<|think:start|>Hm<|think:end|>Pizza", "Pizza", "Hm"),
    ("<|channel>thought\nHm<channel|>Pizza", "Pizza", "Hm"),
    ("<|inner_prefix|>Hm<|inner_suffix|>Pizza", "Pizza", "Hm"),
    ("<longcat_think>Hm</longcat_think>Pizza", "Pizza", "Hm"),
    ("<antThinking>Hm</antThinking>Pizza", "Pizza", "Hm"),
    ('<details type="reasoning" done="true">\nHm\n</details>\nPizza', "Pizza", "Hm"),
    ("Here is my thought process: hm Here is my response: Pizza", "Pizza", "hm"),
    ("Here's my thought process: hm Here's my response: Pizza", "Pizza", "hm"),
    ("<think>a <think>b</think> c</think>Pizza", "Pizza", "a <think>b</think> c"),
    ("考えます。</think>ピザ", "ピザ", "考えます。"),
    ("The tags <think> and </think> mark reasoning.", "The tags <think> and </think> mark reasoning.", None),
    ("Write `<think>` first, `</think>` last.", "Write `<think>` first, `</think>` last.", None),
    ("The tag </think> closes it.", "The tag </think> closes it.", None),
    ("[thought] is a word [/thought]", "[thought] is a word [/thought]", None),
    ("<answer>Pizza</answer>", "<answer>Pizza</answer>", None),
    ("<think>Hm.</thinking>Pizza.", "Pizza.", "Hm."),
    ("&lt;think&gt;Hm.&lt;/think&gt;\nPizza &amp; pasta.", "Pizza &amp; pasta.", "Hm."),
    ("<unused94>thought\nHm.<unused95>Pizza.", "Pizza.", "Hm."),
    ("[unused16]Hm.[unused17]Pizza.", "Pizza.", "Hm."),
    ("<|channel|>analysis Hm. <|channel|>final Pizza.", "Pizza.", "Hm."),
    ("<details><summary>Thinking for 3 seconds</summary>Hm.</details>\nPizza.", "Pizza.", "Hm."),
    ("<details><summary>Recipe</summary>Dough.</details>", "<details><summary>Recipe</summary>Dough.</details>", None),
    ("They ask for food.</think>", "", "They ask for food."),
    ("They ask for food</think>Pizza.", "Pizza.", "They ask for food"),
    ("[BEGIN_THINK]Hm.[END_THINK]Pizza.", "Pizza.", "Hm."),
    ("\u200b<think>Hm.</think>Pizza.", "Pizza.", "Hm."),
    ("<|start|>assistant<|channel|>analysis<|message|>Hm.<|channel|>final<|message|>Pizza.", "Pizza.", "Hm."),
    ("Reasoning is closed by </think>", "Reasoning is closed by </think>", None),
    ("<plan>Say pizza? Tacos?</plan>They eat kimchi.", "They eat kimchi.", "Say pizza? Tacos?"),
    ("<internal>hm</internal>\n\nPizza.", "Pizza.", "hm"),
    ("<self_check>a</self_check>\n<answer>Pizza.</answer>", "Pizza.", "a"),
    ("<think>a</think><innerDialogue>b</innerDialogue>Pizza.", "Pizza.", "a\n\nb"),
    ("<pensée>a</pensée>Une pizza.", "Une pizza.", "a"),
    ("<思路>a</思路>披萨。", "披萨。", "a"),
    ("<plan>Basic</plan> costs five euros.", "<plan>Basic</plan> costs five euros.", None),
    ("<plan>Say pizza.</plan>", "<plan>Say pizza.</plan>", None),
    ("The tag <plan>x.</plan>\nis mine.", "The tag <plan>x.</plan>\nis mine.", None),
    ("<plan>a.</plan>\n<plan>b.</plan>\nPizza", "<plan>a.</plan>\n<plan>b.</plan>\nPizza", None),
    ("<think>a.</think>Sushi.</think>Pizza.", "Pizza.", "a.\n\nSushi."),
    ("<think>a.</think> sushi </think> pizza", "pizza", "a.\n\nsushi"),
    ("a.</think>\nSushi.\n</think>\nPizza.", "Pizza.", "a.\n\nSushi."),
    ("<think>a.</think>Write `</think>` last.", "Write `</think>` last.", "a."),
    ("Pizza.\n<think>", "Pizza.", None),
    ("<think>a.</think>Pizza.</answer>", "Pizza.", "a."),
    ("<|START_RESPONSE|>Pizza.<|END_RESPONSE|>", "Pizza.", None),
    ("analysisThe user asks for food.", None, "The user asks for food."),
    ("analysis用户问吃什么。", None, "用户问吃什么。"),
    ("analysis<|message|>Hm.", None, "Hm."),
    ("<|channel|>analy", "", None),
    ("<dinner>Pizza.</dinner>\nThen tea.", "<dinner>Pizza.</dinner>\nThen tea.", None),
    ("<plantain>Fried.</plantain>\nWith rice.", "<plantain>Fried.</plantain>\nWith rice.", None),
    ("<p>One.</p>\n<p>Pizza.</p>", "<p>One.</p>\n<p>Pizza.</p>", None),
    ("[REASONING]Hm.[/REASONING]\nPizza.", "Pizza.", "Hm."),
    ("[Scratchpad]\nHm.\n[/Scratchpad]\nPizza.", "Pizza.", "Hm."),
    ("【思考】うん。【/思考】ピザ。", "ピザ。", "うん。"),
    ("{thinking}Hm.{/thinking}\nPizza.", "Pizza.", "Hm."),
    ("```thinking\nHm.\n```\nPizza.", "Pizza.", "Hm."),
    ("~~~ réflexion\nHm.\n~~~\n\nPizza.", "Pizza.", "Hm."),
    ("```python\nthinking()\n```\nPizza.", "```python\nthinking()\n```\nPizza.", None),
    ("::: reasoning\nHm.\n:::\nPizza.", "Pizza.", "Hm."),
    ("<!-- recipe -->\nPizza.", "<!-- recipe -->\nPizza.", None),
    ("> 💭 **Thinking**\n> Hm.\n> Tacos?\n\nPizza.", "Pizza.", "> Hm.\n> Tacos?"),
    ("> Food is culture.\n\nPizza.", "> Food is culture.\n\nPizza.", None),
    ("< think >Hm.</ think >Pizza.", "Pizza.", "Hm."),
    ("＜think＞Hm.＜/think＞Pizza.", "Pizza.", "Hm."),
    (r"\<thinking\>Hm.\</thinking\>Pizza.", "Pizza.", "Hm."),
    ("**Thinking:** Hm.\n\n**Answer:** Pizza.", "Pizza.", "Hm."),
    ("**Reasoning**: hm. **Final answer**: Pizza.", "Pizza.", "hm."),
    ("## Thought process\nHm.\n\n## Response\nPizza.", "Pizza.", "Hm."),
    ("Thought: hm\nFinal Answer: Pizza.", "Pizza.", "hm"),
    ("**Überlegungen:** Hm.\n\n**Antwort:** Pizza.", "Pizza.", "Hm."),
    ("Razonamiento: hm.\nRespuesta: Pizza.", "Pizza.", "hm."),
    ("**思考过程：**\n嗯。\n\n**最终答案：**\n披萨。", "披萨。", "嗯。"),
    ("[Reasoning]\nHm.\n[Answer]\nPizza.", "Pizza.", "Hm."),
    ("**Thinking:** people think of pizza.", "**Thinking:** people think of pizza.", None),
    ("**Analysis:** Rice.\n\nThe answer: soup.", "**Analysis:** Rice.\n\nThe answer: soup.", None),
    ("**Plan:** visit Rome.\n\n**Answer:** yes.", "**Plan:** visit Rome.\n\n**Answer:** yes.", None),
    ("Reasons: many.\nAnswer: rice.", "Reasons: many.\nAnswer: rice.", None),
    ("Thinking of you: a song.\nAnswer: yes.", "Thinking of you: a song.\nAnswer: yes.", None),
    ("思い出：夏祭り\n答え：花火", "思い出：夏祭り\n答え：花火", None),
    ("(Self: hi)\nHello.", "(Self: hi)\nHello.", None),
    ("```plan\nRome\n```\nPizza.", "```plan\nRome\n```\nPizza.", None),
    ("[Private] diary\n[Answer] none", "[Private] diary\n[Answer] none", None),
    ("Breakfast: bread.\nAnswer: pizza.", "Breakfast: bread.\nAnswer: pizza.", None),
    ('{"reasoning": "Hm.", "answer": "Pizza."}', "Pizza.", "Hm."),
    ('```json\n{"thoughts": "Hm.", "response": "Pizza."}\n```', "Pizza.", "Hm."),
    ('{"reasoning": "Hm.", "mentions": []}', '{"reasoning": "Hm.", "mentions": []}', None),
    ('{"plan": "Hm.", "answer": "Pizza."}', '{"plan": "Hm.", "answer": "Pizza."}', None),
    ("<think>Hm.\n<answer>Pizza.</answer>", "Pizza.", "Hm."),
    ("Sie denkt: <thought>Pizza?</thought> Sie isst.", "Sie denkt: <thought>Pizza?</thought> Sie isst.", None),
    ("Il dit : <reflection>oui.</reflection> Et part.", "Il dit : <reflection>oui.</reflection> Et part.", None),
    ("They eat <think>tacos?</think>pizza.", "They eat pizza.", "tacos?"),
    ("Antwort: <think>Hm.</think> Pizza.", "Antwort:  Pizza.", "Hm."),
    *((f"{left}think{right}Hm.{left}/think{right}Pizza.", "Pizza.", "Hm.") for left, right in
      ("⟨⟩", "❬❭", "⟪⟫", "〈〉", "《》", "«»", "‹›", "◀▶", "「」", "⟦⟧", "()", ("<<", ">>"), ("[[", "]]"), ("<|", ">"),
       ("<", "|>"), ("&#60;", "&#x3e;"), (r"\u003c", r"\u003e"))),
    ("<think_start>Hm.<think_end>Pizza.", "Pizza.", "Hm."),
    ("<begin_of_thinking>Hm.<end_of_thinking>Pizza.", "Pizza.", "Hm."),
    ("<think>Hm.<\\think>Pizza.", "Pizza.", "Hm."),
    ("<think/>Hm.</think>Pizza.", "Pizza.", "Hm."),
    (r"<think>Hm.<\/think>Pizza.", "Pizza.", "Hm."),
    ("<think>\nHm.\n<think>\nPizza.", "Pizza.", "Hm."),
    ("⟨think⟩Never closed", None, "Never closed"),
    ("Hm.⟨/think⟩Pizza.", "Pizza.", "Hm."),
    ("The tags ⟨think⟩ and ⟨/think⟩ mark it.", "The tags ⟨think⟩ and ⟨/think⟩ mark it.", None),
    ("《思考》是一本书。", "《思考》是一本书。", None),
    ("「思考」とは何か。", "「思考」とは何か。", None),
    ("« Thinking » est un mot.", "« Thinking » est un mot.", None),
    ("⟨φ|ψ⟩ is a number.", "⟨φ|ψ⟩ is a number.", None),
    ("*Thinking... hm? tacos?*\n\nPizza.", "*Thinking... hm? tacos?*\n\nPizza.", None),  # a narrator's words
    ("*Thinking...*\n\n> Hm.\n\n> Tacos?\n\nPizza.", "Pizza.", "> Hm.\n\n> Tacos?"),
    ("*Thinking...*\nHm.\n*Done thinking.*\nPizza.", "Pizza.", "Hm."),
    ("Thinking...\nHm.\n...done thinking.\n\nPizza.", "Pizza.", "Hm."),
    ("Thinking...\n\nHm.\n\n---\n\nPizza.", "Pizza.", "Hm."),
    ("=== THINKING ===\nHm.\n=== ANSWER ===\nPizza.", "Pizza.", "Hm."),
    ("*Thinking...* is a song.\n\nIt is liked.", "*Thinking...* is a song.\n\nIt is liked.", None),
    ("*Thinking* is what people do.\n\nPizza.", "*Thinking* is what people do.\n\nPizza.", None),
    ("*Thinking...*\n\nHm.\n\n**Answer:** Pizza.", "Pizza.", "Hm."),
    ("> Thinking: tacos?\n> Hm.\n\nPizza.", "> Thinking: tacos?\n> Hm.\n\nPizza.", None),
    ("💭 Thinking...\nHm\n\n✅ Answer:\nPizza.", "Pizza.", "Hm"),
    ("Thought: hm\n\nAnswer: Pizza.", "Pizza.", "hm"),
    ("Thinking: the art\n\nIt is rice.\n\nAnswer: eat.", "Thinking: the art\n\nIt is rice.\n\nAnswer: eat.", None),
    ("Thoughts: a quiz.\n\nQuestion: rice?\nAnswer: yes.", "Thoughts: a quiz.\n\nQuestion: rice?\nAnswer: yes.", None),
    ('{"reasoning": ["a", "b"], "answer": "Pizza.", "confidence": 0.9}', "Pizza.", "a\n\nb"),
    ('{"reasoning": "a", "answer": "b", "place": "Rome"}', '{"reasoning": "a", "answer": "b", "place": "Rome"}', None),
    ("Thinking... so my aunt said.\n\n---\n\nPizza.", "Thinking... so my aunt said.\n\n---\n\nPizza.", None),
]  # fmt: skip


LONG = ["a. <think>" * 20_000, "a </think>" * 20_000, "<" * 50_000, "a <think>" * 9_000 + "</think>" * 9_000,
        "Thought: a" + "\n answer" * 20_000, "Robot: a" + "\nHuman: b" * 20_000 + "\nRobot: c",
        "*Thinking..." + "a\n" * 50_000, "Thinking...\n" * 20_000, "⟨think⟩" * 20_000,
        "Thinking...\n" + "done \n" * 20_000, "### Rice: a" + "\n### Human: b" * 5_000,
        "> Thinking\n" + "> b\n" * 9_000]  # fmt: skip


@pytest.mark.parametrize("text", LONG)
def test_hostile_tags_take_linear_time(text: str) -> None:
    began = time.process_time()
    split_reasoning(text)
    end_turn(text)
    assert time.process_time() - began < 5


def test_tags_part_reasoning_from_the_answer() -> None:
    found = [(text, split_reasoning(text)) for text, *_ in SPLITS]
    assert [(text, one.answer, one.reasoning) for text, one in found] == SPLITS


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Pizza.\nUser: And tacos?\nAssistant: Yes.", "Pizza."),
        ("Pizza.\n**User:** tacos", "Pizza."),
        ("Pizza.\n[USER]: tacos", "Pizza."),
        ("Assistant: Pizza.\nHuman: tacos?\nAssistant: yes", "Assistant: Pizza."),
        ("Zutaten: Mehl.\nBenutzer: Und Tacos?", "Zutaten: Mehl."),
        ("Pizza。\n用户：塔可？", "Pizza。"),
        ("Robot: Hi.\nHuman: Hello.\nRobot: Bye.", "Robot: Hi.\nHuman: Hello.\nRobot: Bye."),
        ("Robot: Hi.\nHuman: Hello.\nRobot: Bye.\nUser: tacos", "Robot: Hi.\nHuman: Hello.\nRobot: Bye."),
        ("My friend said:\nHuman: no\nUser: yes", "My friend said:\nHuman: no\nUser: yes"),
        ("My friend said:\nHuman: no\n\nHuman: Tacos?", "My friend said:\nHuman: no"),
        ("Pizza.\n\n### Human: And lunch?\n\n### Assistant: Soup.", "Pizza."),
        ("### Rice\nWet.\n\n### Human: And?\n\n### AI: Soup.", "### Rice\nWet."),
        ("### Rain: wet\n\n### Human: farms\n", "### Rain: wet\n\n### Human: farms\n"),
        ("# Why\n\n### Rain\nWet.\n\n### Human: farms", "# Why\n\n### Rain\nWet.\n\n### Human: farms"),
        ("**Animal:** 20\n**Human:** 80", "**Animal:** 20\n**Human:** 80"),
        ("Errors\n\nHuman: 80 %\nMachine: 10 %", "Errors\n\nHuman: 80 %\nMachine: 10 %"),
        ("Pizza.\nHuman: And tacos?\nClaudius: Yes.", "Pizza."),
        ("Pizza.\n[User]\nMore?", "Pizza."),
        ("Pizza.\n--- User ---\nMore?", "Pizza."),
        ("Pizza.assistant\n\nMore.", "Pizza."),
        ("Pizza.\nuser\nMore?", "Pizza."),
        ("Pizza.\nuser\nMore?\nmodel\nTacos.", "Pizza."),
        ("Rights of each\nuser\nand group.", "Rights of each\nuser\nand group."),
        ("Jobs:\n\nmodel\n\nphotographer", "Jobs:\n\nmodel\n\nphotographer"),
        ("The end.\nmodel\nof virtue", "The end.\nmodel\nof virtue"),
        ("Host: Well?\nUser: Rice.\nHost: And?\nUser: Soup.", "Host: Well?\nUser: Rice.\nHost: And?\nUser: Soup."),
        ("Ask the user\nabout pizza.", "Ask the user\nabout pizza."),
        ("The user: he eats.\nA human: eats.", "The user: he eats.\nA human: eats."),
        ("Pizza.\n### Instruction:\nMore.\n### Response:\nTacos.", "Pizza."),
        ("Pizza.\n\n### Instruction:\nMore.", "Pizza."),
        ("### Assistant: Pizza.\n\n### Human: More?", "### Assistant: Pizza."),
        ("Pizza\n\nUser: Tell me more.\n\n**Assistant:** Tacos.", "Pizza"),
        ("ピザ。\n\nユーザー：続けて。\n\nアシスタント：寿司。", "ピザ。"),
        ("Pizza.</s> tacos", "Pizza."),
    ],
)
def test_an_invented_turn_ends_the_text_and_a_dialogue_does_not(text: str, answer: str) -> None:
    assert end_turn(text)[0] == answer


@pytest.mark.parametrize(
    "text",
    [
        "My day as a designer.\n\nUser: a word I use at work all day. At home I make ramen, kimchi and tacos.",
        "My day as a designer.\n\n**User:** a word I use at work all day. At home I make ramen.",
        "In this play a robot meets a cook.\n\nHuman: What is in the pot?\nRobot: Kimchi and ramen.",
        "In this play a robot meets a cook.\nHuman: What is in the pot?\nRobot: Kimchi and ramen.",
        "A short play.\n\nHUMAN: What is in the pot?\nROBOT: Kimchi.",
        "# The cook and the machine\n\nHuman: What is in the pot?\nAI: Kimchi.",
        "日記\n\n使用者：今日は寿司を食べた。\n明日はラーメン。",
        "### Ingredients:\nRice.\n\n### Instruction:\nBoil it.",
        "He wrote </s> on the board, then ate pizza.",
        "He wrote “</s>” and <|im_end|>, then ate pizza.",
    ],
)
def test_the_texts_own_speakers_words_and_headings_do_not_end_it(text: str) -> None:
    assert end_turn(text) == (text, None)


@pytest.mark.parametrize("text", ["```reasoning\nHm", "[Thought]\nHm", "**Thinking:** Hm", "**思考过程：** Hm"])
def test_reasoning_in_other_marks_that_is_cut_has_no_answer(text: str) -> None:
    assert split_reasoning(text, cut=True) == Split(None, "Hm")


@pytest.mark.parametrize("text", ["**Plan:** pizza", "**Analyse :** pizza", "Thinking: pizza"])
def test_a_heading_that_an_answer_may_have_is_no_reasoning_where_it_is_cut(text: str) -> None:
    assert split_reasoning(text, cut=True) == Split(text)


def test_a_tag_in_the_middle_of_a_cut_text_has_no_answer_behind_it() -> None:
    assert split_reasoning("Well. <think>They ask", cut=True) == Split(None, "They ask")


def test_the_prompt_may_open_the_reasoning() -> None:
    tail = "<|im_start|>assistant\n<think>\n"
    assert split_reasoning("They ask.</think>Pizza.", prompt_tail=tail) == Split("Pizza.", "They ask.", True)
    assert split_reasoning("They ask", prompt_tail=tail, cut=True) == Split(None, "They ask", True)
    assert split_reasoning("<think>Again.</think>Pizza.", prompt_tail=tail) == Split("Pizza.", "Again.", True)
    assert split_reasoning("Pizza.", prompt_tail="<think>\n\n</think>\n\n") == Split("Pizza.")


def reply(message: dict[str, Any], finish: str = "stop") -> Reply:
    usage = {"prompt_tokens": 3, "completion_tokens": 40, "completion_tokens_details": {"reasoning_tokens": 30}}
    choice = {"finish_reason": finish, "message": message}
    return Reply(body=json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode())


def served(message: dict[str, Any], finish: str = "stop") -> Completion:
    asked = Request("r", (Message("user", "Which dish?"),), Decoding(), (1,))
    with (
        StubServer(behaviour=lambda *_: reply(message, finish)) as server,
        open_engine(ModelSpec("openai:m", {"base_url": server.url})) as engine,
    ):
        (found,) = engine.sample([asked])
    return found


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "reasoning_text", "thinkingContent", "thoughts"])
def test_a_server_tells_reasoning_apart(key: str) -> None:
    found = served({"content": "Pizza.", key: "They ask for food.", "reasoning_effort": "low"})
    assert (found.text, found.reasoning, found.raw) == ("Pizza.", "They ask for food.", None)
    assert (found.completion_tokens, found.reasoning_tokens) == (40, 30)


def test_reasoning_in_the_text_of_a_server() -> None:
    found = served({"content": "<think>They ask.</think>Pizza.", "reasoning": {"effort": "low"}})
    assert (found.text, found.reasoning) == ("Pizza.", "They ask.")
    assert found.as_it_came == "<think>They ask.</think>Pizza."


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "reasoning_content": "They ask"},
        {"content": "", "reasoning": "They ask"},
        {"content": "<think>They ask"},
    ],
)
def test_reasoning_that_is_cut_has_no_answer(message: dict[str, Any]) -> None:
    found = served(message, "length")
    assert (found.text, found.reasoning, found.retryable) == (None, "They ask", False)
    assert found.error == "no answer behind the reasoning: finish reason length"
    assert found.completion_tokens == 40


def test_the_store_keeps_reasoning_in_a_column_of_its_own(tmp_path: Path) -> None:
    catalog = read_catalog()
    prompts = build_prompts(catalog, ["en"], ["food"], ["IT"], ("neutral",))
    run, job = RunFolder(tmp_path), Job("mock:a", "en", "food")
    thought = "Der Benutzer fragt nach dem Essen, das die Leute in Italien gerne essen."
    spec = ModelSpec("mock:a", {"reasoning": thought})
    step = SamplingStep([job], prompts, SamplingSettings(n=2), catalog)
    with open_engine(spec) as engine:
        do_works(run, step, list(step.works()), OneModel(engine, spec))
    columns = ["text", "reasoning", "reasoning_tokens", "detected_language", "completion_tokens"]
    rows = JobShards(run, job, [RESPONSES]).read("responses", columns).to_pylist()
    assert [row["reasoning"] for row in rows] == [thought] * 2
    assert all(thought not in row["text"] and row["detected_language"] == "en" for row in rows)
    assert all(row["completion_tokens"] > len(row["text"].split()) for row in rows)


def test_an_extractors_reasoning_is_not_parsed_and_kept_as_it_came() -> None:
    topic = read_catalog().topic("food")
    kind = next(iter(topic.kinds))
    answer = json.dumps({"mentions": [{"text": "pizza", "kind": kind}]})
    spec = ModelSpec("mock:x", {"reasoning": 'Maybe {"mentions": []}?'})
    with MockEngine(spec, script=lambda *_: answer) as engine:
        (found,) = LlmExtractor(engine, spec.model, topic).extract([ResponseText("r", "en", "I like pizza.")])
    assert found.status == "ok"
    assert [mention.surface for mention in found.mentions] == ["pizza"]
    assert (found.raw or "").startswith("<think>Maybe")
