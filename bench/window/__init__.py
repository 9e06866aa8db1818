"""What it costs to prepare a request: long histories, long sessions, memory."""
