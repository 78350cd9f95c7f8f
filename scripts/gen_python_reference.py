#!/usr/bin/env python3
"""gen_python_reference.py OUT.md   Write the reference of the Python package: every public class, method, property and function.

Signatures and texts come from the sources of bindings/python/tutti, which are parsed, not imported.  Errors are
public names without a docstring, and names of tutti.__all__ that no module defines.
SPDX-License-Identifier: BSD-3-Clause"""
import ast
import inspect
import pathlib
import re
import sys

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "bindings/python/tutti"
MODULES = (  # file, title of its section, names that are public (None: all without an underscore)
    ("_dataset_reader", "Read datasets without MPI", ("open", "Run", "Segment", "Variable")),
    ("_array_file", "Read arrays without MPI", ("open_array",)),
    ("_lazy", "Lazy arrays", ("LazyArray",)),
    ("netcdf", "Read netCDF classic files (tutti.netcdf)", None),
    ("xarray_backend", "xarray engine", ("TuttiBackend", "TuttiEntrypoint")),
    ("_errors", "Errors", ("Error",)),
    ("_c", "Version", ("library_version",)),
    ("mpi", "MPI (tutti.mpi)", None),
    ("access", "Accesses", ("Access", "View", "section")),
    ("file", "Files, plans, requests", None),
    ("array", "Arrays, distributions, tiles", None),
    ("replicas", "Replicas", ("Replicas",)),
    ("mesh", "Meshes", None),
    ("dataset", "Datasets and decompositions", None),
    ("exodus", "Exodus files (tutti.exodus)", None),
    ("_exodus_mesh", "Exodus meshes", ("ExodusMesh",)),
    ("options", "Options and profiles", None),
)
HELPERS = {  # functions that the modules share; the reference omits them
    "buffer_for", "mode_of", "slice_of", "slices_from", "spec_of", "info_to_c", "info_of_c", "dataset_options", "exodus_options",
    "options_pointer", "handle_of", "info_of", "datatype_of"}
BASES = {"Freeing": "_closing", "Committing": "_closing", "LazyArray": "_lazy"}


def parsed(name):
    return ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))


def signature(node, skip_self):
    arguments = re.sub(r"\s+", " ", ast.unparse(node.args))
    if skip_self:
        arguments = re.sub(r"^(self|cls)(, )?", "", arguments)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({arguments}){returns}".replace("__init__", "")


def text(node, name, missing):
    found = ast.get_docstring(node)
    if not found:
        missing.append(name)
        return ""
    return "\n".join(line.rstrip() for line in inspect.cleandoc(found.replace("SPDX-License-Identifier: BSD-3-Clause", "")).splitlines()).strip()


def shown(body):
    return f"```text\n{body}\n```\n" if body else ""


def decorated(node):
    return {ast.unparse(d).split(".")[-1].split("(")[0] for d in node.decorator_list}


def methods_of(node):
    """Return the public methods of a class, including those of its bases in _closing and _lazy."""
    own = [m for m in node.body if isinstance(m, ast.FunctionDef)]
    for base in node.bases:
        name = ast.unparse(base)
        if name in BASES and name != node.name:
            other = next(c for c in parsed(BASES[name]).body if isinstance(c, ast.ClassDef) and c.name == name)
            own += [m for m in methods_of(other) if m.name not in {o.name for o in own}]
    return own


def class_lines(node, module, missing):
    yield f"### {node.name}\n"
    yield shown(text(node, f"{module}.{node.name}", missing))
    fields = [f for f in node.body if isinstance(f, ast.AnnAssign) and not f.target.id.startswith("_")]
    if fields:
        yield "Fields: " + ", ".join(f"`{f.target.id}: {ast.unparse(f.annotation)}`" for f in fields) + "\n"
    for method in methods_of(node):
        marks = decorated(method)
        if method.name == "__init__":
            yield f"`{node.name}{signature(method, True)}`\n".replace(" -> None", "")
        elif not method.name.startswith("_") and "overload" not in marks and "setter" not in marks:
            if marks & {"property", "property_of", "cached_property"}:
                yield f"- **`{method.name}`** (property)"
            else:
                yield f"- **`{signature(method, 'staticmethod' not in marks)}`**"
            body = text(method, f"{module}.{node.name}.{method.name}", missing)
            yield "\n" + "\n".join("  " + line for line in shown(body).splitlines()) + "\n" if body else ""


def module_lines(name, title, names, missing):
    tree = parsed(name)
    yield f"## {title}\n"
    if not name.startswith("_"):
        yield shown(text(tree, name, missing))
    for node in tree.body:
        public = isinstance(node, (ast.ClassDef, ast.FunctionDef)) and (
            node.name in names if names is not None else not node.name.startswith("_") and node.name not in HELPERS)
        if public and isinstance(node, ast.ClassDef):
            yield from class_lines(node, name, missing)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith(".__doc__"):
            yield f"### {ast.unparse(node.targets[0].value)}\n\n" + shown(ast.literal_eval(node.value))
        elif public:
            yield f"### {node.name}\n\n`{signature(node, False)}`\n"
            yield shown(text(node, f"{name}.{node.name}", missing))


def main():
    missing = []
    lines = ["# Python classes and functions", "",
             "Look up classes, methods and arguments of the package here; `python3 -m pydoc tutti.Dataset` prints the same texts. The guide is"
             " [Python](docs/reference/python.md).", ""]
    for module in MODULES:
        lines += module_lines(*module, missing)
    page = "\n".join(lines)
    exported = re.findall(r'"(\w+)"', re.search(r"_LATER = \{(.*?)\}", (PACKAGE / "__init__.py").read_text(encoding="utf-8"), re.S)[1])[::2]
    absent = [n for n in exported if not re.search(rf"^### {n}$", page, re.M)]
    pathlib.Path(sys.argv[1]).write_text(page, encoding="utf-8")
    for name in missing:
        print(f"gen_python_reference.py: {name} has no text", file=sys.stderr)
    for name in absent:
        print(f"gen_python_reference.py: tutti.{name} is not on the page", file=sys.stderr)
    sys.exit(1 if missing or absent else 0)


main()
