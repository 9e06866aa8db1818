"""Promises of `reverie.context` and of the driver of flows."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    # Stages before a request
    "context:stages:order": Requirement(
        "spill, snip, clearing and collapse run in this order, each on the view the one before left"
    ),
    "context:stages:laws": Requirement(
        "stages keep calls with their results, keep the user's words, never grow the view, and a second run is idle"
    ),
    "context:stages:fail-alone": Requirement("a stage that fails costs neither the turn nor the others"),
    "context:stages:same-bytes": Requirement("prepared twice, a conversation gives the same bytes"),
    "context:spill:limits": Requirement(
        "results over the limit of their tool are spilled, then the largest of a round; `Read` never is"
    ),
    "context:spill:frozen": Requirement("a decision holds for ever, also the one not to spill"),
    "context:spill:honest": Requirement("a preview says that it is a part, how much is missing and where the whole is"),
    "context:spill:disk": Requirement("what cannot be written stays in the conversation"),
    "context:snip:oldest": Requirement("snip takes whole rounds, oldest first, down to its target, and leaves a line"),
    "context:snip:spares": Requirement(
        "snip spares typed messages, instructions, memories, dates, pins, and the last reply with all behind it"
    ),
    "context:clear:pause": Requirement("old results are emptied after a pause, above half of E, but the newest stay"),
    "context:clear:cached": Requirement(
        "deletions inside the server's cache are asked for once and stay where they were; a pause forgets them"
    ),
    "context:clear:api": Requirement("the provider's own clearing fires before ours at any window"),
    "context:collapse:stage-and-run": Requirement(
        "spans are staged at 90 %, folded at 95 %, drained when the provider refuses"
    ),
    "context:collapse:by-model": Requirement(
        "in a session the model writes what stands for a folded span, and reads the span from its first message on"
    ),
    "context:collapse:survives": Requirement(
        "folds outlive a resume and end at a boundary; no typed message is folded"
    ),
    # Notes
    "context:notes:trigger": Requirement(
        "first notes at 10,000 tokens of conversation; then 5,000 more and three calls or a quiet reply"
    ),
    "context:notes:frame": Requirement("headings and italic lines stay; an answer that breaks them is not taken"),
    "context:notes:limits": Requirement("sections and the whole have limits, with a warning for each that is passed"),
    "context:notes:cursor": Requirement(
        "the cursor is in the transcript and moves to the end of the newest round without an open call"
    ),
    "session:notes:improved": Requirement(
        "Notes are only ever improved: a fork edits them, what it wrote is kept, and neither a spent budget, a failure "
        "nor a useless reply puts rules in the place of a model's words"
    ),
    "context:notes:custom": Requirement(
        "template and prompt can be replaced; placeholders are filled in a single pass"
    ),
    "context:notes:declines": Requirement("notes compaction declines for six reasons, as a value"),
    "context:notes:tail": Requirement(
        "the kept tail has what the notes do not cover and grows to its least size at legal cuts"
    ),
    # Compaction
    "context:compact:laws": Requirement(
        "a compaction keeps calls with results, shrinks the view, is idle when repeated and resumes to the same view"
    ),
    "context:compact:two-parts": Requirement("the analysis is dropped, the summary taken"),
    "context:compact:never-an-error": Requirement(
        "a history is never replaced by an error, an apology, nothing, or something longer"
    ),
    "context:compact:prepared": Requirement(
        "the question for a summary extends the conversation byte for byte, whatever joined it (skills, agents, tools "
        "of servers, pictures), and carries the user's compact instructions"
    ),
    "context:compact:too-long": Requirement(
        "a summary request that is too long is asked again without its oldest rounds, keeping all else and every pair, "
        "three times, then answered by structure; a summary made from less says so in its receipt"
    ),
    "context:compact:unanswered": Requirement(
        "what the model has not answered stays whole while it can fit: results and words alike"
    ),
    "context:fit:last-means": Requirement(
        "what cannot fit is shown in part, and whatever the window, if system text and tools fit, the view does too"
    ),
    "context:compact:small-windows": Requirement(
        "a window of any size gets a result; a message that cannot fit is named and nothing is lost"
    ),
    "context:compact:partial": Requirement(
        "partial compaction keeps the side before or behind a message; `from` leaves the prefix alone"
    ),
    "context:compact:boundary": Requirement(
        "a boundary starts a new root that holds prompt, frozen results, summary, attachments and receipt"
    ),
    "context:restore:budgets": Requirement(
        "files, skills, plan and instructions return within their budgets, on every path"
    ),
    "context:survive:list": Requirement(
        "user messages, pins, tasks, plan, files, decisions, errors and skills survive or are listed"
    ),
    "context:survive:user-text": Requirement(
        "typed text survives word for word up to 25 % of E, then by head, tail and pointer"
    ),
    "context:survive:ten-times": Requirement(
        "after ten compactions no user message and no pin is lost and the receipt in view has not grown"
    ),
    "context:receipt:full": Requirement(
        "the receipt is an entry of the transcript; its words in view take at most 1 % of E"
    ),
    "context:undo": Requirement("uncompact names the leaf that restores the exact view before"),
    "context:spans": Requirement("any left-out span can be read again, by ids or by subject, in pieces"),
    "context:gate:vetoes": Requirement("every veto of the gate is asked in order"),
    "context:gate:breakers": Requirement(
        "three failures in a row, or three refills in a row, end automatic compaction"
    ),
    "context:reactive:order": Requirement(
        "a refusal leads to drain, then compaction, then the error, each once per turn"
    ),
    "context:reactive:media": Requirement("media that are too large become a word, the text stays"),
    "context:now:notes-first": Requirement(
        "notes are tried first, full compaction stands behind, instructions go to the model"
    ),
    "context:prompts": Requirement("the words we send to a model are golden files"),
    # The driver
    "agent:flow:own-model": Requirement(
        "A question beside the conversation carries what the conversation asks of its provider, and nothing of it when "
        "another model is asked, which is called by its own name"
    ),
    "agent:flow:drives": Requirement("a flow's questions reach the model with the parent's prefix"),
    "agent:flow:too-long": Requirement("`too long` is thrown into the flow, other failures are the caller's"),
    "agent:flow:embedded": Requirement(
        "a question may say that its embedded answer stands in for a failing or slow model"
    ),
    "agent:flow:thread": Requirement(
        "a compaction holds nobody up: it is made in a thread, and what was added meanwhile is not lost"
    ),
    "agent:flow:closes": Requirement("a flow is closed whatever happens"),
}
