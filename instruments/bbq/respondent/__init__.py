"""A model as a respondent of the survey behind KoBBQ: whom it names for a stereotype, beside whom people named.

- `questions`: the survey's stereotypes as questions; `wordings`: how they are put
- `asking`, `reading`, `rows`: what is asked, read and stored
- `correlation`, `numbers`: the model's shares against the people's
"""
