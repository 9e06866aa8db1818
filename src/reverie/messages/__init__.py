"""The conversation: blocks, messages, transcript entries and their file, the view, the provider's rules.

Reading order: `blocks` (the parts of a message), `message`, `entries` (the lines of a transcript), `codec` and
`records` (values ⇄ JSON), `chain` (which lines belong to the conversation), `view` (what the model sees), `rules`
(what a provider demands of it), `transcript` (the file), `fork` (a copy under a new id), `listing` (many sessions),
`file_changes` (what tools did to files), `shell_words` (commands of the user), `trajectory` (recordings of another
agent), `reminder` (words of this program), `injection` (text that tries to be more than data).
"""
