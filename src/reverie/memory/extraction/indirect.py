"""Rules, facts and pointers that are not said as orders: tastes, conventions, owners, dates that moved, who one is.

More rows for the table of `cues.py`, English and Chinese. Each is a family of phrasings, not a sentence.
"""

from __future__ import annotations

from reverie.memory.extraction.cue import Cue
from reverie.memory.extraction.phrases import ARTEFACTS, OPTION, ROLES, SYSTEMS, SYSTEMS_HAN, pattern
from reverie.memory.topic import MemoryType

_NAME = r"(?-i:[A-Z][a-zé]+)"
_GROUP = r"(?:the\s|our\s)?(?:[\w-]+\s){0,2}?(?:team|squad|group|guild|department|crew)"
_WHO = rf"(?:{_NAME}(?:'s\s(?:team|group|squad))?|{_GROUP}|team\s\w+)"
_OF_WORK = (
    rf"(?:{ARTEFACTS}|tests|scripts|deploys|deployments|releases|merges|schema\schanges|fixtures|log\slines|logs|queries"
    r"|secrets|credentials|endpoints|charts|reports|strings|configs?|docs|documentation|functions|modules|classes)"
)
_POINTS_AT = pattern(
    r"""\b(?:this|these|those)\s(?!project|repo|team|company|week|quarter|year|month)\w+|\bon\sthis\b|\b(?:here|there)\b(?!\sis)|\byet\b
      |\badd\s(?:it|them|a|an|the)\b|加一下|改一下|这个|那个|这里|那里|这次"""
)
"""Words that point at what is at hand."""

INDIRECT: tuple[Cue, ...] = (
    Cue(
        "polite",
        MemoryType.feedback,
        pattern(
            r"""\b(?:can|could|would|will)\syou\s(?:please\s|just\s|also\s)*(?:not\s\w+[^?]*\b(?:without|unless|any\s?more|ever|every|all\sthe\stime)\b
              |stop\s\w+ing|always\s\w+|never\s\w+|quit\s\w+ing|from\snow\son|in\s(?:the\s)?future|going\sforward)
              |\bwould\syou\smind\s(?:not\s)?\w+ing\b[^?]*\b(?:in\sgeneral|from\snow\son|in\sfuture|every|always)\b
              |(?:能不能|可不可以)(?:不要|别)(?:每次|总|老|再|一直|动不动)[^。]{3,}|(?:能不能|可不可以|可以|麻烦你?|请你?)(?:以后|今后|每次|不要再|别再|别总|别老|不要总)[^。]{3,}|(?:以后|今后|每次)[^？。]{3,}(?:好吗|可以吗|行吗|好不好)"""
        ),
        unless=_POINTS_AT,
        overrides_guards=True,
    ),
    Cue(
        "from then on",
        MemoryType.feedback,
        pattern(
            r"""(?:^|[,;.]\s)(?:and\s|so\s|for\s|ok(?:ay)?,?\s)?(?:from\s(?:now|here|today|this\spoint)\son(?:\sout|wards?)?|going\sforward|moving\sforward
              |in\s(?:the\s)?future|for\s(?:all\s)?(?:the\s)?future\s\w+|starting\s(?:today|now|this\sweek|next\sweek|\w+day)|as\sof\s(?:today|now|this\sweek|\w+day)
              |effective\simmediately|until\sfurther\snotice|unless\s(?:i\s(?:say|tell\syou)|told)\sotherwise|next\stime|by\sdefault)[\s,:]+
              (?!(?:the|it|i|we|he|she|they)\s(?:\w+\s)?(?:runs?|starts?|happens?|comes|will|fails?)\b|the\s(?:variable|function|class|button|file|story|character)\b|in\sthis\b|i'?ll\b|i\swill\b|it\b)\w+\s\w+
              |\b(?:in\s(?:the\s)?future|going\sforward|from\s(?:now|here)\son(?:\sout)?|until\sfurther\snotice|unless\si\s(?:say|ask|tell\syou)(?:\s\w+)*)\W*$
              |(?:^|[，,。；])(?:下次|往后|日后|今后|以后|从今天起|从下周起|从今往后|从这周开始)[，,]?(?!再|会|的|有|看|吧|见|可能|也许|想)[^。？]{3,}"""
        ),
        unless=pattern(
            r"""\b(?:called|named)\s\w+\W*$|\bthe\s(?:variable|function|class|method|column|field|button|file|test|page)\b|\b(?:will|might|may|could)\s(?:be|have|need|want)\b|\b(?:i|we)\s(?:will|might|may|could|want\sto\slook)\b|以后再|下次再|再说|再看"""
        ),
        overrides_guards=True,
    ),
    Cue(
        "taste",
        MemoryType.feedback,
        pattern(
            rf"""\bi(?:'d|\swould)\s(?:much\s|really\s|far\s)?(?:rather|sooner)\s(?:you|we|see|read|have|not|keep|get|be)\b
              |\bi(?:'d|\swould)\s(?:much\s|really\s)?prefer\s(?:that\s|if\s)?(?:you|we|to\s(?:see|review|keep|have|be))\b
              |\bmy\spreference\s(?:is|would\sbe)\b|\bi\s(?:tend\sto\s)?(?:lean|err)\s(?:toward|towards|on)\b|\bi\s(?:tend\sto|generally|usually|always)\s(?:prefer|like|favou?r)\b
              |\b(?:i'm\s|i\sam\s)?not\s(?:a|the)\s(?:big\s|huge\s)?fan\sof\s\w+|\bi'?m\s(?:not\s)?(?:keen|big)\son\s\w+|\bi'?m\s(?:very\s|quite\s|really\s)?(?:picky|strict|particular|allergic)\s(?:about|to)\b
              |\bi\s(?:really\s)?(?:can'?t\sstand|hate|detest|dislike)\s(?:it\s)?(?:when|seeing|having|how|\w+ing|{_OF_WORK})\b
              |\b(?:it\s)?(?:bugs|annoys|irritates|bothers|confuses)\sme\s(?:when|that|if)\b|\bdrives?\sme\s\w+\swhen\b
              |\bi\s(?:find|found)\s(?:it\s)?(?:[\w-]+\s){{1,4}}(?:hard|annoying|distracting|easier|noisy|helpful|confusing|tedious)\b
              |\bi\s(?:really\s)?(?:like|love|appreciate|enjoy)\s(?:it\s)?(?:when|that\syou|how\syou|my|having|seeing|{_OF_WORK})\b
              |\bi\s(?:care\s(?:a\slot\s)?about|insist\son|value|expect)\s\w+|\bmatters?\smore\s(?:to\sme\s)?than\b|\bworks?\s(?:best|better|well|great)\sfor\sme\b
              |\b(?:it\s)?helps?\sme\s(?:a\slot\s)?(?:if|when)\b|\bi\s(?:don'?t|do\snot)\s(?:need|want|like)\s(?:an?\s|the\s|any\s|you\s|to\ssee\s)(?:[\w-]+\s){{0,2}}
              (?:summar\w+|recaps?|explanations?|comments?|apolog\w+|disclaimers?|emojis?|confirmation|reminders?|praise|compliments?|caveats?|to\sexplain|explaining)\b
              |\bi\swant\s(?:to\s(?:see|approve|review|be\sasked)\s(?:every|each|all|any)|(?:all|every|each)\s|diffs|plans?\b|you\sto\s(?:always|never|think|ask|explain|challenge|(?:\w+\s){{1,3}}(?:if|when|whenever)\s))
              |\bspare\sme\s\w+|{_OF_WORK}\sbeats?\s\w+|\b\w+\sover\s\w+,?\s(?:always|please|every\stime)\b
              |我(?:比较|更|很|最)?(?:看重|在意|注重|讲究)[^，。？]{{2,}}|我(?:更愿意|宁愿|宁可|倾向|不太喜欢|不想(?:再)?看到|受不了|最烦|很烦|不需要你|希望你(?:以后|每次|总是|都|先|不要|别))[^，。？]{{2,}}"""
        ),
        unless=pattern(
            rf"""{OPTION.pattern}|\bin\sthis\b|\b(?:this|that)\s(?:bug|fix|one|version|colou?r|idea|approach)\b|\bthe\s(?:new|blue|red|second|first|logo|button|header)\b
              |\b(?:button|dropdown|logo|page|column|chart|font|background|design|layout|menu|icon)s?\b"""
        ),
    ),
    Cue(
        "not needed",
        MemoryType.feedback,
        pattern(
            rf"""(?:^|[,;.]\s)(?:please\s|and\s|so\s|you\scan\s)*(?:don'?t|do\snot)\sbother\s(?:with\s|to\s|\w+ing\s)\w+
              |(?:^|[,;.]\s)(?:there'?s\s|there\sis\s)?no\s(?:need|reason)\s(?:to|for)\s(?:\w+\s){{0,3}}?(?:{_OF_WORK}|explain\w*|apologi\w+|summar\w+|ask|confirm\w*|repeat\w*|recap|thank|permission)\b
              |\byou\s(?:needn'?t|don'?t\s(?:need|have)\sto|can\s(?:stop|drop))\s(?:ask|explain|apologi|summar|repeat|confirm|justify|thank|recap|write|wait|add)\w*
              |(?:^|[,;.]\s)(?:please\s)?(?:stop|quit|enough\swith\sthe|cut\s(?:out\s)?the|drop\sthe|skip\sthe|spare\sthe|lose\sthe)\s
              (?:adding|creating|suggesting|asking|using|writing|putting|wrapping|leaving|making|generating|telling|starting|summari\w+|recaps?|pleasantries|preambles?|intro\w*|disclaimers?|emojis?|apolog\w+|flattery|small\stalk|fluff|boilerplate)\b
              |(?:不用|不需要|不必|没必要|无需|用不着)(?:每次|都|再|总是|给我|跟我)[^，。？]{{2,}}|(?:别|不要)(?:再|老是|总是|总|动不动)[^，。？]{{3,}}|少(?:写|说|用|加)点?[^，。？]{{2,}}"""
        ),
        unless=_POINTS_AT,
    ),
    Cue(
        "convention",
        MemoryType.feedback,
        pattern(
            rf"""\b(?:the|our|my|a|one)\s(?:\w+\s){{0,2}}?(?:convention|rule|policy|practice|house\sstyle|standard|agreement|guideline|principle|habit|default)
              (?:\s(?:here|for|on|in|with|about)(?:\s[\w-]+){{0,4}}?)?\s(?:is|has\sbeen)(?:\s(?:that|to|simple)|:|\s\w+)
              |^(?:house|team)\s(?:style|rule|agreement|convention|policy)\b|\bwe\shave\san?\s[\w-]+(?:\s[\w-]+)?\s(?:policy|rule|convention|agreement)\b
              |\b(?:let'?s\s)?make\sit\sa\s(?:rule|habit|policy)\b|\bas\sa\s(?:matter\sof\s)?(?:general\s)?(?:rule|principle|policy)\b
              |\b(?:under\sno\scircumstances|no\sexceptions?|without\sexception|off\slimits)\b
              |\bwe\s(?:always|never|don'?t|do\snot|only\sever)\s(?:\w+\s){{1,8}}?(?:{_OF_WORK}|branch\w*|main|production|customers?|code|tests?|commit|dependenc\w+|inline|globals?)\b
              |^(?:all|every|each|no)\s(?:new\s|public\s|user-visible\s)?{_OF_WORK[:-1]}|commit|pr|pull\srequest|test|script|migration|branch|release|function|chart|report|string|endpoint|dependency|merge)s?\s
              (?:must|should|need|needs|get|gets|go|goes|has\sto|have\sto|are|is|without|in|on|comes?|carr(?:y|ies))\b
              |^(?:commits?|commit\smessages?|prs?|pull\srequests|tests?|reviews?|migrations?|log\slines|logs|branches|comments)\s(?:above|below|over|under|must|should|need|never|always|go|come|get|are\s(?:written|in|always|never)|carry|stay)\b
              |^(?:nobody|no\sone|nothing)\s(?:pushes|merges|deploys|ships|commits|touches|releases|gets\s(?:merged|deployed|released|shipped)|goes\s(?:to|into|out))\b
              |(?:约定|规范|规矩|惯例|原则|规定|做法|习惯|风格)(?:上)?(?:是|：|:)|(?:团队|公司|我们|项目)(?:里|内部)?(?:的)?(?:约定|规定|规范|惯例|一向|向来|从来|一直|都是|只用|统一)[^。？]{{3,}}
              |(?:^|[，。；])凡是?[^，。？]{{2,}}(?:都|一律|必须)|^(?:所有|每个|每次|任何)[^，。？]{{2,12}}(?:都(?:要|得|必须|不)|必须|一律|不(?:能|得|许|准))[^。？]{{2,}}|不许|请勿|优先(?:用|使用|考虑|选)[^，。？]{{2,}}|尽量(?:不|别|少|多|用|避免|保持)[^，。？]{{2,}}
              |^(?:变量名?|函数名?|类名|命名|提交信息|提交|注释|日志|分支名?|代码|测试|接口文档|文档|PR|MR|错误信息|报错信息|回答|回复|解释|评审意见|代码评审|评审|配置|金额|时间|日期|迁移脚本|脚本|依赖|密码|密钥|图表|报告|周报)
              [^，。？！]{{0,10}}?(?:请用|要用|都用|用(?:中文|英文|小写|大写|驼峰|下划线)|不要|别|不能|必须|一律|要(?:写|带|有|加|附|保持|精简|简洁|先)|得(?:写|带|有)|只(?:用|写|放)|控制在|不超过)[^。？]{{1,}}
              |(?:规矩|约定|惯例|规定|规范|原则|习惯)[。！!]?$|(?:不要|别|不能)(?:自作主张|随便|擅自|轻易|私自|乱(?:改|动|加)|顺手|主动)[^，。？]{{2,}}|(?:回答|回复|解释|汇报)(?:的时候|时|问题)?[，,]?(?:直接|先|尽量|只|请|都)[^。？]{{2,}}
              |避免[^，。？]{{2,}}[，,](?:因为|否则|不然|上次|之前)|(?:之前|以前|前)(?:先|必须|一定要?|要先|得先|务必)[^，。？]{{2,}}"""
        ),
        unless=pattern(
            rf"""{_POINTS_AT.pattern}|\b(?:page|form|screen|dialog|button|modal|table|row|card)\b|\b(?:fail|failing|broken|red|slow|passing|pass|green|stuck)\b
              |\b(?:firewall|eslint|lint|css|regex|routing|validation|default\s(?:timeout|value|port))\s?(?:rule|is)?\b|(?:^|[，,请])把|帮我|(?<!别再)(?<!不要再)不要[^，。再]{{1,6}}了(?:[，。]|$)|报错|接口(?:都)?(?:必须)?返回"""
        ),
    ),
    Cue(
        "approved",
        MemoryType.feedback,
        pattern(
            r"""\b(?:was|is)\s(?:exactly\s|absolutely\s)?the\sright\s(?:call|way|move|approach|choice)\b[^.]*\b(?:keep|do|same|future|again|always|stick)\b
              |\b(?:keep\s(?:that|it|this)\sup|keep\sdoing\s(?:that|it|this)|stick\swith\s(?:that|it)|make\s(?:it|that)\sthe\s(?:standard|default|norm)|do\sit\s(?:that|this)\sway\s(?:in\sfuture|from\snow\son|every\stime))\b
              |\b(?:exactly|just)\s(?:the\s\w+\s(?:of\s\w+\s)?|how\s|what\s)(?:i|we)\s(?:want|like|need)\b[^.]*\b(?:in|for|every|all|always)\b
              |\bthis\sis\show\si\swant\s(?:all|every|my|the)\b|(?:就按|都按|就照|都照)(?:这个|这种|这样)[^。？]{1,}(?:来|做|写)|保持(?:这种|这个|这样)[^。？]{2,}"""
        ),
        overrides_guards=True,
    ),
    Cue(
        "ask whom",
        MemoryType.feedback,
        pattern(
            rf"""\b(?:ask|check\swith|talk\sto|consult|ping|clear\s(?:it|that)\swith|run\s[\w\s]{{2,30}}\s(?:past|by)|get\s(?:a\s|an\s)?(?:ok|okay|approval|sign-?off|review)\sfrom)\s
              (?:me|{_WHO})\s(?:first\s|about\s[\w\s]{{2,20}}\s)?(?:before|prior\sto|whenever|when\syou|for\sanything|if\syou)\b
              |\b(?:before|whenever|when)\s(?:you\s)?(?:\w+ing|touch|change|add|rename|delete)\s[^,.?]{{3,60}},\s(?:please\s|always\s)?(?:ask|check\swith|talk\sto|consult|ping|tell)\s(?:me|{_WHO})\b
              |(?:先|必须|要|得|请)(?:问|找|跟|和|通知|告诉)(?:一下)?[^，。？先]{{1,8}}(?:确认|审批|同意|商量|打招呼|说一声|看过)"""
        ),
        unless=pattern(rf"{_POINTS_AT.pattern}|\b(?:the\s)?user\s(?:for|before)\b|\bdialog\b"),
    ),
    Cue(
        "owned",
        MemoryType.project,
        pattern(
            rf"""\b(?:is|are)\s(?:now\s)?(?:owned|maintained|run|handled|managed|looked\safter)\sby\s(?:\w+\s){{0,2}}?{_WHO}
              |\bbelongs?\sto\s{_WHO}\b
              |\b{_NAME}\s(?:takes\scare\sof|looks\safter|is\s(?:the\s)?(?:one\s(?:who|to)|person\s(?:for|to)|owner\sof|contact\sfor|point\sof\scontact|product\sowner|tech\slead|responsible\sfor|in\scharge\sof)|takes\sover|covers\sfor|decides\son|approves|handles)\b
              |\b(?:questions|anything|everything|requests|issues)\s(?:about|on|around|related\sto|concerning|with)\s[^.?]{{3,40}}\b(?:go|goes|belongs?)\sto\s(?-i:[A-Z])\w+
              |\bask\s{_NAME}\s(?:about|for|when\sit\scomes\sto)\s(?:anything|everything|all|questions|details|\w+ing|[\w\s]{{3,30}},\s(?:he|she|they)\s)
              |\b(?:our|the)\s(?:\w+\s)?(?:team|department|officer|qa|legal|security)\s(?:reviews|approves|signs\soff|must\sapprove|has\sto\s(?:approve|sign)|needs\s\w+\s(?:days?|hours?|weeks?))\b
              |\b(?:two|three|\d)\s(?:people|approvals|reviewers)\s(?:have\sto|must|are\s(?:needed|required))\b
              |\b{_NAME}\s(?:is\s(?:on\s(?:\w+\s)?(?:leave|vacation|holiday)|away|out\sof\soffice|out)\s(?:until|till|from)|(?:leaves|joins|left|starts|quits)\s(?:the\s(?:team|company)|us|at\sthe\send|in\s|on\s|next\s))
              |(?:由|归)[^，。？]{{1,10}}(?:负责|维护|管|审批|拍板)|[^，。？我你他她它]{{2,8}}(?:归|是)[^，。？]{{1,8}}(?:团队|组|部门)(?:的|管|负责|维护)|(?:问题|需求|权限|事情|故障|bug)(?:直接|都|统一|一律|就)?(?:找|问|联系)[^，。？]{{1,8}}(?:[，。]|$)"""
        ),
        unless=pattern(
            r"\b(?:function|class|module|method|parser|server|process|thread|kernel|it|this|that)\s(?:owns|runs|handles|is)\b|^(?:this|it|that|probably|maybe|possibly)\b|谁"
        ),
        overrides_guards=True,
    ),
    Cue(
        "moved",
        MemoryType.project,
        pattern(
            r"""\b(?:deadline|launch|release|demo|go-live|date|freeze|meeting\swith|submission|milestone|rollout|migration|kick-?off|workshop|audit|review)\b[^.?]{0,30}
              \b(?:moved|pushed|slipped|postponed|delayed|brought\sforward|rescheduled|shifted|is\snow|changed)\b
              |(?:截止|上线|发布|交付|演示|评审|发版|封版|提测)[^，。？]{0,8}(?:改到|推迟到|延期到|延后到|提前到|挪到|定在|定为|是|在)|(?:推迟|延期|提前)(?:到|至)"""
        ),
        unless=pattern(r"\b(?:button|file|folder|column|function|code|line|branch)\b"),
        needs_day=True,
    ),
    Cue(
        "rhythm",
        MemoryType.project,
        pattern(
            r"""\bwe\s(?:usually\s|always\s|only\s|normally\s)?(?:ship|release|deploy|merge|cut|plan|demo|tag|publish)\b[^.?]{0,40}
              \b(?:on\s\w+days|every\s\w+|each\s\w+|twice|once\sa|weekly|monthly|nightly|between\s\w+\sand)\b
              |\b(?:sprints?|releases?|deploys?|deployments?|standups?|backups?|rotations?|on-call)\b[^.?]{0,30}\b(?:happen|start|end|run|switch|go\sout|change)s?\b[^.?]{0,20}\b(?:on\s\w+days|every\s\w+|each\s\w+|at\s\w+\s(?:in|every))\b
              |\b(?:environment|staging|sandbox|cluster|database|test\ssystem)\b[^.?]{0,25}\b(?:is|gets)\s(?:reset|wiped|restored|refreshed|recreated|cleared|shared)\b
              |我们(?:一般|固定|每)?(?:每周|每月|每天|周)[^，。？]{0,6}(?:发版|上线|发布|部署|迭代)|每(?:周|月|天|两周)[^，。？]{0,6}(?:发版|上线|发布|清空|重置|轮换|封版)"""
        ),
        unless=pattern(
            r"\b(?:fail\w*|broken|bug|crash\w*|yesterday|last\snight|now|again|today)\b|为什么|失败|挂了|报错"
        ),
    ),
    Cue(
        "settled",
        MemoryType.project,
        pattern(
            r"""\bwe(?:'ve|\shave)?\s(?:now\s|finally\s)?settled\son\b|\b(?:it\s(?:was|has\sbeen)|it's\sbeen)\s(?:decided|agreed)\b|\bthe\sdecision\s(?:is|was|has\sbeen)\b|^decision\b[^.?]{0,30}:
              |\bwe(?:'ve|\shave)\sdecided\sagainst\b|\bwe(?:'re|\sare)\s(?:phasing\sout|retiring|freezing|rewriting|sunsetting|standardi[sz]ing\son)\b
              |\bwe\s(?:went|opted)\sfor\b|\bwe\s(?:abandoned|gave\sup\son|ditched|killed|scrapped)\s\w+\b[^.?]*(?:\bbecause\b|\bsince\b|\bafter\b|[,;]\s\w+)
              |\bwe\s(?:already\s)?(?:tried|evaluated|looked\sat|considered)\s[^.?]*\b(?:and|but)\s(?:it|they|that)\b|\boff\sthe\stable\b
              |\b(?:the|our)\s(?:\w+\s)?(?:goal|priority|focus|target|objective|aim)\s(?:\w+\s){0,4}?is\s\w+
              |\b(?:was|is|are)\s(?:intentional|deliberate|on\spurpose)\b[^.?]*[,:;]|\b(?:exists?|is\sthere)\s(?:only\s)?(?:because|for)\s\w+
              |\b(?:the\s)?reason\s(?:for|behind|why|that|we)\b[^.?]{3,}\b(?:is|was)\b|\b(?:the\sreason|that\sis|that'?s|which\sis)\swhy\s(?:we|the|every|all|our|no)\b|\bhence\s(?:the|our|we|no)\b
              |\b(?:legal|compliance|security|finance|marketing|sales|gdpr|pci|hipaa|the\s(?:law|contract|regulator|auditors?|customers?|client|union|dpo|data\sprotection\sofficer|bank|board))\s(?:team\s|department\s)?
              (?:says?|said|requires?|demands?|insists?|forbids?|mandates?|wants?|needs|has\sto|must|only\saccepts?|asked\sfor|won'?t|flagged|limits?)\b
              |\bwe\s(?:can'?t|cannot|may\snot|must\snot|mustn'?t|are\snot\sallowed\sto|aren'?t\sallowed\sto|have\sto|must)\s\w+[^.?]*(?:\b(?:because|since|until|so)\b|[,;]\s(?:\w+\s){0,3}(?:forbids?|requires?|insists?|licen[cs]e|contract|law|customers?|gdpr|pci|legal))
              |\b(?:our|the)\s(?:sla|contract|agreement|licen[cs]e)\s(?:with\s[\w\s]{2,20}\s)?(?:is|says|allows|requires|limits|guarantees|forbids)\b
              |\b(?:most\sof\s)?our\s(?:users|customers|clients|team|budget|biggest\scustomer|pilot\scustomer)\s(?:are|is|run|runs|use|uses|have|has|sit|work)\b
              |我们(?:最终|最后|已经|商量后|讨论后)?(?:定了|敲定|定下来|放弃了?|弃用|不用|换成了|改成了|迁到|切到|采用|沿用|暂不)[^。？]{2,}|决定(?:了)?(?:用|不用|采用|放弃|保留|改|把|先|不做|不再|只|从)[^。？]{2,}
              |(?:踩过坑|吃过亏|出过事故?|翻过车|被坑过)[^。？]*所以|[，,]所以[^，。？]{0,8}(?:都用|都走|一律|只用|只能|不再|统一)[^。？]{2,}|我们(?:团队|组|公司|项目)(?:有|在|是|分布|只有|没有)[^。？]{2,}|之所以[^。？]{2,}是因为|(?:已经|之前|去年|以前|曾经|前年)(?:试过|评估过|用过)[^。？]{2,}(?:结果|所以|不行|失败|太|不适合|放弃|有问题)|(?:目标|重点|优先级最高的)(?:是|：)[^。？]{2,}|(?:最终|最后)(?:选了?|定了?|用了|采用了?)[^。？]{2,}|(?:合同|法规|合规|监管|审计|客户|老板|甲方|财务|法务|安全|运维|产品)(?:部门|团队|组|部|里|上)?(?:要求|不让|规定|约定|不允许|坚持|只接受|必须)[^。？]{2,}"""
        ),
        unless=pattern(
            r"""\b(?:first|second|third|blue|red)\s(?:one|option|approach)\b|\b(?:nothing|yet|haven'?t|not\ssure|pizza|lunch|coffee|talk\sagain)\b|\b(?:in|on|with)\sthis\s(?:pr|branch|file|function|test|form)\b
              |\b(?:the\sbug|the\serror|the\scrash|the\sfailure|it\sfails)\b|\bdecided\sto\s(?:go\sfor|grab|take|leave|stop|wait|merge\sit|skip\sit)\b|第[一二三]个|这个(?:函数|文件|按钮|测试|变量)|报错|还没"""
        ),
    ),
    Cue(
        "who I am",
        MemoryType.user,
        pattern(
            rf"""\b(?:english|german|french|spanish)\s(?:isn'?t|is\snot)\smy\sfirst\slanguage\b|\bmy\s(?:first|native|main|daily|strongest)\slanguage\sis\b|\bmy\stime\s?zone\sis\b
              |\bi(?:'m|\sam)\s(?:based|located|living)\sin\s\w+|\bi\s(?:live|work)\sin\s(?-i:[A-Z])\w+|\bi\swork\s(?:as|nights|part\stime|remotely|from\s(?-i:[A-Z]))
              |\bi(?:'ve|\shave)\snever\s(?:really\s)?(?:used|worked\swith|touched|written|done|deployed|learned)\s(?:any\s)?(?-i:[A-Z])[\w+\#.]*|\bi\shave\s(?:no|zero|little|hardly\sany|\d+\syears(?:\sof)?|some)\sexperience\b
              |\bi\shave\s(?:adhd|dyslexia|autism|rsi|bad\seyesight|poor\svision|a\sscreen\sreader|tinnitus)\b|\bi(?:'m|\sam)\s(?:partially\s|legally\s)?(?:blind|deaf|hard\sof\shearing)\b
              |\bi(?:'m|\sam)\s(?:very\s|fairly\s|quite\s|pretty\s)?(?:comfortable|fluent|experienced|proficient|rusty|shaky|weak|strong)\s(?:with|in|at)\s\w+
              |\bi\s(?:barely|hardly|only)\s(?:know|speak|understand|write)\s\w+|\bi\sknow\s(?-i:[A-Z])[\w+\#.]*\s(?:well|inside\sout|pretty|quite|already)|\bi\s(?:don'?t|do\snot)\s(?:know|speak)\s(?-i:[A-Z])[\w+\#.]*(?:\s(?:at\sall|well)|[,.]|$)
              |\bi(?:'m|\sam)\s(?:responsible\sfor|in\scharge\sof|on\scall\sfor)\s\w+|\bi\s(?:own|look\safter|handle|maintain|head|run|lead|manage)\s(?:the|our|a|all|\w+\s(?:reviews|engineers|people))\b
              |\bi\s(?:used\sto\sbe|switched\sfrom|came\s(?:over\s)?from|trained\sas|studied|study|teach)\s\w+|\bmy\s(?:day\sjob|degree|training|field|background|role(?:\shere)?|job)\s?(?:is|was|:|in)\s?\w+
              |\b(?:call\sme|i\sgo\sby|people\scall\sme)\s(?-i:[A-Z])\w+|\b(?:coming|i\scome)\sfrom\s(?:an?\s)?(?-i:[A-Z])[\w+\#.]*|\bas\san?\s(?:[\w-]+\s)?{ROLES}(?:\smyself)?,?\si\s(?!want\b|can\b|should\b)\w+
              |\bi(?:'m|\sam)\s(?:on|using)\sa\s(?:mac\w*|windows|linux|chromebook|thinkpad)\b|\bi\suse\san?\s(?:mac\w*|screen\sreader|chromebook|thinkpad|linux|windows)\b|\bi(?:'m|\sam)\sa(?:n)?\s(?:[\w-]+\s){{0,3}}?{ROLES}\b
              |\bi(?:'m|\sam)\s(?:still\s)?(?:learning|teaching\smyself|studying)\s(?-i:[A-Z])\w+
              |我是(?:做|搞|写|学)[^，。？]{{1,10}}的|我(?:负责|主管|带)[^，。？]{{2,}}|我(?:没(?:怎么)?(?:用过|接触过|写过|学过|做过)|刚(?:接触|学|转|入职)|不太?熟)[^，。？]{{1,}}|对[^，。？]{{1,10}}(?:不(?:太)?熟|不了解|一窍不通)
              |我在[^，。？]{{2,8}}(?:工作|上班|办公|读研|读博)|我(?:的)?(?:英语|英文|中文|数学)(?:不好|不太好|一般|很差)|我(?:有|做了|写了)[^，。？]{{1,6}}年(?:的)?[^，。？]{{0,8}}(?:经验|开发|工作)?|我(?:色盲|色弱|是色盲|是色弱)|我的?(?:时区|母语|背景|专业)是"""
        ),
        unless=pattern(
            r"""\b(?:imagine|pretend|suppose|act|if|let'?s\ssay|given|user\sstory|test\s(?:user|data)|with\srole|tenant|whenever\si|account|story|character|sample|fixture|logged|currently|today|now|idiot|stupid|terrible|bit\slost)\b
              |\bi\s(?:own|handle|run|lead)\s(?:the\s)?(?:ticket|it|this|tests?|command|script|call|meeting)\b|假设|扮演|登录|账号|负责人是谁"""
        ),
        overrides_guards=True,
    ),
    Cue(
        "where it is",
        MemoryType.reference,
        pattern(
            rf"""\b(?:is|are|live|lives|sit|sits|go|goes|land|lands|end\sup|get|gets|come|comes|happen|show\sup|can\sbe\s(?:found|seen))\s(?:\w+\s){{0,3}}?(?:in|on|at|under|into|from|through|to)\s(?:the\s|our\s|a\s)?(?:\w+\s){{0,2}}?
              (?:{SYSTEMS}|honeycomb|crashlytics|buildkite|artifactory|launchdarkly|unleash|lokalise|contentful|overleaf|zotero|productboard|argo\scd|weights\s&\sbiases|hugging\sface|redash|superset|outlook|retool
              |google\ssheets?|shared\s(?:drive|folder|doc|calendar|spreadsheet)|spreadsheet|handbook|ops\swiki|(?-i:NAS|CRM|S3)|mailing\slist\sarchive)\b
              |\b(?:go|goes|posted|post|announced?|ask|reported|discussed|coordinated?)\s(?:\w+\s){{0,3}}?(?:in|to|on|through|via)\s(?:the\s)?\#[\w-]+|\bchannel\s(?:for\s[\w\s]{{3,30}}\s)?is\s(?:called\s)?\#[\w-]+
              |\b(?:source\sof\struth|official\sspec|reference\simplementation|handbook|style\sguide|status\spage|runbooks?|data\sdictionary|schema\sregistry)\b[^.?]{{0,40}}\b(?:is|are|at)\b[^.?]{{0,30}}(?:https?://|\brfc\b|(?-i:[A-Z])\w+)
              |(?:文档|需求|设计稿?|日志|监控|工单|任务|缺陷|bug|接口文档|会议纪要|周报|排期|数据|原型|密码|密钥|账号|告警|复盘|知识库|手册|规范)[^。？]{{0,10}}(?:在|放在|记在|写在|都在|存在|提到|走|看|去)[^。？]{{0,6}}(?:{SYSTEMS_HAN}|wiki|Wiki|石墨|腾讯文档|网盘|共享盘|群里|看板|TAPD|Teambition|GitLab|阿里云|https?://)"""
        ),
        unless=pattern(
            r"\b(?:login|auth|oauth|webhook|integration|sdk|client|clone|push|pull\srequest|button|page|down|error|slow|fails?|add|connect|bug\sin)\b|接入|登录|报错|挂了"
        ),
    ),
)
"""In the order in which they are asked, after those of `cues.py`."""
