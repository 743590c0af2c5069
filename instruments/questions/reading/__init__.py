"""How answers are read: which option a text picks, under any labels and in any language.

- `answer_text`: an answer without reasoning, JSON, LaTeX and decoration
- `languages`, `languages/*.toml`: what reading must know of a language: data
- `tokens`: labels and options of a text as tokens; from there on no rule knows which label it was
- `choice`: the option that is picked, by where tokens stand and the words around them; `several`: all that are
- `by_option`: the option that is picked by ticks, crosses or percentages of all of them
- `open_answers`: exact, soft match and F1
- `readers`: all of these by name, with what each needs of an answer; KoBBQ's own code; the likeliest option

To add a language, write `languages/CODE.toml`: every field is explained in `languages.Words`.
"""
