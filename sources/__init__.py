"""Reads publishers' files, and files of any kind: places, then records, then rows and fields.

- `places`, `fetch`: where a data set is published, patterns of its files, and one commit of it on this machine
- `files`, `tables`, `cells`, `encoding`, `compressed`: a file of any kind as records (`record`)
- `headers`: which row of a table has the names of its columns
- `rules`: what a rules file says of files, rows and fields; `template`: the same for people, as a table and a file
- `rows`, `fields`, `values`: the rows of a block's files, and their fields; `joins`: columns of second files;
  `languages`: the columns of each language
- `shelf`: the rules files that come along and a user's own, and where their files are
- `folder`: all files of a folder by blocks of rules, as entities, contexts and questions read them
- `left_out`: what is left out or changed, where, and why
- `item_scores`, `directions`, `lm_eval`, `faults`: what the logs of harnesses say beside texts: scores of single items,
  what is good in a metric, whose samples they are, and which texts are errors of a client
"""
