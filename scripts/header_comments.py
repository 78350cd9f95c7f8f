"""header_comments: the comments of the public headers, by declaration; tutti_headers parses the declarations.

Format of the comments: `/** ... */` before a declaration or a group of declarations (@name, @{, @}); @param and @return
with continuation lines that are indented deeper.  The second line of a comment states whether the call is collective
(`Collective ...` or `Not collective ...`).  Sentences are separated by two spaces.
SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
from dataclasses import dataclass, field

TOP = pathlib.Path(__file__).resolve().parent.parent
DISPLAY = "\x02"  # marks a line of a table or of code
WHO = "\x03"  # stands for the collectivity of a call


@dataclass
class Item:
    """A declaration of a header, with its comment and its group."""
    kind: str                    # "function", "type", "constant", "values" or "table"
    name: str
    code: str
    doc: str = ""
    group: int = 0               # number of the group; 0: none
    extra: list = field(default_factory=list)


TOKEN = re.compile(r"""
    (?P<open>/\*\*@\{\*/) | (?P<close>/\*\*@\}\*/)
  | /\*\*(?P<doc>[\s\S]*?)\*/ | /\*(?P<comment>[\s\S]*?)\*/
  | ^\#define\ +TUTTI_(?P<table>[A-Z]+)_TABLE\(X\)(?P<rows>(?:.*\\\n)+.*\n)
  | ^\#define\ +(?P<constant>TUTTI_[A-Z_]+)\ +(?P<value>\d+|"[^"]*")\ *(?:/\*(?P<says>[\s\S]*?)\*/)?$
  | ^\#(?:.*\\\n)*.*$
  | ^TUTTI_API(?P<function>[^;]*);
  | ^(?:TUTTI_MUST_USE\ )?static\ inline(?P<inline>[^{]*)\{[\s\S]*?^\}
  | ^typedef\b(?P<type>[^{;]*(?:(?:\{[^{}\n]*\}|\{[\s\S]*?^\})[^;]*)?);
  | ^enum\ *\{(?P<values>[^}]*)\}\ *;
  | (?P<gap>\n\ *\n)
""", re.X | re.M)


def unstar(comment):
    """Return the text of a comment without the stars at the start of lines."""
    return "\n".join(re.sub(r"^ \*", "", line) for line in comment.split("\n")).strip("\n ")


def tidy(prototype):
    return re.sub(r"\s+", " ", re.sub(r"\bTUTTI_(MUST_USE|PRINTF\(.*?\))", "", prototype)).strip()


class Header:
    """A parsed header: opening comment, groups, items."""

    def __init__(self, name):
        text = (TOP / "include/tutti" / name).read_text(encoding="ascii")
        opening, rest = text.split("*/", 1)
        self.prose = self._opening(opening[2:])
        self.groups, self.items = {0: ""}, []
        self._read(rest)
        self._share_sized()

    def _share_sized(self):
        """Let NAME_sized share a comment with NAME or NAME_get: one of the two has it."""
        by_name = {item.name: item for item in self.items}
        for item in self.items:
            base = item.name.removesuffix("_sized")
            base = by_name.get(base) or by_name.get(base + "_get")
            if base and base is not item and not item.doc.startswith("Variant"):
                item.doc = base.doc = base.doc or item.doc

    @staticmethod
    def _opening(comment):
        text = re.sub(r"SPDX-.*", "", unstar(comment), flags=re.S)
        text = re.sub(r"^Tutti: .*?(?:\.\s*\n|\.$|\n\s*\n)", "", text, flags=re.S)
        found = []
        for paragraph in re.split(r"\n[ \t]*\n", text):
            lines = [line for line in paragraph.split("\n") if line.strip()]
            if lines and all(line.startswith("     ") for line in lines):  # a table or code
                found.append("\n".join(DISPLAY + line for line in lines))
            elif lines:
                found.append(paragraph.strip())
        return found

    def _read(self, text):
        doc = comment = heading = ""
        group, last = 0, None
        for found in TOKEN.finditer(text):
            part = found.groupdict()
            if part["doc"] is not None:
                doc = unstar(part["doc"])
                if doc.startswith("@name"):
                    heading, doc = doc, ""
                last = None
            elif part["comment"] is not None:
                comment = unstar(part["comment"])
            elif part["open"]:
                group = len(self.groups)
                self.groups[group] = heading
            elif part["close"]:
                group = 0
            elif part["gap"]:
                last = None
            elif item := self._item(part):
                together = last and last.kind == item.kind == "function" and not doc
                item.doc, item.group = doc or (last.doc if together else item.doc), group
                if item.kind in ("table", "values"):
                    item.doc = comment
                # Put a type whose description names a table before this table.
                before = "_TABLE(" in item.code and self.items[-1].kind == "table"
                self.items.insert(len(self.items) - before, item)
                doc, comment, last = "", "", item

    @staticmethod
    def _item(part):
        if part["table"]:
            rows = re.sub(r"\s*\\\n\s*", " ", part["rows"])
            return Item("table", part["table"], "", extra=re.findall(
                r'X\((\w+), ([-\w]+), ((?:"[^"]*"|[^"])*?)\)(?= *X\(|\s*$)', rows))
        if part["constant"]:
            return Item("constant", part["constant"], part["value"], unstar(part["says"] or ""))
        if part["function"] or part["inline"]:
            code = tidy(part["function"] or part["inline"])
            return Item("function", re.search(r"(\w+) ?\(", code)[1], code)
        if part["type"]:
            code = part["type"]
            name = (re.search(r"(\w+)\s*\(", code) if "{" not in code and "(" in code else
                    re.search(r"(\w+)\s*$", code))[1]
            return Item("type", name, "typedef" + code + ";")
        if part["values"]:
            names = re.findall(r"\w+", part["values"])
            return Item("values", names[0], "", extra=names)
        return None


HEADERS = {p.name: Header(p.name) for p in sorted((TOP / "include/tutti").glob("*.h"))}
HEADERS.pop("tutti.h")


def split_doc(doc):
    """Split a comment into (prose, collectivity, [(parameter, text)], return text)."""
    body, parameters, returns, where, depth = [], [], "", "body", 0
    for line in re.sub(r" {3,}@", "\n@", doc).split("\n"):
        indent = len(line) - len(line.lstrip())
        tag = re.match(r"\s*@(param\[[\w,]+\]|return)\s+(.*)", line)
        if tag:
            depth = indent
            if tag[1] == "return":
                where, returns = "return", tag[2]
            else:
                name, text = re.match(r"(\w+(?:, *\w+)*)\s*(.*)", tag[2]).groups()
                where = "param"
                parameters.append([name, text])
        elif where == "body" or indent <= max(depth, 2):
            where = "body"
            shown = line.strip() and indent >= 5 and (not body or not body[-1] or body[-1].startswith(DISPLAY))
            body.append(DISPLAY + line.rstrip() if shown else line.strip())
        elif where == "param":
            parameters[-1][1] += " " + line.strip()
        else:
            returns += " " + line.strip()
    text = "\n".join(body)
    who = re.search(r"(?:^|\n)((?:Not collective|Collective)\b(?:[^.]|\.(?=\w))*\.)(?=\s|$)", text)
    if who:
        text = text[:who.start()] + WHO + text[who.end():]
    return text.strip(), (re.sub(r"\s+", " ", who[1]) if who else ""), parameters, returns


def documents():
    """Return {function: (description, {parameter: description})}."""
    found = {}
    for header in HEADERS.values():
        for item in header.items:
            if item.kind == "function":
                group = split_doc(header.groups[item.group])
                prose, _, parameters, _ = split_doc(item.doc)
                says = {}
                for names, text in group[2] + parameters:
                    for name in re.findall(r"\w+", names):
                        says[name] = text.strip()
                found[item.name] = (prose.replace(WHO, "\n").strip(), says)
    return found
