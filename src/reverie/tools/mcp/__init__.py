"""TOOLS OF OTHERS: servers that speak the Model Context Protocol, over stdio and HTTP.

Reading order: `values` (what a server offers, in our own terms), `client` (the only module that knows the SDK, imported
late), `connection` (one server from its start to its end), `connections` (all of a session), `content` (what a result
becomes), `remote_tool` (a tool of a server as one of ours), `resource_tools` (their resources, listed and read). Which
servers there are is said by `plugins.servers`.
"""
