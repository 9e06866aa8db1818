"""Sockets of servers that only this machine reaches: the web page, and MCP over HTTP."""

from __future__ import annotations

import socket

from reverie.errors import UserMistake

LOOPBACK = "127.0.0.1"


def listen(port: int) -> socket.socket:
    """A listening socket on loopback; port 0 takes a free one."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except OSError as problem:
        listener.close()
        raise UserMistake(
            f"cannot listen on {LOOPBACK}:{port}: {problem.strerror}; choose another with --port, 0 takes a free one"
        ) from problem
    listener.listen(128)
    return listener
