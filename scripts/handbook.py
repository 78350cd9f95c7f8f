#!/usr/bin/env python3
"""handbook.py MAN|--check OUT   Build the handbook, a static site with search, in OUT.

It contains README, the pages of docs/, the manual pages (those of docs/man and the generated ones in MAN), and the functions by
header.  Sphinx with MyST builds it (Debian: python3-sphinx python3-myst-parser python3-sphinx-rtd-theme mandoc).  Afterwards every
link inside the site is checked; a broken link is an error.  --check does only that.
SPDX-License-Identifier: BSD-3-Clause"""
import html.parser
import re
import shutil
import subprocess
import sys
import urllib.parse
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
CHAPTERS = (  # caption, directory of docs/, and pages in reading order; other pages of the directory follow
    ("Tutorial", "tutorial", "index lesson01 lesson02 lesson03 lesson04 lesson05 lesson06 lesson07 lesson08 lesson09 lesson10"),
    ("How-to guides", "howto", "install install-without-root restart hdf5 gmsh-paraview imported-mesh layout tune archive"
     " read-without-mpi darshan heat bipolar storage simulate"),
    ("Reference", "reference", "components c fortran python commands options errors format files background arrays tiles"
     " replicas meshes decompositions datasets exodus exodus-tools exodus-calls mpiio glossary stability"),
    ("Explanation", "explanation", "two-phase automatic-choices crash-safety architecture papers"),
    ("Appendices", "appendix", "comparisons exodus-results experiments results results-limits simulated"),
)


def pages_of(directory, order):
    """Return the pages of a directory of docs/, those of `order` first."""
    names = sorted(page.stem for page in (TOP / "docs" / directory).glob("*.md"))
    first = [name for name in order.split() if name in names]
    return [f"docs/{directory}/{name}" for name in first + [name for name in names if name not in first]]


def toctree(title, entries):
    return "\n".join(["", "```{toctree}", f":caption: {title}", ":maxdepth: 1", ":hidden:", ""] + entries + ["```", ""])


def man_page(page, known):
    """Return a manual page as a page of the site."""
    text = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", str(page)], check=True,
                          capture_output=True, text=True).stdout
    # References to manual pages of other projects are not links.
    text = re.sub(r'<a class="Xr" href="([^"#]*)\.html">(.*?)</a>',
                  lambda m: f'<a class="Xr" href="{known[m[1]]}.html">{m[2]}</a>' if m[1] in known else m[2],
                  text, flags=re.S)
    name = page.name.rsplit(".", 1)
    return f"# {name[0]}({name[1]})\n\n```{{raw}} html\n{text}\n```\n"


def manual_pages(generated):
    """Return the manual pages, and the page that documents each name: many files only refer to another page."""
    pages, known = [], {}
    written = [p for p in (TOP / "docs/man").iterdir() if p.suffix != ".in"]
    for page in sorted([*written, *generated.iterdir()], key=lambda p: p.name):
        elsewhere = re.match(r"\.so man\d/(\S+)", page.read_text())
        known[page.name] = elsewhere[1] if elsewhere else page.name
        pages += [] if elsewhere else [page]
    return pages, known


def functions_of(header):
    return sorted(set(re.findall(r"\b(tutti_\w+)\(", re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S))))


def api_page(headers, known):
    lines = ["# Functions by header", "", "Find the manual page of a function by its header.", ""]
    for header in headers:
        first = re.sub(r"\s*\n?\s*\*\s*", " ", header.read_text().split("*/")[0].split("\n *\n")[0]).lstrip("/* ")
        names = [name for name in functions_of(header) if f"{name}.3" in known]
        lines += [f"## tutti/{header.name}", "", re.sub(r"^Tutti: ", "", first.replace("SPDX-License-Identifier: BSD-3-Clause", "")).strip(), ""]
        lines += [f"[The header itself](include/tutti/{header.name})", ""]
        lines += [", ".join(f"[{name}](man/{known[f'{name}.3']}.md)" for name in names), ""] if names else []
    return "\n".join(lines)


def write_tree(tree, generated):
    """Write all pages as Sphinx reads them; directories are those of the project, so that links between pages stay valid."""
    for folder in ("docs", "examples", "include", "experiments", "scripts", "bindings"):
        if (TOP / folder).exists():
            shutil.copytree(TOP / folder, tree / folder, ignore=shutil.ignore_patterns("man", "__pycache__"))
    for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff", "LICENSE", "packages.txt"):
        shutil.copy(TOP / name, tree / name)
    shutil.move(tree / "docs/handbook", tree / "handbook")
    for extra in tree.glob("*/**/*.md"):
        if tree / "docs" not in extra.parents:
            extra.unlink()
    (tree / "handbook/version").write_text((TOP / "include/tutti/types.h").read_text())

    manual, known = manual_pages(generated)
    (tree / "man").mkdir()
    for page in manual:
        (tree / "man" / f"{page.name}.md").write_text(man_page(page, known))
    subprocess.run([TOP / "scripts/gen_python_reference.py", tree / "python-classes.md"], check=True)
    (tree / "api.md").write_text(api_page(sorted((TOP / "include/tutti").glob("*.h")), known))

    index = (TOP / "README.md").read_text()
    for title, directory, order in CHAPTERS:
        generated_pages = ["api", "python-classes", "commands", "functions"] if directory == "reference" else []
        index += toctree(title, pages_of(directory, order) + generated_pages)
        if directory == "explanation":
            index += toctree("Performance", ["docs/performance"])
    index += toctree("Project", ["docs/release", "CHANGELOG", "CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT"])
    (tree / "index.md").write_text(index)
    for title, name, sections in (("Manual pages of commands and options", "commands", "17"), ("Manual pages of functions", "functions", "3")):
        entries = [f"man/{page.name}" for page in manual if page.suffix[1:] in sections]
        lines = "\n".join(f"- [{Path(entry).name}]({entry}.md)" for entry in entries)
        (tree / f"{name}.md").write_text(f"# {title}\n\n{lines}\n" + toctree(title, entries))
    # Links to manual pages and to README lead to their pages of the site.
    for page in [*tree.glob("docs/**/*.md"), *tree.glob("*.md")]:
        text = re.sub(r"\]\(((?:\.\./)*)(?:docs/)?man/([\w-]+\.\d)\)", lambda m: manual_link(page, tree, m[2], known), page.read_text())
        page.write_text(re.sub(r"\]\(((?:\.\./)*)README\.md", r"](\1index.md", text))


def manual_link(page, tree, name, known):
    up = "../" * (len(page.relative_to(tree).parts) - 1)
    return f"]({up}man/{known[name]}.md)"


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.targets, self.names = [], set()

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ("href", "src") and value:
                self.targets.append(value)
            if key in ("id", "name") and value:
                self.names.add(value)


def check_links(site):
    """Return the broken links of a site, and the number of links."""
    parsed = {}
    for page in site.rglob("*.html"):
        parsed[page.resolve()] = Links()
        parsed[page.resolve()].feed(page.read_text())
    wrong = []
    for page, links in parsed.items():
        for target in links.targets:
            url = urllib.parse.urlsplit(target)
            if url.scheme or url.netloc:
                continue
            path = (page.parent / urllib.parse.unquote(url.path)).resolve() if url.path else page
            if path.is_dir():
                path = path / "index.html"
            if not path.exists():
                wrong.append(f"{page.relative_to(site.resolve())}: {target} is a broken link")
            elif url.fragment and path in parsed and urllib.parse.unquote(url.fragment) not in parsed[path].names:
                wrong.append(f"{page.relative_to(site.resolve())}: {target}: the page has no such anchor")
    return wrong, sum(len(links.targets) for links in parsed.values())


def build(generated, out):
    tree = out.with_name(out.name + "-source")
    for folder in (tree, out):
        shutil.rmtree(folder, ignore_errors=True)
    tree.mkdir(parents=True)
    write_tree(tree, generated)
    done = subprocess.run(["sphinx-build", "-q", "-W", "--keep-going", "-j", "2", "-b", "html",
                           "-c", str(tree / "handbook"), str(tree), str(out)], check=False)
    if done.returncode:
        sys.exit(done.returncode)


def main():
    out = Path(sys.argv[-1]).resolve()
    if sys.argv[1] != "--check":
        build(Path(sys.argv[1]), out)
    wrong, links = check_links(out)
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"{len(list(out.rglob('*.html')))} pages, {links} links")
    sys.exit(1 if wrong else 0)


main()
