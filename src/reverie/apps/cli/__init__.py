"""The command line, one file per command.

`program` is the group and the one place where errors become exit codes; `table` lists the commands without importing
them; `output` prints rows for people or JSON for programs; `options` are the flags that many commands share.
"""
