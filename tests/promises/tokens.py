"""Promises of `reverie.models.tokens`."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "tokens:profiles:one-table": Requirement(
        "windows, output limits, cache minimums and prices are those of the vendor's pages"
    ),
    "tokens:profiles:spellings": Requirement("a model is known by its dated, cloud, router and suffixed names"),
    "tokens:profiles:unknown": Requirement(
        "what is assumed of an unknown model is careful, and said with the way to say better"
    ),
    "tokens:profiles:no-invented-price": Requirement("an unknown model has no price"),
    "tokens:profiles:other-vendors": Requirement("models of other vendors have their list prices, by any spelling"),
    "tokens:window:chain": Requirement("suffix, stated window, beta header, override, default: the first match wins"),
    "tokens:window:levels": Requirement(
        "warning, error, compaction and blocking are four different lines, crossed when exceeded"
    ),
    "tokens:window:order": Requirement("the lines keep their order on every window"),
    "tokens:estimate:kinds": Requirement(
        "CJK, JSON, code, base64, logs, images and documents are weighed by what they are"
    ),
    "tokens:estimate:laws": Requirement(
        "an estimate is deterministic, never negative, grows with the text and adds up"
    ),
    "tokens:estimate:fast": Requirement(
        "a large text is weighed at tens of MB a second even on a busy machine", deferred="a figure: bench/tokens"
    ),
    "tokens:estimate:recordings": Requirement("the median error on recorded exchanges is under 10 %"),
    "tokens:estimate:series": Requirement(
        "the median error on a session's growth is under 10 %, none is 25 % under, with rates that have not seen it"
    ),
    "tokens:calibration:learns": Requirement("reported usage corrects later estimates, accidents do not"),
    "tokens:count:newest": Requirement(
        "A count looks at the newest calls only, and finds in them what looking at all would find."
    ),
    "tokens:count:anchored": Requirement(
        "the count is the last reported size, its answer, and an estimate of what came since"
    ),
    "tokens:count:freed": Requirement("what was taken out after the report is subtracted"),
    "tokens:count:snapshots": Requirement("an output that cannot be the visible answer's is not believed"),
    "tokens:count:forgotten-thinking": Requirement(
        "reasoning of an ended turn leaves the count where the model drops it"
    ),
    "tokens:usage:once": Requirement("usage is counted once per reply, as its last record says"),
    "tokens:usage:main": Requirement("sub-agents count only when asked, client-made messages never"),
}
