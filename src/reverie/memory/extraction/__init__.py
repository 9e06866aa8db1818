"""Finds memories in what the user said, by rules or by a model; one gate decides what is stored.

In reading order: `candidate` (the values), `typed` (what a person wrote by hand), `phrases`, `cues` and `indirect` (the
rules), `signals` and `classify` (what examples taught), `dates`, `titles`, `wording` and `find` (from a sentence to a
candidate), `similarity` and `known` (what the store says already), `gate` (what may be stored), `refusals` (what was
not), `session` (a transcript as what the user said), `extract` (one run without a model), `keep` (what passed is
written), `model_question` and `model_extraction` (asking a model instead), `learn` (`Memory.learn`: transcripts that
exist already), `learnt` (how far each was read); for a running session `nothing_here` (the local filter), `cursor` (how
far it has come), `schedule` (when it runs), `fork` (the work for a child agent).
"""
