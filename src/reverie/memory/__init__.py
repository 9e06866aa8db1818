"""Everything that is remembered. `memory` holds `Memory`, the only entry point.

From the bottom up; a package imports only those above it in this list:

- `topics`: one topic, its file and front matter, its age and when it applies
- `index_file`: `index.db`, the derived index of one directory: schema, version, recovery
- `store`: one writer: files, MEMORY.md, history in git, undo, erase, export
- `search`: ranking and recall of topics, passages of past sessions
- `directories` (which are read and searched), `project_repository` (what git says of the project), `topic_names`
  (which topic is meant)
- `fork_runner` (what background work needs of a conversation), `prompt_files` (prompts with their values),
  `model_asks` (requests that a model proposes for a memory)
- `extraction`: memories from what the user said, and `learn`
- `drafts` (a new memory beside the stored ones), `contradiction` (against what the user said),
  `retention` (how long transcripts and spills stay)
- `conversation` (recalls for and learns from a conversation that somebody else keeps)
- `dream`: everything put in order now and then
- `team`: what is shared with colleagues, and its remote
- `agent_files` (import from and export to the memory files of other agents)
- `audit` (how good the memory files of any agent are)
- `doctor` (what is wrong, and the repairs that need no question)
"""
