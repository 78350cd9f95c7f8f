"""Results of the experiment steps: figures 2 and 3, sections 4.1.1 and 4.1.2 of Dickens and Thakur.

SPDX-License-Identifier: BSD-3-Clause"""
from .judgement import bandwidth, counts, phase, size_text

FIGURE_2 = ("A square array of integers, block-block, of the same size for all numbers of processes. Dickens and Thakur's figure 2, writes, "
            "without steps 3 and 4, which lay between 2 and 5: step 5 was the best on all four machines. On the SP2 with 32 processors step 1 "
            "had 4.1 times the bandwidth of non-collective writes, step 2 1.95 times that of step 1, step 5 1.1 times that of step 2. On the "
            "Exemplar with 4 and 8 processors non-collective writes were faster than step 1 (with 8: 62 against 23 MB/s).")
FIGURE_3 = ("On all processes. Dickens and Thakur's figure 3: the steps converge where the file system is the limit; on the Exemplar, 128 "
            "processors and 256 MB, step 1 was faster than step 2 (108 against 75 MB/s), because slower copies kept the writers apart.")
SHARES = ("Means over ranks, medians over rounds; the rest of 100 % is file access. Section 4.1.2, step 5 on the Origin: 90, 75 and 55 % with "
          "16, 32 and 64 processors, 35 % with a file of 1 GB; at most 10 % on the other machines with 64 processors.")
STAGGER = ("Every process writes one contiguous share; ours are two-phase writes, whose bytes pass through staging memory, and each aggregator "
           "starts so many microseconds after the one before. Section 4.1.1, where processes wrote their own shares: 128 processors, 256 MB, "
           "94 MB/s at once, 140 MB/s when some of them waited.")
GAINS = (("non-collective", "step 1"), ("step 1", "step 2"), ("step 2", "step 5"), ("non-collective", "step 5"), ("step 5", "auto"),
         ("MPI library", "auto"))


def row_of(point):
    return size_text(point["bytes"]) if point["figure"] == "files" else str(point["ranks"])


def show(j, read):
    after, more = (" reads", ", reads") if read else ("", "")
    figures = [("lines", "processes", "Bandwidth by number of processes", "processes", FIGURE_2),
               ("lines", "files", "Bandwidth by size of the file", "size of the file", FIGURE_3)]
    if not read:
        figures.append(("bars", "stagger", "Staggered conforming writes", "processes", STAGGER))
    for kind, figure, title, axis, note in figures:
        e = j.figure(kind, figure + after, title + more, axis=axis, note=note, unit="MiB/s", decimals=0)
        for p in j.points(figure, j.directory, read):
            for w in filter(counts, p["entries"]):
                e.put(row_of(p), w["name"], bandwidth(p, w))
    e = j.figure("bars", "shares" + after, "Share of redistribution" + more, axis="processes, size of the file", note=SHARES,
                  unit="% of redistribution and file access", decimals=0)
    for p in j.points(None, j.directory, read):
        for w in p["entries"] if p["figure"] != "stagger" else []:
            exchange, file = phase(w, "exchange"), phase(w, "file")
            if w["name"].startswith("step") and exchange + file > 0:
                e.put(row_of(p) + ("" if p["figure"] == "files" else " proc."), w["name"], 100 * exchange / (exchange + file))


def judge(j):
    for j.directory in j.r["directories"]:
        for read in j.operations():
            show(j, read)
            for p in j.points(None, j.directory, read):
                if p["ranks"] != j.r["most_ranks"]:
                    continue
                if p["figure"] == "processes":
                    where = f"{j.directory}, {'reads' if read else 'writes'} of {size_text(p['bytes'])}, {p['ranks']} ranks"
                    for slow, fast in GAINS:
                        j.hypothesis_faster(where, [p], slow, fast)
                if p["figure"] == "stagger":
                    j.hypothesis_faster(f"{j.directory}, staggered writes, {p['ranks']} ranks", [p], "at once", "+1000 us")
