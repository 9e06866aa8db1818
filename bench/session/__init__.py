"""How fast a session answers: from Enter to the first request on the wire, resuming a week, memory."""
