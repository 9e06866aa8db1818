"""Facts about English words that ranking needs: which say nothing, which say little, which mean the same.

Lists only. The words are written as they are spoken; `analyze.py` brings them to their common form.
"""

from __future__ import annotations

_STOP = """
a an the of to in on at for with and or but is are was were be been am do does did have has had i you he she it
we they my your his her its our their me him them us this that these those what which who whom whose when where
why how will would can could should may might must shall not no so if then than as by from about into over after
before between during up down out off again also just only very there here any some all s t re ve ll d m don
doesn didn isn aren wasn weren
"""
STOP_WORDS = frozenset(_STOP.split())
"""Left out of the index: they are in every text."""

_WEAK = """
many much more most often long time times day days week weeks month months year years ago last next first recent
recently current currently new since ever always usually one two three four five total number different kind
type sort way thing things something anything someone get getting go going make made take took use used using
want wanted need needed help try trying tried like likes liked think know tell mention mentioned say said talk
talked discuss feel look looking find found give start started keep having done let lets please suggest
recommend tip tips advice idea ideas lately together other another both each every same such good great best
favorite well really still yet already now today plan planning file files code yes no ok okay ahead detail
details thanks thank continue undo again commit approach add write fix change explain run open show list create
implement check review update remove replace convert function print set sort import imports error
"""
WEAK_WORDS = frozenset(_WEAK.split())
"""Found in most requests whatever they are about: they count half."""

SYNONYMS = tuple(
    frozenset(group.split())
    for group in (
        "doctor dr physician", "mother mom mum mommy", "father dad daddy", "child kid", "sibling brother sister",
        "grandmother grandma", "grandfather grandpa", "grandparent grandma grandpa", "parent mom dad mother father",
        "photo picture pic photograph image", "movie film", "bike bicycle", "phone smartphone", "television tv",
        "buy purchase", "job work career", "car vehicle", "begin start", "quit leave resign", "book novel",
        "vacation trip travel holiday", "present gift", "spouse husband wife partner", "repo repository",
        "config configuration settings", "dir directory folder", "db database", "auth authentication login",
        "bug defect error", "docs documentation", "env environment", "test tests testing", "deploy deployment release",
        "delete remove", "fix repair", "k8s kubernetes", "js javascript", "ts typescript", "py python",
    )
)  # fmt: skip
"""Words that may stand for one another, at a discount."""

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip

CJK_FUNCTION = frozenset(
    "的了在是吗呢吧啊呀嘛谁几何哪里什么怎为这那个请我你他她它们有和与就都也很不把被给"
) | frozenset(map(chr, range(0x3041, 0x3097)))
"""Characters of particles, pronouns and endings: a pair that holds one says little, a pair of two says nothing."""
