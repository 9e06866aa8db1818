"""The terminal agent that plain `reverie` starts. It shows a conversation and asks; it decides nothing.

`conversation` names what it needs of a session and of its surroundings. `pieces` are what can stand in the log, drawn
with `markdown` and `diff`; `log` shows them; `turn` makes them of events, `turns` runs one after another, `past` shows
an old session. `prompt` is where one types, with `completion` and `history`. `question` asks for permission, `picker`
for a choice, `status_line` and `own_line` say how things stand, `memory_screen` shows memories, `control_characters`
keeps text from steering the terminal. `commands` is the table of slash commands, `host` what they may do, `changes` and
`rewind` do it. `shell` and `clipboard` do what their names say. `keys` names the keys, `draw_pause` holds back redraws,
`app` joins everything.
"""
