"""Word lists for `polarity.py` in many languages: negations, conditions, numbers, names; as regular expressions.

Each language adds to the same few concepts, so that a translation can be compared with what was said. Patterns match
folded text; they are compiled when first needed, since most commands never compare anything.
"""

# ruff: noqa: E501, SIM905 - tables of words

from __future__ import annotations

NEGATIONS = r"""
  (?:ne\s|n')(?:\S+\s+){0,4}?(?:pas|jamais|plus|rien|aucune?|personne|ni|guère|point)\b
 |\bno\s(?:\S+\s+){1,3}?(?:nunca|jamás|nada|nadie|ning[uú]n[oa]?s?|tampoco)\b
 |\bnão\s(?:\S+\s+){0,3}?(?:nunca|jamais|nada|ninguém|nenhum[a]?|nem)\b
 |\bnon\s(?:\S+\s+){0,3}?(?:mai|niente|nulla|nessun[oa]?)\b
 |\b(?:никогда|ничего|никто|никому|никак(?:ой|ая|ие|их)?|нигде|ни)\s(?:\S+\s+){0,3}?не\b
 |\b(?:can|could|do|does|did|is|are|was|were|wo|would|should|must|need|has|have|had|might|ai|sha)n'?t\b|\bcannot\b|\b(?:dnt|do'nt|donot|nver|nevr|w/out|unsafe|lacks?|hardly|barely|rarely|seldom)\b
 |\b(?:no|not|never|none|nobody|noone|nothing|nowhere|neither|nor|non|without|w/o|instead\sof|rather\sthan|no\slonger
   |avoid(?:s|ed|ing)?|stop(?:s|ped|ping)?|quit|cease|forbid(?:s|den)?|prohibit(?:s|ed)?|ban(?:s|ned)?|refrain
   |disallow(?:s|ed)?|reject(?:s|ed)?|refuse[sd]?|den(?:y|ies|ied)|disable[sd]?|skip(?:s|ped|ping)?|omit(?:s|ted)?
   |exclude[sd]?|hate[sd]?|dislike[sd]?)\b
 |\b(?:kein\w*|nicht|nichts|nie|niemals|niemand\w*|nirgends|ohne|weder|verboten\w*|verbiet\w*|vermeid\w*|unterlass\w*
   |verzicht\w*|statt|anstatt|keinesfalls|keineswegs|untersagt|stopp\w*|hör\sauf)\b
 |\b(?:pas|jamais|sans|aucune?s?|rien|ni|évite[rsz]?|éviter|interdi\w+|arrête[rsz]?|plutôt\sque|au\slieu\sd[eu]|ne)\b
 |\b(?:nunca|jamás|sin|ning[uú]n[oa]?s?|nada|nadie|tampoco|evit[ae]\w*|prohibid\w+|prohíb\w+|deja\sde|dejen\sde
   |en\svez\sde|en\slugar\sde)\b
 |\b(?:não|nao|sem|nenhum\w*|ninguém|nem|proibid\w+|pare\sde|em\svez\sde|mai|senza|nessun\w*|niente|vietat\w+|evitar)\b
 |\b(?:не|нет|ни|никогда|без|нельзя|запрещ\w+|избега\w+|вместо|перестан\w+|прекрат\w+|ничего|никто|немає|ніколи)\b
 |\b(?:geen|niet|nooit|zonder|niets|niemand|nie|bez|nigdy|żad\w+|zamiast|inte|aldrig|ingen|inget|inga|utan|ikke|aldri
   |uden|uten|ei|älä|ilman|nem|nincs|soha|nu|niciodată|fără|değil|yok|asla|không|đừng|chưa|chớ|cấm|tidak|jangan|bukan|tanpa
   |hiçbir|nikdy|nesm\w+)\b
 |[不没沒别別勿无無莫未甭禁]|非(?!常)|避免|停止|拒绝|而不
 |な[いく](?!と)|なけれ|なかっ|ません|ませ(?=ん)|ず(?=に|、|。)|やめ|避け|なし|だめ|ダメ|駄目
 |않|없|못|아니|(?<![가-힣])안(?=\s)|지\s?[말마]|말(?:고|아|라|것|자)|마세요|마라|마십시오|금지|제외|빼고|대신
"""
CONDITIONS = {
    "only": r"""\b(?:only|solely|seule?s?|exclusively|nur|ausschliesslich|lediglich|seulement|uniquement|que\spour|s[oó]lo|solamente
        |únicamente|только|лишь|só|somente|apenas|soltanto|alleen|tylko|endast|bara|kun|hanya|sadece|yalnızca|chỉ)\b
        |[只仅僅]|唯一|だけ|のみ|しか|만(?=[\s,.은을이]|\Z)|오직""",
    "except": r"""\b(?:unless|except(?:ing|ions?)?|other\sthan|apart\sfrom|aside\sfrom|but\snot|ausser|ausgenommen|es\ssei\sdenn
        |bis\sauf|sauf|excepté|hormis|à\smoins|salvo|excepto|exceto|a\smenos|кроме|исключ\w+|behalve|tenzij|oprócz|chyba\sże
        |utom|tranne|eccetto)\b|除了|除非|以外|之外|を除|限り|제외|빼고|외에""",
    "if": r"""\b(?:if|when|whenever|in\scase|provided|as\slong\sas|assuming|wenn|falls|sobald|solange|sofern|si|quand|lorsque
        |lorsqu|cuando|siempre\sque|если|когда|quando|caso|als|jeśli|gdy|kiedy|om|när|hvis|jika|kalau|nếu|khi|eğer)\b
        |如果|若|要是|只要|的时候|当(?!前|然)|(?<=[\u4e00-\u9fff])[时時](?=[，,、]|候)|場合|とき|なら(?!な)|たら|경우|때""",
    "until": r"\b(?:until|till|bis|jusqu\w*|hasta|до|até|fino|tot|dopóki|tills)\b|直到|為止|为止|まで|까지",
    "before": r"""\b(?:before|prior\sto|bevor|vor|ehe|avant|antes|перед|прежде|prima|voordat|przed|innan|sebelum|trước|önce)\b
        |之前|以前|(?<=[\u4e00-\u9fff])前(?=[，,、]|必|要|先|都)|前に|전에""",
    "after": r"""\b(?:after|once|nach|nachdem|après|después|tras|после|depois|após|dopo|nadat|po|efter|setelah|sau|sonra)\b
        |之后|之後|(?<=[\u4e00-\u9fff])以[后後](?=[，,再才])|後に|てから|후에""",
    "at least": r"""\b(?:at\sleast|(?:over|above|longer|higher|bigger|larger)(?=\s(?:than\s)?\d)|mínimo|minimum|min|more\sthan|or\smore|mindestens|mehr\sals|au\smoins|plus\sde|al\smenos|por\slo\smenos
        |más\sde|не\sменее|минимум|более|pelo\smenos|mais\sde)\b|至少|以上|超过|最少|最低|少なくとも|최소|이상""",
    "at most": r"""\b(?:at\smost|within|(?:under|below|shorter|lower|smaller)(?=\s(?:than\s)?\d)|máximo|maximum|max|up\sto|less\sthan|fewer\sthan|or\s(?:less|fewer)|höchstens|maximal|weniger\sals
        |bis\szu|au\splus|au\smaximum|moins\sde|como\smáximo|a\slo\ssumo|menos\sde|не\sболее|максимум|менее|no\smáximo)\b
        |最多|以下|以内|至多|最大|최대|이하|미만""",
    "may": r"""\b(?:may|can|could|might|optional(?:ly)?|allowed|permitted|free\sto|fine\sto|ok(?:ay)?\sto|darf|darfst|dürfen|kann|kannst
        |können|erlaubt|peut|peux|pouvez|puede|puedes|pueden|pode|podem|можно|может|mogen|mag)\b|可以|允许|てもいい|てもよい|해도""",
}
ANSWER = (
    r"(?:(?:oh|ah|ok(?:ay)?|well|hm+|um+|hey|sorry|wait|please|thanks|so|but|and)[\s,.!]+)*"
    r"(?:no+(?:pe)?|nah|nein|nee?|non|нет|não|nao|いいえ|いや|違う|아니(?:요|오|야)?|不(?:是|对|對|行)?|没(?:有|事)?)"
    r"(?:[\s,，、]+(?:no+|nein|non|нет|não|不|いや|아니))*"
)
"""A `no` that answers what was before it; the sign behind it makes it one."""
CONFIRMATION = (
    r"(?:ok(?:ay)?|yes|yep|yeah|yup|sure|great|perfect|nice|cool|good|fine|right|correct|exactly|lgtm|looks\sgood|done|this|that|is|it|'s"
    r"|like|love|just|very|so|much|works?(?:\sfor\sme)?|agreed|好的?|可以|嗯|对|是的?|没错|就是这样|完美|很好|不错|passt|ja|genau|super|perfekt|gut|so|richtig"
    r"|はい|いいね|完璧|その通り|oui|parfait|exactement|d'accord|comme\sça|s[ií]|perfecto|exacto|así|vale|да|отлично|именно|хорошо|так|sim|perfeito|isso"
    r"|exatamente|네|예|좋아요?|완벽해요?|맞아요?|그렇게|va\sbene|perfetto)"
)
"""One word of an approval that says nothing by itself: what it means is what it answers."""
LASTING_LEAD = r"(?:从今以后|从现在(?:开始|起)|以后|今后|今後(?:は)?|之后)"
CLAUSE_END = (
    r"[,;:!?，、。；：！？()\n—–]|\s-+\s|\.(?=\s|\Z)"
    r"|\b(?=(?:because|since|so\sthat|otherwise|but|unless|until|when|whenever|if|before|after|while|weil|denn|sonst|aber"
    r"|sondern|instead\sof|rather\sthan|statt|anstatt|plutôt|au\slieu|en\svez|en\slugar|em\svez|вместо|wenn|falls|bevor|nachdem|parce|car|mais|quand|porque|pero|sino|cuando|потому|но|а|если|когда|mas|quando)\b)"
    r"|(?=因为|由于|否则|但|而不|如果)"
)
NUMBER_WORDS = {
    word: str(number)
    for number, words in enumerate(
        (
            "zero null cero ноль",
            "one eins",
            "two twice zwei zweimal deux dos два две dois duas due twee",
            "three thrice drei trois tres три três tre drie",
            "four vier quatre cuatro четыре quatro quattro",
            "five fünf cinq cinco пять cinque vijf",
            "six sechs seis шесть sei zes",
            "seven sieben sept siete семь sete sette zeven",
            "eight acht huit ocho восемь oito otto",
            "nine neun neuf nueve девять nove negen",
            "ten zehn dix diez десять dez dieci tien",
            "eleven elf onze одиннадцать",
            "twelve zwölf douze doce двенадцать doze",
        )
    )
    for word in words.split()
} | {"half": "1/2", "hundred": "100", "hundert": "100", "thousand": "1000", "tausend": "1000", "dozen": "12"}
HAN_DIGITS = {char: str(number) for number, char in enumerate("零一二三四五六七八九十")} | {"两": "2", "兩": "2"}
NUMBER = r"(?<![\w.])[-+]?\d+(?:[.,:/]\d+)*(?![\w])%?|\d+(?:[.,:]\d+)*%?"
HAN_NUMBER = (
    r"[零一二两兩三四五六七八九十百千万半]+(?=[个個天周週次条條行年月日号小分秒人名位份项種种级倍遍つ件回本枚])"
)
IDENTIFIER = (
    r"`[^`\n]+`|https?://[^\s)>\]，。]+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.\w[\w.]{0,64}|(?<![\w])[@#][A-Za-z][\w/-]*|(?<![\w-])--?[a-zA-Z][\w-]*"
    r"|(?<![\w.-])[\w.-]{0,100}\w/[\w./-]{0,200}\w|\b[A-Za-z]\w*(?:_\w+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]*)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b"
    r"|\b[A-Za-z][\w-]*\.[A-Za-z]\w*\b|\b(?=\w*\d)(?=\w*[A-Za-z])[A-Za-z0-9]+\b|\b[A-Z][A-Z0-9]+s?\b"
)
CAPITAL = r"[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĢĪĮĶĻŁŃŅŇŐŒŔŘŚŞŠŤŪŮŰŲŹŻŽА-ЯЁ]"
NAME = rf"\b{CAPITAL}[^\W\d_]+(?:-[^\W\d_]+)*"
PERSON = (
    r"[张王李赵陈刘杨黄周吴徐孙马朱胡郭何林高罗郑梁谢宋唐许邓冯韩曹曾彭萧蔡潘田董袁于余叶蒋杜苏魏程吕丁沈][\u4e00-\u9fff]{1,2}"
    r"(?=负责|管|批准|审|决定|说|要|会|是|维护|来|做)|[小老阿][张王李赵陈刘杨黄周吴徐孙马朱胡郭何林高罗]"
    r"|[\u4e00-\u9fff\u30a0-\u30ff]{1,4}(?=さん|氏|様|くん|ちゃん)|[가-힣]{2,4}(?=씨|님)"
)
NO_NAMES = frozenset(
    """the this that these those there here it its i we you he she they my our your his her their a an and or but so if when
    whenever before after unless until while because since for in on at by to from with without about as always never
    please also only all every each any some no not none nobody everyone everything nothing what who which how why where
    do does did don use let make keep be is are was were has have had can could will would shall should must may might
    yes ok okay user why applied how apply said rule note remember today tomorrow yesterday just then now more less most
    der die das ein eine wir ich sie er es und oder aber wenn bitte immer nie kein keine nicht
    le la les un une des et ou mais nous vous il elle je ne pas el los las una y o pero no si он она мы вы я не и но""".split()
)
VERB_NEXT = (
    r"\s+(?:is|was|has|will|must|should|can|may|wants?|said|says|and|or|from|ist|hat|muss|soll|darf|und|prüft|will"
    r"|est|doit|et|es|tiene|debe|y|é|tem|deve|[a-zäöü]{3,}(?:s|t)|[а-я]+(?:ет|ит|ёт))\b"
)
STOPWORDS = NO_NAMES | frozenset(
    """one two user prefer prefers want wants need needs like likes than instead rather into onto per via etc eg ie that's
    ist sind war wird werden hat haben muss soll den dem mit für von auf bei dans pour sur avec que qui est sont del por con
    para como esto this""".split()
)
UNKNOWN_SCRIPT = (
    r"[\u0370-\u03ff\u0530-\u058f\u0590-\u05ff\u0600-\u06ff\u0700-\u08ff\u0900-\u0dff\u0e00-\u0eff\u0f00-\u109f\u10a0-\u10ff"
    r"\u1200-\u137f\u1780-\u17ff]"
)
LIMITS = r"\W*(?:but|not|only|even|exceptions?|except|unless|until|if|when|aber|nur|auch|ausser|mais|sauf|pero|solo|sólo|salvo|но|кроме|только|mas|exceto)\b|[但不除只仅]|ただし|でも|단[,\s]|하지만"
RESOLVED = r"\s?[(（](?:(?:the\s)?week\sof\s)?\d{4}(?:-\d\d){0,2}[)）]"
CJK = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
EXCEPTING = (
    r"(?:\b(?:except|unless|not|outside|even|hate|love|like|dislike|mind|than|from|stand)\b|\b(?:ausser|sauf|excepto|salvo)\b|除了|除非|以外)"
    r"(?:\s(?:it|for|in|on|at|of|when|if|just|only)\b)*\s*"
)
"""What may stand before words that say where a rule does *not* apply, or what is thought of it."""
LEAD = r"""
  (?:(?:(?:new|house|team|general|golden|our|my|another|one|simple|quick)\s)*(?:rule|reminder|note|request)s?(?=\s?:)|新?规[矩则](?=[：:])
  |(?:ok(?:ay)?|yes|yeah|yep|so|and|but|also|well|hey|oh|hi|hello|please|pls|plz|kindly|actually|btw|by\sthe\sway|thanks?|thx|thank\syou
   |perfect|great|exactly|again|then|fyi|honestly|right|good|fair|fine|sure|heads[\s-]up|psa|psst|ugh|reminder|note|request|one\smore\sthing
   |for\sthe\srecord|for\sfuture\sreference|for\syour\sinformation|as\sa\s(?:general\s)?rule(?:\sof\sthumb)?
   |remember|keep\sin\smind|bear\sin\smind|note|don'?t\sforget|from\s(?:now|here)\son|going\sforward|in\sgeneral|in\s(?:the\s)?future
   |i\swant\syou\sto|i(?:'d|\swould)\slike\syou\sto|make\ssure\s(?:that\s)?you|make\ssure\sto|you\s(?:should|must)
   |we(?:'ve|\shave)?\s(?:all\s|finally\s|already\s|just\s|jointly\s)?(?:decided|agreed|opted)\s(?:to|that)|this|that
   |bitte|merke?\sdir|denk\sdaran|ab\sjetzt|künftig|und|aber|dass|also
   |s'il\s(?:te|vous)\spla[iî]t|stp|svp|désormais|à\spartir\sde\smaintenant|retiens|souviens-toi|rappelle-toi|que
   |por\sfavor|recuerda|a\spartir\sde\sahora|de\sahora\sen\sadelante|lembre-se|запомни|пожалуйста|что)\b
  |好的?|嗯|对|就是这样|那么|另外|还有|(?:请|你?要)?(?:记住|记得)|请|从现在开始|从今以后|以后|今后|覚えておいて|これからは|今後は)
  [\s,.:;!?，。：；！、—–-]*"""
"""What leads up to a statement and is no part of it."""
TAIL = r"""
  (?:[\s,.!?，。、！;-]+(?:from\snow\son|going\sforward|in\s(?:the\s)?future|please|pls|plz|thanks?|thx|thank\syou|by\sthe\sway|btw|ok(?:ay)?
   |bitte|danke|ab\sjetzt|merci|s'il\s(?:te|vous)\spla[iî]t|stp|svp|por\sfavor|gracias|пожалуйста|记住|谢谢|覚えておいて(?:ください)?|忘れないで))+
  [\s.!?，。！]*\Z"""
NEW_CLAUSE = r"""
  [\s,;—–-]*(?:and\s|und\s|et\s|y\s|so\s|also\s|donc\s)?(?!i\smean|ich\smeine|je\sveux\sdire|yo\sdigo)
  (?:the|our|my|i|we|they|he|she|nobody|nothing|der|die|das|unser\w*|ich|wir|niemand|le|la|les|notre|nos|on|je|nous|personne
   |el|los|las|nuestr\w+|nadie|yo)\b|[\s，；、]*(?:我们?|咱们?|他们?|うち|私)"""
"""How a clause begins that has a subject of its own: what it denies or demands is not said of the clause before."""
UNSAID = frozenset(
    "the a an is are be der die das ein eine einen einem ist sind le la les un une est sont el los las una es son о".split()
)
"""Words that may come and go without changing what a sentence says."""
SPELLINGS = (
    (r"\b(?:wo|won)'?t\b", "will not"),
    (r"\bcan'?t\b|\bcannot\b", "can not"),
    (r"\b(do|does|did|is|are|was|were|would|should|must|need|has|have|had|could)n'?t\b", r"\1 not"),
    (r"\b(?:dnt|do'nt|donot)\b", "do not"),
    (r"\b(?:i|me|my|mine|i'm|i'd|i've|user's)\b", "user"),
    (r"(?<=\w)'(?=\w)", ""),
)
"""Ways of writing one thing."""
INFLECTIONS = frozenset("|e|s|es|ed|d|ing|en|n|er|em|t|st|te|ten|tet|r|a|o|as|os|an|nt|ent|ez|é|ée|és|ées".split("|"))
"""What may differ at the end of a word; the first is nothing."""
COMPARING = r"""
  \b(?:over|than|instead|rather|before|after|first|then|from|to|into|not|vs|versus|besser|statt|anstatt|lieber|zuerst|erst|dann|vor|nach|nicht|von|zu
   |plutôt|avant|après|lieu|puis|pas|vez|lugar|antes|después|вместо|сначала|потом|owns?|pays?|reviews?|approves?)\b
  |[代替前后後先再比不给給から]|->|→"""
"""Signs that the order of two things is what a sentence says."""
TITLE_WORDS = frozenset(
    """about rule rules policy policies preference preferences prefers style convention conventions guideline guidelines workflow
    process setup usage use using handling format naming deadline schedule ownership owner team project user feedback note notes
    requirement requirements constraint decision decided title topic limit limits regel regeln règle règles regla reglas for of in on to
    by with at as""".split()
)
"""What a title may add: it says what kind of thing a memory is."""
