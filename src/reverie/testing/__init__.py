"""Fakes and contract tests, public for those who build on the library.

`build` (values in one line), `clock` (a clock one can set), `scripted_model` (a model that follows a script),
`model_contract` (what every model must do), `loopback` (an HTTP server that breaks off on purpose), `openai_server`
(chat completions from a script), `simulator` (the Messages API from a script), `prefix_net` (requests that extend one
another).
"""
