"""HTML pages: one file each, without external resources and scripts.

SPDX-License-Identifier: BSD-3-Clause"""
from html import escape

from . import plots
from .judgement import size_text
from .report import measured_lines, turned, value_text

STYLE = """
:root{--bg:#f6f7f9;--card:#fff;--ink:#1b2230;--soft:#5b6576;--line:#dfe3ea;--ours:#2257d6;--theirs:#8a94a6;--yes:#16803c;--no:#c62f24;
--good:#d8f3e0;--near:#fdf0cd;--bad:#fbdcd9}
@media screen and (prefers-color-scheme:dark){:root{--bg:#11151c;--card:#1a202a;--ink:#e7ebf2;--soft:#9aa5b8;--line:#303947;--ours:#7aa2ff;
--theirs:#77839a;--yes:#5cc98a;--no:#ff8a80;--good:#173f2a;--near:#4a3c10;--bad:#54221f}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,"Liberation Sans",sans-serif}
main{max-width:1240px;margin:0 auto;padding:24px clamp(14px,3vw,40px) 60px}h1{margin:0;font-size:clamp(1.6rem,4vw,2.3rem)}
h2{margin:40px 0 4px;font-size:1.25rem}h3{margin:0 0 6px;font-size:1rem}p{margin:4px 0 12px;max-width:75ch;overflow-wrap:anywhere}
.soft,small,figcaption,.v,footer{color:var(--soft)}footer{margin-top:48px;font-size:.85rem}
.facts{display:flex;flex-wrap:wrap;gap:10px;margin:18px 0;padding:0;list-style:none}
.facts li,.findings li{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:8px 14px}
.facts b{display:block;font-size:1.15rem}.facts span{color:var(--soft);font-size:.8rem}.ok b,.yes{color:var(--yes)}.no b,.no{color:var(--no)}
.findings{list-style:none;padding:0;max-width:90ch}.findings li{margin:8px 0;overflow-wrap:anywhere}
.findings .good,td.good{background:var(--good)}td.near{background:var(--near)}.findings .bad,td.bad,p.bad{background:var(--bad)}
.grid{display:grid;gap:18px;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));align-items:start}
.stack{display:grid;gap:18px;min-width:0}.full{grid-column:1/-1}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:16px 18px;min-width:0;overflow-wrap:anywhere}
.row{display:grid;grid-template-columns:minmax(0,11em) 1fr minmax(0,9em);gap:2px 10px;align-items:center;font-size:.9rem;margin:4px 0}
.track{position:relative;height:16px}.bar{position:absolute;left:0;top:3px;height:10px;border-radius:3px;background:var(--theirs)}
.ours .bar{background:var(--ours)}.ours .n{font-weight:600}.w{position:absolute;top:7px;height:2px;background:var(--ink);opacity:.75}
.v{text-align:right;font-variant-numeric:tabular-nums}.verdict{margin:10px 0 0;font-weight:600}
figure{margin:0}img,svg{max-width:100%;height:auto;display:block}svg{width:100%}svg text{fill:var(--ink)!important}
figcaption{font-size:.85rem;margin-top:6px}
.white{background:#fff;border-radius:8px;padding:8px}.pixels{image-rendering:pixelated;width:100%;max-width:420px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 14px;margin:4px 0 16px;font-size:.9rem}dt{font-weight:600}dd{margin:0;max-width:90ch}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85rem;margin:6px 0 0}a{color:var(--ours)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums;width:100%;overflow-wrap:normal}
th,td{padding:4px 6px;text-align:right;border-bottom:1px solid var(--line)}th:first-child{text-align:left;font-weight:500}
thead th{color:var(--soft);font-weight:500}td small{display:block;font-size:.85em;line-height:1.1}
details{margin-top:12px;font-size:.85rem}summary{cursor:pointer;color:var(--ours)}
@media (max-width:520px){dl{grid-template-columns:1fr}dd{margin-bottom:6px}body{font-size:15px}.row{grid-template-columns:1fr auto}
.row .track{grid-column:1/-1;order:3}.v{order:2}table{font-size:.75rem}th,td{padding:3px 4px}}
@media print{body{background:#fff}details{display:none}.scroll{overflow:visible}}
"""


def page(title, what, body):
    return ('<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">\n'
            f'<meta name="color-scheme" content="light dark"><title>{escape(title)}</title><style>{STYLE}</style></head><body><main><h1>{escape(title)}</h1>'
            f'<p class="soft">{escape(what)}</p>\n{body}</main></body></html>\n')


def facts(r, *some):
    some = [("", value, name) for value, name in some]
    some.append(("no", f"{r['failures']} failed", "see below") if r["failures"] else ("ok", "every byte", "verified"))
    some += [("", r["version"], "Tutti"), ("", r["mpi"], "MPI")]
    return '<ul class="facts">' + "".join(f'<li class="{c}"><b>{escape(str(v))}</b><span>{n}</span></li>\n' for c, v, n in some) + "</ul>\n"


def foot(r, command):
    note = "" if plots.Figure else " Figures need matplotlib (Debian: python3-matplotlib)."
    return f"<footer>Made by <code>{command}</code> of Tutti {r['version']}.{note}<pre>{escape(chr(10).join(measured_lines(r)))}</pre></footer>"


def table(head, rows):
    """Return an HTML table.  rows: lists of cells, the first of which is a name; a cell is a text, or (class, html)."""
    def cell(c):
        return f"<td>{escape(c)}</td>" if isinstance(c, str) else f'<td class="{c[0]}">{c[1]}</td>'
    return ('<div class="scroll"><table><thead><tr>' + "".join(f"<th>{escape(h)}</th>" for h in head) + "</tr></thead><tbody>\n"
            + "".join(f"<tr><th>{escape(row[0])}</th>{''.join(map(cell, row[1:]))}</tr>\n" for row in rows) + "</tbody></table></div>\n")


def times_row(name, e):
    return [name] + [f"{1e3 * e[key]:.2f}" for key in ("min", "q1", "median", "q3", "max")]


TIMES = ["min", "q1", "median", "q3", "max"]


def card(title, note, body, style=""):
    return f'<div class="card{style}"><h3>{escape(title)}</h3><p class="soft">{escape(note)}</p>\n{body}</div>\n'


def details(summary, body):
    return f"<details><summary>{summary}</summary>{body}</details>"


# ---- experiments

def figure_card(x):
    shown = turned(x) if len(x["columns"]) > 5 and len(x["columns"]) > len(x["rows"]) else x

    def cell(v):
        low = "" if not isinstance(v, dict) or v["high"] <= v["low"] else \
            f"<small>{v['low']:.{x['decimals']}f} … {v['high']:.{x['decimals']}f}</small>"
        return "", escape(value_text(v, x["decimals"])) + low
    body = table([x["axis"]] + shown["columns"], [[name] + [cell(v) for v in row] for name, row in zip(shown["rows"], shown["values"])])
    return card(x["title"], x["note"], body if x["kind"] == "table" else plots.figure_plot(x) + details("numbers", body))


def points_table(r):
    rows = []
    for p in r["points"]:
        for e in p["entries"]:
            row = [f"{p['operation']} {p['pattern']}, {p['ranks']} ranks", p["directory"], e["name"]]
            rows.append(row + times_row("", e)[1:] + [str(len(e["seconds"]))] if e["seconds"]
                        else row + ["failed" if e["available"] else "not available"])
    return ("<h2>What was measured</h2><p>In each round every variant of a point ran once, in rotated order, from the first rank's open to the last one's "
            "close, for writes on a fresh file. Every byte was verified after close. Points with fewer processes ran on the first ranks while the others "
            "slept.</p>" + details("all times, in milliseconds", table(["point", "directory", "variant"] + TIMES + ["rounds"], rows)))


def experiment_page(r):
    words = {"met": ("good", "<b>Goal met.</b> "), "missed": ("bad", "<b>Goal missed.</b> "), "failed": ("bad", ""), "plain": ("", "")}
    rounds = min((max(len(e["seconds"]) for e in p["entries"]) for p in r["points"]), default=0)
    body = facts(r, (r["most_ranks"], "processes at most"), (len(r["points"]), "points"), (rounds, "interleaved rounds or more"))
    body += '<ul class="findings">\n'
    for f in r["findings"]:
        body += '<li class="{}">{}'.format(*words[f["grade"]]) + escape(f["text"]) + "</li>\n"
    body += "</ul>\n"
    groups = {}
    for x in r["figures"]:
        groups.setdefault(x["directory"], []).append(x)
    for where, figures in groups.items():
        body += f"<h2>In {escape(where)}</h2>" if where else ""
        body += '<div class="grid">\n' + "".join(figure_card(x) for x in figures if x["rows"]) + "</div>\n"
    return page(r["title"], r["source"], body + points_table(r) + foot(r, f"tutti-experiments {r['experiment']}"))


# ---- tutti bench

def place(cell):
    return f"{'Writing' if cell['operation'] == 'write' else 'Reading'} in {cell['directory']} ({cell['file_system']})"


def ratio_cell(cell, e):
    if not e["seconds"]:
        return "", "failed" if e["available"] else "not here"
    judged, goal = e.get("to_limit" if cell["operation"] == "write" else "to_bare", 0), cell["goal"]
    style = "" if e["kind"] != "tutti" or not judged or not goal else "good" if judged <= goal else "near" if judged <= 1.5 * goal else "bad"
    bare = f"<small>{e['to_bare']:.2f}</small>" if cell["operation"] == "read" and e.get("to_bare") else ""
    return style, f"{e.get('to_limit', 0):.2f}{bare}"


def ratio_table(cells):
    note = "time over that of the limit" + ("" if cells[0]["operation"] == "write" else "; below, over the better bare reference")
    rows = [[e["name"]] + [ratio_cell(c, c["entries"][k]) for c in cells] for k, e in enumerate(cells[0]["entries"])]
    return card(place(cells[0]), note, table([""] + [c["pattern"] for c in cells], rows), " full" if len(cells) > 4 else "")


def cell_card(cell):
    notes = "".join(f'<p class="soft">{escape(e["name"])}: {escape(e["explain"])}</p>\n' for e in cell["entries"]
                    if e["kind"] == "tutti" and e["method"] == "auto" and not e["reused_plan"] and e["explain"])
    notes += "".join(f'<p class="{"bad" if e["available"] else "soft"}">{escape(e["name"])}: {escape(e["failure"])}</p>\n' for e in cell["entries"]
                     if e["failure"])
    body = table([""] + TIMES, [times_row(e["name"], e) for e in cell["entries"] if e["seconds"]])
    return card(f"{cell['operation'].capitalize()} {cell['pattern']}",
                f"{cell['title']}; {size_text(cell['bytes'])} in runs of {size_text(cell['bytes'] // max(cell['runs'], 1))}",
                plots.cell_plot(cell) + notes + details("milliseconds", body))


def bench_page(r):
    groups = {}
    for c in sorted(r["cells"], key=lambda c: c["operation"] == "read"):
        groups.setdefault((c["directory"], c["operation"]), []).append(c)
    groups = [groups[key] for key in sorted(groups, key=lambda key: list(r["measured"]["mounts"]).index(key[0]))]
    rounds = len(r["cells"][0]["entries"][0]["seconds"]) if r["cells"] else 0
    body = facts(r, (r["ranks"], "ranks"), (size_text(r["size_per_rank"]), "per rank, about"), (rounds, "interleaved rounds"))
    body += '<h2>At a glance</h2><div class="grid">' + "".join(
        card(place(g[0]), "time over that of the limit; further left is faster", plots.ratio_plot(g)) for g in groups) + "</div>\n"
    body += '<h2>Ratios</h2><div class="grid">' + "".join(map(ratio_table, groups)) + "</div>\n"
    for g in groups:
        body += f'<h2>{escape(place(g[0]))}</h2><div class="grid">' + "".join(map(cell_card, g)) + "</div>\n"
    body += ("<h2>How it was measured</h2><p>The <b>limit</b>: every rank writes (reads) one contiguous share of the file in calls of 4 MiB. All times run "
             "from the first rank's open to the last one's close, for writes on a fresh file; a plan is made within them unless it is called reused, and then "
             "they run from its start to close. In each round every method ran once, in rotated order. Bars and marks are medians, whiskers quartiles. Goals: "
             "writes 1.3 of the limit (irregular items 1.6), reads 1.15 of the better of the bare references <i>pread each piece</i> and <i>bare shared "
             "staging</i>.</p>\n")
    return page("Tutti bench", "Collective writing and reading, compared with what the machine can do.", body + foot(r, "tutti bench"))
