#!/usr/bin/env python3
"""gen_fortran.py DIR | --names   Write most of the Fortran module to DIR, from the public headers.

  declarations.inc       constants, derived types, handles, interfaces
  interfaces.inc         interfaces that differ from C, from bindings/fortran/interfaces.txt
  procedures.inc         functions that return text
  entries.c              the functions that the interfaces call: they convert arguments and call the C function
  layout.inc, layout.c   sizes of structs and offsets of fields in both languages, for a test

A function has the name that it has in C.  Its required arguments come in C's order, then ierr if C returns an error, then, as optional
arguments, those for which C allows NULL: the positional argument after the required ones is always ierr.  Outputs do not have the
suffix _out.  Lengths of lists are not passed, since Fortran arrays have them.  BY_HAND lists functions that need another interface than
in C: interfaces.txt has their interfaces, or bindings/fortran/tutti.F90 the procedures.  NOT_THERE lists functions that Fortran does
not have, with the reason.

--names lists the names that the module must have: all functions, types and constants.
SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
import sys
import textwrap
from dataclasses import dataclass, field

import fortran_interfaces
from header_comments import documents
from tutti_headers import Everything

TOP = pathlib.Path(__file__).resolve().parent.parent
FRAME = [TOP / "bindings/fortran/tutti.F90", TOP / "bindings/fortran/exodus.inc"]

# Functions that do not exist in Fortran, with the reason.
NOT_THERE = [
    (r".*_sized", "the function without _sized calls it, with the size of Fortran's type"),
    (r"tutti_(comm|datatype|info)_f2c", "they take Fortran's handles; Fortran has these already"),
    (r"tutti_plan_(run|start)_write", "tutti_plan_run and tutti_plan_start take any array"),
    (r"tutti_decomposition_create_at", "tutti_decomposition_create has the optional argument `segment`"),
]
# Headers that Fortran does not need.
NO_HEADERS = {"backend.h"}
# Structs with another form in Fortran, which also exist privately in the form of C, under c_NAME; then all structs with
# another form.
RAW_STRUCTS = {"tutti_mesh_view", "tutti_mesh_part_view", *(f"tutti_exodus_{s}" for s in (
    "parameters", "entity", "qa", "elements", "members", "mesh", "distribution", "nemesis"))}
OTHER_STRUCTS = {"tutti_part", "tutti_put", "tutti_get", "tutti_exodus_field", "tutti_exodus_array", *RAW_STRUCTS}
# Constants that Fortran does not have, since names are case-insensitive.
NO_CONSTANTS = {"TUTTI_REPLICAS_CHECK"}   # tutti_replicas_write has the argument `check`
# Initial values of fields other than zero.
DEFAULTS = {("tutti_array_spec", "order"): "TUTTI_COL_MAJOR", ("tutti_section", "order"): "TUTTI_COL_MAJOR",
            ("tutti_slice", "stride"): "1"}
# Handles with more fields than an address.
HANDLES = {"tutti_plan": "tutti__f_plan", "tutti_array": "tutti__f_array_handle",
           "tutti_replicas": "tutti__f_replicas", "tutti_decomposition": "tutti__f_entries"}
MORE = {"tutti_plan": ("reach", "layout"), "tutti_array": ("rank",), "tutti_replicas": ("n", "item"),
        "tutti_decomposition": ("reach", "ndims", "count(TUTTI_MAX_DIMS)")}
# A @param text that allows NULL: "NULL, or ...", "...; NULL: ...", "If NULL, ...", "... may be NULL", "..., or NULL."  Any other
# mention of NULL, for example "must not be NULL", does not make an argument optional.
NULL_ALLOWED = re.compile(r"(?:^|[.;]\s+)NULL(?:[,:]| or |$)|\b[Ii]f NULL,|\bmay be NULL\b|\bor NULL\.?$")
# Arguments that may be NULL in C, in addition to those with such a text.
OPTIONAL = {("tutti_access_concat", "memory_offsets"), ("tutti_replicas_choose", "shares_out"),
            ("tutti_replicas_choose", "stats_out"), ("tutti_array_copy", "context"),
            ("tutti_file_on_progress", "fn"), ("tutti_file_on_progress", "context"),
            ("tutti_dataset_on_progress", "fn"), ("tutti_dataset_on_progress", "context"),
            ("tutti_exodus_on_progress", "fn"), ("tutti_exodus_on_progress", "context"),
            ("tutti_exodus_put_mesh", "mesh")}
REQUIRED = {("tutti_file_change", "opt"), ("tutti_options_get", "opt"), ("tutti_profile_predict", "opt"),
            ("tutti_mesh_cut_get", "of"),
            # Integer outputs that must not be optional arguments after ierr, since they could be confused with ierr.
            ("tutti_distribution_local", "rank_out"), ("tutti_dataset_refresh", "changed_out"),
            ("tutti_exodus_refresh", "changed_out")}
# Required lengths of lists that no other argument determines, as C expressions.
NODES = "tutti__f_mesh_nodes(m->p)"
NEEDS = {("tutti_mesh_partition", "load"): NODES, ("tutti_mesh_partition", "of_out"): NODES,
         ("tutti_mesh_cut_get", "of"): NODES, ("tutti_mesh_cut_get", "load"): NODES,
         ("tutti_mesh_part_make", "of"): NODES,
         ("tutti_mesh_part_exchange", "values"): "tutti__f_part_nodes(p->p) * (per_node > 0 ? per_node : 0)",
         ("tutti_decomposition_positions", "index_out"): "tutti_decomposition_entries(p->p)",
         ("tutti_dataset_chunk_bounds", "bounds_out"): "n + 1", ("tutti_exodus_side_nodes", "which_out"): "9",
         ("tutti_exodus_property", "values"): "tutti_exodus_entities(x->p, kind)",
         ("tutti_exodus_property_get", "values_out"): "tutti_exodus_entities(x->p, kind)",
         ("tutti_exodus_truth_table", "table"):
             "tutti_exodus_entities(x->p, kind) * tutti_exodus_variable_count(x->p, kind)",
         ("tutti_replicas_choose", "writers_out"): "lists->n", ("tutti_replicas_choose", "shares_out"): "lists->parts"}
# Short arrays of integers: shapes and offsets.
COUNTS = {("tutti_distribution_local", "global"), ("tutti_distribution_global", "local")}
COUNTS_OUT = {("tutti_slice_count", "shape_out"), ("tutti_distribution_part", "shape_out"),
              ("tutti_distribution_local", "local_out"), ("tutti_distribution_global", "global_out")}

NUMBERS = {"int": "integer(c_int)", "unsigned int": "integer(c_int)", "tutti_off": "integer(c_int64_t)",
           "tutti_count": "integer(c_int64_t)", "int64_t": "integer(c_int64_t)",
           "uint64_t": "integer(c_int64_t)", "size_t": "integer(c_size_t)", "int32_t": "integer(c_int32_t)",
           "uint32_t": "integer(c_int32_t)", "uint8_t": "integer(c_int8_t)",
           "unsigned char": "integer(c_int8_t)", "double": "real(c_double)", "float": "real(c_float)"}
MPI = {"MPI_Comm": "tutti_comm_f2c", "MPI_Datatype": "tutti_datatype_f2c", "MPI_Info": "tutti_info_f2c"}

ALL = Everything()
DOCS = documents()
WRITTEN = "".join(p.read_text(encoding="ascii") for p in FRAME)
INTERFACES = list(fortran_interfaces.interfaces())
BY_HAND = {*re.findall(r"^  ! by hand: (\w+)", WRITTEN, re.M), *(i.public for i in INTERFACES if i.public)}
OWN = {i.public for i in INTERFACES if i.is_own}
# Functions written by hand in Fortran that call generated entries, whose interfaces are private, under c_NAME.
OVER_C = set(re.findall(r"^  ! over c_: (\w+)", WRITTEN, re.M))


def not_there(name):
    return next((why for pattern, why in NOT_THERE if re.fullmatch(pattern, name)), None)


def functions():
    return [f for f in ALL.functions.values()
            if f.header not in NO_HEADERS and f.name not in BY_HAND and not not_there(f.name)]


def structs():
    return [s for s in ALL.structs.values() if s.fields and s.header not in NO_HEADERS
            and s.name not in OTHER_STRUCTS]


def handles():
    return [s.name for s in ALL.structs.values() if not s.fields]


def type_name(name):
    """Return the name of a type in Fortran, which must differ from the names of functions and constants, regardless of case."""
    if name in RAW_STRUCTS:
        return "c_" + name
    return name + "_type" if name in ALL.functions or name.upper() in ALL.constants else name


def is_number(base):
    return base in NUMBERS or base in ALL.enums


def fortran_number(base):
    return NUMBERS.get(base, "integer(c_int)")


# ------------------------------------------------------------------ arguments


@dataclass
class Argument:
    """A parameter of C: its form in Fortran, in the entry, and in the C call."""
    name: str                    # name in Fortran
    declare: str = ""            # type and attributes; "": not an argument in Fortran
    take: str = ""               # parameter of the entry
    give: str = ""               # argument of C's function
    optional: bool = False
    before: list = field(default_factory=list)
    late: list = field(default_factory=list)     # statements before the call, after all other conversions
    after: list = field(default_factory=list)
    mpi: str = ""                # type of an MPI handle, such as MPI_Comm


def is_optional(function, p):
    key = (function.name, p.name)
    if key in REQUIRED or p.stars == 0:
        return False
    return (key in OPTIONAL or p.name == "count_out" or p.base == "tutti_options" and p.const and p.name == "opt"
            or NULL_ALLOWED.search(DOCS.get(function.name, ("", {}))[1].get(p.name, "")) is not None)


def short(function, name):
    """Return the name without _out, unless another parameter has that name."""
    bare = re.sub(r"_out$", "", name)
    return name if any(p.name == bare for p in function.parameters) else bare


def is_list(function, p):
    key = (function.name, p.name)
    says = DOCS.get(function.name, ("", {}))[1].get(p.name, "")
    return (p.stars == 1 and is_number(p.base) and (p.const or key in NEEDS or says.startswith("["))
            or p.stars == 2 and p.const and not says_out(p) or p.stars == 1 and p.base in ALL.structs and (
                key in NEEDS or p.const and (p.name == "dims" or p.base not in handles() and follows_n(function, p))))


def says_out(p):
    return p.name == "out" or p.name.endswith("_out")


def follows_n(function, p):
    """Return whether the preceding parameter is the length of p."""
    at = next(i for i, q in enumerate(function.parameters) if q is p)
    return at > 0 and function.parameters[at - 1].name == "n"


def is_counts(function, p):
    names = [q.name for q in function.parameters]
    return ((function.name, p.name) in COUNTS or p.base == "tutti_count" and p.const and p.stars == 1
            and "ndims" in names)


def handle_argument(p, a, function):
    kind = HANDLES.get(p.base, "tutti__f_handle")
    if p.stars == 1:
        a.declare, a.take = f"type({type_name(p.base)}), intent(in)", f"const {kind} *{p.name}"
        a.give = f"{p.name} ? {p.name}->p : NULL" if a.optional else f"{p.name}->p"
        return
    out = p.name == "out" or p.name.endswith("_out")
    a.declare, a.take, a.give = f"type({type_name(p.base)}), intent({'out' if out else 'inout'})", f"{kind} *{p.name}", f"&c_{p.name}"
    if out and a.optional:
        a.give = f"{p.name} ? &c_{p.name} : NULL"
    start = "NULL" if out else f"{p.name}->p"
    a.before.append(f"{p.base} *c_{p.name} = {start};")
    if out:
        fresh = f"*{p.name} = ({kind}){{0}};"
        a.before.append(f"if ({p.name}) {fresh}" if a.optional else fresh)
    a.after.append(("if (%s) " % p.name if a.optional else "") + f"{p.name}->p = c_{p.name};")
    if out and p.base == "tutti_array":
        a.after.append(f"if (c_{p.name}) {p.name}->rank = tutti__f_rank({mpi_value(function)});")


def mpi_value(function):
    comm = next(q for q in function.parameters if q.base == "MPI_Comm")
    return f"tutti_comm_f2c(*{comm.name})"


def text_argument(p, a, sized):
    if p.const:
        a.declare, a.take = "character(*), intent(in)", f"const CFI_cdesc_t *{p.name}"
        a.before.append(f"char *c_{p.name} = tutti__f_text({p.name});")
        a.give = f"c_{p.name}"
        a.after.append(f"free(c_{p.name});")
        return
    a.declare, a.take = "character(*), intent(out)", f"const CFI_cdesc_t *{p.name}"
    a.before.append(f'char c_{p.name}[4096] = "";')
    a.give = f"c_{p.name}" + (f", sizeof c_{p.name}" if sized else "")
    a.after.append(f"tutti__f_put_text({p.name}, c_{p.name});")


def list_argument(function, p, a):
    kind = f"type({type_name(p.base)})" if p.base in ALL.structs else fortran_number(p.base)
    if p.base == "char":
        a.declare, a.take, a.name = "character(*), intent(in)", f"const CFI_cdesc_t *{p.name}", a.name + "(:)"
        a.before.append(f"char **c_{p.name} = tutti__f_texts({p.name});")
        a.give = f"(const char *const *)c_{p.name}"
        a.after.append(f"tutti__f_texts_free({p.name}, c_{p.name});")
        return
    intent = "in" if p.const else "out" if p.name.endswith("out") else "inout"
    a.declare, a.take = f"{kind}, intent({intent}), contiguous", f"const CFI_cdesc_t *{p.name}"
    a.name += "(:)"
    lists = [q for q in function.parameters if is_list(function, q) and not is_counts(function, q)]
    first = next((q for q in lists if not is_optional(function, q)), lists[0])
    a.give = f"tutti__f_list({p.name})"
    if p is first:
        fits = [f"tutti__f_fits({q.name}, {need_of(function, q)})" for q in lists if need_of(function, q)]
        if fits:
            a.before += [f"const int fits = {fits[0]}{'' if len(fits) > 1 else ';'}",
                         *[f"    && {f}{';' if f == fits[-1] else ''}" for f in fits[1:]]]
            a.give = f"fits ? {a.give} : NULL"
    if p.stars == 2:
        a.give = f"(const {p.base} *const *)({a.give})"


def need_of(function, p):
    """Return the required length of a list, as a C expression; "": any length."""
    key = (function.name, p.name)
    if key in NEEDS:
        return NEEDS[key]
    counts = next((q for q in function.parameters if is_counts(function, q)), None)
    if counts:
        return f"c_{counts.name}.n"
    first = next(q for q in function.parameters if is_list(function, q) and not is_optional(function, q))
    return f"tutti__f_length({first.name})" if p is not first else ""


def counts_argument(function, p, a):
    lists = [q for q in function.parameters if is_counts(function, q)]
    a.declare, a.name = "type(*), intent(in)", a.name + "(..)"
    a.take = f"const CFI_cdesc_t *{p.name}"
    a.before += [f"tutti__f_counts c_{p.name};", f"tutti__f_counts_of({p.name}, &c_{p.name});"]
    a.give = f"c_{p.name}.list"
    if p is lists[0] and len(lists) > 1:
        same = [f"c_{q.name}.n == c_{p.name}.n" for q in lists[1:]]
        same = [f"(!{q.name} || {test})" if is_optional(function, q) else test for q, test in zip(lists[1:], same)]
        a.late = [f"const int alike = {' && '.join(same)};"]
        a.give = f"alike ? {a.give} : NULL"


def buffer_argument(function, p, a):
    """Convert a buffer of the caller, which is described by an access, by a slice or a part, or directly."""
    others = {q.base: q.name for q in function.parameters}
    later = ", asynchronous" if re.search(r"_(begin|start)$", function.name) else ""
    a.declare = f"type(*), intent({'in' if p.const else 'inout'}){later}"
    a.name += "(..)"
    a.take = f"const CFI_cdesc_t *{p.name}"
    if "tutti_access" in others and "tutti_file" in others:
        a.give = "m.base"
        a.before.append(f"tutti__f_memory m = tutti__f_memory_begin({others['tutti_access']}->p, {p.name});")
        a.after.append("tutti__f_memory_end(&m);")
    elif "tutti_section" in others and "tutti_array" in others:
        by = "tutti_distribution" if "tutti_distribution" in others else "tutti_slice"
        begin = "tutti__f_part_begin" if by == "tutti_distribution" else "tutti__f_slice_begin"
        of = f"{others[by]}->p" if by == "tutti_distribution" else others[by]
        a.give = "b.base"
        a.before += ["tutti__f_block b;", f"{begin}({others['tutti_array']}, {of}, memory, {p.name}, &b);"]
        a.after.append("tutti__f_settled();")
    else:
        sized = any(q.name == "size" for q in function.parameters)
        need = "0" if sized else "1"
        if p.name == "element":
            need = f"tutti__f_element({others['tutti_array']}->p, &v_{p.name})"
        a.before += [f"const tutti__f_array v_{p.name} = tutti__f_array_of({p.name});",
                     f"void *c_{p.name} = tutti__f_plain(&v_{p.name}, {need}, 0);"]
        a.give = f"c_{p.name}" + (f", c_{p.name} && v_{p.name}.bytes > 0 ? (size_t)v_{p.name}.bytes : 0" if sized else "")


def argument(function, p):
    """Convert a parameter."""
    key = (function.name, p.name)
    names = [q.name for q in function.parameters]
    a = Argument(short(function, p.name), optional=is_optional(function, p))
    lists = [q for q in function.parameters if is_list(function, q) and not is_counts(function, q)]
    counts = [q for q in function.parameters if is_counts(function, q)]
    if p.base in MPI:
        a.mpi, a.take, a.give = p.base, f"const int *{p.name}", f"{MPI[p.base]}(*{p.name})"
    elif p.base in ALL.callbacks:
        a.declare, a.take, a.give = f"procedure({p.base})", f"{p.base} *{p.name}", p.name
    elif p.base == "void" and p.name == "context":
        a.declare, a.take, a.give = "type(c_ptr), intent(in)", f"void *const *{p.name}", f"{p.name} ? *{p.name} : NULL"
    elif p.base == "void" and p.stars == 1:
        buffer_argument(function, p, a)
    elif p.name == "size" and p.base == "size_t":
        a.declare = ""
    elif p.name == "ndims" and counts:
        a.give = f"c_{counts[0].name}.n"
    elif p.name == "n" and lists and key[0] != "tutti_dataset_chunk_bounds":
        first = next(q for q in lists if not is_optional(function, q))
        a.give = f"({p.base})tutti__f_length({first.name})"
    elif p.base in handles() and p.stars < 3 and not (p.stars == 2 and p.const):
        handle_argument(p, a, function)
    elif p.base == "char" and p.stars == 1:
        text_argument(p, a, "size" in names)
    elif is_counts(function, p):
        counts_argument(function, p, a)
    elif key in COUNTS_OUT:
        a.declare, a.take = "integer(c_int64_t), intent(out), contiguous", f"const CFI_cdesc_t *{p.name}"
        a.name += "(:)"
        a.before.append(f"tutti_count c_{p.name}[TUTTI_MAX_DIMS] = {{0}};")
        a.give = f"c_{p.name}"
        a.after.append(f"tutti__f_put_counts({p.name}, TUTTI_MAX_DIMS, c_{p.name});")
    elif p.stars == 2 and p.base in ALL.structs and says_out(p):
        const = "const " if p.const else ""
        a.declare, a.take, a.give = "type(c_ptr), intent(out)", f"{const}{p.base} **{p.name}", p.name
        a.before.append(f"*{p.name} = NULL;")
    elif is_list(function, p):
        list_argument(function, p, a)
    elif p.stars == 0 and is_number(p.base):
        a.declare, a.take, a.give = f"{fortran_number(p.base)}, value", f"{p.base} {p.name}", p.name
    elif p.stars == 1 and is_number(p.base):
        a.declare, a.take, a.give = f"{fortran_number(p.base)}, intent(out)", f"{p.base} *{p.name}", p.name
    elif p.stars == 1 and p.base in ALL.structs:
        intent = "in" if p.const else "out" if p.name.endswith("out") else "inout"
        a.declare, a.take = f"type({type_name(p.base)}), intent({intent})", f"{'const ' if p.const else ''}{p.base} *{p.name}"
        a.give = p.name
        if intent == "out":
            a.before.append(("if (%s) " % p.name if a.optional else "") + f"*{p.name} = ({p.base}){{0}};")
    else:
        sys.exit(f"gen_fortran.py: unknown parameter {p.name} of {function.name} in Fortran: add it to BY_HAND")
    return a


def arguments(function):
    """Convert all parameters, in the order of C; effects of a buffer on others are applied here."""
    made = [argument(function, p) for p in function.parameters]
    takes = {p.name: a for p, a in zip(function.parameters, made)}
    text = " ".join(line for a in made for line in a.before)
    for p in function.parameters:
        if "tutti__f_memory_begin" in text and p.base == "tutti_access":
            takes[p.name].give = "m.access"
        if "tutti__f_block b" in text and p.base == "tutti_section":
            takes[p.name].give = "b.memory"
        if "tutti__f_slice_begin" in text and p.base == "tutti_slice":
            takes[p.name].give = "b.slice"
        if "tutti__f_part_begin" in text and p.base == "tutti_distribution":
            takes[p.name].give = "b.d"
    return made


def fortran_order(function):
    """Return the arguments in the order of Fortran: required arguments, ierr, optional arguments."""
    said = [a for a in arguments(function) if a.declare or a.mpi]
    ierr = Argument("ierr", "integer(c_int), intent(out)", "int *ierr", optional=True)
    return ([a for a in said if not a.optional] + [ierr] * (result_of(function)[0] == "error")
            + [a for a in said if a.optional])


# ------------------------------------------------------------------ results


def result_of(function):
    """Return (kind, type in Fortran, type of the entry) of the result."""
    r = function.result
    if r.base == "tutti_err" and not r.stars:
        return "error", "", "void"
    if r.base == "void" and not r.stars:
        return "nothing", "", "void"
    if r.base == "char":
        return "text", "", "const char *"
    if not r.stars and is_number(r.base):
        return "number", fortran_number(r.base), r.base + " "
    if r.stars == 1 and r.base in handles():
        return "handle", f"type({type_name(r.base)})", HANDLES.get(r.base, "tutti__f_handle") + " "
    if r.base in ALL.structs and r.stars < 2:
        return "struct", f"type({type_name(r.base)})", r.base + " "
    return sys.exit(f"gen_fortran.py: unknown result of {function.name} in Fortran: add it to BY_HAND")


# ------------------------------------------------------------------ writing C


def entry_name(function):
    return "tutti_f_" + function.name.removeprefix("tutti_")


def c_lines(head, parts, end, most=100):
    """Format a call or a function head in lines of at most 100 characters, if its parts allow it."""
    width = len(head) if len(head) < 60 else 8
    lines = [head] if len(head) < 60 else [head, " " * width]
    for i, part in enumerate(parts):
        text = part + (end if i + 1 == len(parts) else ",")
        if len(lines[-1]) + len(text) > most - 1 and lines[-1].strip() and lines[-1] != head:
            lines.append(" " * width)
        lines[-1] += (" " if lines[-1].endswith(",") else "") + text
    if not parts:
        lines[-1] += end
    return "\n".join(line.rstrip() for line in lines)


def entry(function):
    made = arguments(function)
    kind, _, returns = result_of(function)
    takes = [a.take for a in fortran_order(function)]
    out = c_lines(f"TUTTI_API {returns if returns != 'void' else 'void '}{entry_name(function)}(",
                  takes or ["void"], ") {") + "\n"
    out += "".join(f"    {line}\n" for a in made for line in a.before)
    out += "".join(f"    {line}\n" for a in made for line in a.late)
    gives = [a.give for a in made if a.give]
    r = function.result
    after = "".join(f"    {line}\n" for a in made for line in a.after)
    if kind == "error":
        call = "const tutti_err err = "
    elif kind == "nothing":
        call = ""
    elif kind == "handle":
        call = f"{'const ' if r.const else ''}{r.base} *const got = "
    elif kind == "struct":
        call = f"const {r.base} {'*const ' if r.stars else ''}got = "
    else:
        call = f"const {returns.strip()} got = " if kind == "number" else "const char *const got = "
    out += "    " + c_lines(f"{call}{function.name}(", gives, ");", 96).replace("\n", "\n    ") + "\n" + after
    if kind == "error":
        out += "    tutti__f_end(err, ierr);\n"
    elif kind == "handle":
        out += f"    return ({returns.strip()}){{.p = (void *)(uintptr_t)got}};\n"
    elif kind == "struct" and r.stars:
        out += f"    return got ? *got : ({r.base}){{0}};\n"
    elif kind != "nothing":
        out += "    return got;\n"
    out += "}\n"
    if any(a.mpi for a in made):
        out += f"TUTTI__F_TYPED({entry_name(function)})\n"
    return out + "\n"


C_HEAD = """/* Written by scripts/gen_fortran.py from the public headers; do not edit.
 *
 * fortran: {what}
 * SPDX-License-Identifier: BSD-3-Clause */
"""


def entries():
    out = C_HEAD.format(what="the entries of calls that have the same shape in both languages.")
    out += '/* clang-format off */\n#include "layer.h"\n\n#include <stdlib.h>\n\n'
    out += "/* The constants of the module. */\n"
    for name, (_, value) in constants():
        out += f'_Static_assert({name} == {value}, "{name}");\n'
    last = ""
    for function in functions():
        if function.header != last:
            out += f"\n/* ---- tutti/{function.header} */\n\n"
        last = function.header
        out += entry(function)
    return out


# ------------------------------------------------------------------ writing Fortran


def wrap(line):
    """Break a statement into lines of at most 100 characters."""
    indent = re.match(r" *", line)[0]
    lines = []
    while len(line) > 98:
        cut = max(line.rfind(", ", 0, 96) + 1, line.rfind(" :: ", 0, 96), line.rfind(") ", 0, 96) + 1)
        lines.append(line[:cut] + " &")
        line = indent + "    " + line[cut:].strip()
    return "\n".join(lines + [line]) + "\n"


def declared(a, mpi):
    """Return the line that declares an argument."""
    if a.mpi:
        return f"type({a.mpi}), intent(in)" if mpi == "f08" else "integer(c_int), intent(in)"
    return a.declare + (", optional" if a.optional else "")


def body(function, name, label, mpi, indent):
    """Return an interface body."""
    made = fortran_order(function)
    kind, result, _ = result_of(function)
    names = [re.sub(r"\(.*", "", a.name) for a in made]
    what = "subroutine" if kind in ("error", "nothing") else "function"
    head = f"{indent}{what} {name}({', '.join(names)}) bind(c, name=\"{label}\")"
    if what == "function":
        head += " result(got)"
    out = wrap(head) + f"{indent}  import\n"
    for a in made:
        out += wrap(f"{indent}  {declared(a, mpi)} :: {a.name}")
    if what == "function":
        out += f"{indent}  {result or 'type(c_ptr)'} :: got\n"
    return out + f"{indent}end {what}\n"


def first_sentence(function):
    prose = re.sub(r"\s+", " ", DOCS.get(function.name, ("", {}))[0])
    sentence = re.match(r"(.*?[.:?])(?:\s|$)", prose)
    if not sentence or prose.startswith("tutti_"):
        return ""
    text = sentence[1].replace("`", "")
    return "".join(f"  ! {line}\n" for line in textwrap.wrap(text, 94))


def interface(function):
    made = arguments(function)
    kind = result_of(function)[0]
    label = entry_name(function)
    if kind == "text" or function.name in OVER_C:
        public = f"  public :: {function.name}\n" if function.name not in OVER_C else ""
        return ("  interface\n" + body(function, "c_" + function.name, label, "", "    ")
                + f"  end interface\n{public}")
    out = first_sentence(function)
    if any(a.mpi for a in made):
        return (out + f"  interface {function.name}\n#ifdef TUTTI_MPI_F08\n"
                + body(function, function.name + "_f08", label + "_f08", "f08", "    ")
                + "#endif\n" + body(function, function.name + "_int", label, "int", "    ")
                + f"  end interface {function.name}\n  public :: {function.name}\n")
    return (out + "  interface\n" + body(function, function.name, label, "", "    ")
            + f"  end interface\n  public :: {function.name}\n")


def field_of(struct, f):
    """Return the declaration of a component with its initial value."""
    given = DEFAULTS.get((struct.name, f.name))
    many = f"({f.extent})" if f.extent else ""
    if f.callback:
        return f"type(c_funptr) :: {f.name} = c_null_funptr"
    if f.stars:
        return f"type(c_ptr) :: {f.name}{many} = c_null_ptr"
    if f.base in ALL.structs:
        return f"type({type_name(f.base)}) :: {f.name}{many}"
    if f.base == "char":
        return f"character(kind=c_char) :: {f.name}{many} = c_null_char"
    kind = fortran_number(f.base)
    return f"{kind} :: {f.name}{many} = {given or '0'}"


def derived(struct, name="", access="public"):
    name = name or type_name(struct.name)
    out = f"  type, bind(c), {access} :: {name}\n"
    out += "".join(f"    {field_of(struct, f)}\n" for f in struct.fields)
    return out + f"  end type {name}\n"


def handle(name):
    more = "".join(f"    integer(c_int64_t), private :: {m} = 0\n" for m in MORE.get(name, ()))
    name = type_name(name)
    return f"  type, bind(c), public :: {name}\n    type(c_ptr) :: p = c_null_ptr\n{more}  end type {name}\n"


def constants():
    return [(n, v) for n, v in ALL.constants.items() if v[0] not in NO_HEADERS and n not in NO_CONSTANTS]


F_HEAD = "! Written by scripts/gen_fortran.py from the public headers; do not edit.\n! SPDX-License-Identifier: BSD-3-Clause\n"


def declarations():
    out = F_HEAD
    last = ""
    for name, (header, value) in constants():
        if header != last:
            out += f"\n  ! tutti/{header}\n"
        last = header
        out += f"  integer(c_int), parameter, public :: {name} = {value}\n"
    out += "\n  ! Handles\n" + "".join(handle(n) for n in handles())
    out += "\n  ! Structs\n" + "\n".join(derived(s) for s in ordered(structs()))
    out += "".join("\n" + derived(ALL.structs[n], "c_" + n, "private") for n in sorted(RAW_STRUCTS))
    for name, parameters in ALL.callbacks.items():
        names = [p.name for p in parameters]
        out += f"\n  abstract interface\n    subroutine {name}({', '.join(names)}) bind(c)\n      import\n"
        for p in parameters:
            kind = "type(c_ptr)" if p.stars else fortran_number(p.base)
            out += f"      {kind}, value :: {p.name}\n"
        out += f"    end subroutine\n  end interface\n  public :: {name}\n"
    last = ""
    for function in functions():
        if function.header != last:
            out += f"\n  ! tutti/{function.header}\n\n"
        last = function.header
        out += interface(function)
    return out


def ordered(some):
    """Sort structs after those that they contain."""
    done, rest = [], list(some)
    while rest:
        ready = [s for s in rest if all(f.stars or f.base not in {r.name for r in rest} - {s.name} for f in s.fields)]
        done += ready
        rest = [s for s in rest if s not in ready]
    return done


def procedures():
    out = F_HEAD
    for function in functions():
        if result_of(function)[0] != "text":
            continue
        made = fortran_order(function)
        names = ", ".join(a.name for a in made)
        out += f"\n{first_sentence(function)}  function {function.name}({names}) result(text)\n"
        for a in made:
            out += f"    {a.declare.replace(', value', ', intent(in)')} :: {a.name}\n"
        out += (f"    character(:), allocatable :: text\n    text = text_at(c_{function.name}({names}))\n"
                f"  end function {function.name}\n")
    return out


def texts():
    return [f.name for f in functions() if result_of(f)[0] == "text"]


def layout_f():
    out = F_HEAD + "  subroutine all_of_them()\n"
    for s in ordered(structs()):
        out += f"    call size_of_{s.name}()\n"
    out += "  end subroutine\n"
    for s in ordered(structs()):
        out += f"  subroutine size_of_{s.name}()\n    type({type_name(s.name)}), target :: x\n"
        out += f"    call same(\"{s.name}\", int(c_sizeof(x), c_int64_t))\n"
        for f in s.fields:
            first = "(1)" if f.extent else ""
            out += (f"    call same(\"{s.name}%{f.name}\", &\n      transfer(c_loc(x%{f.name}{first}), 0_c_int64_t) - "
                    "transfer(c_loc(x), 0_c_int64_t))\n")
        out += "  end subroutine\n"
    return out


def layout_c():
    out = C_HEAD.format(what="sizes and offsets, in the order of layout.inc.")
    out += "/* clang-format off */\n#include <stddef.h>\n#include <tutti/tutti.h>\n\nstatic const size_t layout[] = {\n"
    for s in ordered(structs()):
        out += f"    sizeof({s.name}),\n"
        out += "".join(f"    offsetof({s.name}, {f.name}),\n" for f in s.fields)
    out += "};\n\nint64_t layout_in_c(int i);\nint64_t layout_in_c(int i) {\n"
    return out + "    return i < (int)(sizeof layout / sizeof *layout) ? (int64_t)layout[i] : -1;\n}\n"


# ------------------------------------------------------------------ all files


def complain():
    """Check for missing names, and for names that differ only by case."""
    there = {f.name for f in functions()} | BY_HAND
    for f in ALL.functions.values():
        if f.name not in there and not not_there(f.name) and f.header not in NO_HEADERS:
            yield f"{f.name} is not in the module"
    for name in BY_HAND - set(ALL.functions):
        if name not in OWN:
            yield f"{name} is written by hand, but no function of C"
    names = [n.lower() for n, _ in constants()] + sorted(there)
    names += [type_name(n) for n in [s.name for s in structs()] + handles()]
    for name in sorted({n for n in names if names.count(n) > 1}):
        yield f"{name} is a duplicate"


def main():
    wrong = list(complain())
    if wrong:
        sys.exit("\n".join(f"gen_fortran.py: {w}" for w in wrong))
    if "--names" in sys.argv[1:]:
        names = [f for f in ALL.functions if not not_there(f) and ALL.functions[f].header not in NO_HEADERS]
        names += [type_name(n) for n in [s.name for s in structs()] + handles()]
        print("\n".join(names + [n for n, _ in constants()]))
        return
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, make in (("declarations.inc", declarations), ("procedures.inc", procedures), ("entries.c", entries),
                       ("interfaces.inc", lambda: F_HEAD + fortran_interfaces.source(wrap)),
                       ("layout.inc", layout_f), ("layout.c", layout_c)):
        (out / name).write_text(make(), encoding="ascii")


if __name__ == "__main__":
    main()
