"""Speed of the team server: unchanged pulls beside a bare ASGI answer, and a first pull of 1,000 entries."""
