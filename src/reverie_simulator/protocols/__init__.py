"""The protocols in which the simulator is asked: `messages`, `chat`, `responses` and `gemini`.

Each one turns a request into the form of the Messages API (`translate`), where scripts, limits, cache and bill work,
and a reply of that form into its own. `wire_protocol` says what a protocol has to offer, `foreign` holds what those
of other providers share.
"""
