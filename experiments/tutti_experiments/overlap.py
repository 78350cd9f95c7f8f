"""Results of the experiment overlap: the share of I/O that overlaps with computation, figures 4 to 7 of Dickens and Thakur.

SPDX-License-Identifier: BSD-3-Clause"""
from .judgement import counts, entry_of, hidden, is_read, milliseconds, phase

GOAL = 80.0  # minimum overlap, in per cent of the shorter of computation and file access
PARTS = {"independent": ("Independent conforming {}", "figure 4"),
         "independent direct": ("Independent conforming {} with O_DIRECT", "figure 4"),
         "collective": ("Collective {}", "figures 5 and 6"),
         "collective direct": ("Collective {} with O_DIRECT", "figure 7")}
NOT_SHOWN = ("exchange alone", "io-only, no compute")


def times_of(point):
    """Return the seconds of computation, of I/O and of file access of the sequential variant.  For writes, the exchange is timed with a
    store that transfers no data; the remaining time is file access.  For collective reads, the statistics are used, which are exact
    because nothing overlaps in step 5."""
    sequential, exchange = entry_of(point, "sequential"), entry_of(point, "exchange alone")
    compute = phase(sequential, "compute")
    io = max(sequential["median"] - compute, 1e-9)
    rest = io - exchange["median"] if exchange else io
    if not exchange and point["figure"].startswith("collective"):
        rest = min(io, phase(sequential, "file"))
    return compute, io, max(rest, 1e-9)


def hides(point, entry, other):
    return hidden(entry_of(point, "sequential"), entry, min(times_of(point)[0], other))


def put_hidden(e, point):
    row, (compute, io, file) = str(point["ranks"]), times_of(point)
    plain, behind = entry_of(point, "sequential, posix"), entry_of(point, "io-only, no compute")
    e.put(row, "compute ms", 1e3 * compute)
    e.put(row, "I/O ms", 1e3 * io)
    if plain:
        e.put(row, "I/O by posix ms", 1e3 * (plain["median"] - phase(plain, "compute")))
    if behind:
        e.put(row, "I/O alone in background ms", 1e3 * behind["median"])
    e.put(row, "file ms", 1e3 * file)
    for w in point["entries"]:
        if not counts(w) or w["name"] in NOT_SHOWN or w["name"].startswith("sequential"):
            continue
        e.put(row, f"{w['name']} %", hides(point, w, io))
        if w["kind"] != "peer":
            e.put(row, f"{w['name']}, file %", hides(point, w, file))


def show(j, part):
    read, name = is_read(part), part["part"]
    title, paper = PARTS[name]
    what = title.format("read" if read else "write")
    lines = j.figure("lines", name + (" reads" if read else ""), what, axis="processes", unit="milliseconds per iteration",
                      note=f"One iteration is a compute phase of {part['multiplications'] / 1e6:.1f} million multiplications and one "
                      f"{'read' if read else 'write'}{' in step 5, one large request a process' if name.startswith('c') else ''}; a run is "
                      f"{j.r['iterations']} of them, from open to close. Dickens and Thakur, {paper}"
                      f"{', which is about writes, in the opposite direction' if read else ''}.")
    store = j.r["background_store_direct" if name.endswith("direct") else "background_store"]
    table = j.figure("table", "hidden", f"Hidden: {what}", axis="processes",
                      note="Of the smaller of compute and I/O (file: of compute and file access), how much the other hides, in per cent: medians "
                      "and 95 % intervals of the differences to the sequential variant with the same store "
                      f"({store if j.r['options']['store'] == 'auto' else 'as given'}), round by round. Below 0: it takes longer than one after the "
                      "other.")
    for p in j.points(name, j.directory, read):
        if entry_of(p, "sequential"):
            for w in p["entries"]:
                if counts(w) and w["name"] not in NOT_SHOWN:
                    lines.put(str(p["ranks"]), w["name"], milliseconds(w))
            put_hidden(table, p)


def judge_hidden(j, p):
    variant = entry_of(p, "io-only")
    if not variant or not p["figure"].startswith("collective"):
        return
    direct, v = p["figure"].endswith("direct"), hides(p, variant, times_of(p)[2])
    j.goal(f"{p['directory']}, {p['ranks']} processes, {'O_DIRECT' if direct else 'page cache'}{' reads' if is_read(p) else ''}: io-only hides "
           f"{v['value']:.0f} % (95 % interval {v['low']:.0f} to {v['high']:.0f}) of the smaller of compute and file access"
           f"{' (goal: 80 %)' if direct else ''}; begin takes {1e3 * phase(variant, 'begin'):.1f} ms, end {1e3 * phase(variant, 'end'):.1f} ms.",
           v["value"] >= GOAL, direct)
    if variant["stats"]["foreground"] > 0:
        j.finding(f"{p['directory']}, {p['ranks']} processes: background_bytes had no room for it; the file access of io-only was done in begin.")


def judge(j):
    for part in j.r["parts"]:
        j.directory = part["directory"]
        show(j, part)
    most = [p for p in j.r["points"] if p["ranks"] == j.r["most_ranks"] and entry_of(p, "sequential")]
    for p in most:
        judge_hidden(j, p)
    for p in most:
        where = f"{p['figure']}{' reads' if is_read(p) else ''}, {p['ranks']} processes, {p['directory']}"
        for name in ("thread", "all", "io-only"):
            j.hypothesis_faster(where, [p], "sequential", name)
