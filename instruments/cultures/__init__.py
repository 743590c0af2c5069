"""Published questions about cultures, and cultures as data: what instruments that ask them share.

- `cultures`: countries with their region and resource level, and the spellings by which publishers name them
- `cultures.toml`, `camel2.toml`: the cultures of BLEnD, and those of CAMeL-2
"""
