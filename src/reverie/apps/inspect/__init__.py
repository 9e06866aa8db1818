"""The local web page: memories, sessions, background work and cost in a browser.

`app` (routes and errors), `guard` (who may ask), `page` (what all pages share), `run` (starts it). The pages, each with
templates of its own: `memories` (`catalogue` keeps their rows), `sessions` (`transcript` reads one in parts),
`background`, `cost`, `relations`. Scripts and styles of other projects lie in `static/` as they are published (`NOTICE`
there).
"""
