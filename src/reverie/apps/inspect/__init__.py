"""The local web page: memories, sessions, background work and cost in a browser.

`app` (routes and errors), `guard` (who may ask), `page` (what all pages share), `run` (starts it). The pages, each with
a template of the same name: `memories`, `sessions`, `background`, `cost`, `relations`. Scripts and styles of other
projects lie in `static/` as they are published (`NOTICE` there).
"""
