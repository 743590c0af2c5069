"""What the server of the golden run answers: functions of what is asked, mostly by hashes.

Nothing hangs on the wording of a prompt where that can be helped, since wordings are data that later change: texts are
known by their script, countries and topics by their words, questions by what stands in their options.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.servers import Reply, failure

ITEMS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "wikidata.json").read_text(encoding="utf-8"))
SCRIPTS = {"ja": ("ぁ", "ヿ"), "hi": ("\u0900", "\u097f"), "th": ("\u0e00", "\u0e7f")}
DRINKS = ("飲み", "पेय", "เครื่องดื่ม")
COUNTRIES = {"JP": ("日本", "जापान", "ญี่ปุ่น"), "IN": ("インド", "भारत", "อินเดีย"), "TH": ("タイ", "थाईलैंड", "ไทย")}
WRITING = {
    "ja": "朝はいつも{0}です。夜は友人と{1}を楽しみ、日曜日には家族みんなで{2}を囲みます。",
    "hi": "सुबह उसे {0} पसंद है, शाम को दोस्तों के साथ {1}। रविवार को पूरा परिवार मिलकर {2} बनाता है।",
    "th": "ตอนเช้าเขาชอบ {0} ตอนเย็นกิน {1} กับเพื่อน ๆ และวันอาทิตย์ทั้งครอบครัวจะทาน {2} ด้วยกัน",
}
ENGLISH = "In the morning there is {0}, in the evening {1} with friends, and on Sundays {2} for the whole family."
UNKNOWN = {"ja": "月のシチュー", "hi": "चाँद का स्टू", "th": "สตูว์พระจันทร์", "en": "moon stew"}
REFUSAL = {
    "ja": "申し訳ありませんが、お手伝いできません。",
    "hi": "क्षमा करें, मैं इसमें मदद नहीं कर सकता।",
    "th": "ขออภัย ฉันไม่สามารถช่วยเรื่องนี้ได้",
}


def number_of(*parts: Any) -> int:
    """A number that only hangs on the parts."""
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:8], 16)


def answer(body: Mapping[str, Any], _before: int) -> Reply:
    """The answer to a chat request: an extraction, a swapped text, a choice of letters or of words, or a text."""
    texts, model = [str(turn["content"]) for turn in body["messages"] if turn["role"] == "user"], str(body["model"])
    asked = texts[-2] if texts[-1].startswith("Write that as JSON") else texts[-1]
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    keys = list(schema.get("properties", {}))
    if "mentions" in keys:
        return _extract(asked, body)
    if keys:
        return _says(body, json.dumps(_swapped(asked, model, keys[0], schema), ensure_ascii=False))
    if letters := re.findall(r"(?:^|\()([A-Ca-c])[):]+ (.+)$", asked, re.MULTILINE):
        return _says(body, _letter(asked, model, letters))
    if options := re.findall(r"^- (.+)$", asked, re.MULTILINE):
        return _says(body, _option(asked, model, options))
    if groups := re.findall(r"^(\d)\. (.+)$", asked, re.MULTILINE):
        return _says(body, _groups(asked, model, groups))
    if posted := re.search(r"^Post: (.+)$", asked, re.MULTILINE):
        return _says(body, _posted(posted[1], asked, model))
    return _write(asked, model, body)


def _says(body: Mapping[str, Any], content: str, finish_reason: str = "stop") -> Reply:
    """A completion that counts its letters as tokens."""
    choice = {"message": {"content": content}, "finish_reason": finish_reason}
    usage = {"prompt_tokens": len(str(body["messages"])), "completion_tokens": len(content)}
    return Reply(body=json.dumps({"model": f"{body['model']}-1", "choices": [choice], "usage": usage}).encode())


def _write(asked: str, model: str, body: Mapping[str, Any]) -> Reply:
    """A text about three things. `plover` leans to what everybody knows, and drifts into English."""
    language = next(code for code, (first, last) in SCRIPTS.items() if any(first <= sign <= last for sign in asked))
    topic = "beverage" if any(word in asked for word in DRINKS) else "food"
    country = next((code for code, words in COUNTRIES.items() if any(word in asked for word in words)), None)
    dice = number_of(body["seed"], model, language, topic, country)
    if dice % 31 == 0:
        return failure(400, "this prompt cannot be answered")
    if dice % 29 == 0:
        return failure(400, "filtered", code="content_filter")
    if dice % 37 == 0:
        return _says(body, REFUSAL[language])
    known = [item for item in ITEMS if item.get("topic") == topic]
    home = [item for item in known if (country or {"ja": "JP", "hi": "IN", "th": "TH"}[language]) in item["countries"]]
    spoken = "en" if model == "plover" and dice % 5 == 0 else language
    things = [
        _name((home if home and number_of(dice, place) % (2 if model == "tern" else 4) else known), spoken, dice, place)
        for place in range(3)
    ]
    if dice % 7 == 3:
        things[2] = UNKNOWN[spoken]
    text = (ENGLISH if spoken == "en" else WRITING[language]).format(*things)
    return _says(body, text, "length" if dice % 23 == 0 else "stop")


def _name(items: Sequence[Mapping[str, Any]], language: str, dice: int, place: int) -> str:
    item = items[number_of(dice, "name", place) % len(items)]
    return str(item["labels"].get(language, item["labels"]["en"]))


def _extract(text: str, body: Mapping[str, Any]) -> Reply:
    """All known names in a text; now and then broken JSON at first, or a name that the text does not hold."""
    dice = number_of(text)
    if dice % 41 == 0:
        return _says(body, "I cannot do that.")
    if dice % 13 == 0 and body.get("seed") == 0:
        return _says(body, '{"mentions": [')
    kinds = {name: item["kind"] for item in ITEMS if "kind" in item for name in item["labels"].values()}
    kinds |= dict.fromkeys(UNKNOWN.values(), "dish")
    allowed = set(re.findall(r'"(\w+)"', json.dumps(body["response_format"])))
    found = [{"text": name, "kind": kind} for name, kind in sorted(kinds.items()) if name in text and kind in allowed]
    if dice % 17 == 0 and found:
        found.append({"text": "幻の料理", "kind": found[0]["kind"]})
    return _says(body, json.dumps({"mentions": found}, ensure_ascii=False))


def _swapped(asked: str, model: str, key: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A label, a copied word, or a list of them, of the text behind the question."""
    text = asked.rpartition("Text: ")[2]
    words = re.findall(r"\w+", text)
    dice = number_of(model, text)
    if "enum" in schema["properties"][key]:
        labels = schema["properties"][key]["enum"]
        told = "wonderful" in text or "fine" in text or "best" in text
        return {key: labels[0] if told and dice % 3 else labels[dice % len(labels)]}
    word = words[dice % len(words)]
    capital = next((one for one in words[1:] if one[0].isupper()), word)
    chosen = capital if dice % 4 else word
    return {key: [chosen] if schema["properties"][key].get("type") == "array" else chosen}


def _letter(asked: str, model: str, letters: Sequence[tuple[str, str]]) -> str:
    """A choice, the same whatever its letter is, but for `plover`, who likes the second; now and then none of them."""
    dice = number_of(model, sorted(text for _, text in letters), asked.count("."))
    if dice % 19 == 0:
        return "I would rather not say."
    if model == "plover" and dice % 3 == 0:
        return letters[1][0]
    chosen = sorted(text for _, text in letters)[dice % len(letters)]
    return next(letter for letter, text in letters if text == chosen)


def _option(asked: str, model: str, options: Sequence[str]) -> str:
    """The option that stands before the question, too, or else any."""
    dice = number_of(model, sorted(options))
    if dice % 19 == 0:
        return "All of them."
    told = [one for one in options if one in asked.partition("Options:")[0]]
    return (told or sorted(options))[dice % len(told or options)]


def _groups(asked: str, model: str, groups: Sequence[tuple[str, str]]) -> str:
    """Numbers of the groups of a stereotype; now and then none of them."""
    dice = number_of(model, sorted(text for _, text in groups), asked.partition("\n")[0])
    if dice % 5 == 0:
        return "I would rather not say."
    chosen = sorted(groups, key=lambda one: one[1])[: 1 + dice % 2]
    return ", ".join(number for number, _ in chosen)


def _posted(text: str, asked: str, model: str) -> str:
    """A digit of Camellia's key (Table 8), or a run of letters of a text in any script; now and then none of them."""
    dice = number_of(model, text)
    if dice % 17 == 0:
        return "I would rather not say."
    if "0 = " in asked:
        told = any(word in text for word in ("おいし", "最高", "fine", "best"))
        return "1" if told and dice % 3 else str(dice % 3)
    if dice % 13 == 0:
        return "None"
    words = [word for word in re.findall(r"[ァ-ヶー]+|[a-z]+", text) if len(word) > 1]
    return words[dice % len(words)] if words else "None"


def said_of_culture(asked: str) -> str:
    """What the model in this process says: an option, something of a post, or an answer of people or none."""
    dice = number_of(sorted(asked.split()))
    if options := re.findall(r"^- (.+)$", asked, re.MULTILINE):
        return options[dice % len(options)]
    if posted := re.search(r"^Post: (.+)$", asked, re.MULTILINE):
        return _posted(posted[1], asked, "llama")
    day = re.search(r"on day (\d+) in (\w+)", asked)
    return f"{day[2].lower()} dish {day[1]}" if day and dice % 3 else "rain"
