"""One topic: a Markdown file with front matter, and everything about it that needs no other file.

- the value and its file: `value`, `topic` (text to value and back), `fields` (its front matter), `merge`
  (two edits of one), `remarks` (what was guessed while reading)
- `draft`: from what a caller says to a topic
- `filenames`: its name, and which topic is meant by a name
- how long it holds, for what: `age`, `anchors` (what it is tied to), `situations` (when it applies)
- `polarity`: whether it says what the words say that it quotes, by the tables of `polarity_words`
"""
