-- no_mention: makes room for the mentions of one language and topic.
DROP VIEW counted_mentions;
