"""Keep the conversation of your own loop inside a window of any size."""

from reverie import Window

window = Window("claude-sonnet-5", window=8_000)
messages: list[dict] = []
for number in range(12):
    messages.append({"role": "user", "content": f"Question {number}: " + "a long story " * 150})
    request = window.prepare(messages, system="You answer briefly.")
    # Here a client would send `request.body`, and `window.observe` would hear the usage that came back.
    messages.append({"role": "assistant", "content": f"Answer {number}."})
    done = ", ".join(reduction.kind for reduction in request.report.reductions)
    print(f"request {number}: {request.report.tokens} tokens {done}")
