"""How much the last token of a question attends to each of its options: `polyculture probe attention`.

- `command`: what is asked of any set with options; `step`: a weight per option in the store
- `views.sql`: weights as z scores beside what was chosen; `measure`: some options against others
"""
