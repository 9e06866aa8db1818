"""Topics for a question: which, why, and how they are shown.

`recall` ranks and decides, `recalled` is what a hit looks like; `indexed` keeps the search index in step with the files
(`look_ahead` lets a child process look at them); `topic_table` and `topic_rows` hold what recall knows of every topic
without opening its file, `usage_log` what was shown and used. The engine itself is `memory.search`.
"""
