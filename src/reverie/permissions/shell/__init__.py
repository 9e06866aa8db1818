"""Determines from the text of a shell command what it would do, without running it. Unknown is never harmless.

Reading order: `script` (a command as values), `parse` (text to script), `plain_parser` (another reader that must
agree before anything is allowed), `flags` (which options a program may get), `programs` (which programs only read),
`git` and `scripts` (those that need a closer look), `word_paths` (which files a word stands for), `read_only` (the
verdict), `wrapped` (commands inside commands).
"""
