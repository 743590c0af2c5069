"""The end of a model's turn: what stands behind a chat marker, or behind a next turn that it invents, is no answer.

The marks are data (`reasoning.toml`, `[turn]`). `answer.py` asks here for every text, behind its reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from itertools import chain

from polyculture.generate.engines.reasoning import SENTENCE_ENDS, answer_label, headers, is_mark, tables, words_of

_SPEAKER = re.compile(r"\s*[*_]{0,3}[^\W\d_][\w .'’-]{0,30}[*_]{0,3} ?[:：]")
_PADDING = re.compile(r"(?i:\s*[<\[][|｜]?(?:pad|bo[st])[|｜]?[>\]])+\s*")  # before a text, where it ends nothing
_PADDING_TOKEN = re.compile(r"(?i:[<\[][|｜]?pad[|｜]?[>\]])")
_GOES_ON = re.compile(r"</s>[ \t]*\w")  # no end of a turn: the words behind it are in the same line
_SAYS_ON = re.compile(r"[,;:]?[ \t]+[^\W_]|[.!?。]")  # a sentence, behind a marker
_OPEN_QUOTES = tuple("`'\"“‘„«‹「『")
_QUESTION_MARKS = ("?", "？", "؟")
_LONE_HEADING = re.compile(r"#{1,6} .*|(\*\*|__).*\1")  # in one line
_INTRODUCES = (":", "：", ",", "，", "、")
_LEFT = ("user", "assistant", "model")
_ENDS = tuple(SENTENCE_ENDS.replace("\n", ""))
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")


def without_padding(text: str, specials: Collection[str]) -> str:
    """A text without those of its special tokens that neither end a turn nor mark reasoning: padding, marks around a
    part of the answer, and what nobody knows."""
    for token in specials:
        text = text.replace(token, "") if _is_dropped(token) else text
    return text


def end_turn(text: str, prompt_tail: str = "", specials: Collection[str] = ()) -> tuple[str, str | None]:
    """The text up to the first chat marker or invented turn, without the header of its own turn, and the mark that
    ended it; None where nothing did. A marker in quotes or within a sentence is a part of the text, as is `<s>struck
    through</s>`; but none of `specials`, which the model wrote as special tokens."""
    header = headers().match(text)
    struck = header is not None and "<s>" in header[0] and "<s>" not in specials and _GOES_ON.search(text) is not None
    body = text[header.end() :].lstrip() if header and not struck else text
    body = body[padding.end() :] if (padding := _PADDING.match(body)) else body
    ends = [*_next_question(prompt_tail).finditer(body)] if prompt_tail else []
    # Most texts have none of these, which shows in a tenth of the time.
    ends += _markers().finditer(body) if any(bracket in body for bracket in "<[◁") else ()
    ends += chain.from_iterable(re.finditer(re.escape(token), body) for token in specials if _is_end(token))
    ends += _turns().finditer(body) if "\n" in body else ()
    ends += _roles_left().finditer(body) if any(f"{name}\n" in body for name in _LEFT) else ()
    spoken = _end_of_dialogue(body) if any(one.groupdict().get("role") for one in ends) else 0
    for found in sorted(ends, key=re.Match.start):
        before = body[: found.start()]
        special = found[0] in specials
        struck_out = found[0] == "</s>" and not special and before.rfind("<s>") > before.rfind("</s>")
        role = found.groupdict().get("role") is not None
        if role and before.rstrip()[-1:] in _INTRODUCES:  # "My friend said:" goes on with what it announces
            gap = _EMPTY_LINE.search(body, found.end())
            spoken = max(spoken, gap.start() if gap else len(body))
        own = (
            not _is_left_over(before, body[found.end() :])
            if found.groupdict().get("left")
            else found.start() < spoken or _is_one_of_a_list(body, found) or not (spoken or _is_invented(body, found))
            if role
            else not special and _is_mentioned(body, found)
        )
        if not (struck_out or own):
            return before.rstrip(), found[0].strip()
    return body, None


@lru_cache(maxsize=1024)
def _is_dropped(token: str) -> bool:
    known = _is_end(token) or is_mark(token)
    return token in words_of("parts") or _PADDING_TOKEN.fullmatch(token) is not None or not known


def _is_end(token: str) -> bool:
    """Whether a special token ends a turn, or begins one."""
    return _markers().fullmatch(token) is not None or headers().fullmatch(token) is not None


def has_words(behind: str) -> bool:
    """Whether what stands behind the end of a turn is more than markers: words that the text loses."""
    return re.search(r"[^\W_]", _markers().sub("", behind)) is not None


@cache
def names_of_speakers() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """What may stand before a turn, in small letters: names of a system's user, of a question and of an answer."""
    turn = tables()["turn"]
    asked = [*turn["headed"], *(name for form in turn["forms"] for name in form["question"])]
    answered = [name for form in turn["forms"] for name in form["answer"]]
    users, questions, answers = (frozenset(map(str.casefold, names)) for names in (turn["roles"], asked, answered))
    return users, questions, answers


def _is_mentioned(body: str, found: re.Match[str]) -> bool:
    """Whether a marker is a word of the text: in quotes or backticks, or within a sentence, between two words."""
    before, behind = body[: found.start()], body[found.end() :]
    if before[-1:] in _OPEN_QUOTES:
        return True
    return before[-1:] == " " and before.rstrip(" ")[-1:] not in ("", *SENTENCE_ENDS) and bool(_SAYS_ON.match(behind))


def _is_left_over(before: str, behind: str) -> bool:
    """Whether a role alone in its line stood between special tokens, and is no line of a verse or a list of words: a
    sentence ends before it, and another one begins behind it."""
    line = behind.lstrip().partition("\n")[0].rstrip()
    sentence = not line or (not line[0].islower() and (" " in line or line.endswith(_ENDS)))
    return sentence and before.rstrip().endswith(_ENDS)


def _is_one_of_a_list(body: str, found: re.Match[str]) -> bool:
    """Whether the name of a role is one of the text's own headings, or of its list: others of the same form stand
    beside it ("### Natural: ...", "Machine: 10 %"), and no answerer's name follows, as in an invented dialogue."""
    others, last_answer = _other_labels(body, found["sign"])
    if last_answer > found.start():
        return False
    if found["sign"]:
        return bool(others)
    line = body[found.end() :].partition("\n")[0]
    return found.end() + len(line) + 1 in others and not line.rstrip().endswith(_QUESTION_MARKS)


def _is_invented(body: str, found: re.Match[str]) -> bool:
    """Whether what a user's name begins is a next turn, and no line of the text, as in a play or a list of words.

    The signs of a template say so. Of a plain or a bold name, an assistant's name must follow, and no lone heading
    stand before it; or it asks a question with which the text ends, or that is glued to the answer, and whoever
    replies was not spoken of.
    """
    before, rest = body[: found.start()].strip(), body[found.end() :]
    if found["sign"] not in ("", "**"):
        return True
    if _assistants().search(rest):
        return _LONE_HEADING.fullmatch(before) is None
    line, _, behind = rest.partition("\n")
    glued = found[0].count("\n") == 1 and not before.endswith("\n")
    if not line.rstrip().endswith(_QUESTION_MARKS):
        return glued and found["sign"] == "**"
    if not behind.strip():
        return True
    names = (name for at, name in _labels(body, found["sign"]) if at > found.end())
    return glued and next(names, "") not in before.casefold()


@lru_cache(maxsize=8)
def _other_labels(body: str, sign: str) -> tuple[frozenset[int], int]:
    """Where the labels of a text begin that name nobody who takes turns, and where the last one of an answerer does."""
    users, _, answerers = names_of_speakers()
    turns = {*users, *answerers, *map(str.casefold, tables()["turn"]["headed"])}
    labels = _labels(body, sign)
    others = frozenset(at for at, name in labels if name not in turns)
    return others, max((at for at, name in labels if name in answerers), default=-1)


@lru_cache(maxsize=8)
def _labels(body: str, sign: str) -> Sequence[tuple[int, str]]:
    """Where the lines of a text begin that have a name behind this sign, and the names; a plain one has a colon."""
    colon = r"[*\]]{0,3}[ \t]?[:：]" + (r"|[ \t]*$" if sign.startswith("#") else "")
    line = re.compile(rf"(?m:^)[ \t]*{re.escape(sign)}[ \t]?(?P<name>[^\W\d_][^:：\n*\]]{{0,60}}?)(?m:{colon})")
    return [(one.start(), one["name"].strip().casefold()) for one in line.finditer(body)]


def _end_of_dialogue(body: str) -> int:
    """Where whoever begins a text with a name and a colon speaks for the last time: up to there all turns are its own.
    A model that says "Assistant:" before its answer writes no dialogue. The last reply is theirs who spoke before."""
    speaker = _SPEAKER.match(body)
    if speaker is None or answer_label().fullmatch(speaker[0]):
        return 0
    last = max(0, body.rfind(f"\n{speaker[0].strip()}"))
    reply = _SPEAKER.match(body, body.find("\n", last + 1)) if last else None
    return reply.end() if reply and body.find(f"\n{reply[0].strip()}") < last else last


@cache
def _markers() -> re.Pattern[str]:
    """Special tokens, whole or cut at the end of the text."""
    special = (
        r"(?i:[<\[](?:eo[a-z]|bo[st]|pad)[>\]]|<(?:end|start|begin)[ _-]?of[ _-]?\w{2,15}>"
        r"|\[end[ _-]?of[ _-]?(?:text|turn|sentence|sequence|message|document|utterance|dialog(?:ue)?)\]"
        r"|<\w{0,20}(?:reserved|unused|extra_id|special_token)\w{0,20}>)"
    )
    known = "|".join(map(re.escape, words_of("ends")))
    return re.compile(rf"[<\[][|｜][\w▁:/ -]{{1,40}}[|｜][>\]]|<[|｜]\w{{2,20}}[|｜]?$|{special}|{known}")


@cache
def _turns() -> re.Pattern[str]:
    """Names of a system's user that begin a line: `Human: ...`, `### User: ...`, `[User]`, `### Instruction:`."""
    roles, headed = ("|".join(map(re.escape, tables()["turn"][name])) for name in ("roles", "headed"))
    name = rf"(?:{roles}|{roles.upper()})(?: ?\d)?"
    signed = rf"(?P<sign>#{{2,4}}|\*\*|\[|) ?(?:{name}|(?:(?<=#)|(?<=# ))(?:{headed}))"
    said = rf"(?:[ \t]*\n)?[ \t]*(?P<role>{signed}\]?(?:\*\*)?) ?[:：]"
    alone = rf"[ \t]*(?:\[{name}\]|<{name}>|[-=]{{2,}} ?{name} ?[-=]{{2,}})[ \t]*\n"
    return re.compile(rf"\n(?:{said}|(?i:{alone}))")


@cache
def _assistants() -> re.Pattern[str]:
    """Names of a system that begin a line, with or without signs around them."""
    names = "|".join(map(re.escape, tables()["turn"]["forms"][-1]["answer"]))
    return re.compile(rf"\n[^\w\n]{{0,6}}(?i:{names})[^\w\n:：]{{0,6}}(?:[:：]|(?=\n)|$)")


@cache
def _roles_left() -> re.Pattern[str]:
    """Roles between special tokens that a decoder dropped: glued to the end of a sentence, or alone in a line."""
    end = "[.!?…。！？)”]"
    glued = "|".join(rf"{name}(?<={end}{name})\n" for name in _LEFT)
    return re.compile(rf"{glued}|\n(?P<left>{'|'.join(_LEFT)})\n")


@cache
def _next_question(prompt_tail: str) -> re.Pattern[str]:
    """What asks the next question where a prompt ends with the name of an answer; else what no text has."""
    forms = tables()["turn"]["forms"]
    for form in forms:
        names = {**form, "question": [*form["question"], *(tables()["turn"]["roles"] if form is forms[-1] else ())]}
        answer, question = ("|".join(map(re.escape, names[name])) for name in ("answer", "question"))
        if re.search(rf"(?:^|\n)[#* ]{{0,5}}(?:{answer})\**[ \n]?[:：]\**\s*$", prompt_tail):
            return re.compile(rf"\n[#* ]{{0,5}}(?:{question})\**[ \n]?[:：]")
    return re.compile(r"(?!)")
