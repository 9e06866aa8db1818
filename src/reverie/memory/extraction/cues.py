"""The rules by which a sentence is taken for something lasting, as one table; English, Chinese, German, Japanese.

A cue names what it finds and the type of memory that comes of it. Precision goes first: an order for the task at hand,
a question, a report of what somebody else wrote or a fact about code is none of these, and `Guard`s say so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reverie.memory.extraction.phrases import (
    ANSWERS,
    ARTEFACTS,
    CODE_WORDS,
    LABEL,
    LANGUAGES,
    LASTING,
    OPTION,
    ORDERS,
    ROLES,
    START,
    SYSTEMS,
    SYSTEMS_HAN,
    pattern,
)
from reverie.memory.topic import MemoryType


@dataclass(frozen=True, slots=True)
class Cue:
    """A way in which people say something lasting."""

    name: str
    type: MemoryType
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    """Words that show the contrary."""
    needs_day: bool = False
    """Counts only when the sentence names a day."""
    overrides_guards: bool = False
    """Says so clearly that it lasts that words like `here` do not count against it."""
    needs_reason: bool = False
    """Counts only with a reason or with words that make it general."""

    def matches(self, plain: str) -> bool:
        """Whether a sentence, quoted words hidden, is of this kind."""
        return bool(self.pattern.search(plain)) and not (self.unless and self.unless.search(plain))


CODE_PLACE = pattern(
    r"""\b(?:is|are|lives?|sits?|lies?|is\sdefined|is\simplemented)\s(?:in|at|under)\s[\w./-]*\w/[\w.-]+\.[a-z]{1,4}\b
      |在\s?[\w./-]+/[\w.-]+\.[a-z]{1,4}"""
)
"""Where something stands in the code: found only to be refused with its reason."""

CUES: tuple[Cue, ...] = (
    Cue(
        "place in code",
        MemoryType.project,
        CODE_PLACE,
        unless=pattern(r"\b(?:always|never|please|put|must|should)\b"),
    ),
    Cue(
        "agreed",
        MemoryType.project,
        pattern(
            r"""\bwe(?:'ve|\shave)?\s(?:all\s|finally\s|already\s|just\s|jointly\s)?(?:decided|agreed|settled|opted|standardi[sz]ed)\s
              (?:to|on|that|for|against|not)\b|我们(?:决定|约定|商定)"""
        ),
        unless=pattern(rf"\b(?:a|the|an)\s{CODE_WORDS}\b|\b(?:nothing|yet|haven'?t)\b"),
    ),
    Cue(
        "pointer",
        MemoryType.reference,
        pattern(
            rf"""\b(?:is|are|get|gets|live|lives|sit|sits|lie|go|goes)\s(?:\w+\s){{0,2}}?
              (?:(?:tracked|documented|kept|stored|logged|managed|discussed|collected|filed|recorded|hosted|posted)\s)?
              (?:in|at|on|under)\s(?:the\s|our\s|a\s)?(?:\w+\s)?{SYSTEMS}\b
              |\b(?:dashboard|board|runbook|tracker|wiki|docs?|documentation|designs?|mockups?|tickets?|issues?|backlog|specs?
              |roadmap|changelog|status\spage|metrics|logs|schedule|playbook|calendar)\b[^.?]{{0,40}}
              \b(?:is|are|lives?|sits?|can\sbe\sfound)\b[^.?]{{0,20}}https?://
              |\b(?:comes?|taken|pulled)\sfrom\s(?:the\s|our\s)?(?:\w+\s)?{SYSTEMS}\b
              |\bfor\s[\w\s]{{3,30}}\s(?:look|check|see|go)\s(?:at|in|to|on)?\s?(?:the\s)?{SYSTEMS}\b
              |\b(?:lives?|is\s(?:kept|published|documented)|can\sbe\sfound)\sat\shttps?://(?!localhost|127)
              |\byou(?:'ll|\scan|\swill)?\sfind\s[^.]{{3,40}}\sat\shttps?://|\bchannel\s(?:on|in)\sslack\b
              |^(?:[\w-]+\s){{0,4}}(?:dashboard|board|runbook|tracker|wiki|rota|schedule|docs?|designs?|roadmap|logs|metrics|calendar)s?\s?:\s*https?://
              |(?:监控|日志|指标|进度|需求|工单|文档)看\s?{SYSTEMS_HAN}
              |[去到看]\s?{SYSTEMS_HAN}\s?(?:上|里)?(?:查|看|找)|(?:都|统一|全部|一般)?(?:记|放|写|存|在)(?:录)?在?\s?{SYSTEMS_HAN}
              |(?:面板|文档|看板|手册|工单|日志|设计稿|需求)[^。？]{{0,8}}在\s?https?://"""
        ),
        unless=pattern(
            r"\b(?:login|auth|oauth|webhook|integration|api\s(?:keys?|tokens?|calls?|clients?)|sdk|client|clone|push|pull\srequest)\b|接入|登录"
        ),
    ),
    Cue(
        "role",
        MemoryType.user,
        pattern(
            rf"""\b(?:i\s?'?a?m|i\sam|i\swork\sas|my\s(?:role|job|background)\sis)\s(?:\w+\s){{0,1}}?(?:an?|the|as|one\sof\sthe)\s
              (?:[\w-]+\s){{0,3}}?{ROLES}\b
              |\bi(?:'ve|\shave)\s(?:been\s)?(?:\w+\s){{0,2}}?(?:writing|programming|coding|working|developing)\s
              [^.?]{{0,40}}\b(?:years|decades?)\b
              |\bi(?:'m|\sam)\s(?:quite\s|very\s|totally\s|pretty\s|completely\s|relatively\s)?new\sto\s(?!this\b|that\b|it\b|here\b)
              |\bi(?:'m|\sam)\s(?:not\s)?(?:an?\s)?(?:native\s\w+|colou?r[\s-]?blind|dyslexic|left-handed)\b
              |\bi(?:'m|\sam)\son\s(?:windows|mac\w*|linux|ubuntu|debian|fedora|arch|nixos)\b
              |\bi(?:'m|\sam)\s(?:(?:trying\sto|starting\sto)\slearn|learning)\s(?-i:[A-Z])\w+
              |\bi\swork\s(?:at|in|for)\s(?:the\s)?(?-i:[A-Z])\w+
              |\bi\swork\s(?:at|in|for)\san?\s(?:\w+\s)?(?:hospital|bank|universit\w+|school|start-?up|agency|company|lab|insurer|ministry)\b|\bmy\sname\sis\b
              |\bi\s(?:lead|run|own|maintain|manage)\s(?:the|our|this|a)\b
              |\bi(?:'m|\sam)\s(?:mostly|mainly|primarily|more\sof|basically)\s(?:an?\s)?[\w-]+\s(?:person|guy|dev|{ROLES})\b
              |\bi\s(?:mostly|mainly|primarily)\s(?:write|do|code|work|use)\b|\bis\s(?:black\smagic|foreign|greek|(?:all\s)?new)\sto\sme\b
              |\bi\s(?:use|work\s(?:in|on|with))\s(?:neo)?(?:vim|emacs|vs\s?code|jetbrains|intellij|pycharm|tmux|zsh|fish|dvorak|a\sscreen\sreader)\b
              |\bi\s(?:come|came)\sfrom\s(?:an?\s)?(?-i:[A-Z])[\w+\#]*|\bmy\sbackground\sis\sin\b
              |\bich\skenne\smich\s(?:mit|in)\s\w+\s(?:\w+\s)?(?:aus|nicht)\b
              |我(?:主要|平时|一般)(?:写|做|用|负责)|我[^，。？]{{0,8}}，[^，。？]{{1,8}}(?:基本)?不(?:太)?会(?:[，。]|$)
              |我是[^，。？]{{0,12}}(?:工程师|开发|程序员|科学家|设计师|经理|学生|产品|运维|架构师|研究员|负责人|新手|初学者|老师)
              |我(?:写了|做了|用了)[^，。]{{0,10}}年|我(?:不懂|不太懂|不熟悉|不会)[^，。？]{{2,8}}|我(?:第一次|刚开始)(?:接触|学|用)|我叫
              |\bich\sbin\s(?:\w+\s){{0,2}}?\w*(?:entwickler|ingenieur|wissenschaftler|designer|student|lehrer|berater
              |architekt|forscher|anfänger|neuling|chef|leiter)\w*
              |(?:私|僕|俺)は[^。？]{{0,15}}(?:エンジニア|サイエンティスト|開発者|デザイナー|学生|研究者|マネージャー|初心者|プログラマー)"""
        ),
        unless=pattern(
            r"""\b(?:getting|seeing|trying\sto\s(?!learn)|going|not\ssure|sorry|wondering|stuck|confused|logged|signed|testing|building
              |creating|making|as\san?\s(?:test|guest|admin)|imagine|pretend|act|you\sare|if\s|test\s(?:user|data)|user\sstory|with\srole|account)\b|假设|扮演|登录|账号"""
        ),
        overrides_guards=True,
    ),
    Cue(
        "meaning",
        MemoryType.feedback,
        pattern(
            r"\bwhen(?:ever)?\si\s(?:say|ask|write|mention)\b|我说[^，。]{1,12}(?:的时候|时)|wenn\sich\s(?:sage|schreibe)"
        ),
        overrides_guards=True,
    ),
    Cue(
        "label",
        MemoryType.feedback,
        pattern(rf"^(?:ok(?:ay)?[\s,.]+|and\s|also[\s,]+)?(?:{LABEL})\S"),
        unless=pattern(
            r"\b(?:class|field|function|method)\b|\.\w{2,3}\b\W*$|\b(?:error|eslint|lint|css|regex|firewall|rewrite|this)\s(?:rule|note|request)"
        ),
        overrides_guards=True,
    ),
    Cue(
        "lasting",
        MemoryType.feedback,
        LASTING,
        unless=pattern(
            r"""\b(?:the|this)\s(?:variable|function|class|file|method|column|field|button|page|app|server|test)\b
              |\bi(?:'ll|\swill|'m\sgoing\sto)\b|以后再说|每次(?:点|运行|启动|刷新|打开|都会|都报)|\bevery\stime\si\b"""
        ),
        overrides_guards=True,
    ),
    Cue(
        "always or never",
        MemoryType.feedback,
        pattern(
            rf"""{START}(?:please\s)?(?:always|never(?:\sever)?|don'?t\sever|do\snot\sever)\s
              (?!mind\b|again\b\W*$|\w+(?:ing|ed|[^su]s)\b|(?:an?|the|been|seem|thought|eager|have|had|was|were|want|felt|knew
              |heard|got|tried|did|quite|really|something)\b)\w+
              |^use\s[^.]*,\snever\s\w+
              |永远(?:不要|别|都)|(?:总是|始终|务必|一定)(?:要|先|用|不)|绝(?:对)?不(?:要|能|许)|千万(?:不要|别)|严禁|禁止
              |^(?:bitte\s)?(?:\w+\s){{0,2}}?(?:immer|nie(?:mals)?)\s\w+|必ず[^。]{{2,}}(?:てください|こと)|絶対に"""
        ),
        unless=pattern(
            r"""\b(?:it|this|that|which|who|he|she|they|there|response|function|test|page|value|result|build|app)\s
              (?:should\s|must\s|will\s|can\s|has\s|have\s|is\s|are\s|was\s)?(?:always|never)\b
              |\b(?:to|that|which|who)\s(?:always|never)\b|^(?:i|you|we|it)\s(?:always|never)\b|\b(?:always|never)\s\w+\s(?:it|them)\b|\bdas\s\w+\s(?:nie|immer)
              |\bnever\s(?:expected|called|worked|seen|heard|happened|returns?)\b|läuft|geht\snie"""
        ),
    ),
    Cue(
        "do not",
        MemoryType.feedback,
        pattern(
            rf"""{START}(?:please\s)?(?:don'?t|do\snot|avoid|stop|quit|no\smore)\s(?!worry|stop|forget|bother|mind|know|think
              |understand|see|have|need|like|want|remember|care|get|touch)\w+\s\w+
              |^no\s(?:[\w-]+\s){{1,2}}(?:in|on|to|from|for)\s\w+|^(?!这|那|它|先)[^，。不]{{1,8}}(?:不要|不能|不准)[^，。]{{2,}}
              |\bbitte\s(?:nicht|nie)\s(?:in|im|auf|mit)\s\w+|(?:^|[，。、；]|时候|时|之前|之后|里|中)(?:请|都)?(?:不要|别|不能|不准)(?:再)?[^，。]{{3,}}|しないでください|やめてください
              |\b(?:bitte\s)?(?:kein(?:e|en)?)\s\w+\s(?:in|im)\s\w+"""
        ),
        unless=pattern(
            r"""\b(?:don'?t|do\snot|不要|别)\s?(?:commit|push|merge|deploy|run|start|close|submit|delete|提交|推送|合并|部署|删)
              (?!\s(?:directly|to\smain))|\byet\b|换成|
              \b(?:it|this|that|these|those|yet|now|today)\b\W*$|\b(?:this|that)\s\w+\W*$|\blet'?s\snot\b|\bdon'?t\s(?:they|we|i|you)\b"""
        ),
        needs_reason=True,
    ),
    Cue(
        "habit",
        MemoryType.feedback,
        pattern(
            rf"""{START}(?:stick\s(?:to|with)\s\w+|leave\s(?:the\s)?[\w-]+(?:\s[\w-]+)?\salone\b|skip\s(?:the\s)?{ARTEFACTS}
              |tell\sme\s(?:instead|rather)|use\s[\w-]+\s(?:commits|branches|messages|names|tests|reviews|merges|releases|tags|labels|templates|timestamps|units|dates)\b)
              |\byou\s(?:can|may)\s(?:always\s)?skip\s(?:the\s)?\w+
              |^(?:if|when)\s(?:an?|any|something|anything|you)\s[^,]{{3,50}},\s(?:please\s|then\s)?(?:{ORDERS}|leave|stop)\b"""
        ),
        unless=pattern(
            r"^[^,;]*\b(?:there|then|that|this|it)\b\W*(?:[,;]|$)|\bplan\s\w\b|\b(?:this|these|those)\s\w+|\bfix\sit\b"
        ),
        needs_reason=True,
    ),
    Cue(
        "manner",
        MemoryType.feedback,
        pattern(
            rf"""\bkeep\s(?:your\s|all(?:\syour)?\s|the\s)?{ANSWERS}\s(?:very\s|as\s)?(?:short|brief|concise|terse|small|crisp|plain
              |to\sthe\spoint|simple|in\s{LANGUAGES}|under\s\d+|to\s\w+)
              |{START}(?:write|keep|phrase|put|use|name|format|prefix|limit|leave|sign|word|start|end)\s(?:\w+\s){{0,2}}?
              (?<!these\s)(?<!those\s)(?<!this\s)(?<!my\s){ARTEFACTS}\s(?:in|as|with|without|like|out|to|short|small|under|after|by|on|from)\b
              |{START}leave\s[\w\s-]{{3,40}}\sout\sof\s(?:the\s)?(?:{ARTEFACTS}|subject|body|title)
              |^(?:please\s)?no\s(?:\w+\s)?(?:summar(?:y|ies)|recaps?|emojis?|preambles?|closing\s\w+)\b
              |,\sno\s(?:\w+\s)?(?:summar(?:y|ies)|recaps?)\b
              |^(?!add|fix|rename|remove|put|move|change|update|delete|show|list|drop|check|look)(?:[\w-]+\s){{1,5}}(?:in|for|on)\s(?:all\s)?
              (?:{ARTEFACTS}|code|tests|docs)\b[^.]{{0,20}},\s?please\W*$
              |{START}keep\s(?:all\s)?{ARTEFACTS}\s(?!until|for\b|as\b|from|that|open|there)\w+
              |^(?:when|if)\sin\sdoubt,\s\w+|^im\szweifel\s\w+|拿不准(?:的时候|时|就)
              |\b(?:exactly|just)\s(?:how|what|the\sway)\si\s(?:like|want)\s(?:it|them|that)\s?:\s\w+
              |^(?!the|this|that|my|it)[\w-]+s,\snot\s[\w-]+s\W*$
              |\bi(?:'d|\swould)\slike\s(?:all\s|the\s)?{ARTEFACTS}\sto\sbe\b|\bi\swant\s(?:all\s){ARTEFACTS}\b
              |\b(?:goes|go|belongs?)\s(?:in|into|to|next\sto)\s[^!?]{{2,60}}\b(?:rather\sthan|instead\sof)\b
              |\b(?:run|check|clear)\s(?:it|them|that)\s(?:past|by|with)\s(?-i:[A-Z])\w+\s(?:first|before)\b
              |\bthat'?s\s(?:exactly\s)?the\s(?:level|kind|style|amount|sort|tone|format|length)\b[^.]*\bi\s(?:want|like|need|prefer)\b
              |(?:回复|回答|答案|解释|说明)[^。？]{{0,4}}(?:短|简洁|精简)|(?:不用|不需要|不必|无需)(?:再|做|写)?(?:总结|解释|道歉|客套)
              |\b(?:answer|reply|respond|talk)\s(?:to\sme\s)?(?:only\s)?
              in\s{LANGUAGES}\b|\b(?:be|stay)\s(?:more\s|less\s)?(?:concise|terse|brief|verbose|direct)\b
              |\bstop\s(?:summari[sz]ing|apologi[sz]ing|asking|explaining|adding|repeating|thanking|praising)\b
              |\bno\s(?:emojis?|bullet\s(?:lists?|points?)|summaries|apologies|preambles?)\b
              |\bask\s(?:me\s)?(?:first\s)?before\s(?:you\s)?\w+|\bask\s(?:me\s)?(?:instead\sof|rather\sthan)\s\w+
              |\b(?:no\sneed\sto|you\sdon'?t\s(?:need|have)\sto)\s(?:explain|apologi|summari|ask|repeat|thank)\w*
              |\b(?:try\sto\s)?keep\s(?:comments|functions|methods|commits|prs|diffs|files|changes)\s\w+
              |^(?:all\s|our\s)?(?:tests?|commits?|prs?|comments?)\s(?:must|should|may)\s(?:not|never|always)\b|\b(?:check|confirm)\swith\sme\sbefore\b
              |(?:先问我|问我一下再|必须先问)|(?:回答|回复|解释)[^。？]{{0,6}}(?:简短|简洁|中文|英文|日文)
              |(?:跟我说话|注释|提交信息|变量名)[^。，]{{0,4}}用(?:中文|英文)|用(?:中文|英文)写(?:提交信息|注释|文档|变量名)|简短的回答|表情符号|auf\s(?:deutsch|englisch)\b|(?:日本語|英語|中国語)で(?:回答|返信|答え|書い)"""
        ),
        unless=pattern(r"\b(?:readme|changelog|docstring|error)\b|^your\s"),
    ),
    Cue(
        "preference",
        MemoryType.feedback,
        pattern(
            r"""\bi\s(?:much\s|really\s|strongly\s|generally\s|usually\s|still\s)?prefer\s\w+
              |\bi(?:'d|\swould)\s(?:much\s|really\s)?(?:rather|prefer)\s[^.]+\b(?:than|over|instead\sof)\b
              |\bi\s(?:really\s|do\s)?(?:hate|dislike|can'?t\sstand|love)\s(?:it\s)?when\syou\b
              |\bi\s(?:really\s)?(?:like|love)\s(?:small|short|simple|explicit|clean|plain|how\syou|the\sway\syou|when\syou)\b
              |\bi\s(?:don'?t|do\snot)\s(?:like\s\w+ing|want\syou\sto)\b|\bi\salways\s(?:want|like|need)\s(?!the\b)
              |\byou\skeep\s(?:forgetting|adding|removing|breaking|using|writing|renaming|changing|ignoring|skipping|asking)\b
              |\bi(?:'ve|\shave)?\s(?:noticed?|see|seen)\s(?:that\s)?you(?:'re|\sare|\skeep|\sbeing|\salways|\stend)\b
              |我(?:更|比较|很|还是)?(?:喜欢|偏好|倾向于?|习惯)(?!这|那|第)|我(?:不喜欢|讨厌)[^，。]{3,}
              |\bich\s(?:bevorzuge|mag\s(?:es|keine))|(?:の方|ほう)が好き"""
        ),
        unless=OPTION,
    ),
    Cue(
        "deadline",
        MemoryType.project,
        pattern(
            r"""\b(?:deadline|due|launch(?:es|ing)?|releas(?:e|es|ing)|demo|freez(?:e|es|ing)|frozen|ship(?:s|ping)?|go(?:es)?
              [\s-]live|cut(?:s|ting)?|sunset(?:s|ting)?|deprecat\w+|expires?|eol|code\sfreeze|deploys?|audit|milestone
              |shut\s?(?:down|s\sdown)|turned\soff|promised|on\s(?:\w+\s)?(?:leave|vacation|holiday)|must\sbe\sdone|has\sto\sbe\sdone
              |runs?\sout|goes?\s(?:dark|away|offline)|switched\soff|starts\son|ends\s(?:on|in)|until\sthen\s(?:nobody|nothing|no\sone)|(?:has|have|needs?)\sto\s(?:work|be\s(?:ready|out|live|finished)|go\sout))\b
              |\bwe\b[^.]*\b(?:supports?|keep(?:ing)?|kept)\b[^.]*\b(?:until|till)\b
              |截止|发布日期|上线|下线|冻结|之前(?:要|必须|得|不要|不能|别)|交付|演示|到期|\b(?:frist|abgabe|stichtag|termin)\b|締め?切り?|期限|リリース日?は"""
        ),
        unless=pattern(
            r"""\b(?:due\sto|let'?s|function|file|variable|check|test|header|cookie|token|cache|session|shipping|missing)\b
              |\bwe\sneed\sto\sfix\b|\b(?:i|my|me)\b
              |^deadline\s?:|^(?:great\s|ok\s|please\s)?(?:make|set|change|write|add|deploy|ship|release|cut|launch)\b"""
        ),
        needs_day=True,
    ),
    Cue(
        "recurs",
        MemoryType.project,
        pattern(
            r"""\b(?:staging|prod(?:uction)?|sandbox|servers?|clusters?|credentials|backups?|databases?|runners?|certificates?|tokens?
              |pipelines?|environments?)\b[^.]{0,20}\b(?:rotates?|gets?|is|are|runs?|restarts?|resets?|expires?)\b[^.]{0,30}
              \b(?:(?:every|each)\s(?:night|day|week|month|morning|evening|\w+day)|on\s\w+days|nightly|weekly|monthly)\b"""
        ),
        unless=pattern(r"\b(?:i|broken|fails?|failing|why|bug|fix)\b"),
    ),
    Cue(
        "ownership",
        MemoryType.project,
        pattern(
            r"""\b(?-i:[A-Z][a-z]+)\s(?:owns|maintains|is\sresponsible\sfor|is\sin\scharge\sof|signs\soff|leads\sthe|runs\sthe)\s\w+
              |\b(?:our|the)\s(?:qa|security|legal|platform|mobile|infra\w*|design|data)(?:\steam)?\s
              (?:owns|maintains|signs\soff|reviews|approves|is\sresponsible)\b|由[^，。]{1,8}负责|(?:归|是)[^，。]{1,6}(?:负责|维护)的"""
        ),
        unless=pattern(
            r"\b(?:function|class|module|method|parser|server|it|this|that)\s(?:owns|runs|handles)\b|^(?:this|it|that)"
        ),
        overrides_guards=True,
    ),
    Cue(
        "decision",
        MemoryType.project,
        pattern(
            r"""\bwe(?:'ve|\shave)?\s(?:all\s|finally\s|already\s|just\s)?(?:decided|chose|chosen|agreed|settled|opted|picked
              |standardi[sz]ed)\b
              |\bwe(?:'re|\sare)\s(?:going\swith|going\sto\s(?:drop|use|switch|move|migrate|adopt|support|keep|replace)
              |(?:dropping|moving|migrating|switching|deprecating|replacing|adopting|sunsetting)\b)
              |\bwe\s(?:explicitly|definitely|deliberately|intentionally|only|never)\s(?:do\snot\s|don'?t\s)?
              (?:want|need|use|support|ship)\b
              |\bwe(?:'ve|\shave)?\s(?:went|gone)\swith\s[^.]*\b(?:over|instead\sof|rather\sthan|because|since|for\sits)\b
              |\bwe\s(?:dropped|switched\sto|moved\s(?:to|off)|replaced|abandoned|migrated\sto|rejected|ruled\sout)\s[^.]*\b(?:because|since)\b
              |\bwe\s(?:only\s)?(?:target|support)\s(?-i:[A-Z])[^,]*\bonly\b|\bwe\sonly\starget\b
              |\bwe\s(?:are\s)?(?:stay(?:ing)?|stick(?:ing)?)\s(?:on|with|at)\s(?-i:[A-Z])\w+
              |\b(?:customer|user|personal|patient|payment|production)\s(?:data|records|details)\s(?:must|may)\s(?:never|not|only|always)\b
              |\bwe(?:'re|\sare)\snot\sallowed\sto\b|\bwe\s(?:may|must)\snot\s\w+
              |\bi\sknow\swe\s(?:want|need)\b|\bi\sthink\swe\s(?:want|need)\b.*\b(?:so\sthat|because|since)\b|\bwe\sdo\s[\w-]+-first\b
              |\bin\s(?:this|our)\s(?:project|repo(?:sitory)?|team|code\s?base|company)\b[^.]*\bwe\s(?:always|never|only)\s\w+
              |\bwe\s(?:can'?t|cannot|may\snot|must\snot|aren'?t\sallowed\sto)\suse\b[^.]*\b(?:because|since)\b
              |\b(?:legal|compliance|security|finance|the\scustomer|our\scustomer)\s(?:team\s|department\s)?
              (?:requires?|demands?|insists?|forbids?|mandates?|wants\s(?:all|every|no|us)|asks\sfor)\b|\bthat'?s\swhy\swe\b
              |\bwe\s(?:use|follow|practi[cs]e)\s[^.]*\b(?:development|workflow|versioning|semver|convention)\b
              |\bwe\s(?:must|have\sto|need\sto)\s(?:support|keep|stay|comply|remain)\b
              |\b(?:is|was|are|were)\s(?:being\s)?(?:driven|forced|mandated|required|demanded)\sby\b
              |\b(?:the\s)?reason\s(?:we|why\swe|for\s(?:the|this|keeping|our))\b|\blet'?s\s(?:use|go\swith|switch\sto|stick\s(?:with|to)|do)\s[^.?]*\binstead\sof\b
              |(?:法务|合规|安全团队|客户)(?:团队|部门)?要求|我们(?:决定|选择|选了|选用|打算|改用|不再|约定|商定|统一用)|(?:最终|最后)(?:决定|选择)
              |\bwir\shaben\suns\s(?:für|gegen|entschieden)|\bwir\s(?:nehmen|verwenden|setzen\sauf|bleiben\sbei)\b
              |(?:することに|使うことに)(?:した|しました|決め)"""
        ),
        unless=pattern(
            rf"""\b(?:option|approach|version)\s?(?:\d|[a-c])\b|\b(?:a|the|an)\s{CODE_WORDS}\b|\b(?:first|second|third)\s(?:one
              |approach|option|way)\b|\b(?:fix|rebase|commit|push|rerun|debug|merge\s(?:it|this|that|the))\b|\bwe\s(?:just\s)?need\sto\s(?:do|get|look)\b
              |第[一二三]个|\b(?:nothing|yet|haven'?t)\b|选第"""
        ),
    ),
    Cue(
        "remember",
        MemoryType.project,
        pattern(
            rf"""{START}(?:remember(?:\s?:|\sthat\b|\sthis\s?:)|(?:keep|bear)\sin\smind\b)
              |^(?:please\s|and\s)?remember\s(?:the|our)\b[^.]*\b(?:is|are|has|have|must|can|will|was|were|gets?)\b
              |\bfor\s(?:the\srecord|future\sreference|your\sinformation)\b|\bfyi\b|\bdon'?t\sforget\sthat\b
              |(?:请|你?要)?记住[：:，,]?|记得[：:，,]|请注意[：:]|备忘
              |\bmerk(?:e)?\sdir\b|\bdenk\sdaran\b|\bnicht\svergessen\b|覚えておいて|忘れないで"""
        ),
        unless=pattern(
            r"""\b(?:do|did|can|could)\s(?:you|i|we)\s\w*\s?remember|\bremember\sto\b|\bi\s(?:\w+\s){0,2}?remember
              |:$|还记得|\byou\sare\s"""
        ),
        overrides_guards=True,
    ),
)
"""In the order in which they are asked; the first that fits names the type."""

_STATEMENT_TYPES: tuple[tuple[MemoryType, re.Pattern[str]], ...] = (
    (MemoryType.user, pattern(r"^(?:i'm|i\sam|my\s(?:name|role|job)|i\swork\s(?:at|as|in))\b|^我(?:是|叫)")),
    (
        MemoryType.feedback,
        pattern(
            r"""^(?:please\s)?(?:always|never|don'?t|do\snot|use|avoid|write|run|ask|answer|keep|prefer|stop|no)\b
              |^(?:i|you)\s(?:prefer|want|like|hate|should|must)\b|^(?:不要|别|必须|永远|用)"""
        ),
    ),
)


def remembered_type(statement: str) -> MemoryType:
    """The type of what somebody asks to remember, by how it begins."""
    return next((kind for kind, pattern in _STATEMENT_TYPES if pattern.search(statement)), MemoryType.project)
