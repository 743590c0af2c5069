"""Cultural knowledge by multiple choice with hard negatives, made from BLEnD as in CultureScope.

- `cultures`: countries with their region and resource level, as data; `model`: a question with its four options
- `released`, `blend`: the publishers' files; what cannot be used is a line. `build`: questions from BLEnD
- `asking`, `reading`: asking, and what an answer comes to; `views.sql`, `numbers`, `significance`: the measures
- `attention_study`, `attention_step`: what the last token attends to; `attention_views.sql`, `attention_tests`: beside
  what was chosen
"""
