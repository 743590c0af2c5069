"""The options that a sentence names: how plainly each is picked there, and which are denied.

| standing | where |
| --- | --- |
| verdict | a line, the first or the last sentence of its own; first, with a point, bracket or dash behind it; |
| | at the end of a clause behind "the answer is", "I choose" or a colon |
| claim | elsewhere beside such words: "... is correct" |
| marked | bold, in brackets or quotes, beside "option"; at the end of a clause; |
| | first in a sentence with a point, comma or bracket behind it |
| named | elsewhere, unless the label may be an ordinary word there |

An option that is conceded, or that others choose ("although A", "many would say A"), is marked or named at most: a
verdict is the writer's own, or nobody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from polyculture.instruments.questions.reading.answer_text import ENDS, MARKS, PAUSES, WORD
from polyculture.instruments.questions.reading.tokens import LABELS, TOKEN, TOKENS, OfferedOptions, is_label, place_of

_COMMAS = f"[,;{PAUSES}]"
_NEAR = 40  # characters between a word for the answer and the option that it names
_COMMA = 10  # characters that a comma between them counts for
_DENIED = 40  # characters after an option within which it may be denied
_DENYING = 4  # characters between a denial and the option that it denies, as of "not the"
_MOST = 25  # first and last options in a sentence that are looked at: lists of thousands would take quadratic time
_AROUND = 100  # characters before and after an option that decide its standing
_ARTICLE = 6  # characters of an article and a blank
_PARTICLE = 3  # characters that end a word before its noun: of Japanese, "te iru"
_BARE = 8  # characters beside a denial that denies what was said before: "that is"
_SHORT = 2  # letters of "la", which names an option before its label alone
_MARKS = re.escape(MARKS)
_BUT_QUESTION = MARKS.replace("?", "").replace("؟", "")
_COLON = re.compile(rf"(?:{WORD}{{2}}|[^\W\da-z])[{_MARKS}]*[:=：][{_MARKS}]*$")  # of no label, as in "D: the text"
_OTHER_LABEL = re.compile(r"(?:^|\s)\W?[a-z\d]{1,2}[).:\]]+\s*$")  # "D: the text" where D was not shown
_CLOSED = re.compile(rf"[\"'”’»」』)\]*_`}}>$]*(?:[.,:;)\]*\-–—\n!/|{ENDS}{PAUSES}]|\((?![{LABELS}]))")
_WITHIN = re.compile(rf"{WORD}[^.!?:\n{TOKENS}]*$")  # before what does not begin a sentence
_ALONE = re.compile(r"[;；—–…][\s\"'*_(\[]*$")  # before what is a clause of its own: "neither A nor B; C"
_AFTER_COMMA = re.compile(rf"{_COMMAS}[\s\"'*_(\[]*$")
_AFTER_COLON = re.compile(rf"[:：][{_MARKS}]*$")
_ELLIPSIS = re.compile(r"[*_\"')]*(?:\.\.|…)")
_DIRECT = 20  # characters between a word for the answer and an option that is its verdict
_STOP = re.compile(rf"[,;:.。(){PAUSES}\n–—]| - ")
_LIST = f" \n,{PAUSES}/&|+*_\"'`()[]{{}}「」“”"  # between labels that are named in one breath
_JOINING = re.compile(rf"[\n,{PAUSES}/&|+]")
_LATIN = "\u024f"  # the last of its letters in common use
_BOLD = "*_"
_APART = re.compile("[;；؛–—]| - ")
_SEMICOLON = re.compile("[;；؛]")
_CLAUSE_END = re.compile(rf"[,;:：()–—{PAUSES}]| - ")
_OPENING, _CLOSING = "*_`\"'“‘«‹「『《【[({<$", "*_`\"'”’»›」』》】])}>$"

Token = re.Match[str]


class Standing(IntEnum):
    """How plainly an option is picked."""

    NONE = 0
    NAMED = 1
    MARKED = 2
    CLAIM = 3
    VERDICT = 4


@dataclass(frozen=True, slots=True)
class NamedOption:
    """An option that a sentence names."""

    place: int
    standing: Standing
    label: bool  # by its label, not by its text
    denied: bool
    conceded: bool  # or claimed by others
    shared: bool  # in one breath with another: "A or B"
    conditional: bool  # beside "if", in its part of the sentence
    alone: bool = False  # all that its line says
    opens: bool = False  # the same of the first line


class Sentence:
    """A sentence in tokens. `any_case`: its labels were found in another case than they were shown in."""

    def __init__(self, text: str, options: OfferedOptions, *, any_case: bool) -> None:
        self.text, self.options, self.words, self.any_case = text, options, options.language, any_case
        tokens = list(TOKEN.finditer(text))
        self.tokens = tokens if len(tokens) <= 2 * _MOST else tokens[:_MOST] + tokens[-_MOST:]
        self.weak = [self._may_be_word(token) for token in self.tokens]

    @property
    def has_plain(self) -> bool:
        """Does it name an option, neither denied nor conceded, by what cannot be an ordinary word?"""
        return any(
            not weak and not self._is_denied(number) and not self._is_conceded(self.tokens[number])
            for number, weak in enumerate(self.weak)
        )

    @property
    def withdraws(self) -> bool:
        """Does it begin with a denial of what was said before, "No, ...", "I was wrong: ..."?"""
        lead = self.text[: self.tokens[0].start()] if self.tokens else self.text
        clauses = _CLAUSE_END.split(lead)[: -1 if self.tokens else None]
        return any(self.words["wrong"].search(clause) and self._is_bare_denial(clause) for clause in clauses)

    def _is_bare_denial(self, clause: str) -> bool:
        if self.words["condition"].search(clause):  # "If not, B"
            return False
        for kind in ("wrong", "answer"):
            clause = self.words[kind].sub("", clause)
        return len(clause.strip(MARKS)) <= _BARE

    def drop_words(self) -> None:
        """Forget labels that may be ordinary words, unless they are named in one breath with one that is none."""
        groups = [self._in_one_breath(number) for number in range(len(self.tokens))]
        kept = [number for number, group in enumerate(groups) if not all(self.weak[one] for one in group)]
        self.tokens, self.weak = [self.tokens[number] for number in kept], [False] * len(kept)

    def named(self, *, first: bool, last: bool, line: bool) -> Iterator[NamedOption]:
        """The options that it names; `first`, `last`: in the text; `line`: it is a line, and no item of a list."""
        if not self.tokens:
            return
        standings = [self._standing(token, first=first, last=last, line=line) for token in self.tokens]
        conceded = [self._is_conceded(token) for token in self.tokens]
        told: set[int] = set()
        if not self.is_question:
            for kind in ("answer", "so"):
                for word in self.words[kind].finditer(self.text):
                    if self._denies(self.text[: word.start()], 1) or self._is_called_wrong(word):
                        continue  # "the text does not say ...", "a common wrong answer is"
                    number = self._beside(word, only_after=kind == "so")
                    if number is None or conceded[number]:
                        continue
                    if not (self.weak[number] and self._is_article(word, self.tokens[number])):
                        standings[number] = max(standings[number], self._told(word, self.tokens[number], kind))
                        told.add(number)
            for number in range(len(self.tokens)):
                if standings[number] is Standing.MARKED and self._is_in_reason(number, told):
                    standings[number] = Standing.NAMED
        for number, token in enumerate(self.tokens):
            group = [one for one in self._in_one_breath(number) if not self.denied[one]]
            standing = max(standings[one] for one in (number, *group))
            if conceded[number]:
                standing = min(standing, Standing.NAMED if is_label(token[0]) else Standing.MARKED)
            shared = len({place_of(self.tokens[one][0]) for one in group}) > 1
            if shared:  # "A or B" picks none
                standing = min(standing, Standing.MARKED)
            place, label, conditional = place_of(token[0]), is_label(token[0]), token.start() in self._conditional
            alone = line and not self.text.replace(token[0], "").strip(MARKS)
            denied, given = self.denied[number], conceded[number]
            yield NamedOption(place, standing, label, denied, given, shared, conditional, alone, alone and first)

    @cached_property
    def denied(self) -> list[bool]:
        """Whether each option is denied, or "but" with the answer behind it begins the next clause."""
        found: list[bool] = []
        for number, token in enumerate(self.tokens):
            shared = bool(found) and found[-1] and self._shares_denial(number)
            found.append(shared or self._is_denied(number) or self._is_contrasted(token))
        return found

    def _shares_denial(self, number: int) -> bool:
        """Is an option denied with the one before it: "not A or B", "ruled out A and B", but not "not A and B is"?"""
        end, start = self.tokens[number - 1].end(), self.tokens[number].start()
        after = self._around(self.tokens[number])[1]
        if self._heads_denied(number - 1) and not self.text[end:start].replace(",", "").strip(MARKS):
            return not after.strip(MARKS) or bool(_CLOSED.match(after))  # "eliminated: A, C"
        joined = self.words["both"].fullmatch(self.words["option"].sub("", self.text[end:start]).strip(MARKS))
        denied = self._denies(self.text[: self.tokens[number - 1].start()].rstrip(MARKS), _DENYING)
        denied = denied or self._heads_denied(number - 1)
        return denied and joined is not None and bool(not after.strip(MARKS) or _CLOSED.match(after))

    def _around(self, token: Token) -> tuple[str, str]:
        start, end = token.span()
        return self.text[max(0, start - _AROUND) : start], self.text[end : end + _AROUND]

    @cached_property
    def is_question(self) -> bool:
        """Does it end with a question mark?"""
        return self.text.rstrip(_BUT_QUESTION).endswith(("?", "؟"))

    def _standing(self, token: Token, *, first: bool, last: bool, line: bool) -> Standing:
        """The standing by what is directly around an option."""
        before, after = self._around(token)
        bracketed = _is_bracketed(before, after)
        closed = self._is_closed_clause(after.lstrip(_BOLD)[1:] if bracketed else after)  # "(A) sounds" goes on
        starts, ends = not before.strip(MARKS), self._ends(after)
        if starts and ends and self.is_question:  # "A?" considers it
            return Standing.NONE
        if starts and ends and (first or last or line):
            return Standing.VERDICT
        if ends and (_COLON.search(before) or (is_label(token[0]) and self._begins_clause(before, last=last))):
            return Standing.VERDICT
        if not is_label(token[0]):
            if self.options.cores and _OTHER_LABEL.search(before):
                return Standing.NONE
            return Standing.MARKED if ends and not self.is_question else Standing.NAMED
        if starts and first and closed and not _ELLIPSIS.match(after):
            return Standing.VERDICT
        marked = _is_marked(before, after) and not (bracketed and self.options.are_decorated)
        if marked or (starts and closed) or self._beside_option(before, after):
            return Standing.MARKED
        if self._may_be_word(token):
            return Standing.NONE
        if not ends or self.is_question or not self.words.known or self.words["unknown"].search(self.text):
            return Standing.NAMED  # of a language that nobody knows it may be one of two: "A or B"
        return Standing.MARKED

    def _told(self, word: Token, token: Token, kind: str) -> Standing:
        """The standing of an option beside a word for the answer."""
        after = self._around(token)[1]
        behind = token.start() >= word.end()
        if behind and self._gap(word.end(), token.start()) <= _DIRECT and self._is_closed_clause(after):
            return Standing.VERDICT
        contrast = None if behind else self.words["but"].search(self.text, word.end())
        if contrast and TOKEN.search(self.text, contrast.end()):  # "A looks right, but B is ..."
            return Standing.NAMED
        return Standing.CLAIM if is_label(token[0]) or not behind or kind == "so" else Standing.NAMED

    def _ends(self, after: str) -> bool:
        """Does nothing follow an option in its sentence?"""
        return not (self._without_ending(after).strip(MARKS) and after.strip(MARKS))

    def _is_closed_clause(self, after: str) -> bool:
        """Does an option end its clause: before a mark, a reason, or the denial of another one?"""
        rest = self._without_ending(after)
        if self._ends(after) or any(_CLOSED.match(part.lstrip(" ")) for part in (after, rest)):
            return True
        return self.words["because"].match(rest.lstrip(" ")) is not None or self._is_preferred(rest)

    def _may_be_word(self, token: Token) -> bool:
        """May a label be an article or another word here, which goes on: "a man", "A resposta", "2 people"?"""
        if not is_label(token[0]):
            return False
        before, after = self._around(token)
        words = self.options.are_words if _WITHIN.search(before) else self.options.begin_sentences
        if not self.words.known and after.strip(MARKS)[:1] > _LATIN and not self.options.are_digits:
            words = False  # nobody knows the language's words, but they are written in other letters
        return (words or self.any_case) and not _is_marked(before, after) and not self._is_closed(after)

    def _is_closed(self, after: str) -> bool:
        """Does nothing follow, or what may follow a label and no article: a mark, an ending, a verb?"""
        rest = self._without_ending(after)
        if rest != after or not rest.strip(MARKS) or _CLOSED.match(rest.lstrip(" ")) or self._is_preferred(rest):
            return True
        kinds: tuple[str, ...] = ("follows", "because", "but", "both")
        kinds += ("answer",) if self.words.own.verb_final and self.words.own.spaced else ()
        return any(self.words[kind].match(rest.lstrip(" ")) for kind in kinds)

    def _begins_clause(self, before: str, *, last: bool) -> bool:
        """Is a mark or "but" directly before, or a comma in the last sentence: "I cannot be certain, but A"?"""
        left = before.rstrip(MARKS)
        if last and _AFTER_COMMA.search(before):
            return True
        return bool(_ALONE.search(before)) or any(word.end() == len(left) for word in self.words["but"].finditer(left))

    def _is_preferred(self, rest: str) -> bool:
        """Does a denial of another option follow: "A rather than B"?"""
        denial = None if self.words.own.verb_final else self.words["negation"].match(rest.lstrip(" "))
        return denial is not None and TOKEN.match(rest.lstrip(" ")[denial.end() :].lstrip(MARKS)) is not None

    def _without_ending(self, after: str) -> str:
        ending = self.words.ending.match(after)
        return after[ending.end() :] if ending else after

    def _beside_option(self, before: str, after: str) -> bool:
        """Is there a word for an option directly before or after?"""
        left = before.rstrip(MARKS)
        if any(word.end() == len(left) for word in self.words["option"].finditer(left)):
            return True
        word = self.words["option"].match(self._without_ending(after).lstrip(MARKS))
        return word is not None and (len(word[0]) > _SHORT or not word[0].isascii())

    def _beside(self, word: Token, *, only_after: bool) -> int | None:
        """The option nearest to a word for the answer that is not denied, with no reason between them.

        One that is named alone comes before a nearer one of "A or B": "between A and B, I choose B".
        """
        allowed = [number for number in range(len(self.tokens)) if not self.denied[number]]
        after = [number for number in allowed if self.tokens[number].start() >= word.end()][:1]
        before = [number for number in allowed if self.tokens[number].end() <= word.start()][-1:]
        gaps = {number: self._gap(word.end(), self.tokens[number].start()) for number in after}
        if not only_after:
            gaps |= {number: self._gap(self.tokens[number].end(), word.start()) for number in before}
        near = [number for number, gap in gaps.items() if gap <= _NEAR]
        alone = [number for number in near if len(self._in_one_breath(number)) == 1]
        return min(alone or near, key=gaps.__getitem__, default=None)

    def _gap(self, start: int, end: int) -> int:
        between = self.text[start:end]
        if ";" in between or self.words["because"].search(between):
            return _NEAR + 1
        return len(between.strip(MARKS)) + _COMMA * len(re.findall(_COMMAS, between))

    def _is_article(self, word: Token, token: Token) -> bool:
        """Is what may be a word none that was chosen: before the word for the answer, or not as it was shown?"""
        if self.any_case or self.options.are_decorated:
            return True
        goes_on = not self.words.own.verb_final or not self.words.own.spaced
        return token.start() < word.start() and goes_on and not self.options.are_digits

    def _in_one_breath(self, number: int) -> set[int]:
        """The options that are named together with one: "A or B"."""
        group = {number}
        for step in (1, -1):
            at = number
            while 0 <= at + step < len(self.tokens):
                left, right = sorted((at, at + step))
                between = self.text[self.tokens[left].end() : self.tokens[right].start()]
                rest = self.words["option"].sub("", between)
                joined = self.words["both"].sub("", rest)
                apart = joined == rest and not _JOINING.search(rest) and re.search(r"\s", between)  # "**A** **B**"
                if joined.strip(_LIST) or apart:
                    break
                at += step
                group.add(at)
        return group

    def _is_denied(self, number: int) -> bool:
        """Is there a denial directly before an option ("not A"), or in what is said of it ("A is wrong")?"""
        start, end = self.tokens[number].span()
        before = self.text[self.tokens[number - 1].end() if number else 0 : start]
        left = self.words["option"].sub("", before.rstrip(MARKS)).rstrip(MARKS)
        denies = self._denies(left, _DENYING) and self._compared(number) != "less"
        if denies and not _AFTER_COMMA.search(before):  # "no, A" denies what came before
            return True
        if self._heads_denied(number) or self._is_lesser(number):
            return True
        after = self.text[end : end + _DENIED].lstrip(_CLOSING)
        follower = TOKEN.search(after)
        said = after[: follower.start()] if follower else after
        kinds = ("because",) if self.words.own.verb_final else ("because", "both", "but")
        stops = [_STOP.search(said), *(self.words[kind].search(said) for kind in kinds)]
        said = said[: min((stop.start() for stop in stops if stop), default=None)]
        last = self.words.own.verb_final
        about_answer = is_label(self.tokens[number][0]) or self.words["answer"].search(said) or (last and follower)
        if not about_answer:
            return False  # "the woman was not comfortable" may well be the answer
        # A denial directly before another option is of that one, "B, not A", unless verbs come last.
        end = len(said.rstrip(MARKS)) - 1 if follower and not any(stops) and not last else len(said)
        return any(word.end() <= end for word in self.words["wrong"].finditer(said))

    def _is_in_reason(self, number: int, told: set[int]) -> bool:
        """Does another text that was told stand before a semicolon or dash: "I think it is her; she was with him"?"""
        if is_label(self.tokens[number][0]):
            return False
        for other in told:
            between = self.text[self.tokens[other].end() : self.tokens[number].start()] if other < number else ""
            differs = place_of(self.tokens[other][0]) != place_of(self.tokens[number][0])
            turned = any(self.words[kind].search(between) for kind in ("but", "so", "wrong"))
            if differs and not is_label(self.tokens[other][0]) and _APART.search(between) and not turned:
                return True
        return False

    def _heads_denied(self, number: int) -> bool:
        """Does what leads up to an option call it wrong: "eliminated: A", "the incorrect option is A"?"""
        start = self.tokens[number].start()
        before = self.text[self.tokens[number - 1].end() if number else 0 : start]
        left = self.words["option"].sub("", before.rstrip(MARKS)).rstrip(MARKS)
        wrong = self.words["wrong"]
        if _AFTER_COLON.search(before) and any(word.end() == len(left) for word in wrong.finditer(left)):
            return True
        clauses = re.split(_COMMAS, before)
        if number and len(clauses) == 1:  # what is said of the option before this one
            return False
        clause = clauses[-1]
        if any(self.words[kind].search(clause) for kind in ("but", "so", "condition", "question")):
            return False
        words = [*wrong.finditer(clause)]
        if not words or self._denies(clause[: words[-1].start()].rstrip(" "), 0):  # "the only one not wrong"
            return False
        word = words[-1]
        plain = self.words["negation"].fullmatch(word[0])
        for noun in (noun for kind in ("option", "answer") for noun in self.words[kind].finditer(clause)):
            between = clause[noun.end() : word.start()].strip(" ")
            relative = self.words["because"].fullmatch(between) is not None  # "the option which"
            is_behind = noun.start() >= word.end() and self._is_beside(clause[word.end() : noun.start()])
            is_before = not plain and noun.end() <= word.start() and (relative or self._is_beside(between))
            lead, rest = clause[: min(noun.start(), word.start())], clause[max(noun.end(), word.end()) :]
            if _AFTER_COLON.search(rest) and (rest.strip(MARKS) or len(lead) > _ARTICLE):
                continue  # "after eliminating the wrong answers: B"
            if (is_behind or is_before) and len(rest) <= _DIRECT and not self.words["answer"].search(rest):
                return True
        return False

    def _is_beside(self, between: str) -> bool:
        """Is there nothing between two words but, where words are not set apart, the end of the first one?"""
        return not between.strip(" ") if self.words.own.spaced else len(between) <= _PARTICLE

    def _is_lesser(self, number: int) -> bool:
        """Is it the lesser of two: "I prefer B to A", "B is more likely than A", "A is less likely than B"?"""
        if self.words.own.verb_final:
            after = self._around(self.tokens[number])[1].lstrip(_CLOSING)
            return self.words["than"].match(self.words["option"].sub("", after, count=1).lstrip(" ")) is not None
        return self._compared(number) == "prefer" or self._compared(number + 1) == "less"

    def _compared(self, number: int) -> str:
        """How the option before is compared with one, '' where it is not: a kind of word."""
        if not 0 < number < len(self.tokens):
            return ""
        previous, start = self.tokens[number - 1], self.tokens[number].start()
        left = self.text[previous.end() : start].rstrip(MARKS)
        ends = {len(left), len(self.words["option"].sub("", left).rstrip(MARKS))}  # "than option B"
        if not any(word.end() in ends for word in self.words["than"].finditer(left)):
            return ""
        if self.words["less"].search(left):
            return "less"
        lead = self.text[max(0, previous.start() - _NEAR) : previous.start()]
        preferred = [*self.words["prefer"].finditer(lead)]
        near = preferred and not self.words["than"].search(lead, preferred[-1].end())
        return "prefer" if near or self.words["prefer"].search(left) else ""

    @cached_property
    def _conditional(self) -> set[int]:
        """Where options begin that have an "if" each, between two semicolons: "A if he called first, B if she did"."""
        found: set[int] = set()
        begun = 0
        for part in _SEMICOLON.split(self.text):
            within = [token for token in self.tokens if begun <= token.start() < begun + len(part)]
            conditions = len(self.words["condition"].findall(part)) if within else 0
            for form in (True, False):
                same = [token for token in within if is_label(token[0]) == form]
                if len({place_of(token[0]) for token in same}) <= conditions:
                    found |= {token.start() for token in same}
            begun += len(part) + 1
        return found

    def _is_called_wrong(self, word: Token) -> bool:
        """Is a word for the answer joined to one that denies it: "wrong answer", "respuesta incorrecta"?"""
        before, after = self.text[max(0, word.start() - _AROUND) : word.start()].rstrip(" "), self.text[word.end() :]
        if any(wrong.end() == len(before) for wrong in self.words["wrong"].finditer(before)):
            return True
        behind = None if self.words.own.verb_final else self.words["wrong"].match(after.lstrip(" "))
        return behind is not None and self.words["negation"].search(behind[0]) is None  # not "the answer is not"

    def _denies(self, before: str, within: int) -> bool:
        """Does a text end with a denial of what follows, but for some characters?"""
        last = before[-_AROUND:]
        return any(word.end() >= len(last) - within for word in self.words["negation"].finditer(last))

    @cached_property
    def _conceding(self) -> list[Token]:
        return list(self.words["conceded"].finditer(self.text))[:_MOST]

    def _is_conceded(self, token: Token) -> bool:
        """Does the clause concede the option, or say that others claim it: "although A", "many would choose A"?"""
        start, end = token.span()
        for word in self._conceding:
            if word.end() <= start:
                between = self.text[word.end() : start]
            elif word.start() >= end and self.words.own.verb_final:
                between = self.text[end : word.start()]
            else:
                continue
            if len(between) <= _AROUND and not self._has_end_of_clause(between):
                return True
        return False

    def _has_end_of_clause(self, text: str) -> bool:
        return any(end.search(text) for end in (_CLAUSE_END, self.words["but"], self.words["so"]))

    def _is_contrasted(self, token: Token) -> bool:
        """Does "but" with the answer behind it begin the next clause?"""
        contrast = self.words["but"].search(self.text, token.end())
        rest = self.text[contrast.end() :] if contrast else ""
        return bool(TOKEN.search(rest)) and self.words["answer"].search(rest) is not None


def _is_bracketed(before: str, after: str) -> bool:
    return before.rstrip(_BOLD)[-1:] in ("(", "[") and after.lstrip(_BOLD)[:1] in (")", "]")


def _is_marked(before: str, after: str) -> bool:
    return bool(before and after) and before[-1] in _OPENING and after[0] in _CLOSING
