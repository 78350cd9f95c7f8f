"""Interface bodies of the Fortran module, from bindings/fortran/interfaces.txt, which begins with a description of the notation.

SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
from dataclasses import dataclass

TABLE = pathlib.Path(__file__).resolve().parent.parent / "bindings/fortran/interfaces.txt"
TYPES = {"int": "integer(c_int)", "long": "integer(c_int64_t)", "byte": "integer(c_int8_t)",
         "int32": "integer(c_int32_t)", "size": "integer(c_size_t)", "double": "real(c_double)",
         "text": "character(*)", "bool": "logical(c_bool)", "pointer": "type(c_ptr)", "any": "type(*)"}
SHAPES = {"": "", "[]": "(:)", "[,]": "(:, :)", "[*]": "(*)"}
ENTRY = re.compile(r"(own )?(?:(\w+) = )?(\w+)\((.*)\)(?: -> (\w+))?(?: as (\w+))?")
ARGUMENT = re.compile(r"(\w+): (\w+)(\[[,*]?\])?(\?)?((?: \w+)*)")


@dataclass
class Interface:
    generic: str      # generic name; "": the name itself
    name: str
    arguments: list   # of (name, declaration); the declaration of a communicator is None
    result: str       # type of the result; "": a subroutine
    label: str
    is_own: bool      # whether C has no such function

    @property
    def public(self):
        return "" if self.name.startswith("c_") else self.generic or self.name


def declaration(text):
    """Return (name, "type and attributes :: name and shape") of an argument."""
    if text == "comm":
        return "comm", None
    if text == "ierr":
        return "ierr", "integer(c_int), intent(out), optional :: ierr"
    name, base, shape, optional, attributes = ARGUMENT.fullmatch(text).groups()
    attributes = attributes.split()
    intent = next((a for a in attributes if a in ("out", "inout")), "in")
    parts = [TYPES.get(base, f"type({base})")]
    if base in ("int", "long", "double", "pointer") and not shape and not optional and intent == "in":
        parts.append("value")
    elif "unstated" not in attributes:
        parts.append(f"intent({intent})")
    parts += ["optional"] if optional else []
    parts += ["asynchronous"] if "asynchronous" in attributes else []
    parts += ["contiguous"] if shape in ("[]", "[,]") else []
    return name, f"{', '.join(parts)} :: {name}{'(..)' if base == 'any' else SHAPES[shape or '']}"


def split_arguments(text):
    """Split at commas, except in [,]."""
    return [a.strip() for a in re.split(r",(?![^\[]*\])", text)]


def interfaces():
    lines = re.sub(r"\n +", " ", TABLE.read_text(encoding="ascii")).split("\n")
    for line in lines:
        if not line or line.startswith("#"):
            continue
        own, generic, name, arguments, result, label = ENTRY.fullmatch(line).groups()
        yield Interface(generic or "", name, [declaration(a) for a in split_arguments(arguments)],
                        result or "", label or "tutti_f_" + re.sub("^(tutti_|c_)", "", name), bool(own))


def body(i, suffix, comm, wrap):
    """Return one interface body; `comm` declares the communicator."""
    kind = "function" if i.result else "subroutine"
    label = i.label + ("_f08" if suffix == "_f08" else "")
    head = f"    {kind} {i.name}{suffix}({', '.join(n for n, _ in i.arguments)}) bind(c, name=\"{label}\")"
    out = wrap(head + (" result(got)" if i.result else "")) + "      import\n"
    out += "".join(wrap(f"      {d or comm + ', intent(in) :: comm'}") for _, d in i.arguments)
    if i.result:
        out += f"      {TYPES[i.result]} :: got\n"
    return out + f"    end {kind}\n"


def source(wrap):
    """Return the text of interfaces.inc.  The specific procedures of a generic name are in one interface block."""
    out, public = "", []
    for i in interfaces():
        generic = i.generic
        bodies = body(i, "", "", wrap)
        if ("comm", None) in i.arguments:
            generic = i.name
            bodies = ("#ifdef TUTTI_MPI_F08\n" + body(i, "_f08", "type(MPI_Comm)", wrap) + "#endif\n"
                      + body(i, "_int", "integer(c_int)", wrap))
        out += f"  interface {generic}".rstrip() + f"\n{bodies}  end interface\n"
        if i.public and i.public not in public:
            public.append(i.public)
            out += f"  public :: {i.public}\n"
    return out
