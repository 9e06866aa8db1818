"""What a session is made of.

Reading order: `ground` (what stands by itself), `assemble` (how the rest is put together), `parts` (how it begins and
ends), `describing` (what it says of itself), `briefing` (what its model is told) with `included` (instruction files
from outside) and `styling` (how it writes); beside each turn `recalling` (memories), `noting` (notes), `extracting`
(what a turn taught), `sleeping` (dreams) and `sweeping` (files that expired); `extensions` (what others brought) with
`invoking` (skills), `serving` (servers) and `trusting` (what waits for the user's word); `rule_keeping` (rules that
outlive it), `announcing` (what hooks hear of the session), `disk_changes` and `idling` (and of what is between turns),
`going_back` (with files), `resting` (what waits for a request), `mentions` (files that the user's words name),
`memory_writes` (memories that tools write), `searching` (the web), `offline_answer` (without a model).
"""
