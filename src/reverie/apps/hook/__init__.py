"""What `reverie hook` does when another agent calls it: a cold process for every event, so imports are few.

Reading order: `run` (from standard input to the answer; any failure ends with exit code 0 and a line in the log),
`answers` (what is said at each moment of a session), `state` (what was shown in a session, calls, the log),
`transcript_tail` (the end of the host's transcript), `compaction` (what must survive one), `background` (learning after
a turn, in a process of its own), `warm` (a process that holds the model of vectors), `checks` (what `reverie doctor`
says about hooks).
"""
