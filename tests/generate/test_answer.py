"""One reading of an answer: how it ended, in which shape it came, what is its text, and what it cost."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from polyculture.generate.engines.answer import NoAnswerError, read_answer, read_text
from polyculture.generate.engines.base import Completion
from polyculture.generate.engines.bodies import has_answer
from polyculture.generate.engines.endings import ending_of
from polyculture.generate.engines.error_body import read_error
from polyculture.generate.engines.openai.engine import ReasoningTemplate

ENDINGS = {
    "whole": """
        stop STOP end_turn eos_token FinishReason.STOP endTurn COMPLETE </s> stop_sequence_reached
        <|endoftext|> <|im_end|> succeeded word NORMAL ALTERNATIVE_STATUS_FINAL FINISH endoftext
    """,
    "cut": """
        length MAX_TOKENS max-tokens model_length FINISH_REASON_MAX_TOKENS time_limit
        context_length_exceeded token_limit_reached lengthCapped maxtokens REASON_MAX_LEN
        maxPredictedTokensReached repetition_truncation maximum_tokens
    """,
    "withheld": """
        SAFETY content_filter PROHIBITED_CONTENT guardrail_intervened ERROR_TOXIC model_armor
        content_filter:PROHIBITED_CONTENT CONTENTFILTER openai_content_policy_violation sensitive
    """,
    "broken": """
        error abort insufficient_system_resource tool_calls USER_CANCEL queued upstream_error
        internalServerError deadline_exceeded RESOURCE_EXHAUSTED too_many_tool_calls modelUnloaded OTHER
        network_error load interrupted
    """,
    # What no system documents is not guessed: neither a text nor a failure is made of it in silence.
    "unknown": """
        finish_reason_unspecified not_complete unfinished unblocked longing zing another_one
        max_retries rate_limited declined password truncation
    """,
}
ODD_ENDINGS = [(" stop\n", "whole"), ("a new word", "unknown"), (None, "unknown"), ("", "unknown")]


@pytest.mark.parametrize(
    ("word", "ending"),
    [*((word, ending) for ending, words in ENDINGS.items() for word in words.split()), *ODD_ENDINGS],
)
def test_word_of_an_ending(word: str | None, ending: str) -> None:
    assert ending_of(word) == ending


def chat(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish, **more}]}


SHAPES = {
    "chat": (chat({"content": "Pizza."}), "Pizza.", "whole", None),
    "chat in parts": (
        chat({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]},
                          {"type": "text", "text": "Pizza."}]}), "Pizza.", "whole", "Hm",
    ),
    "reasoning details": (
        chat({"content": "Pizza.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm"}]}), "Pizza.", "whole",
        "Hm",
    ),
    "choices out of order": (
        {"choices": [{"index": 1, "message": {"content": "no"}}, *chat({"content": "Pizza."})["choices"]]}, "Pizza.",
        "whole", None,
    ),
    "completions": ({"choices": [{"text": "Pizza.", "finish_reason": "length"}]}, "Pizza.", "cut", None),
    "responses": (
        {"status": "incomplete",
         "incomplete_details": {"reason": "max_output_tokens"},
         "output": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}]},
                    {"type": "message", "content": [{"type": "output_text", "text": "Pizza."}]}]},
        "Pizza.", "cut", "Hm",
    ),
    "anthropic": (
        {"stop_reason": "max_tokens", "content": [{"type": "thinking", "thinking": "Hm"},
                                                  {"type": "text", "text": "Pizza."}]}, "Pizza.", "cut", "Hm",
    ),
    "gemini": (
        {"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "Hm", "thought": True},
                                                                       {"text": "Pizza."}]}}]}, "Pizza.", "whole", "Hm",
    ),
    "bedrock": (
        {"stopReason": "end_turn", "output": {"message": {"content": [
            {"reasoningContent": {"reasoningText": {"text": "Hm"}}}, {"text": "Pizza."}]}}}, "Pizza.", "whole", "Hm",
    ),
    "llama.cpp": (
        {"content": "Pizza.", "stop": True, "stop_type": "limit", "tokens_predicted": 2, "tokens_evaluated": 5},
        "Pizza.", "cut", None,
    ),
    "an older llama.cpp": (
        {"content": "Pizza.", "stop": True, "stopped_eos": True, "stopped_limit": False}, "Pizza.", "whole", None
    ),
    "Cohere v1": (
        {"text": "Pizza.", "finish_reason": "MAX_TOKENS", "chat_history": [{"role": "USER", "message": "Q"}],
         "meta": {"tokens": {"input_tokens": 5, "output_tokens": 2}}}, "Pizza.", "cut", None,
    ),
    "Replicate": (
        {"output": ["Piz", "za."], "status": "succeeded", "error": None,
         "metrics": {"input_token_count": 5, "output_token_count": 2}}, "Pizza.", "whole", None,
    ),
    "Titan": ({"results": [{"outputText": "Pizza.", "completionReason": "LENGTH"}]}, "Pizza.", "cut", None),
    "AI21": (
        {"completions": [{"data": {"text": "Pizza."}, "finishReason": {"reason": "endoftext"}}]}, "Pizza.", "whole",
        None,
    ),
    "watsonx": ({"results": [{"generated_text": "Pizza.", "stop_reason": "max_tokens"}]}, "Pizza.", "cut", None),
    "DashScope": (
        {"code": "", "message": "", "usage": {"input_tokens": 3, "output_tokens": 4}, "output": {
            "text": None, "finish_reason": None, "choices": chat({"content": "Pizza.", "reasoning_content": "Hm"},
                                                                  "length")["choices"]}}, "Pizza.", "cut", "Hm",
    ),
    "MiniMax": (
        {"reply": "Pizza.", "choices": [{"finish_reason": "max_output", "messages": [{"sender_type": "BOT"}]}],
         "base_resp": {"status_code": 0, "status_msg": ""}}, "Pizza.", "cut", None,
    ),
    "RunPod": (
        {"id": "a", "status": "COMPLETED", "output": [{"choices": [{"tokens": ["Piz", "za."]}]}]}, "Pizza.", "whole",
        None,
    ),
    "Hunyuan": (
        {"Response": {"Choices": [{"FinishReason": "length", "Message": {"Role": "assistant", "Content": "Pizza."}}]}},
        "Pizza.", "cut", None,
    ),
    "YandexGPT": (
        {"result": {"alternatives": [{"message": {"role": "assistant", "text": "Pizza."},
                                      "status": "ALTERNATIVE_STATUS_TRUNCATED_FINAL"}]}}, "Pizza.", "cut", None,
    ),
    "Workers AI": (
        {"success": True, "errors": [], "result": {"response": "Pizza.", "usage": {"completion_tokens": 4}}}, "Pizza.",
        "unknown", None,
    ),
    "settings of reasoning": (
        {"status": "completed", "reasoning": {"effort": None, "summary": "auto"}, "text": {"format": {"type": "text"}},
         "output": [{"type": "message", "content": [{"type": "output_text", "text": "Pizza."}]}]}, "Pizza.", "whole",
        None,
    ),
    "OCI": (
        {"chatResponse": {"choices": [{"message": {"content": [{"type": "TEXT", "text": "Pizza."}]},
                                       "finishReason": "length"}]}}, "Pizza.", "cut", None,
    ),
    "YandexGPT, whole": (
        {"result": {"alternatives": [{"message": {"text": "Pizza."}, "status": "ALTERNATIVE_STATUS_FINAL"}]}},
        "Pizza.", "whole", None,
    ),
    "SGLang": ({"text": "Pizza.", "meta_info": {"finish_reason": {"type": "length"}}}, "Pizza.", "cut", None),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_shape_of_a_body(name: str) -> None:
    body, text, ending, reasoning = SHAPES[name]
    found = read_answer(body)
    assert (found.text, found.ending, found.reasoning, found.error) == (text, ending, reasoning, None)


WITHOUT_TEXT = {
    "filtered with a text": (chat({"content": "Pizza"}, "content_filter"), "withheld", False),
    "safety under HTTP 200": (chat({"content": "Pizza"}, "SAFETY"), "withheld", False),
    "a refusal field": (chat({"content": None, "refusal": "I cannot"}), "withheld", False),
    "a text with an error": (
        chat({"content": "Piz"}, "stop", error={"code": 502, "message": "upstream"}),
        "broken",
        True,
    ),
    "an aborted text": (chat({"content": "Piz"}, "abort"), "broken", True),
    "no resources": (chat({"content": "Piz"}, "insufficient_system_resource"), "broken", True),
    "a tool that nobody offered": (chat({"content": None, "tool_calls": []}, "tool_calls"), "broken", True),
    "reasoning alone, whole": (chat({"content": "", "reasoning": "Hm"}), "whole", False),
    "reasoning alone, cut": (chat({"content": "<think>Hm"}, "length"), "cut", False),
    "hidden reasoning, cut": (chat({"content": ""}, "length"), "cut", False),
    "hidden reasoning, whole": (
        chat({"content": ""})
        | {"usage": {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 9}}},
        "whole",
        False,
    ),
    "words behind the end of a turn": (chat({"content": "<|eot_id|>Pizza"}), "whole", False),
    "a black list": (chat({"content": "Let us change the subject"}, "blacklist"), "withheld", False),
    "a broken candidate": ({"candidates": [{"content": {}, "finishReason": "MALFORMED_RESPONSE"}]}, "broken", True),
    "a blocked prompt": ({"promptFeedback": {"blockReason": "SAFETY"}}, "withheld", False),
}


@pytest.mark.parametrize("name", WITHOUT_TEXT)
def test_answer_without_a_text(name: str) -> None:
    body, ending, retryable = WITHOUT_TEXT[name]
    found = read_answer(body)
    assert (found.text, found.ending, found.retryable) == (None, ending, retryable)
    assert found.error


BLOCKED = {"base_resp": {"status_code": 1027, "status_msg": "output new_sensitive"}}


@pytest.mark.parametrize("body", [{}, [], None, {"choices": []}, chat({"content": 5}), {"error": {"message": "busy"}},
                                  chat({"content": ""}) | BLOCKED])  # fmt: skip
def test_body_without_an_answer(body: object) -> None:
    with pytest.raises(NoAnswerError):
        read_answer(body)


@pytest.mark.parametrize("name", ["llama.cpp", "Cohere v1", "Replicate"])
def test_counts_of_a_body_of_no_other_shape(name: str) -> None:
    usage = read_answer(SHAPES[name][0]).usage
    assert (usage.prompt, usage.completion) == (5, 2)


@pytest.mark.parametrize("finish", [{"type": "length", "length": 5}, ["length"], {"reason": "length"}])
def test_an_ending_in_a_table_or_a_list(finish: Any) -> None:
    found = read_answer(chat({"content": "Pizza."}, finish))
    assert (found.ending, found.ending_raw, found.notes) == ("cut", "length", ())


def test_a_body_in_no_known_form_is_refused_with_what_it_has() -> None:
    with pytest.raises(NoAnswerError, match=r"no answer in a known form: it has utterance, base_resp \(login fail\)"):
        read_answer({"utterance": "Pizza.", "base_resp": {"status_code": 1004, "status_msg": "login fail"}})


@pytest.mark.parametrize("body", [{"response": "Model is loading"}, {"result": "no"}, {"output": {"text": "denied"}}])
def test_a_text_without_an_ending_or_a_count_is_no_answer(body: dict[str, Any]) -> None:
    with pytest.raises(NoAnswerError):
        read_answer(body)


@pytest.mark.parametrize(
    "table", ['[{"type": "x", "text": ', '[{"thinking": ', '{"output": ', '[{"type": "x", "content": ']
)
def test_tables_within_tables_cost_an_answer_and_no_run(table: str) -> None:
    closed = "".join({"[": "]", "{": "}"}[one] for one in reversed(table) if one in "[{")
    deep = json.loads(table * 400 + '"Pizza."' + closed * 400)
    with suppress(NoAnswerError):
        read_answer(chat({"content": deep}))
    with pytest.raises(NoAnswerError):
        read_answer({"error": deep})
    assert read_error(deep).words


def test_error_in_a_body_names_its_status() -> None:
    with pytest.raises(NoAnswerError, match="overloaded") as fault:
        read_answer({"error": {"code": 503, "message": "overloaded"}})
    assert (fault.value.status, fault.value.bill.unknown) == (503, True)  # it may have been worked on


TURNS = [
    ("Pizza.<|im_end|>\n<|im_start|>user\nMore?", "Pizza."),
    ("<|im_start|>assistant\nPizza.<|im_end|>", "Pizza."),
    ("<s>Pizza.</s>", "Pizza."),
    ("Pizza.<｜end▁of▁sentence｜>", "Pizza."),
    ("Pizza.\n\nHuman: And then?\n\nAssistant: Pasta.", "Pizza."),
    ("Pizza.\n\n### User: And then?", "Pizza."),
    ("Pizza. `<|im_end|>` ends a turn.", "Pizza. `<|im_end|>` ends a turn."),
    ("User: who asks?", "User: who asks?"),
    ("Pizza.[|endofturn|]", "Pizza."),
    ("Pizza.<extra_id_1>User", "Pizza."),
    ("Pizza.<reserved_106>More", "Pizza."),
    ("Pizza.<|im_end", "Pizza."),
    ("Log in as <user_name>: pizza.", "Log in as <user_name>: pizza."),
    ("Take [START_OF_MEAL] bread.", "Take [START_OF_MEAL] bread."),
    ("Pizza.\n\n用户：还有呢？", "Pizza."),
    ("Pizza.\n\n**Usuario:** ¿Y luego?", "Pizza."),
]


@pytest.mark.parametrize(("raw", "text"), TURNS)
def test_marker_or_invented_turn_ends_the_text(raw: str, text: str) -> None:
    found = read_text(raw, "length")
    assert found.text == text
    assert found.raw == (raw if raw != text else None)
    ended = raw.startswith(("Pizza.<", "Pizza.[", "Pizza.\n", "<"))
    assert (found.ending == "whole", found.note is not None) == (ended, ended)


@pytest.mark.parametrize(("word", "ending"), [("wat", "unknown"), ("length", "whole"), (None, "whole")])
def test_a_marker_does_not_hide_an_ending_that_nobody_knows(word: str | None, ending: str) -> None:
    assert read_text("Pizza.<|im_end|>\n<|im_start|>user\nMore?", word).ending == ending


@pytest.mark.parametrize("raw", ["<|eot_id|>", "<|eot_id|>\n<|eot_id|> ", "<|im_end|>\n<|im_start|>user\nMore?", ""])
def test_a_turn_that_ends_at_once_says_nothing(raw: str) -> None:
    found = read_text(raw, "stop")
    assert (found.text, found.error) == ("", None)


def test_padding_before_a_text_ends_nothing() -> None:
    assert read_text("<pad><bos>Pizza.", "stop").text == "Pizza."


@pytest.mark.parametrize(
    "text",
    [
        "We ate <s>rice</s> bread, <s>at home</s>",
        "<s>Rice</s> bread.",
        "Some ask:\n\nQ: Is it hot?\nA: It is.",
        "User manuals are long.\n\nUsers read them.",
    ],
)
def test_ordinary_text_is_not_cut(text: str) -> None:
    assert read_text(text, "stop").text == text


@pytest.mark.parametrize(
    ("tail", "raw"),
    [
        ("eat?\nA:", "Pizza.\nQ: And drink?\nA: Wine."),
        ("\n答：", "Pizza.\n\n问：喝什么？"),
        ("\n**Antwort:** ", "Pizza.\nFrage: Und?"),
    ],
)
def test_next_question_in_the_form_of_the_prompt_ends_the_text(tail: str, raw: str) -> None:
    assert read_text(raw, "length", prompt_tail=tail).text == "Pizza."
    assert read_text(raw, "length", prompt_tail="what people eat").text == raw


def test_usage_that_does_not_add_up_is_billed_by_the_total() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 95}
    found = read_answer({**chat({"content": "Pizza."}), "usage": usage})
    assert (found.usage.prompt, found.usage.completion) == (10, 85)
    assert "95" in (found.note or "")


@pytest.mark.parametrize(
    ("cost", "counted"),
    [("0.5", 0.5), ("1.2e-4", 0.00012), (" .25 ", 0.25), ("7", 7.0), ({"total_cost": "0.5"}, 0.5), ("0", None)],
)
def test_a_cost_that_a_server_writes_as_a_text_is_counted(cost: object, counted: float | None) -> None:
    found = read_answer({**chat({"content": "Pizza."}), "usage": {"completion_tokens": 5, "cost": cost}})
    assert found.usage.cost == (None if counted is None else pytest.approx(counted))
    assert "no amount" not in (found.note or "")


def test_what_a_provider_bills_beside_a_gateway_is_added_where_the_key_is_the_users() -> None:
    usage = {"completion_tokens": 5, "cost": 0.25, "cost_details": {"upstream_inference_cost": 4.0}}
    own, other = (
        read_answer({**chat({"content": "Tea."}), "usage": {**usage, "is_byok": one}}) for one in (True, False)
    )
    assert (own.usage.cost, other.usage.cost) == (4.25, 0.25)


@pytest.mark.parametrize("cost", [-0.5, "-0.5", "free", "nan", "inf", "1e999", "$0.50", "0,5", "", True, [1], 10**400])
def test_a_cost_that_is_no_amount_of_money_is_noted(cost: object) -> None:
    found = read_answer({**chat({"content": "Pizza."}), "usage": {"completion_tokens": 5, "cost": cost}})
    assert found.usage.cost is None
    assert "cost: no amount of money" in (found.note or "")


def test_reasoning_that_the_completion_cannot_hold_is_billed_and_told() -> None:
    """A total that leaves the reasoning out, too, would hide it from both the bill and the cap."""
    details = {"completion_tokens_details": {"reasoning_tokens": 400}}
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12, **details}
    found = read_answer({**chat({"content": "Pizza."}), "usage": usage})
    assert (found.usage.prompt, found.usage.completion) == (7, 405)
    assert "400" in (found.note or "")


COUNTS = [
    ({"promptTokenCount": 3, "candidatesTokenCount": 4, "thoughtsTokenCount": 20, "totalTokenCount": 27}, (3, 24, 20)),
    ({"promptTokenCount": 3, "candidatesTokenCount": 40, "thoughtsTokenCount": 20}, (3, 60, 20)),
    ({"prompt_tokens": 3, "completion_tokens": 4, "thinking_tokens": 20}, (3, 24, 20)),
    ({"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 50}, (53, 4, None)),
    ({"inputTextTokens": "19", "completionTokens": "6", "totalTokens": "25"}, (19, 6, None)),  # YandexGPT
    ({"input_tokens": 3, "output_tokens": 24, "output_tokens_details": {"thinking_tokens": 20}}, (3, 24, 20)),
    ({"billed_units": {"input_tokens": 3, "output_tokens": 4}, "tokens": {"input_tokens": 70}}, (3, 4, None)),
]


@pytest.mark.parametrize(("usage", "counts"), COUNTS)
def test_counts_under_other_names(usage: dict[str, Any], counts: tuple[int | None, ...]) -> None:
    found = read_answer({**chat({"content": "Pizza."}), "usage": usage})
    assert (found.usage.prompt, found.usage.completion, found.usage.reasoning) == counts


def test_shape_of_an_unknown_body() -> None:
    assert not has_answer({"hello": 1})


def completion(text: str, ending: str) -> Completion:
    found = read_text(text, {"whole": "stop", "cut": "length"}[ending])
    return Completion("r", 0, found.text, ending=found.ending, prompt_opened=found.prompt_opened,
                      reasoning=found.reasoning, finish_reason=found.ending_raw)  # fmt: skip


def test_cut_reasoning_without_a_tag_waits_for_an_answer_that_shows_the_template() -> None:
    cut, whole = completion("They ask for", "cut"), completion("They ask.</think>Pizza.", "whole")
    found = list(ReasoningTemplate().settled(iter([cut, whole, cut]), most=64))
    assert [(one.text, one.reasoning) for one in found] == [
        (None, "They ask for"), ("Pizza.", "They ask."), (None, "They ask for")
    ]  # fmt: skip


@pytest.mark.parametrize("others", [[("Pizza.", "whole")], []])
def test_cut_text_of_a_template_that_opens_nothing(others: list[tuple[str, str]]) -> None:
    answers = [completion("They eat", "cut"), *(completion(*other) for other in others)]
    found = list(ReasoningTemplate().settled(iter(answers), most=64))
    assert [one.text for one in found] == ["They eat", *(text for text, _ in others)]


def test_a_refusal_among_content_parts_is_one() -> None:
    content = [{"type": "refusal", "refusal": "I cannot."}]
    answer = read_answer({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]})
    assert (answer.text, answer.ending) == (None, "withheld")


def test_choices_are_taken_by_an_index_in_words_too() -> None:
    choices = [{"index": f"{k}", "message": {"content": f"text {k}"}, "finish_reason": "stop"} for k in (1, 0)]
    assert read_answer({"choices": choices}).text == "text 0"


@pytest.mark.parametrize("heading", ["[ANALYSIS]", "[REFLECTION]", "[REASONING]"])
def test_a_heading_in_square_brackets_is_no_reasoning(heading: str) -> None:
    text = f"{heading}\nKimchi is eaten.\n[SUMMARY]\nRice."
    assert read_text(text, "stop").text == text


@pytest.mark.parametrize(("native", "ending"), [("SAFETY", "withheld"), ("pause_turn", "cut"), ("STOP", "whole")])
def test_a_gateways_stop_gives_way_to_the_models_own_word(native: str, ending: str) -> None:
    choice = {"message": {"content": "Pizza."}, "finish_reason": "stop", "native_finish_reason": native}
    assert read_answer({"choices": [choice]}).ending == ending


CONTENTS: list[tuple[object, str | None, str | None]] = [
    ({"type": "text", "text": "Pizza."}, "Pizza.", None),
    ({"type": "output_text", "text": {"value": "Pizza.", "annotations": []}}, "Pizza.", None),
    ({"content_type": "text", "parts": ["Piz", "za."]}, "Pizza.", None),
    ([{"type": "text", "text": {"value": "Pizza."}}], "Pizza.", None),
    ([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"text": "Pizza."}], "Pizza.", "Hm."),
    ([{"text": "Hm.", "thought": True}, {"text": "Pizza."}], "Pizza.", "Hm."),
    ([{"type": "redacted_thinking", "data": "abc"}, "Pizza."], "Pizza.", None),
    ({"type": "image_url", "image_url": "x"}, None, None),
]


@pytest.mark.parametrize(("content", "text", "reasoning"), CONTENTS)
def test_the_content_of_a_message_has_parts(content: object, text: str | None, reasoning: str | None) -> None:
    answer = read_answer({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]})
    assert (answer.text, answer.reasoning) == (text, reasoning)


@pytest.mark.parametrize("field", [[{"type": "thinking", "thinking": "Hm."}], {"content": "Hm."}, "Hm."])
def test_reasoning_beside_a_content_in_any_form(field: object) -> None:
    message = {"content": "Pizza.", "thinking_blocks": field, "reasoning_tokens": 3}
    answer = read_answer({"choices": [{"message": message, "finish_reason": "stop"}]})
    assert (answer.text, answer.reasoning) == ("Pizza.", "Hm.")


@pytest.mark.parametrize(
    "text", ["</think>", "<think></think>", "<think>\n\n</think>\n", "</think>\n</think>", "<answer></answer>"]
)
def test_tags_with_nothing_in_them_and_behind_them_are_no_answer(text: str) -> None:
    answer = read_text(text, "stop")
    assert (answer.text, answer.raw) == (None, text)
    assert answer.error


def test_the_special_tokens_of_a_text_are_no_words_of_it() -> None:
    """In quotes and in a sentence such words are a part of a text, unless the model wrote them as special tokens."""
    written = "It says <|im_end|> to you."
    assert read_text(written, "stop").text == written
    assert read_text(written, "stop", specials={"<|im_end|>"}).text == "It says"
    assert read_text("Ra[control_8]men.", "stop", specials={"[control_8]"}).text == "Ramen."
    assert read_text("Ra[control_8]men.", "stop").text == "Ra[control_8]men."


COMMENTARY = {"type": "message", "phase": "commentary", "content": [{"type": "output_text", "text": "I look: pizza."}]}
FINAL = {"type": "message", "phase": "final_answer", "content": [{"type": "output_text", "text": "Ramen."}]}
TEXT = {"type": "text", "text": "Ramen."}
SUMMARY = {"type": "compaction", "content": "Summary: the user likes pizza."}


@pytest.mark.parametrize(
    ("body", "text", "reasoning", "ending"),
    [
        ({"status": "completed", "output": [COMMENTARY, FINAL]}, "Ramen.", "I look: pizza.", "whole"),
        (
            {"object": "response", "incomplete_details": {"reason": "max_output_tokens"}, "output": [COMMENTARY]},
            None, "I look: pizza.", "cut",
        ),
        ({"content": [SUMMARY, TEXT], "stop_reason": "end_turn"}, "Ramen.", None, "whole"),
        ({"content": [SUMMARY], "stop_reason": "compaction"}, None, None, "cut"),
        ({"candidates": [{"content": {"parts": [{"text": "Ram"}]}, "finishReason": 2}]}, "Ram", None, "cut"),
        ({"candidates": [{"content": {"parts": [{"text": "Ramen."}]}, "finish_reason": 1}]}, "Ramen.", None, "whole"),
        ({"candidates": [{"finish_reason": 3}]}, None, None, "withheld"),
        ({"choices": [{"message": {"content": "Ramen."}, "finish_reason": 1}]}, "Ramen.", None, "unknown"),
        ({"result": "Ram", "is_truncated": True, "usage": {"completion_tokens": 1}}, "Ram", None, "cut"),
        ({"result": "Ram", "is_truncated": True, "finish_reason": "normal"}, "Ram", None, "cut"),
        ({"result": "Ramen.", "is_truncated": False, "finish_reason": "normal"}, "Ramen.", None, "whole"),
        ({"content": "Ram", "stop": True, "truncated": True, "tokens_predicted": 3}, "Ram", None, "cut"),
    ],
    ids=str,
)  # fmt: skip
def test_what_services_say_beside_an_answer_is_read_as_they_document_it(
    body: dict[str, Any], text: str | None, reasoning: str | None, ending: str
) -> None:
    answer = read_answer(body)
    assert (answer.text, answer.reasoning, answer.ending) == (text, reasoning, ending)


def test_who_ran_a_model_behind_a_gateway_is_a_part_of_its_version() -> None:
    choice = {"message": {"content": "Tea."}, "finish_reason": "stop"}
    assert read_answer({"model": "m", "provider": "DeepInfra", "choices": [choice]}).version == "m DeepInfra"
    assert read_answer({"model": "m", "provider": {"id": "x"}, "choices": [choice]}).version == "m"
