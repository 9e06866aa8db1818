"""Words by which people show that something lasts, that it belongs to the task at hand, or that others said it.

The parts that the rules of `cues.py` are made of; English, Chinese, German, Japanese.
"""

from __future__ import annotations

import re

from reverie.memory.topics.topic import MemoryType
from reverie.patterns import lazy_regex
from reverie.values import value

_FLAGS = re.VERBOSE | re.IGNORECASE


def pattern(text: str) -> re.Pattern[str]:
    """A pattern in the verbose form, whatever the case of letters."""
    return lazy_regex(text, _FLAGS)


START = (
    r"(?:^|[,;:—–-]\s*|[.!]\s+|\b(?:and|but|so|also|then|please|just|ok(?:ay)?|yes|no|again|actually"
    r"|you\s(?:should|must|can|need\sto)|i\swant\syou\sto|make\ssure\s(?:you|to)|und|bitte)[\s,]+)"
)
"""Where an order begins: at the start of a clause, or after words that lead to one."""

ORDERS = (
    r"(?:use|run|write|add|put|keep|ask|answer|reply|do|make|name|call|test|check|commit|push|open|return|prefer|avoid"
    r"|don'?t|do\snot|always|never|please|start|format|log|document|update|verify|show|tell|include|split|stick)"
)
LASTS = (
    r"(?:from\snow\son|from\shere\son|going\sforward|in\s(?:the\s)?future|in\sgeneral|as\sa\s(?:general\s)?rule"
    r"|by\sdefault|(?:every|each)\s(?:single\s)?time|at\sall\stimes)"
)

LASTING = pattern(
    rf"""\b(?:from\snow\son|from\shere\son|as\sa\s(?:general\s)?rule|keep\sdoing\s(?:it|this|that|so))\b
      |\b(?:whenever|(?:every|each|any)\stime)\syou\b[^,.]*,\s(?:please\s|then\s)?{ORDERS}\b
      |\b{ORDERS}\b[^.]*\b(?:whenever|(?:every|each|any)\stime)\syou\b
      |\b(?:before|after|with|on|for)\s(?:each|every)\s(?:commit|pr|push|change|merge|release)\b
      |\b(?:right|perfect|great|exactly|good)\b[^.]*\bkeep\s(?:using|writing|doing)\b
      |\bonly\sever\b|\b(?:one|a\ssingle)\s\w+(?:\s\w+)?\sper\s(?:pr|commit|pull\srequest|branch|file|release|migration)\b
      |{START}(?:that'?s\s(?:how|what)\si\swant\b|{ORDERS}\s)[^.]*\b{LASTS}\b
      |(?:^|[,.]\s|\band\s){LASTS}[\s,]+(?:please\s|you\sshould\s|we\s)?{ORDERS}\b
      |(?:^|[，,。、])以后(?!再|会|的|有|看)|今后|从现在开始|从今以后|从此|每次|一律|统一(?:用|走|放|写|叫)|一直都|默认(?:都|用(?!的))|往后
      |\b(?:ab\s(?:jetzt|sofort)|in\szukunft|künftig|von\snun\san|jedes\smal|grundsätzlich)\b
      |これから(?:は|も)|今後|以後は|毎回|常に"""
)
"""Words that make an order a rule."""

REASON = pattern(
    r"""\b(?:because|since|so\sthat|otherwise|the\sreason|due\sto|as\swe|as\sit|in\sorder\sto|or\selse)\b
      |,\s(?:it|they|we|that|mocks?|the|other|i|nobody|everybody|everyone|people)\b[^,]{6,}$
      |,\s[\w-]+(?:\s[\w-]+)?\s(?:writes|generates|handles|owns|checks|rejects|parses|breaks|needs|enforces|expects|manages)\b
      |:\s(?:an?|the|it|they|we|our|that|last)\s[^:]{6,}$
      |，[^，。]*(?:很严|容易|出过|会(?:出|导致|丢)|查得|难以?|麻烦)|因为|由于|否则|不然|为了|上次|\b(?:weil|denn|sonst|damit|dafür)\b|ので|から[、。]|ため(?:に|、)|前回"""
)

LABEL = (
    r"(?:(?:one|a|another|my|our|the|this|new|quick|small|house|team|general|standing|golden|hard|important|final)\s){0,3}"
    r"(?:rules?|policy|convention|agreement|guideline|preference|principle|thing\sabout\show)(?:\s(?:\w+\s){0,6}?\w+)?\s?:\s"
    r"|let'?s\sagree(?:\son\s(?:this|that|one\sthing))?\s?:\s|(?:新|统一|团队|通用|一条)?(?:的)?(?:规矩|规则|约定|规范|要求)[：:]|(?:neue\s|wichtige\s)?(?:regel|vorgabe|bitte|absprache)\s?:\s"
)
"""What announces a rule: `New rule:`, `House rule:`, `One thing about how we work:`."""

ARTEFACTS = (
    r"(?:commit\smessages?|commits|subject\slines?|pr\s(?:descriptions?|titles?)|prs|pull\srequests|branch(?:es|\snames)"
    r"|changelog\sentries|release\snotes|code\sreviews?|reviews|test\snames|variable\snames|identifiers|docstrings"
    r"|code\scomments|comments|log\smessages|error\smessages|answers|repl(?:ies|y)|responses|explanations|summaries"
    r"|diffs|migrations|dependencies|feature\s(?:flags|branches)|abbreviations|(?:user-facing\s|ui\s)(?:copy|text|strings))"
)
"""What is made again and again in the work; without `this` or `the` it means all of them."""

ANSWERS = r"(?:answers?|repl(?:y|ies)|respon(?:ses?|d)|explanations?|summar(?:y|ies)|output|messages?)"
LANGUAGES = r"(?:english|german|chinese|japanese|french|spanish|italian|korean|portuguese|russian|dutch|deutsch)"
OPTION = pattern(
    r"""\b(?:option|approach|version|variant|choice|solution|idea|plan)\s*(?:\d|[a-d]\b)
      |\b(?:the|your)\s(?:first|second|third|last|other|former|latter|\d)\b
      |\b(?:prefer|rather|like)\s(?:\w+\s){0,2}?(?:this|that|these|those|it)\b|\bprefer\s(?:option|the)\b|第[一二三四]个|这个|那个|方案"""
)
"""A choice among what was just offered is over once it is made."""

CODE_WORDS = (
    r"(?:dict|list|array|tuple|loop|set|map|lambda|variable|function|method|class|param(?:eter)?|regex|string|int|enum"
    r"|struct|helper|if|else|case|const|let|var|import|type|interface|name|constant|flag|decorator|comprehension)s?"
)

SYSTEMS = (
    r"(?:linear|jira|notion|confluence|slack|discord|grafana|datadog|sentry|figma|trello|asana|airtable|clickup|pagerduty"
    r"|kibana|splunk|looker|tableau|metabase|miro|zendesk|intercom|hubspot|salesforce|opsgenie|new\srelic|amplitude"
    r"|mixpanel|sharepoint|onedrive|dropbox|google\s(?:drive|docs?|sheets?)|github\s?(?:issues|projects?|discussions|wiki)?"
    r"|gitlab|bitbucket|bugzilla|youtrack|monday\.com|basecamp|1password|vault|wiki|wandb|snowflake|bigquery)"
)
SYSTEMS_HAN = (
    r"(?:飞书|语雀|钉钉|企业微信|禅道|Tapd|Linear|Jira|Notion|Confluence|Slack|Grafana|Kibana|Sentry|Figma|GitHub)"
)

ROLES = (
    r"(?:engineer|developer|programmer|scientist|designer|manager|student|founder|maintainer|analyst|architect|researcher"
    r"|consultant|admin(?:istrator)?|sysadmin|devops|sre|lead|teacher|professor|writer|beginner|newbie|novice|expert"
    r"|freelancer|contractor|intern|cto|ceo|statistician|physicist|biologist|economist|doctor|lawyer|accountant"
    r"|hobbyist|dba|tester|qa|director|owner)s?"
)

GUARD = pattern(
    r"""\b(?:this\stime|this\sonce|for\snow|right\snow|at\sthe\smoment|just\sthis|line\s\d+|never\s?mind|don'?t\sworry
      |(?:in|on|for|of)\sthis\s(?:change|pr|commit|file|function|test|one|branch|refactor\w*|session|task|step|case|class
      |method|module|run|patch|fix)\b|until\s(?:all|it|they|you|i|i've|lunch|tomorrow|tonight|everything|the\stests?)\b|(?<!right\scall\s)(?<!nobody\s)(?<!everyone\s)(?<!people\s)(?<!around\s)(?<!convention\s)(?<!rule\s)(?<!policy\s)(?<!role\s)\bhere\b
      |(?:for|with|about)\s(?:this|that|it)\b(?!\s(?:project|repo|half|quarter|year))|加一下|改一下|看一下|in\sthe\s(?:header|footer|sidebar|modal)
      |(?:this|that|the)\s(?:function|method|line|variable|button|endpoint|file|test|error|class|loop)\b)
      |\bin\sthe\sexamples?\b|例子[里中]|这次|本次|这一次|暂时|(?:^|[，,])先(?:别|不|看|跑)|我先看|那个文件|这里|这个(?:函数|文件|测试|改动)|不要紧|别急|别担心
      |\b(?:diesmal|gerade|vorerst|in\sdieser\s(?:datei|funktion|änderung)|keine\ssorge)\b|今回は|とりあえず|ここ(?:で|は)"""
)
"""Words that tie a sentence to the task at hand."""

PERSONA = pattern(
    r"^(?:you\sare\s(?:an?|the|my|now)\s|act\sas\b|imagine\syou|pretend\b|your\s(?:task|job|role)\sis\b)|^(?:你是一[个名位]|请?扮演)"
)
"""The beginning of a prompt: a message that gives the model a part to play says nothing about its author."""

REPORTED = pattern(
    r"""\b(?:some(?:one|body|\s\w+)|people|everyone|everybody|they|folks|(?:a|my)\s(?:friend|guy|colleague|buddy|mate|recruiter|professor|teacher|brother)|the\sinternet
      |twitter|reddit|hn|hacker\snews|stack\s?overflow|youtube|linkedin|linus|uncle\sbob|the\s(?:interviewer|previous|last|old|former)(?:\s\w+)?)\b(?:\s(?:on|at|in|from)\s\w+){0,2}\s(?:\w+\s){0,2}?
      (?:claim(?:s|ed)?|sa(?:ys?|id)|think(?:s)?|thought|swears?|swore|argue[sd]?|insist(?:s|ed)?|t(?:ell|old)(?:ing)?|recommend(?:s|ed)?|suggest(?:s|ed)?|preach(?:es|ed)?|advise[sd]?|wrote|asked|asks)\b
      |\bi\s(?:once\s)?(?:read|heard|saw|learned)\s(?:\w+\s)?(?:somewhere|online|that|on)\b|\b(?:once|famously)\s(?:wrote|said)\b|\bwhen\si\s(?:was|worked)\s(?:at|in|with)\b|\bback\sthen\b|\b(?:we|i)\sused\sto\s(?!be\b)|\b(?:as\s)?per\sthe\s\w+|\basked\s(?:me|us)\s(?:why|if|whether|how)\b
      |\b(?:my|our)\s(?:old|previous|former|last|ex)[\s-](?:team|company|job|employer|boss|project|place)\b|\b(?:the|their|his|her)\s(?:[\w']+\s)?(?:e-?mail|message|ticket|comment|review|reply)\s?:
      |^[^:]{0,40}\b(?:answer|readme|ticket|issue|e-?mail|story|post|thread|article|excerpt|cv|resume|blog|tutorial|manual|stack\s?overflow)\b[^:]{0,15}:\s|\b(?:their|his|her|competitor'?s?)\s[\w-]+\s?:\s|^(?:eslint|pylint|ruff|mypy|tsc|sonar\w*|clippy|dependabot|npm|warning|error)\s?:|^以前(?:我|我们)|在[^，。]{1,6}(?:的时候|那会儿?)我们|俗话说|常言道|(?:前公司|老东家|上家公司|以前(?:的)?公司)
            |(?:有人|网上|面试官|客户|知乎|教程|博客|文章|别人|大家|他们|同事|前任|朋友|老师|书)(?:里|上|中)?(?:都|总|老)?(?:说|写|讲|问|建议|推荐|认为|觉得)|
      \b(?:readme|docs?|documentation|bot|reviewer|review|article|page|website|manual|book|guide|linter|compiler|message
      |error|log|output|tutorial|blog|comment|coderabbit|copilot|claude|gpt|chatgpt|poem|song|slide|press\srelease|e-?mail|ad|quiz|essay|terms|licen[cs]e|ticket|tutorial|it|he|she|they)\s
      (?:\w+\s)?(?:commented|goes:|says?|say|said|states?|claims?|tells?|told|wrote|writes|recommends?|suggests?|reads|shows?)\b|[{}]|\bsample\b
      |(?:^|please\s|you\s)(?:translate|rephrase|rewrite|proofread|quote)\b|\b(?:according\sto|laut)\b|\bshould\s(?:say|read|print|display|show|mention|state)\b
      |文档(?:里)?(?:写|说)|报错|提示(?:说|信息)|翻译|上(?:面)?写着|据说|と書い(?:て|た)|によると"""
)

TENTATIVE = pattern(
    r"""^(?:and\s|so\s|but\s)?(?:say\s(?:i|you)|in\sa\sperfect\sworld|oh\s(?:sure|great|yeah|right)|sure,?\sbecause|yeah\sright|maybe|perhaps|possibly|probably|suppose|supposing|imagine|let'?s\s(?:say|assume|imagine)|say\swe|hypothetically|theoretically|in\stheory
      |ideally|e\.g\.|for\s(?:example|instance)|what\sif|i\s(?:guess|assume|suspect|wonder)|not\ssure|unsure|it\scould\sbe|still\sdebating|one\s(?:option|idea)\swould
      |an\salternative|given\s(?:i|that\si)\sam|user\sstory|as\san?\s[\w-]+(?:\s\w+)?,?\si\s(?:want|can|should|need)|if\s(?:we|i|it)\s(?:were|used|had|would)|assuming)\b
      |\bsome\sday\b|\bone\sday\W*$|\b(?:we'?re|we\sare)\s(?:still\s)?(?:thinking|considering|debating|leaning|discussing)\b|\bthere'?s\stalk\sof\b|\b(?:might|may|could)\s(?:eventually|someday|at\ssome\spoint|one\sday)\b|\bnot\ssure\s(?:yet|if|whether|about)\b|\b(?:someday|no\sdecision\syet|(?:not|nothing\s(?:is\s)?)\s?decided\s(?:yet|so\sfar))\b
      |\bi(?:'m|\sam|\swas)\s(?:thinking|considering|wondering)\b|\b(?:haven'?t|have\snot|not)\s(?:yet\s)?(?:decided|agreed|settled)\b|\bwould\sbe\s(?:nice|great|cool)\b|\b(?:i'm|i\sam|but)\snot\s(?:certain|sure)\b|^should\s\w+\ssay\b
      |也许|或许|大概|说不定|假如|假设|要不要|要不|是不是(?:可以|应该)|不确定|还没(?:定|决定|想好)|要是(?:哪天|以后|我|我们)|如果我(?:说|是)|在考虑|考虑(?:要不要|一下|是否)|如果我们(?:用|改|换)"""
)
"""Words that leave it open whether something holds."""

ASKING = pattern(
    r"""^(?:and\s|so\s|but\s|hey\s|ok\s)?(?:who|whose|which|why|where|how(?!\s(?:i|we)\s)|when\s(?:is|are|do|does|did|will)|what(?!\s(?:works|i|we|matters|helps))|do\s(?:we|you|i|they)|does|did|is\s(?:it|there|this|that)
      |are\s(?:you|we|there)|have\s(?:you|we)|has\s|should\s(?:we|i)|can\s(?:i|we|this|it))\b|为什么|怎么(?!都|也|[^，。？]{1,4}的[。]?$)|什么时候|是谁|哪(?:个|里|些)"""
)
"""How questions begin, with or without their mark."""

AT_WORK = pattern(
    r"""^(?:please\s|and\s|now\s|also\s|then\s|ok(?:ay)?,?\s)*(?:make|let|have|get|ensure|ensure\sthat|make\ssure(?:\sthat)?)\s
      (?:(?:the|each|every|our)\s(?!commits?\b|prs?\b|answers?\b|tests?\b|commit\b|changelog)|it\s(?!a\s|the\s|your\s|clear)|▯|--?\w)
      |^(?:the\s)?(?:user|users|worker|queue|endpoint|server|client|service|job|importer|parser|cli|app|api|cache|player|bot|scheduler)s?\s
      (?:\w+\s)?(?:should|must|needs?\sto|has\sto|have\sto)\b
      |\bthe\s(?:user|worker|queue|endpoint|server|client|job|importer|parser|cli|app|cache|bot|scheduler)\s(?:\w+\s)?(?:should|must|is|sends?|returns?|logs|starts|opens)\b
      |^(?:please\s)?(?:keep|make|put|show|hide|leave|place)\sthe\s(?:\w+\s)?(?:sidebar|button|modal|menu|panel|banner|logo|footer|header|icon|form|dialog|toolbar|tooltip|chart|table)\b
      |(?:^|[，,])把[^，。]{1,12}(?:换|改|删|移|加|拆)|我?(?:想|要|希望)让(?!你)|我(?:想要|要|想做)一个|(?:每个|所有|每笔|每条|任何)(?:订单|用户|按钮|商品|请求|会员|记录|账单|客户|价格|页面|字段|图片|消息)|[，,](?:建|写|加|做|搞|弄)(?:个|一个|上|成)|^让|用户(?:每次|点|登录|输入)|每次(?:点|请求|登录|打开|提交表单|调用)|(?:展示|显示)[^。]{0,8}[行条个]|
      \b(?:in|on|of|from|to)\sthe\s(?:\w+\s)?(?:cart|form|page|modal|footer|header|sidebar|grid|table|view|dialog|screen|menu|loop|list|toolbar|card|title|dropdown|spinner)\b
      |\bthe\s(?:\w+\s)?(?:list|page|form|table|modal|button|footer|header|sidebar|dialog|menu|spinner|field|input|icon|banner|logo|tooltip)\s(?:should|must|needs?|has\sto|is|opens?|shows?)\b
      |\b(?:implement|replace|change|fix|delete|remove|add|update|rename|link|revert|merge)\s(?:it|that|this|them|those)\W*$
      |[,;]\s(?:so\s|and\s|please\s)*(?:hurry|help)\b|\bthis\s(?:pr|branch|ticket|post|thread|draft)\b
      |(?:改|加|删|修|看|查|试|写|弄|调|补|处理|解释|更新|翻译)(?:一下|下吧|上吧|掉吧|下文档)|改成(?!了)|(?:换|存|移|放)(?:成|到)(?:这|那|左|右|本地)|帮(?:我|忙)|去掉吧|[，,](?:加上|去掉|然后|赶紧|快点|看看|你改|你加|用那个|用这个)
      |从现在开始(?:计时|算|数)|按钮|弹窗|弹框|页面|表单|(?<!监控)(?<!”)(?<!Grafana )面板|标题|布局|配色|loading|图标
      |菜单|字段(?=默认|要|加)|下拉框|输入框|侧边栏"""
)
"""What is done to the thing at hand: its screen, its text, its code."""

ABOUT_TEXT = pattern(
    r"""^(?:please\s|now\s|and\s)?(?:draft|compose|copy|paste|sum\sup|summari[sz]e|(?:tell|inform|remind|notify)\s(?!me\b)\w+(?:\s[\w\#-]+){0,4}?\s(?:that|about)|reply\sto|respond\sto|send|print|display|write\s(?:an?|me|the|some)\s(?!tests?\b|plan)\w+)\b|^(?:写一|起草|回复一下|复制|翻译)|^(?:回复|告诉|跟|通知|转告|和)(?!我|你)[^，。：]{1,8}(?:说|：|:)"""
)
"""A request for a text: what is said in it is not said by its author."""

TAKEN_BACK = pattern(
    r"""^(?:oh,?\s|ah,?\s|h+m+,?\s)?(?:wait\b(?!\s(?:for|until|till|a\s))|eh\b)|\b(?:scratch\sthat|strike\sthat|on\s(?:second\sthoughts?|reflection)|never\s?mind(?!\s(?:the|those|these|about)\b)|nvm|(?:just\s|only\s|i'?m\s)?(?:kidding|joking)|jk|i\s(?:was|am)\sjoking
      |forget\s(?:i\s(?:said|asked|mentioned)|what\si\ssaid|it\b|that\b)|(?:i\s)?take\s(?:that|it)\sback|ignore\s(?:that|what\si\ssaid|me|my\slast)|disregard
      |no,?\swait|wait,?\s(?:no|actually|never)|(?:actually|hmm?|lol|haha|oh|ok|sorry),?\sno\b(?!,?\s(?:don'?t|never|always|one))|(?:oh\s)?wait,\s(?!for\b|until\b)
      |that\swas\s(?:vetoed|a\sjoke|wrong|cancelled|canceled|rejected)|(?:it'?s|it\sis|that'?s|that\sis|got|been|is\snow)\s(?:off(?!\s\w)|cancelled|canceled|called\soff)
      |(?:wrong|other|different)\s(?:project|repo|chat|window|team)\b[^.]*\b(?:sorry|ignore)|sorry,?\swrong\s\w+|correction:|not\sreally,?\s(?:lol|haha)|/s\b|meant\s(?:that\s)?for\s(?:a|my|another)\s\w+|hang\son|haha\w*|lol|doesn'?t\smatter|overruled|vetoed|(?:ok|but|no)\sseriously|just\stesting\b|nobody\s(?:really\s|actually\s)?follows|open\sagain|or\smaybe\snot)
      |骗你的|啊?不是[，,]|你决定|无所谓|随便你|算了|当我没说|开玩笑|说错了|哦?不对[，,。]|等等[，,]|哦?没事[，,]|(?:刚|又)?(?:通知|说)?取消了|收回|搞错了|作废"""
)
"""Words that take back what was said just before."""

GENERAL = pattern(
    r"""\b(?:ever|anymore|any\smore)\b|\bin\s(?:code|tests?|commits?|commit\smessages|comments|prs?|pull\srequests
      |production|general|integration\stests|unit\stests|replies|answers|docs)\b|\bto\stests\b
      |\b(?:every|each)\s(?:reply|response|answer|file|commit|test)\b|说了?(?:多少|好几|很多|几)[遍次]|强调过|提醒过|再|都|测试里|代码里|テストで|コードで"""
)
"""Words that make a prohibition general."""

POLITE = pattern(
    r"""\b(?:can|could|would|will)\syou\s(?:please\s|just\s|also\s)*(?:not|stop|hold\s(?:off|back)\son\s\w+ing|always|never|quit|from\snow|in\s(?:the\s)?future|going\sforward)\b
      |\bwould\syou\smind\b|(?:能不能|可不可以)(?:不要|别|以后|今后|每次)|(?:可以|麻烦你?|请你?)(?:以后|今后|每次|不要再|别再|别总|别老|不要总)|(?:以后|今后|每次)[^？。]{3,}(?:好吗|可以吗|行吗|好不好)"""
)
"""A rule in the form of a question."""

SHAPES = {
    MemoryType.feedback: pattern(
        rf"""^(?:please\s|also[\s,]+|and\s|just\s|by\sdefault[\s,]+)*(?:{ORDERS}|try|be|give|leave|stay|steer|treat|drop|skip|stop|quit|spare
          |save|explain|quote|cite|challenge|push|measure|reproduce|link|mention|round|clean|batch|cap|sign|favou?r|assume|talk|speak
          |read|begin|end|wrap|limit|refrain|remember|double|pair|spell|get|set|have|follow|respect|attach|store|hands?|less|more|fewer
          |straight|rebase|tabs|spaces|plain|flag|mark|group|fail|separate|cc)\b
          |^(?:if|when|whenever|before|after|for|with|in)\s[^,]{{3,60}},\s
          |\b(?:don'?t|do\snot|never|always|no|not|nobody|nothing|every|each|all|any|only|must|should|need(?:s|ed)?|have\sto|has\sto
          |may\snot|cannot|can'?t|prefer|rather|sooner|like|liked|love|hate|dislike|stand|fan|want|expect|annoys?|bugs|drives\sme|helps?|works?\sbest
          |rule|convention|policy|habit|agreement|principle|style|standard|default|whenever|next\stime|in\sfuture|from\snow
          |before|after|unless|instead|over|please|stop|avoid|without|needn'?t|off\slimits|means?|matters?
          |important|first|treat|lean|beats?|fine\sto|okay?\sto|again\s(?:when|with|next)|feel\sfree|free\sto|permission|right\s(?:call|way)|keep|you\s(?:keep|tend|can|may|forgot))\b"""
    ),
    MemoryType.user: pattern(r"\b(?:i|i'm|i've|i'd|my|me|myself|mine)\b"),
    MemoryType.project: pattern(
        r"""\b(?:we|we're|we've|our|us|team|customers?|clients?|users|company|legal|compliance|security|management|board|auditors?|partner|vendor
          |contract|budget|deadline|launch|release|freeze|demo|sprint|milestone|quarter|roadmap|goal|priority|decision|decided|outage|incident|migration
          |because|since|reason|why|until|must|has\sto|have\sto|may\snot|owns?|owned|responsible|maintain\w*|takes?\s(?:care|over)|in\scharge
          |starts?|due|runs?\sout|machines|network|internet|grants?|intentional|licen[cs]e|developers|numbers|belongs?|signs?|approv\w+|staging|production|environment|project|product|year|month|week|\w+days?|expires?|ends?|policy|law|gdpr
          |ask|questions|plan|phase|leaves?|leave|vacation)\b|\d{4}-\d\d|\b\d{1,2}(?:st|nd|rd|th)\b"""
    ),
    MemoryType.reference: pattern(
        rf"""\b{SYSTEMS}\b|https?://|\B\#[a-z]|\b(?:in|on|at|under|from|through|into|to)\s(?:the\s|our\s|a\s)?(?:[\w&]+\s){{0,3}}?
          (?:(?-i:[A-Z])\w+|wiki|sheet|spreadsheet|drive|folder|board|channel|tracker|portal|doc|docs|bucket|handbook|page|registry|archive|report|ticket)
          |\b[a-z][\w-]*(?:\.[a-z][\w-]+)+/\w+|\b(?:dashboard|portal|runbook|wiki|handbook|status\spage|spec|tracker|channel|spreadsheet)\b"""
    ),
}
"""What a sentence of each type has at least, loosely: without it likeness in meaning is chance."""

POINTS = pattern(
    r"""\b(?:these|those)\b(?!\sdays)|\bthis\b(?!\s(?:project|repo|team|company|code\s?base|machine|way|style|week|month|year|quarter|approach))
      |\b(?:all|any|each|one|some|both)\sof\s(?:it|them)\b|\b(?:yet|right\saway|let\sme\sknow|the\sfollowing|above|below|while\s(?:we|you|i))\b|^(?:he|she)\b
      |\b(?:keep|make|write|change|fix|rename|split|close|merge|finish|review|shorten)\sthe\s(?:\w+\s)?(?:commit|pr|branch|ticket|diff|draft|paragraph|post|email|snippet|parser|message)\b"""
)
"""Words that point at what is at hand."""


@value
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
