#!/usr/bin/env python3
"""gen_api_man.py DIR   Write the manual pages of section 3 to DIR, from the comments of the public headers.

header_comments.py reads the comments.  PAGES lists the declarations of each page; examples are files or functions of examples/, which
the tests run.  Every public function has a description; comments that are not complete sentences are errors.  Pages of section 3 in
DIR from an earlier run are removed.
SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
import sys
import textwrap
from dataclasses import dataclass

from header_comments import DISPLAY, HEADERS, WHO, split_doc

TOP = pathlib.Path(__file__).resolve().parent.parent


@dataclass
class Page:
    """A page: its header, the names of the header and the paragraphs of its opening comment that the page documents."""
    name: str
    title: str
    header: str
    example: tuple               # (file, functions and types separated by spaces); None: the whole file
    owns: str = r".*"            # pattern of the names of functions, types and constants of the header
    also: str = r"$^"            # pattern of names of file.h, for pages of other headers
    prose: str = r""             # pattern of the first words of paragraphs of the opening comment to show
    see: tuple = ()


COLUMNS = 71  # maximum columns of code: lines of a page have 78 columns, and text is indented by 7
TRANSFER = r"tutti_file_(write|read)"
WATCH = r"tutti_file_(stats|explain|on_progress)$|tutti_progress_fn"
PAGES = [
    Page("tutti_access", "mappings between bytes of a file and bytes of memory", "access.h",
         ("examples/step2_ghost_cells.c", "make_slab_access"), see=("tutti_mpitype", "tutti_transfer")),
    Page("tutti_mpitype", "accesses from MPI datatypes", "mpitype.h",
         ("examples/manual.c", "make_columns_access"), see=("tutti_access",)),
    Page("tutti_file", "open, close, resize and sync files", "file.h",
         ("examples/step1_first.c", None),
         owns=rf"(?!{TRANSFER}|{WATCH}|tutti_plan|tutti_options_from_info)",
         see=("tutti_transfer", "tutti_plan", "tutti_stats", "tutti_options")),
    Page("tutti_transfer", "write and read files", "file.h",
         ("examples/manual.c", "write_rows write_and_compute"), owns=TRANSFER, prose=r"\*Collect|Visib",
         see=("tutti_access", "tutti_file", "tutti_plan", "tutti_stats")),
    Page("tutti_plan", "operations that are planned once and run many times", "file.h",
         ("examples/step3_checkpoint_loop.c", None), owns=r"tutti_plan", prose=r"\*Collect",
         see=("tutti_transfer", "tutti_access")),
    Page("tutti_array", "arrays in files, larger than memory", "array.h",
         ("examples/step5_array.c", None), prose=r"An array|Collect",
         owns=rf"tutti_array(?!_(read|write|partition|prefetch|copy))",
         see=("tutti_slice", "tutti_distribution", "tutti_tiles", "tutti_element_types", "tutti_file")),
    Page("tutti_slice", "read and write parts of arrays", "array.h",
         ("examples/step5_array.c", "write_columns read_corner"), prose=r"Collect",
         owns=r"tutti_slice|tutti_array_(read|write|partition|prefetch|copy)",
         see=("tutti_array", "tutti_distribution", "tutti_tiles", "tutti_access")),
    Page("tutti_distribution", "distribution of the elements of an array over ranks", "array.h",
         ("examples/step5_array.c", "write_columns"), owns=r"tutti_dist",
         see=("tutti_array", "tutti_slice")),
    Page("tutti_tiles", "iterate over arrays that do not fit into memory", "array.h",
         ("examples/apps/jacobi.c", "sweep"), owns=r"tutti_tile", prose=r"Collect",
         see=("tutti_array", "tutti_slice")),
    Page("tutti_mesh", "unstructured meshes: read, number, partition", "mesh.h",
         ("examples/step8_mesh.c", "distribute_mesh"), prose=r"A mesh is|Collect",
         owns=r"tutti_mesh(?!_part(_|$))|TUTTI_MESH|ELEMENT",
         see=("tutti_mesh_part", "tutti_replicas")),
    Page("tutti_mesh_part", "the part of a mesh of one rank, with its halo", "mesh.h",
         ("examples/step8_mesh.c", "smooth_values"), prose=r"Collect",
         owns=r"tutti_mesh_part(_|$)", see=("tutti_mesh", "tutti_replicas")),
    Page("tutti_replicas", "items that several ranks hold, each written once", "replicas.h",
         ("examples/step7_replicas.c", None), prose=r"Unstr|An insp|Collect",
         see=("tutti_access", "tutti_transfer", "tutti_plan")),
    Page("tutti_parts", "several variables in one operation, with conversions", "parts.h",
         ("examples/manual.c", "write_variables"), prose=r"One call",
         see=("tutti_element_types", "tutti_transfer", "tutti_plan", "tutti_access")),
    Page("tutti_element_types", "element types and their conversion between memory and file",
         "element_types.h", ("examples/manual.c", "write_variables"),
         see=("tutti_parts", "tutti_array")),
    Page("tutti_size", "checked arithmetic for sizes", "sizes.h", ("examples/manual.c", "allocate_array"),
         prose=r"Every", see=("tutti_array", "tutti_dataset", "tutti_exodus")),
    Page("tutti_options", "set and read options", "options.h", ("examples/manual.c", "open_tuned"),
         also=r"tutti_options_from_info", see=("tutti_file",)),
    Page("tutti_profile", "measured properties of a machine and its file systems", "profile.h",
         ("examples/manual.c", "print_speed"), prose=r"`tutti tune|A profile", see=("tutti_options",)),
    Page("tutti_dataset", "results and checkpoints with metadata, committed atomically", "dataset.h",
         ("examples/step6_dataset.c", None), prose=r"A dataset|A program|Collective calls",
         see=("tutti_decomposition", "tutti_file")),
    Page("tutti_decomposition", "the entries of an index space that each rank holds", "decomposition.h",
         ("examples/step6_dataset.c", "run_steps"), prose=r"A decomposition|Entries that",
         see=("tutti_dataset", "tutti_replicas")),
    Page("tutti_exodus", "finite-element results in one shared Exodus file", "exodus.h",
         ("examples/step9_exodus.c", None), prose=r"The file is|The terms|Collective calls",
         owns=r"tutti_exodus(?!_(mesh|elements|members|distribution|partitioner|put_mesh|get_mesh|own_el|entries|array|what|put_arr|get_arr|nemesis"
              r"|param.*_|entit(ies|y_)|find|variable_|has|attribute_name$|property_|qa_|info_|topology|side_)|_kinds?_)"
              r"|TUTTI_EXODUS_K",
         see=("tutti_exodus_mesh", "tutti_exodus_array", "tutti_exodus_inspect", "tutti_dataset")),
    Page("tutti_exodus_mesh", "write and read finite-element meshes in parallel", "exodus.h",
         ("examples/step9_exodus.c", "part write_all"), prose=r"The terms|Collective calls",
         owns=r"tutti_exodus_(mesh|elements|members|distribution|partitioner|put_mesh|get_mesh|own_el|entries|nemesis)",
         see=("tutti_exodus", "tutti_mesh", "tutti_replicas")),
    Page("tutti_exodus_array", "parts of the arrays of an Exodus file", "exodus.h",
         ("examples/step9_exodus.c", "read_all"), prose=r"The terms|Collective calls",
         owns=r"tutti_exodus_(array|what|put_arr|get_arr)", see=("tutti_exodus", "tutti_exodus_inspect")),
    Page("tutti_exodus_inspect", "inspect an Exodus file", "exodus.h",
         ("examples/step9_exodus.c", "read_all"), prose=r"The terms",
         owns=r"tutti_exodus_(param.*_|entit(ies|y_)|find|variable_|has|attribute_name$|property_|qa_|info_|topology"
              r"|side_|kind_)",
         see=("tutti_exodus", "tutti_exodus_array")),
    Page("tutti_error", "error codes and messages", "error.h", ("examples/manual.c", "open_old")),
    Page("tutti_stats", "statistics and progress of operations", "stats.h",
         ("examples/manual.c", "write_watched"), also=WATCH, see=("tutti_transfer", "tutti_plan")),
    Page("tutti_types", "integer types and the version", "types.h",
         ("examples/manual.c", "version_fits")),
    Page("tutti_fortran", "MPI handles of Fortran and other languages", "fortran.h",
         ("examples/manual.c", "open_on_handle"), see=("tutti_file",)),
    Page("tutti_backend", "interface for authors of stores", "backend.h", ("src/store/store_null.c", None),
         see=("tutti_options", "tutti_stats")),
]

# Pages of section 1, by patterns of the names of related pages of section 3.
COMMANDS = {r"tutti_(array|slice|tiles)": "tutti-array", r"tutti_(dataset|decomposition)": "tutti-dataset", r"tutti_exodus": "tutti-exodus",
            r"tutti_mesh": "tutti-mesh", r"tutti_profile": "tutti-tune"}


# Pages to which the text of a page refers where the comment of a header names another header.
HEADER_PAGES = {"file.h": "tutti_transfer", "decomposition.h": "tutti_decomposition"}


def of_page(page):
    """Return the items of a page, in the order of the headers."""
    chosen = [i for i in HEADERS[page.header].items if re.match(page.owns, i.name)]
    if page.header != "file.h":
        chosen += [i for i in HEADERS["file.h"].items if re.match(page.also, i.name)]
    return chosen


def functions(page):
    return [i for i in of_page(page) if i.kind == "function"]


# ------------------------------------------------------------------ writing roff


def roff(text):
    """Escape text for roff."""
    for char, name in (("\\", r"\e"), ("-", r"\-"), ("'", r"\(aq"), ("`", r"\(ga"), ("^", r"\(ha"),
                       ("~", r"\(ti")):
        text = text.replace(char, name)
    return re.sub(r"^(?=\.)", r"\\&", text, flags=re.M)


def prose(text, parameters=()):
    """Format a text: one sentence per line, words of C in bold, parameters in italics; tables and code are unchanged."""
    if DISPLAY in text:
        pieces = re.split(rf"((?:^{DISPLAY}.*(?:\n|\Z))+)", text, flags=re.M)
        return "\n".join(display(p) if p.startswith(DISPLAY) else prose(p, parameters) for p in pieces if p.strip())
    text = re.sub(r"\s*\n\s*", lambda m: "  " if text[m.start() - 1] == "." else " ", text.strip())
    text = re.sub(r"\bin (\w+\.h)\b", lambda m: f"in {HEADER_PAGES[m[1]]}(3)" if m[1] in HEADER_PAGES else m[0], text)

    def font(match):
        word = match[1] or match[0]
        if match[2]:
            return "\x01I" + match[2] + "\x01R"
        whole = "\x04" if "_" in word else ""  # prevents hyphenation
        if match[1] is None and word.rstrip("()") in NAMES:
            return whole + "\x01B" + word.rstrip("()") + "\x01R(3)"
        return whole + ("\x01I" if word in parameters else "\x01B") + word + "\x01R"

    text = re.sub(r"`([^`]+)`|(?<!\w)\*(\w[^*]*?)\*(?!\w)|\btutti_\w+\b(?:\(\))?|\bTUTTI_\w+\*?", font, text)
    text = re.sub(r"(?<=[.:])  +|   +", "\n", text)
    return re.sub("\x01(.)", r"\\f\1", roff(text)).replace("\x04", r"\%")


def display(lines):
    lines = [line[len(DISPLAY):] for line in lines.rstrip("\n").split("\n")]
    least = min(len(line) - len(line.lstrip()) for line in lines)
    lines = [piece for line in lines for piece in (narrow_line(line[least:], COLUMNS - 2) if "tutti_" in line else [line[least:]])]
    return ".RS 2\n.EX\n" + roff("\n".join(lines)) + "\n.EE\n.RE"


def parameters_of(items):
    return set(re.findall(r"(\w+)(?:\[\])?[,)]", " ".join(i.code for i in items)))


def prototype(item):
    """Format a declaration in bold with its parameters in italics, in lines of at most COLUMNS characters."""
    result, name, inner = re.match(r"(.*?)(\w+) ?\((.*)\)$", item.code).groups()
    parts = [p.strip() + "," for p in inner.split(",")]
    parts[-1] = parts[-1][:-1] + ");"
    lines = [f"{result}{name}("]
    for part in parts:
        if len(lines[-1]) + len(part) > COLUMNS and not lines[-1].endswith("("):
            lines.append(" " * 8)
        lines[-1] += part + (" " if part.endswith(",") else "")
    text = "\n".join(line.rstrip() for line in lines)
    head, tail = text.split("(", 1)
    tail = re.sub(r"(\w+)(?=[,)])", lambda m: m[1] if m[1] == "void" else f"\x01I{m[1]}\x01B", tail)
    bold = roff(head + "(" + tail).replace("\x01", r"\f").split("\n")
    return "\n".join(r"\fB" + line + r"\fR" for line in bold)


def narrow_comment(lines):
    """Wrap a comment of C that is longer than COLUMNS; lines with a deeper indentation stay as they are."""
    indent = re.match(r"\s*", lines[0])[0]
    text = [re.sub(r"^\s*\* ?", "", line) for line in "\n".join(lines).strip()[2:-2].rstrip().split("\n")]
    pieces = [[]]
    for line in text:
        if not line.strip() or line.startswith("   ") or (pieces[-1] and pieces[-1][-1].startswith("   ")):
            pieces.append([])
        pieces[-1].append(line if line.startswith("   ") else line.strip())
    out = []
    for piece in pieces:
        if piece:
            out += piece if piece[0].startswith("   ") else textwrap.wrap(" ".join(piece), COLUMNS - len(indent) - 3) or [""]
    if len(out) == 1 and len(indent + out[0]) <= COLUMNS - 6:
        return [f"{indent}/* {out[0]} */"]
    out = [f"{indent}{' *' if i else '/*'} {line}".rstrip() for i, line in enumerate(out)]
    return out[:-1] + [out[-1] + " */"] if len(out[-1]) <= COLUMNS - 3 else out + [f"{indent} */"]


def narrow(code):
    """Return C code with lines of at most COLUMNS characters where possible.  Long comments are wrapped; a long trailing comment is moved before its line."""
    lines, out = code.split("\n"), []
    while lines:
        line = lines.pop(0)
        if re.match(r"\s*/\*", line):
            block = [line]
            while "*/" not in block[-1]:
                block.append(lines.pop(0))
            alone = block[-1].rstrip().endswith("*/")
            out += narrow_comment(block) if alone and max(map(len, block)) > COLUMNS else block
            continue
        after = re.match(r"(\s*)(\S.*?)\s*(/\*.*\*/)$", line)
        if len(line) > COLUMNS and after:
            out += narrow_comment([after[1] + after[3]]) + [after[1] + after[2]]
        else:
            out += narrow_line(line)
    return "\n".join(out)


# Where a line of code may be divided: after a comma, before an operator, after an assignment.
BREAK = re.compile(r"(?P<comma>, )|(?P<operator> (?=(?:&&|\|\||[+*/?:]) ))|(?P<value> = )")


def narrow_line(line, columns=COLUMNS, more="        "):
    """Divide a line of code that is too long: after the head of a loop or condition, else at the least depth of brackets, never in a
    string.  Further lines are indented by `more`."""
    if len(line) <= columns or line.lstrip().startswith(("#", "//", "*")):
        return [line]
    indent = re.match(r" *", line)[0]
    head = re.match(r" *(?:for|if|while) \(", line)
    depth, ends = 0, []
    for at, char in enumerate(line[:columns]):
        if line[:at].count('"') % 2:
            continue
        depth += (char in "([{") - (char in ")]}")
        if head and char == ")" and depth == 0 and line[at + 1:at + 2] == " ":
            return [line[:at + 1]] + narrow_line(indent + "    " + line[at + 2:], columns)
        found = BREAK.match(line, at) if line[:at].strip() else None
        if found and (found.lastgroup != "value" or depth == 0 and not line.lstrip().startswith(".")):
            ends.append(({"comma": 0.5, "operator": 0, "value": -0.75}[found.lastgroup] - depth, found.end()))
    if not ends:
        return [line]
    end = max(ends)[1]
    return [line[:end].rstrip()] + narrow_line(indent + more + line[end:].lstrip(), columns, "")


def code_block(code):
    return ".PP\n.EX\n" + roff(narrow(code.strip("\n").replace("\t", "    "))) + "\n.EE\n"


def synopsis(page):
    out = f".SH SYNOPSIS\n.nf\n.B #include <tutti/{page.header}>\n"
    if functions(page) and page.header != "file.h" and any(
            i in HEADERS["file.h"].items for i in functions(page)):
        out += ".B #include <tutti/file.h>\n"
    last = None
    for item in functions(page):
        if item.group != last:
            out += ".PP\n"
        last = item.group
        out += prototype(item) + "\n"
    return out + ".fi\n"


def entry(items):
    """Format the paragraph of functions that share a comment."""
    text, who, parameters, _ = split_doc(items[0].doc)
    names = parameters_of(items) | {p for of, _ in parameters for p in of.split(", ")}
    out = ".TP\n" + ", ".join(rf"\%\fB{i.name}\fR()" for i in items) + "\n"
    return out + body(text, who, names) + parameter_list(parameters, names)


def body(text, who, names):
    """Format description, collectivity and details of a call."""
    first, _, rest = text.partition(WHO)
    paragraphs = [p for p in re.split(r"\n[ \t]*\n", rest) if p.strip()]
    parts = [prose(first, names) if first.strip() else "", prose(re.sub(r"\.(?= )", ". ", who), names) if who else ""]
    parts += [prose(p, names) for p in paragraphs[:1]] + [f".IP\n{prose(p, names)}" if not DISPLAY in p else prose(p, names) for p in paragraphs[1:]]
    return "".join(p + "\n" for p in parts if p)


def sentence(text):
    """Return a text with a capital letter at its beginning, unless it begins with a name."""
    return text[0].upper() + text[1:] if re.match(r"[a-z]+(?![\w(.\[])", text) else text


def parameter_list(parameters, names):
    if not parameters:
        return ""
    return ".RS\n" + "".join(f".TP\n.IR {name} :\n{prose(sentence(text), names)}\n"
                             for name, text in parameters) + ".RE\n"


def group_heading(heading, items):
    """Format a subsection: the title, the text, and functions without a comment."""
    title, _, text = re.sub(r"^@name\s+", "", heading).partition("\n")
    title, _, who_title = title.partition(".   ")
    title, _, more = title.partition(": ")
    text, who, parameters, _ = split_doc(text)
    who = who or who_title
    if more:
        text = f"{more[0].upper()}{more[1:]}.\n{text}"
    names = parameters_of(items) | {p for of, _ in parameters for p in of.split(", ")}
    out = f".SS {roff(title.rstrip('.'))}\n"
    bare = [i for i in items if not i.doc]
    if bare:
        out += ", ".join(rf"\%\fB{i.name}\fR()" for i in bare) + "\n.PP\n"
    return out + body(text, who, names).replace(".IP\n", ".PP\n") + parameter_list(parameters, names)


def table(item):
    """Format a table: error codes, types, rules, fields of the statistics or of the options."""
    if item.name == "ERROR":
        rows = [(rf"\fBTUTTI_{name}\fR ({roff(value)})", text) for name, value, text in item.extra]
    elif item.name == "PROFILE":
        rows = [(rf"\fB{name}\fR ({section})", re.search(r'"(.*)"', rest)[1])
                for section, name, rest in item.extra]
    elif item.name == "TYPE":
        rows = [(rf"\fBTUTTI_{name}\fR, \(dq{text.strip().strip(chr(34))}\(dq",
                 "1 byte" if size == "1" else f"{size} bytes" if size != "0" else "as many bytes as element_size says")
                for name, size, text in item.extra]
    elif item.name == "RULE":
        rows = [(rf"\fBTUTTI_REPLICAS_{name}\fR, \(dq{text}\(dq", re.sub(r'"\s*"', "", help_))
                for name, text, help_ in item.extra]
    elif item.name == "ELEMENT":
        rows = [(rf"\fBTUTTI_MESH_{name}\fR", re.sub(r'(\d+), \d+, "(.*)"', r"\2: nodes \1, dimension " + dim, rest.strip()))
                for name, dim, rest in item.extra]
    elif item.name == "STATS":
        rows = [(rf"\fB{name}\fR ({ctype})", text) for ctype, name, text in item.extra]
    else:
        ctypes = {"SIZE": "tutti_off", "TEXT": "char"}
        fields = "".join(f"    {ctypes.get(kind, 'int')} {name}{'[128]' if kind == 'TEXT' else ''};\n"
                         for kind, name, _ in item.extra)
        return code_block("typedef struct tutti_options {\n    size_t struct_size;\n" + fields + "} tutti_options;")
    return "".join(f".TP\n{name}\n{prose(text.strip().strip(chr(34)))}\n" for name, text in rows)


def other(item):
    """Format an item other than a function: type, constant, table."""
    if item.kind == "constant":
        return f".TP\n.B {item.name}\n{prose(item.doc) if item.doc else roff(item.code)}\n"
    if item.kind == "values":
        return (f".PP\n{prose(item.doc)}\n" if item.doc else "") + ".PP\n" + ", ".join(
            rf"\fB{n}\fR" for n in item.extra) + "\n"
    if item.kind == "table":
        says = re.sub(r"^X\(.*?\)\.?\s*", "", item.doc) if item.name != "OPTION" else ""
        return (f".PP\n{prose(says)}\n" if says else "") + table(item)
    out = f".PP\n{prose(split_doc(item.doc)[0])}\n" if item.doc else ""
    return out if "#define" in item.code else out + code_block(item.code)


def description(page):
    header, items = HEADERS[page.header], of_page(page)
    out = ".SH DESCRIPTION\n"
    shown = False
    for paragraph in header.prose:
        shown = shown if paragraph.startswith(DISPLAY) else bool(re.match(page.prose, paragraph))
        if shown:
            out += f".PP\n{prose(paragraph)}\n"
    group = done = None
    for item in items:
        if item.group != group and item.group and header.groups.get(item.group):
            out += group_heading(header.groups[item.group],
                                 [i for i in items if i.group == item.group and i.kind == "function"])
        group = item.group
        if item.kind != "function":
            out += other(item)
        elif item.doc and item.doc is not done:
            out += entry([i for i in items if i.doc is item.doc])
            done = item.doc
    return out.replace(".SH DESCRIPTION\n.PP\n", ".SH DESCRIPTION\n")


def references(page):
    """Format the paragraph of the opening comment that begins with References."""
    found = [p.removeprefix("References.") for p in HEADERS[page.header].prose if p.startswith("References.")]
    return f".SH REFERENCES\n{prose(found[0])}\n" if found else ""


def return_text(page, item):
    """Return the text of @return of a function or, if it has none, of its group."""
    own = split_doc(item.doc)[3]
    shared = split_doc(HEADERS[page.header].groups.get(item.group, ""))[3]
    return own or (shared if item.code.startswith("tutti_err ") and not split_doc(item.doc)[0] else "")


def returns(page):
    some = functions(page)
    if not some:
        return ""
    out = ""
    if any(i.code.startswith("tutti_err ") for i in some):
        out = ("Functions that return a\n.B tutti_err\nreturn\n.B TUTTI_OK\nor a code of\n"
               ".BR tutti_error (3)")
        out += ";\noutput arguments, except buffers, are written on success only.\n" if page.name != "tutti_error" else ".\n"
    told = {}
    for item in some:
        text = return_text(page, item)
        if text:
            told.setdefault(text, []).append(item)
    for text, items in told.items():
        out += f".TP\n{', '.join(rf'{chr(92)}%{chr(92)}fB{i.name}{chr(92)}fR()' for i in items)}\n"
        out += prose(sentence(text), parameters_of(items)) + "\n"
    return ".SH RETURN VALUE\n" + out if out else ""


ERRORS = {f"TUTTI_{name}": text.strip().strip('"') for name, _, text in
          next(i for i in HEADERS["error.h"].items if i.name == "ERROR").extra}


def codes_of(page, item, seen=()):
    """Return the error codes that the comment of a function names, and those of the function whose errors it has."""
    text = item.doc + HEADERS[page.header].groups.get(item.group, "")
    codes = re.findall(r"TUTTI_ERR_[A-Z_]+", text)
    for name in re.findall(r"(?:as|those of|errors of) (tutti_\w+)", return_text(page, item)):
        base = next((i for i in HEADERS[page.header].items if i.name == name), None)
        if base and name not in seen:
            codes += codes_of(page, base, (*seen, item.name))
    return codes


def errors(page):
    """List the error codes that the comments of a page name, and the functions that return each code."""
    found, some = {}, functions(page)
    for item in some:
        if item.code.startswith("tutti_err "):
            for code in codes_of(page, item) if not item.name.endswith("_sized") else ():
                if (code == "TUTTI_ERR_OVERLAP" and "_read" in item.name) or (code == "TUTTI_ERR_TRUNCATED" and "_write" in item.name):
                    continue  # the comment is shared by writes and reads: only writes overlap, only reads are truncated
                found.setdefault(code, []).append(item.name)
    if not found or page.name == "tutti_error":
        return ""
    out = ".SH ERRORS\n"
    header = HEADERS[page.header]
    if any(re.search(r"^ *Collective", i.doc + header.groups.get(i.group, ""), re.M) for i in some):
        intro = next((p.removeprefix("Errors.").strip() for p in header.prose if p.startswith("Errors.")),
                     "A collective call fails with one code and one message on all ranks, those of the lowest rank that fails.")
        out += prose(intro) + "\n.PP\n" + prose("Different calls or arguments on the ranks fail with `TUTTI_ERR_MISMATCH`.") + "\n"
    out += prose("tutti_last_message returns the message.  Invalid arguments fail with `TUTTI_ERR_ARG`, closed handles with `TUTTI_ERR_STATE`, a lack of "
                 "memory with `TUTTI_ERR_NOMEM`, and failures of the file system with the code of the cause, such as `TUTTI_ERR_NO_SPACE`.  "
                 "In addition, for the reasons stated under RETURN VALUE or in the description of the call:") + "\n"
    for code in sorted(found, key=list(ERRORS).index):
        names = ", ".join(rf"\%\fB{n}\fR()" for n in dict.fromkeys(found[code]))
        out += f".TP\n.B {code}\n{roff(ERRORS[code][0].upper() + ERRORS[code][1:])}: {names}.\n"
    return out


def example(page):
    path, function = page.example
    text = (TOP / path).read_text(encoding="ascii")
    if function:
        pieces = []
        for name in function.split():
            found = re.search(rf"(?:^/\*(?:(?!\*/).)*\*/\n)?^(?:typedef struct \{{\n[^}}]*\}} {name};|[\w *]+\b{name}\([^;]*?\{{\n.*?^\}})$", text,
                              re.M | re.S)
            if not found:
                sys.exit(f"gen_api_man.py: {path} has no function {name}")
            pieces.append(found[0])
        text = "\n\n".join(pieces)
    else:
        text = re.sub(r"^/\* TEST .*\n", "", text)
    text = re.sub(r"\n ?\*? ?SPDX.*?\*/", " */", text)
    what = "From" if function else "This is"
    return f".SH EXAMPLE\n{what}\n.I {roff(path)}\nin the source tree.\n" + code_block(text)


def see_also(page, text):
    named = {HEADER_PAGES["file.h"]} if r"tutti_transfer\fR(3)" in text else set()
    pages = sorted(n for n in set(page.see) | {"tutti_error"} | named if n != page.name)
    commands = [(c, 1) for p, c in COMMANDS.items() if re.match(p, page.name)]
    refs = [f".BR {roff(n)} ({s})" for n, s in commands + [(p, 3) for p in pages] +
            [("tutti", 7), ("tutti-options", 7)]]
    return ".SH SEE ALSO\n" + ",\n".join(refs) + "\n"


def make_page(page, version):
    names = [page.name] + [i.name for i in functions(page)]
    source = page.example[0]
    described = description(page)
    return (f'.\\" Written by scripts/gen_api_man.py from include/tutti/{page.header} and {source};'
            ' do not edit.\n.\\" SPDX-License-Identifier: BSD-3-Clause\n'
            f'.TH {roff(page.name.upper())} 3 "" "Tutti {version}" "Tutti Manual"\n.nh\n.ad l\n'
            f".SH NAME\n{', '.join(names)} \\- {roff(page.title)}\n"
            + synopsis(page) + described + returns(page) + errors(page) + example(page) + references(page) + see_also(page, described))


# ------------------------------------------------------------------ all pages

NAMES = {i.name for h in HEADERS.values() for i in h.items if i.kind == "function"}


def torn(text):
    """Return the first words of a paragraph that does not consist of complete sentences, or None."""
    for paragraph in re.split(r"\n[ \t]*\n|" + WHO, re.sub(rf"^{DISPLAY}.*$", "", text, flags=re.M)):
        words = re.sub(r"\s+", " ", paragraph).strip()
        if words and (words[-1] not in ".:" or not re.match(r"[A-Z0-9`*(\"]|tutti_", words)):
            return words[:50]
    return None


def judge(item, header):
    """Return the errors in the comment of a function: no description, no collectivity, a torn sentence."""
    group = re.sub(r"^@name.*\n?", "", header.groups[item.group])
    own, shared = split_doc(item.doc), split_doc(group)
    if not (own[0] or shared[0]):
        yield "has no description"
    if not (own[1] or shared[1]):
        yield "does not say whether it is collective"
    for text in (own[0], shared[0]):
        if torn(text):
            yield f"has a torn sentence: '{torn(text)}'"
    for name, text in [*own[2], *shared[2], *([("@return", own[3])] if own[3] else [])]:
        if not text.strip().endswith("."):
            yield f"has a torn sentence at {name}: '{text.strip()[-40:]}'"


def complain():
    """Return the errors in the headers and in PAGES."""
    owners = {}
    for page in PAGES:
        for item in of_page(page):
            owners.setdefault(item.name, []).append(page.name)
    for header in HEADERS.values():
        for item in header.items:
            if len(owners.get(item.name, ())) != 1:
                yield f"{item.name} is on {len(owners.get(item.name, ()))} pages"
            if item.kind == "function":
                yield from (f"{item.name} {what}" for what in judge(item, header))


def page_names():
    """Return the names of all pages and links."""
    return {p.name for p in PAGES} | NAMES


def main():
    out = pathlib.Path(sys.argv[1])
    version = re.search(r'VERSION_STRING "(.*?)"', (TOP / "include/tutti/types.h").read_text())[1]
    wrong = list(complain())
    if wrong:
        sys.exit("\n".join(f"gen_api_man.py: {w}" for w in wrong))
    made = {f"{p.name}.3": make_page(p, version) for p in PAGES}
    for page in PAGES:
        for item in functions(page):
            made.setdefault(f"{item.name}.3", f".so man3/{page.name}.3\n")
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.3"):
        old.unlink()
    for name, text in made.items():
        if "TUTTI_API" in text:
            sys.exit(f"gen_api_man.py: page {name} contains the macro TUTTI_API")
        (out / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
