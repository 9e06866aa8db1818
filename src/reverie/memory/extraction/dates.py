"""Resolves relative dates by the day on which they were said, and finds the last day that a sentence names.

A day that was (`last Friday`, `since Monday`, 上周五) lies before it, one to come behind it. Recurring days (`every
Sunday`, `on Tuesdays`, 每周日) are left alone. English, Chinese, German and Japanese.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from reverie.patterns import lazy_regex
from reverie.values import value

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TAGE = ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONATE = ("jan", "feb", "mär", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "dez")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
_NUMBERS |= {"eine": 1, "einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4}
_HAN = {char: number for number, char in enumerate("零一二三四五六七八九十")} | {"两": 2, "日": 7, "天": 7}
_YOUBI = "月火水木金土日"

_RECURS = (
    r"(?<!every )(?<!each )(?<!jeden )(?<!every other )(?<!\ba )(?<!\bany )(?<!\beinem )(?<!\bno )(?<!black )(?<!good )"
    r"(?<!first )(?<!second )(?<!third )"
)
_RECURS_AFTER = r"(?! (?:mornings|afternoons|evenings|nights)\b)(?! (?:of|in) (?:the|each|every|a) )(?!\.com\b)"
_HAPPENED = lazy_regex(
    r"\b(?:was|were|had|did|happened|broke|failed|crashed|lost|took|came|went (?:down|wrong|dark)|got|caused|leaked)\b"
    r"|\b(?:war|waren|hatte|hatten|ging)\b|了|でした|ました",
    re.IGNORECASE,
)
_TO_COME = lazy_regex(
    r"\b(?:will|must|has to|have to|going to|is|are|should|need|needs|until|by|to|for|before|promised|told"
    r"|agreed|decided|ends|starts|begins|closes|ships|goes|launches|freezes|expires|wird|muss|bis)\b|要|得|必须|将",
    re.IGNORECASE,
)
_CLAUSE_BREAK = lazy_regex(r"[,;.:!?，。；：！？]")
_MONTH_NAMES = (
    r"jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|mär(?:z)?|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?"
    r"|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?"
)


_QUOTED = lazy_regex(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|「[^」\n]*」|'[^'\n]{2,}'(?!\w)")
_ABOUT_WORDS = lazy_regex(
    r"\b(?:i|we|you|they|people|user)\s(?:say|says|write|type|mean)\b|\bmeans?\b|\bthe\sword\b|\bich\s(?:\S+\s){0,3}sage\b|\bheißt\b"
    r"|\bje\sdis\b|\bdigo\b|\bговорю\b|我说|意思是|指的是|と(?:言|い)(?:う|った)|意味",
    re.IGNORECASE,
)
"""A sentence on what words mean speaks of no day."""
_HABIT = lazy_regex(
    r"\b(?:always|never|ever|usually|whenever|generally|every|each|daily|weekly|immer|nie|niemals|jede[nrsm]?)\b|总是|永远|从不|一律|每|いつも|絶対",
    re.IGNORECASE,
)
_FORBIDS = lazy_regex(
    r"\b(?:don'?t|do\snot|no|not|avoid|stop|without|nicht|kein\w*)\b|不|别|ない|しないで|ません", re.IGNORECASE
)
_BOUNDARY = lazy_regex(
    r"\b(?:until|till|by|from|since|after|before|starting|as\sof|through|bis|ab|seit|nach|vor|on\sor\safter)\s(?:the\s|dem\s)?\Z",
    re.IGNORECASE,
)
_BOUNDARY_AFTER = lazy_regex(r"\s?(?:之前|以前|之后|以后|起|前|后|まで|から|以降)")
_RESOLVED = lazy_regex(r"\s?[(（](?:the\s)?(?:week\sof\s)?\d{4}(?:-\d\d)*[)）]")
_IDEOGRAPH = lazy_regex(r"[\u3040-\u9fff]")
_SENTENCE_BREAK = lazy_regex(r"[.!?]\s|[。！？\n]")


@value
class DatedText:
    """A text with the calendar day beside each relative date."""

    text: str
    last: date | None = None
    """The latest day that it names."""
    is_relative: bool = False
    """Whether there was something to place."""


def resolve_dates(text: str, said_on: date | None) -> DatedText:
    """Put the day beside the dates of a text, whose words stay; without the day on which it was said nothing changes.

    Only dates of events: `when I say tomorrow` and `never deploy on Friday` name no day.
    """
    taken: list[tuple[int, int]] = [quoted.span() for quoted in _QUOTED.finditer(text)]
    insertions: list[tuple[int, str]] = []
    days: list[date] = []
    is_relative = False
    for rule in _RULES:
        for match in rule.pattern.finditer(text):
            start, end = match.span()
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            if rule.is_relative and not _names_a_day(match):
                continue
            result = rule.day(match, said_on or _ANY_MONDAY)
            if result is None:
                continue
            taken.append((start, end))
            if _RESOLVED.match(text, end):
                continue
            is_relative = is_relative or rule.is_relative
            days.append(result[0])
            insertions.append((end, f"（{result[1]}）" if _IDEOGRAPH.search(match[0]) else f" ({result[1]})"))
    if said_on is None:
        return DatedText(text, is_relative=is_relative)
    for end, beside in sorted(insertions, reverse=True):
        text = f"{text[:end]}{beside}{text[end:]}"
    days += [day for match in _ISO.finditer(text) if (day := _day(int(match[1]), int(match[2]), int(match[3])))]
    return DatedText(text, max(days, default=None), is_relative)


def _names_a_day(match: re.Match[str]) -> bool:
    """Whether a relative date is that of an event, by the sentence in which it stands."""
    text, start, end = match.string, match.start(), match.end()
    begin = max((match.end() for match in _SENTENCE_BREAK.finditer(text, 0, start)), default=0)
    stop = _SENTENCE_BREAK.search(text, end)
    sentence = text[begin : stop.start() if stop else len(text)]
    if _ABOUT_WORDS.search(sentence):
        return False
    if _BOUNDARY.search(text, begin, start) or _BOUNDARY_AFTER.match(text, end):
        return True
    is_bare_weekday = match.re.pattern in _BARE_WEEKDAYS and not match.groupdict().get("lead")
    return not _HABIT.search(sentence) and not (is_bare_weekday and _FORBIDS.search(sentence))


_ANY_MONDAY = date(2001, 1, 1)
_ISO = lazy_regex(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_Day = Callable[[re.Match[str], date], tuple[date, str] | None]


@value
class _Rule:
    pattern: re.Pattern[str]
    day: _Day
    is_relative: bool = True


def _rule(pattern: str, day: _Day, *, is_relative: bool = True) -> _Rule:
    return _Rule(lazy_regex(pattern, re.IGNORECASE), day, is_relative)


def _exact(day: date) -> tuple[date, str]:
    return day, day.isoformat()


def _after(days: int) -> _Day:
    return lambda _match, today: _exact(today + timedelta(days=days))


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _weekday(number: int, today: date, *, weeks: int | None = None) -> date:
    """The coming day of that name; of this, the next or an earlier week when so said."""
    if weeks is not None:
        return today + timedelta(days=7 * weeks - today.weekday() + number)
    return today + timedelta(days=(number - today.weekday()) % 7)


def _weekday_before(number: int, today: date) -> date:
    return today - timedelta(days=(today.weekday() - number - 1) % 7 + 1)


def _named_day(match: re.Match[str], today: date) -> tuple[date, str]:
    word = match["day"].lower()
    number = next(index for names in (_DAYS, _TAGE) for index, name in enumerate(names) if name == word)
    lead = match["lead"].lower().strip()
    if match["after"]:
        return _exact(_weekday(number, today, weeks=2))
    if lead.startswith(("next", "nächst", "kommend")):
        return _exact(_weekday(number, today, weeks=1))
    if lead.startswith(("last", "past", "previous", "letzt", "vergangen")) or (not lead and _has_been(match)):
        return _exact(_weekday_before(number, today))
    return _exact(_weekday(number, today))


def _has_been(match: re.Match[str]) -> bool:
    """Whether a bare day lies in the past: `since Friday`, or a clause that tells what happened on it."""
    text = match.string
    breaks = [pause.end() for pause in _CLAUSE_BREAK.finditer(text, 0, match.start())]
    after = _CLAUSE_BREAK.search(text, match.end())
    before = text[breaks[-1] if breaks else 0 : match.start()]
    clause = f"{before} {text[match.end() : after.start() if after else len(text)]}"
    if re.search(r"\b(?:since|seit)\s\Z", before, re.IGNORECASE):
        return True
    return bool(_HAPPENED.search(clause)) and not _TO_COME.search(clause)


def _han_day(match: re.Match[str], today: date) -> tuple[date, str]:
    number = _HAN[match["day"]] - 1
    week = match["week"] or ""
    if not week and _has_been(match):
        return _exact(_weekday_before(number, today))
    weeks = week.count("下") - week.count("上")
    return _exact(_weekday(number, today, weeks=weeks or None) if weeks or not week else _this_week(number, today))


def _this_week(number: int, today: date) -> date:
    return _weekday(number, today, weeks=0)


def _youbi(match: re.Match[str], today: date) -> tuple[date, str]:
    weeks = {"来週": 1, "先週": -1}.get(match["week"], 0)
    return _exact(_weekday(_YOUBI.index(match["day"]), today, weeks=weeks))


def _month_day(match: re.Match[str], today: date) -> tuple[date, str] | None:
    word = match["month"].lower()[:3]
    months = _MONTHS if word in _MONTHS else _MONATE
    return _of_year(match["year"], months.index(word) + 1, int(match["day"]), today) if word in months else None


def _day_of_month(match: re.Match[str], today: date) -> tuple[date, str] | None:
    """The coming day of that number."""
    number = int(match["day"] or match["by"])
    first = today if number >= today.day else _month_start(today, 1)
    day = _day(first.year, first.month, number)
    return _exact(day) if day else None


def _numeric_day(match: re.Match[str], today: date) -> tuple[date, str] | None:
    return _of_year(match["year"], int(match["month"]), int(match["day"]), today)


def _of_year(year: str | None, month: int, day: int, today: date) -> tuple[date, str] | None:
    """The day in its year; without one the next such day, or the last if it was less than two months ago."""
    candidate_day = _day(int(year) if year else today.year, month, day)
    if candidate_day and not year and (today - candidate_day).days > 60:
        candidate_day = _day(today.year + 1, month, day)
    return _exact(candidate_day) if candidate_day else None


def _whole_month(match: re.Match[str], today: date) -> tuple[date, str] | None:
    word = (match["month"] or match["monat"]).lower()[:3]
    number = (_MONTHS.index(word) if word in _MONTHS else _MONATE.index(word)) + 1
    first = date(today.year + (number < today.month), number, 1)
    return _month_start(first, 1) - timedelta(days=1), f"{first:%Y-%m}"


def _some_time_ago(match: re.Match[str], today: date) -> tuple[date, str] | None:
    ahead = _in_some_time(match, today)
    return _exact(today - (ahead[0] - today)) if ahead else None


def _in_some_time(match: re.Match[str], today: date) -> tuple[date, str] | None:
    count_text = match["count"].lower()
    count = int(count_text) if count_text.isdigit() else _NUMBERS.get(count_text, _HAN.get(count_text, 0))
    unit = match["unit"].lower()
    if not 0 < count < 500:
        return None
    per = 7 if unit.startswith(("week", "woche", "周", "週", "星")) else 30 if unit.startswith(("mon", "月")) else 1
    return _exact(today + timedelta(days=per * count))


def _week(weeks: int, words: str) -> _Day:
    def of(_match: re.Match[str], today: date) -> tuple[date, str]:
        monday = today + timedelta(days=7 * weeks - today.weekday())
        return monday + timedelta(days=6), words.format(monday.isoformat())

    return of


def _month(months: int) -> _Day:
    def of(_match: re.Match[str], today: date) -> tuple[date, str]:
        first = _month_start(today, months)
        return _month_start(today, months + 1) - timedelta(days=1), f"{first:%Y-%m}"

    return of


def _month_end(months: int) -> _Day:
    return lambda _match, today: _exact(_month_start(today, months + 1) - timedelta(days=1))


def _year_end(_match: re.Match[str], today: date) -> tuple[date, str]:
    return _exact(date(today.year, 12, 31))


def _week_end(weeks: int) -> _Day:
    """The Friday on which a week of work ends; on the days behind it the Sunday."""

    def of(_match: re.Match[str], today: date) -> tuple[date, str]:
        monday = today + timedelta(days=7 * weeks - today.weekday())
        friday = monday + timedelta(days=4)
        return _exact(friday if friday >= today else monday + timedelta(days=6))

    return of


def _saturday(weeks: int) -> _Day:
    return lambda _match, today: _exact(_weekday(5, today, weeks=weeks))


def _han_day_of_month(match: re.Match[str], today: date) -> tuple[date, str] | None:
    months = {"下": 1, "上": -1}.get(match["which"][:1], 0)
    first = _month_start(today, months)
    day = _day(first.year, first.month, int(match["day"]))
    return _exact(day) if day else None


def _month_start(today: date, months: int) -> date:
    years, month = divmod(today.month - 1 + months, 12)
    return date(today.year + years, month + 1, 1)


def _year(years: int) -> _Day:
    def of(_match: re.Match[str], today: date) -> tuple[date, str]:
        return date(today.year + years, 12, 31), str(today.year + years)

    return of


_RULES: tuple[_Rule, ...] = (
    _rule(
        rf"\b(?P<month>{_MONTH_NAMES})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year>20\d\d))?(?![\d:.])",
        _month_day,
        is_relative=False,
    ),
    _rule(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)? (?:of )?(?P<month>{_MONTH_NAMES})\b\.?(?:,? (?P<year>20\d\d))?",
        _month_day,
        is_relative=False,
    ),
    _rule(
        r"(?<=\bon the )(?P<day>\d{1,2})(?:st|nd|rd|th)\b(?! of)|(?<=\bby the )(?P<by>\d{1,2})(?:st|nd|rd|th)\b(?! of)",
        _day_of_month,
    ),
    _rule(r"(?:(?P<year>20\d\d)年)?(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号號]", _numeric_day, is_relative=False),
    _rule(rf"(?<=\buntil )(?P<month>{_MONTH_NAMES})\b(?! \d)|(?<=\bbis )(?P<monat>{_MONTH_NAMES})\b", _whole_month),
    _rule(r"(?P<which>下个?月|上个?月|这个月|本月)(?P<day>\d{1,2})[日号號]", _han_day_of_month),
    _rule(r"大后天|大後天", _after(3)),
    _rule(r"大前天", _after(-3)),
    _rule(r"\bday after tomorrow\b|\bübermorgen\b|后天|明後日", _after(2)),
    _rule(r"\btomorrow\b|(?<!guten )(?<!am )\bmorgen\b(?! früh)|明天|明日", _after(1)),
    _rule(r"\bday before yesterday\b|\bvorgestern\b|前天", _after(-2)),
    _rule(r"\byesterday\b|\bgestern\b|昨天|昨日", _after(-1)),
    _rule(r"\btoday\b|\btonight\b|\bheute\b|今天|今日", _after(0)),
    _rule(
        _RECURS
        + r"\b(?P<lead>(?:(?:next|this|coming|last|past|previous|nächste[nrms]?|kommende[nrms]?|diese[nrms]?"
        + rf"|letzte[nrms]?|vergangene[nrms]?) )?)(?P<day>{'|'.join(_DAYS + _TAGE)})\b(?P<after> after next\b)?"
        + _RECURS_AFTER,
        _named_day,
    ),
    _rule(
        r"(?<![每毎隔])(?P<week>(?:下下|下|上上|上|这|本)(?:个|個)?)?(?:周|週|星期|礼拜)(?P<day>[一二三四五六日天])(?![周週个])",
        _han_day,
    ),
    _rule(r"(?<!毎)(?P<week>来週|今週|先週)の?(?P<day>[月火水木金土日])曜日?", _youbi),
    _rule(
        r"\bin (?P<count>\d{1,3}|an?|one|two|three|four|five|six|ten) (?P<unit>days?|weeks?|months?)\b", _in_some_time
    ),
    _rule(
        r"\bin (?P<count>\d{1,3}|eine[mr]?|zwei|drei|vier) (?P<unit>tag(?:en)?|wochen?|monat(?:en)?)\b",
        _in_some_time,
    ),
    _rule(
        r"(?P<count>\d{1,3}|[一两二三四五六七八九十])(?:个|個)?(?P<unit>天|周|週|星期|(?<=[个個])月)(?:之后|以后|后)",
        _in_some_time,
    ),
    _rule(
        r"\b(?P<count>\d{1,3}|an?|one|two|three|four|five|six|ten) (?P<unit>days?|weeks?|months?) ago\b",
        _some_time_ago,
    ),
    _rule(
        r"\bvor (?P<count>\d{1,3}|eine[mr]?|zwei|drei|vier) (?P<unit>tag(?:en)?|wochen?|monat(?:en)?)\b", _some_time_ago
    ),
    _rule(
        r"(?P<count>\d{1,3}|[一两二三四五六七八九十])(?:个|個)?(?P<unit>天|周|週|星期|(?<=[个個])月)(?:之前|以前|前)",
        _some_time_ago,
    ),
    _rule(r"\b(?:the )?end of next month\b|下个?月(?:底|末)|来月末", _month_end(1)),
    _rule(r"\b(?:the )?end of (?:the|this) month\b|\bmonatsende\b|(?:这个|本)?月(?:底|末)", _month_end(0)),
    _rule(r"\b(?:the )?end of next week\b", _week_end(1)),
    _rule(r"\b(?:the )?end of (?:the|this) week\b|\bende der woche\b", _week_end(0)),
    _rule(r"下[周週]末|来週末|\bnext weekend\b", _saturday(1)),
    _rule(r"(?<!每)(?<![上每]个)(?<!上)(?:这|本|今)?(?:个|個)?[周週]末|\bthis weekend\b", _saturday(0)),
    _rule(r"上个?[周週]末|先週末|\blast weekend\b", _saturday(-1)),
    _rule(r"\b(?:the )?end of (?:the|this) year\b|\bjahresende\b|年底|年末", _year_end),
    _rule(r"\bweek after next\b|下下周|下下週|再来週", _week(2, "week of {}")),
    _rule(r"\bweek before last\b|上上周|上上週|先々週", _week(-2, "week of {}")),
    _rule(r"\bnext week\b|\bnächste woche\b|下周|下週|来週", _week(1, "week of {}")),
    _rule(r"\bthis week\b|\bdiese woche\b|本周|这周|今週", _week(0, "week of {}")),
    _rule(r"\blast week\b|\bletzte woche\b|上周|上週|先週", _week(-1, "week of {}")),
    _rule(r"\bnext month\b|\bnächsten monat\b|下个月|下個月|来月", _month(1)),
    _rule(r"\bthis month\b|\bdiesen monat\b|这个月|本月|今月", _month(0)),
    _rule(r"\blast month\b|\bletzten monat\b|上个月|上個月|先月", _month(-1)),
    _rule(r"\bnext year\b|\bnächstes jahr\b|明年|来年", _year(1)),
    _rule(r"\bthis year\b|\bdieses jahr\b|今年", _year(0)),
    _rule(r"\blast year\b|\bletztes jahr\b|去年|昨年", _year(-1)),
)
_BARE_WEEKDAYS = frozenset(rule.pattern.pattern for rule in _RULES if rule.day in {_named_day, _han_day})
