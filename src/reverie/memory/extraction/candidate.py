"""The values of extraction: a typed message, a candidate for a memory, a refusal."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from reverie.memory.topics.situations import parse_when
from reverie.memory.topics.topic import MemoryType, Source, Topic, Trust
from reverie.values import value


@value
class UserMessage:
    """One message of the user, with the place and time that its words are understood by."""

    message: str
    """The id of the message."""
    text: str
    session: str = ""
    when: datetime | None = None
    """In the zone of the session; None when the record has no time that can be read."""
    reply_to: str = ""
    """What the agent had said last; a bare approval means that."""


@value
class MemoryCandidate:
    """Something that may be worth a memory; the gate decides."""

    type: MemoryType
    name: str
    description: str
    body: str
    quote: str
    """The words it rests on, exactly as they stand in the message."""
    message: str
    session: str = ""
    trust: Trust = Trust.said
    cue: str = ""
    """Which rule found it, or `model`."""
    observed: date | None = None
    expires: date | None = None
    when: tuple[str, ...] = ()
    """Situations in which it applies, as `parse_when` reads them."""
    asks: tuple[str, ...] = ()
    """Requests for which it should come up."""
    approves: str = ""
    """What the agent had done, where the user wants it done like that again; quoted as a second source."""
    doubt: Doubt | None = None
    """Why it hardly is what it was taken for, by the way it reads or by what was said right after."""

    @property
    def text(self) -> str:
        """Everything that would be stored as prose."""
        return f"{self.name}\n{self.description}\n{self.body}"

    @property
    def source(self) -> Source:
        """Where it comes from."""
        return Source(self.session or None, self.message or None, self.quote)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where it comes from, with what it approves of."""
        return (self.source, Source(self.session or None, None, self.approves)) if self.approves else (self.source,)

    def topic(self) -> Topic:
        """The candidate as a topic that has no path yet."""
        return Topic(
            "",
            self.name,
            self.description,
            self.type,
            self.body,
            self.trust,
            observed=self.observed,
            expires=self.expires,
            when=parse_when(self.when),
            asks=self.asks,
            sources=(self.source, Source(self.session or None, None, self.approves))
            if self.approves
            else (self.source,),
        )


class RefusalReason(StrEnum):
    """Why something was not stored, in words for the user."""

    derivable = "can be read from the repository or from git"
    known = "already known"
    outdated = "a newer memory says otherwise"
    transient = "only matters now"
    passed = "its day has passed long ago"
    echo = "repeats text that was recalled or injected"
    secret = "holds a secret"  # noqa: S105 - the reason, not one
    judgement = "judges a person"
    foreign = "came from a tool, a file or a web page"
    unfounded = "rests on no words of this session"
    unclear = "cannot be understood on its own"
    reported = "tells what somebody else said"
    unsettled = "is not settled"
    erased = "was erased, and only a person may save it again"


@value
class Doubt:
    """A reason against a candidate: it is like sentences of another kind, or was taken back."""

    reason: RefusalReason
    detail: str


@value
class RefusedCandidate:
    """Something that was not stored, and why."""

    reason: RefusalReason
    quote: str
    message: str = ""
    session: str = ""
    known: str = ""
    """The path of the memory that says it already, if that is the reason."""
    when: str = ""
    """When it was refused; set when it is written down."""
    detail: str = ""
    """What the reason rests on, where it was not a rule."""
