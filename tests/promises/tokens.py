"""Promises of `reverie.models.tokens`."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "tokens:profiles:one-table": Requirement(
        "windows, output limits, cache minimums and prices are those of the vendor's pages", source="spec 8 §1.12"
    ),
    "tokens:profiles:spellings": Requirement(
        "a model is known by its dated, cloud, router and suffixed names", source="spec 8 §1.12"
    ),
    "tokens:profiles:unknown": Requirement(
        "what is assumed of an unknown model is careful, and said with the way to say better", source="issue 12"
    ),
    "tokens:profiles:no-invented-price": Requirement("an unknown model has no price", source="product §2"),
    "tokens:window:chain": Requirement(
        "suffix, stated window, beta header, override, default: the first match wins", source="spec 1 §2"
    ),
    "tokens:window:levels": Requirement(
        "warning, error, compaction and blocking are four different lines, crossed when exceeded", source="product §6"
    ),
    "tokens:window:order": Requirement("the lines keep their order on every window", source="product §6"),
    "tokens:estimate:kinds": Requirement(
        "CJK, JSON, code, base64, logs, images and documents are weighed by what they are", source="issue 2"
    ),
    "tokens:estimate:laws": Requirement(
        "an estimate is deterministic, never negative, grows with the text and adds up", source="issue 2"
    ),
    "tokens:estimate:fast": Requirement(
        "a large text is weighed at tens of MB a second even on a busy machine",
        source="issue 2",
        deferred="a figure: bench/tokens",
    ),
    "tokens:estimate:recordings": Requirement("the median error on recorded exchanges is under 10 %", source="issue 2"),
    "tokens:estimate:series": Requirement(
        "the median error on a session's growth is under 10 %, none is 25 % under, with rates that have not seen it",
        source="issue 2",
    ),
    "tokens:calibration:learns": Requirement(
        "reported usage corrects later estimates, accidents do not", source="spec 7 #47"
    ),
    "tokens:count:newest": Requirement(
        "A count looks at the newest calls only, and finds in them what looking at all would find.",
        source="issue 4, goals",
    ),
    "tokens:count:anchored": Requirement(
        "the count is the last reported size, its answer, and an estimate of what came since", source="spec 1 §1"
    ),
    "tokens:count:freed": Requirement("what was taken out after the report is subtracted", source="spec 1 §1"),
    "tokens:count:snapshots": Requirement(
        "an output that cannot be the visible answer's is not believed", source="spec 8 findings"
    ),
    "tokens:count:forgotten-thinking": Requirement(
        "reasoning of an ended turn leaves the count where the model drops it", source="spec 1 §7"
    ),
    "tokens:usage:once": Requirement(
        "usage is counted once per reply, as its last record says", source="spec 8 findings"
    ),
    "tokens:usage:main": Requirement(
        "sub-agents count only when asked, client-made messages never", source="spec 8 §1.3"
    ),
}
