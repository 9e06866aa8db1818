"""The command line, one file per command.

`program` is the group; `exits` the one place where errors become exit codes; `table` lists the commands without
importing them; `options` are the flags that commands share, what they lead to, and days as people type them,
`shell_completion` what a shell may complete in them; `output` prints rows for people or JSON for programs;
`open_session` opens a session as the flags say,
`print_turn` is `-p`, with the terminal's commands under it, `chat` the terminal agent, `teammate` what a session runs
for a member of its team; `vectors` offers and installs search by meaning.
"""
