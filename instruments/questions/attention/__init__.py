"""How much the last token of a question attends to each of its options: the method `attention` of `polyculture ask`.

- `views.sql`: weights as z scores, with what the model chose; `measure`: some options against others
- `maps`: heat maps and tests in the report
"""
