"""One topic: a Markdown file with front matter, and everything about it that needs no other file.

- the value and its file: `value`, `topic` (text to value and back), `fields` (its front matter), `merge`
  (two edits of one)
- `draft`: builds a topic from the arguments of a caller
- `filenames`: the file name of a topic, and which topic a name means
- when it counts: `age`, `anchors` (the files, symbols and URLs it refers to), `situations` (when it applies)
- `scope`: whether it may be shared with the team
- `polarity`: whether a topic contradicts the words that it quotes, by the tables of `polarity_words`
"""
