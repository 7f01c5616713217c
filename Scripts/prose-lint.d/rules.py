# SPDX-License-Identifier: MIT
"""The expressions that the style guide forbids, each with the text to use instead.

The patterns are raw strings, and the linter skips raw strings, so this file passes its own check.
"""

import re

#: The kinds of prose that a rule applies to.
DOC, COMMENT, MARKDOWN, HEADING = "doc", "comment", "markdown", "heading"
STRING, TEST, NAME = "string", "test", "name"
EVERYWHERE = {DOC, COMMENT, MARKDOWN, HEADING, STRING, TEST, NAME}
#: Rules about the form of a sentence don't apply to headings.
SENTENCES = EVERYWHERE - {HEADING}
#: The name of an XCTest function can't contain code voice.
PROSE = SENTENCES - {NAME}
DOCS = {DOC}
COMMENTS = {DOC, COMMENT}
TESTS = {TEST}

BE = r"\b(?:is|are|was|were|be|been|being)"
#: The beginning of a sentence, a list item, or a table cell.
START = r"(?:^(?:[-*] |\d+\. |\| )?|[.;:|] )"
END = r"(?=[,.;:)]|$)"


class Rule:
    """A pattern, the text to use instead, and the kinds of prose that the rule applies to."""

    def __init__(self, pattern, instead, kinds=EVERYWHERE):
        self.pattern, self.instead, self.kinds = re.compile(pattern), instead, kinds


#: Section 6 of the guide, in its order. The names of symbols and literals keep their backticks.
LINT_LIST = [
    Rule(r"\b[Pp]ictures?\b", "image (or encoded image, image data)"),
    Rule(r"\b[Dd]ear(?:er|est)?\b", "expensive; large"),
    Rule(r"\b[Aa]new\b", "again; from scratch"),
    Rule(r"\b[Ff]or ever\b", "indefinitely; forever"),
    Rule(r"\b[Ii]n vain\b", "unsuccessfully"),
    Rule(r"\b[Aa]t hand\b", "available"),
    Rule(r"\b[Aa]s ever\b", "as before"),
    Rule(r"\b[Ii]n place of\b", "instead of"),
    Rule(r"\b[Uu]nder way\b", "in flight; in progress; running"),
    Rule(r"\b[Hh]ow far(?! ahead)\b", "progress; how much of … is complete"),
    Rule(r"\b[Ll]ook-ups?\b", "lookup (noun); look up (verb)"),
    Rule(r"\b[Bb]ack-off\b", "backoff"),
    Rule(r"\b[Tt]ime-outs?\b", "timeout"),
    Rule(r"\b[Pp]er cent\b", "percent"),
    Rule(r"\b[Aa]ny more\b(?! [a-z]+s\b| than)", "no longer"),
    Rule(r"(?:\b(?:[Nn]il|[Tt]rue|[Ff]alse|[Nn]one|[Ee]mpty|[Zz]ero)|`nil`|`true`|`false`) where\b", "`nil` if"),
    Rule(
        r"\b[Ww]here (?:there (?:is|are)|it (?:has|can|does|may)|they (?:have|can)|that is|one is|none is|nothing"
        r"|nobody|possible|needed|wanted)\b",
        "if; when",
    ),
    Rule(START + r"[Ww]ho(?:ever)?(?= [a-z])", "name the actor, such as “the manager that …”", SENTENCES),
    Rule(r"(?:^(?:[-*] |\d+\. |\| )?|[.:|] )What(?= (?!is new)[a-z])", "name the noun", SENTENCES),
    Rule(START + r"Of (?:an?|the|what|which|such|one|all)\b", "begin with the noun", SENTENCES),
    Rule(BE + r" told\b(?! (?:apart|from))", "is notified; is reported; receives"),
    Rule(
        r"\btells? (?:of|that|how|what|when|why|whether|which|no|its|it)\b(?! apart)",
        "reports; indicates; returns; describes",
    ),
    Rule(BE + r" asked\b(?! for)", "is called; is queried; receives a request"),
    Rule(r"\b[Aa]sked for\b", "requested; on demand"),
    Rule(r"\b(?:[Gg]oes|[Ww]ent|[Gg]oing|[Gg]o) on\b", "continues; resumes"),
    Rule(r"\b[Gg](?:ive|ives|iven|iving|ave) up\b", "cancels; abandons; releases"),
    Rule(r"\b(?:[Nn]o|[Ss]ome|[Ee]very|[Aa]ny)body\b", "name the actor, such as “no subscriber”"),
    Rule(r"\b[Ss]o (?:many|often|late|long ago)\b", "name the parameter or the value"),
    Rule(r"\b[Aa]t once\b", "immediately; at the same time"),
    Rule(r"(?<!left )(?<!leave )\bbehind(?:[,.;:)]|$)", "in the background; after"),
    Rule(
        BE + r" no (?:picture|image|number|digit|HTTP|URL|date|base64|hash|text|widget|name|error|use|obstacle)\b",
        "isn’t a; isn’t valid",
    ),
    Rule(r"\b(?:that|which) (?:is|are) none\b", "that aren’t valid …"),
    Rule(r"\b[Ss]tands? (?:at|behind|on|before|between|there|in(?! for))\b", "is; appears; wraps; runs before"),
    Rule(r"\b(?:[Ll]ie|[Ll]ies|[Ll]ay) (?:in|at|behind|beside|between|there|side by side)\b", "is located; is stored"),
    Rule(r"\b[Cc]an(?:not)? be seen\b", "is visible; is on screen"),
    Rule(r"\b[Ff]etch(?:es|ed|ing)? (?:\w+ )?ahead\b", "prefetches; prefetching"),
    Rule(r"\b(?:[Aa]n|[Tt]he) app(?:'|’)s own\b", "custom"),
    Rule(r"\b[Bb]lanks?\b", "whitespace; space"),
    Rule(r"\b[Ff]olders?\b", "directory"),
    Rule(r"\b\w*(?:[Cc]olour|[Gg]rey|[Cc]entre|[Nn]eighbour|[Bb]ehaviour|[Ll]icence|[Hh]onour|[Ff]avour)\w*",
         "American spelling"),
    Rule(r"\b\w*(?:ial|ron|mal|ant|mor|gan|tim|cogn)is(?:e|ed|es|ing|ation)\b", "American spelling: -ize"),
    Rule(r"\b[Cc]ancell(?:ed|ing)\b", "canceled; canceling"),
    Rule(
        r"(?<![Tt]he )\b[Dd]efault:? (?:true|false|nil|none|\d|an? |the |all\b|`[^`]*`)",
        "The default is …",
        PROSE,
    ),
    Rule(
        r"^- (?:Throws|Returns): (?:why|what|as|famil|whatever|how)\w*",
        "“An ``ImageError`` if …”; “The …”",
        DOCS,
    ),
    Rule(r"^- (?:Parameter )?\w+: [a-z]\w*", "begin with a capital letter", DOCS),
    Rule(r"(?<![\w`.])(?:[Nn]il|[Tt]rue|[Ff]alse)(?![\w`])", "code voice: `nil`, `true`, `false`", DOCS),
    Rule(r"(?<=[a-z`)]);(?= (?!RFC)[a-z`])", "write two sentences", COMMENTS),
]

#: Retired words of the section “Vocabulary” in CONTRIBUTING.md that have no other meaning in this project.
VOCABULARY = [
    Rule(r"\b[Rr]esolved requests?\b", "request plan"),
    Rule(r"\b[Mm]ailbox(?:es)?\b", "command queue; event buffer"),
    Rule(r"\bchromes?\b", "adapter"),
    Rule(r"\b[Rr]enditions?\b", "variant"),
    Rule(r"\b[Ss]tudios?\b", "scheduler; renderer"),
    Rule(r"\b[Ww]ish(?:es)?\b", "request"),
]

#: Entries of the glossary that section 6 doesn't cover and that have no legitimate use in this project.
GLOSSARY = [
    Rule(r"\b[Ss]tills\b|\b[Aa] still" + END, "still image"),
    Rule(r"\b[Pp]osters?\b(?! frames?\b)", "poster frame"),
    Rule(BE + r" cut\b|\b[Cc]ut[- ](?:off|short)\b", "truncated (data); cropped (pixels)"),
    Rule(r"\b[Dd]amaged\b|\b[Bb]roken\b(?! (?:into|down|up)\b)", "corrupt (data); invalid (structure or value)"),
    Rule(r"\b[Aa]nswer(?:s|ed|ing)?\b", "response (HTTP); result (function); serves the request (cache)"),
    Rule(r"\b[Ss]tored cop(?:y|ies)\b|\b[Ww]hat is kept\b", "cached response; cached image"),
    Rule(r"\b[Ff]ound none\b", "cache miss"),
    Rule(r"\b[Ll]ook(?:s|ed|ing)? into\b", "look up; inspects"),
    Rule(r"\b[Ss]till holds?\b", "revalidate; revalidated"),
    Rule(r"\b[Pp]ast (?:its|their) freshness\b", "stale"),
    Rule(r"\b(?:[Tt]old|[Tt]ells?|[Tt]elling)(?: \w+)? apart\b", "distinguished; differ in"),
    Rule(r"\b[Ll]eaves? first\b", "is evicted"),
    Rule(r"\b[Rr]emembered failures?\b", "negative cache entry"),
    Rule(r"\b(?:[Hh]ears?|[Hh]eard) (?:of|about)\b", "is notified of; receives"),
    Rule(r"\b[Ww]hoever\b|\b[Aa]ll who\b", "name the actor, such as “code that …”"),
    Rule(r"\b[Ll]ost (?:downloads?|transfers?)\b", "interrupted download"),
    Rule(r"\b(?:[Tt]ried|[Tt]ries|[Tt]rying) again\b", "retried"),
    Rule(r"\b[Gg](?:ive|ives|iven|iving|ave) (?:out|(?:\w+ ){0,2}back)\b", "returns; produces; delivers"),
    Rule(r"\b[Tt]oo much to do\b", "overloaded"),
    Rule(r"\b[Bb]eside\b", "next to; alongside; in addition to"),
    Rule(r"\b[Ww]hat (?:came|has come)\b|\b(?:has|have|had) come\b", "received"),
    Rule(r"\b[Pp]iece by piece\b", "incrementally"),
    Rule(r"\b[Ll]ook(?:s|ed|ing)? at\b", "inspects; checks; reads"),
    Rule(r"\b[Mm]emory is short\b", "memory pressure"),
    Rule(r"(?<![Cc]onnection )" + BE + r" refused\b", "is rejected; throws"),
    Rule(r"\b[Tt]ime limits?\b|\b[Ll]imit for connecting\b", "timeout (duration); deadline (point in time)"),
    Rule(r"\b[Tt]ime is over\b|\b(?:is|are|was|were) over" + END, "finished; expired"),
    Rule(r"\b[Ff]orgets?\b|\b[Ff]orgotten\b", "removes; discards"),
    Rule(BE + r" gone\b", "is deallocated; is destroyed; is deleted"),
    Rule(r"\b[Ll]ets? go\b", "releases"),
    Rule(r"\b(?:[Tt]hreads?|[Qq]ueues?|[Pp]rocess(?:es)?|[Tt]asks?) of (?:its|their|our) own\b", "dedicated thread"),
    Rule(r"\b[Bb]y (?:itself|themselves)\b", "automatically; on its own"),
    Rule(r"\b[Oo]n the screen\b", "on screen; visible"),
    Rule(r"\b[Rr]ecycled\b", "reused"),
    Rule(r"\b[Ss]hown meanwhile\b|\b[Uu]ntil (?:it is|they are) there\b", "placeholder"),
    Rule(r"\b(?:is|are|was|were)(?: already| not)? there" + END, "is available; is cached; is loaded; exists"),
    Rule(r"\b[Ff]igures\b(?! out\b)", "statistics; measurements"),
    Rule(r"\b[Ww]hatever\b|\b[Hh]owever (?:many|much|often|large|small|long|old)\b", "regardless of"),
    Rule(r"\b[Aa]s (?:it is|they are|it was|they were)" + END, "unchanged; unmodified"),
    Rule(r"\b[Tt]he present\b", "the current"),
    Rule(r"\b\w*(?:[Ll]abell|[Mm]odell|[Ss]ignall|[Tt]ravell|[Ll]evell)(?:ed|ing)\b|\b[Aa]rtefacts?\b|\b[Ww]hilst\b"
         r"|\b\w+lys(?:ed|ing)\b|\b[Ff]ulfil\b|\b[Ff]ulfils\b", "American spelling"),
]

#: Rule 10 of the guide.
TEST_NAMES = [
    Rule(r"^[a-z]\w*", "begin the name of a test with a capital letter", TESTS),
    Rule(r"(?<!\.)\.$", "end the name of a test without a period", TESTS),
]

#: The documentation of declarations that aren't public (`access.py`).
BOOLEAN = Rule(
    r"\b[Aa] Boolean value that indicates (?:whether|that)\b", "“Whether …”, because the declaration isn't public", DOCS)

RULES = LINT_LIST + VOCABULARY + GLOSSARY + TEST_NAMES
