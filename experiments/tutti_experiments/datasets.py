"""Results of the experiments dataset and exodus: Tables 1 to 3 of Sturtevant, Chen, Heermann, Christon and Greenberg, PDS/PIO.

SPDX-License-Identifier: BSD-3-Clause"""
from .intervals import median
from .judgement import counts, find, interval, quartiles, rate

MB = 1e6
FLAT = 1.25  # times count as equal up to this ratio, since fsync is noisy
TABLE_1 = {1: 63.0, 2: 106.5, 4: 149.3, 8: 171.5, 12: 182.6, 16: 168.2, 28: 176.8}  # in the paper: MB/s by buffer size in MB, one server
TABLES_2_3 = {"GILA 2-D, 1760 / 1852": 18.3, "GILA 2-D, 31320 / 31791": 73.8, "GILA 3-D, 44250 / 49584": 75.6, "ALEGRA 3-D, 7599 / 9138, 1 MB": 32.1,
              "ALEGRA 3-D, 7599 / 9138, 2 MB": 45.4, "ALEGRA 3-D, 7599 / 9138, 4 MB": 149.4}
TABLE_3 = {1: 32.1, 2: 45.4, 4: 149.4}
LIMITS = ("limit", "limit, rank after rank")


def laps(j):
    """Return a list of (name of the samples, whether they are reads)."""
    return [("read_seconds" if read else "seconds", read) for read in j.operations()]


def hypothesis(j, where, of, to, names, lap="seconds", than=1.0):
    """Add a hypothesis: the ratios of the times of two variants, round by round, compared with `than`.  Nothing is added if a
    variant is None."""
    if of and to:
        said = {} if than != 1 else {"above": f"{names[1]} is faster than {names[0]}", "below": f"{names[0]} is faster than {names[1]}"}
        j.hypothesis(f"time of {names[0]} over that of {names[1]}", where, [a / max(b, 1e-9) for a, b in zip(of[lap], to[lap])], than=than, **said)


def over(of, to, lap="seconds"):
    """Return the ratio of the medians, or 0 if it is unknown."""
    return median(of[lap]) / median(to[lap]) if of and to and median(to[lap]) > 0 else 0


def goal(j, text, met):
    """Add a goal; it has no grade with --quick, since goals are for full sizes."""
    j.goal(text, met, not j.r["quick"])


# ---- visible, durable

def limit_of(part, lap):
    """Return the faster of the two limits."""
    found = [find(part["entries"], name) for name in LIMITS]
    return min((e for e in found if e), key=lambda e: median(e[lap]), default=None)


def judge_conversion(j, part):
    variants, name = {e["name"]: e for e in part["entries"] if counts(e)}, part["part"]
    limit, staged, big = limit_of(part, "seconds"), variants.get("global, blocks, staged"), variants.get("global, blocks, big-endian")
    if limit and staged and big:
        more = over(big, limit) - over(staged, limit)
        goal(j, f"{name}, byte-swapped: {more:.2f} of the limit more than the staged native write (goal: 0.15).", more <= 0.15)
    ratio = over(variants.get("global, blocks, float32"), variants.get("global, blocks"))
    if ratio > 0:
        goal(j, f"{name}, float64 to float32: {ratio:.2f} times the time of float64 (goal: 1).", ratio <= 1)


def show_variants(j, part):
    name, limit, reading = part["part"], limit_of(part, "seconds"), limit_of(part, "read_seconds")
    e = j.figure("table", f"variants, {name}", f"A step of 8 variables, {part['bytes'] / 2 ** 20:.0f} MiB in all, {name}", axis="variant", decimals=2,
                  note=f"Milliseconds of begin, put and commit, and of a get of all; medians of {len(limit['seconds']) if limit else 0} rounds, 95 % intervals "
                  f"in the JSON.  The limit: as many contiguous bytes of each rank{', and fsync' if name == 'durable' else ''}; ratios of medians are to the "
                  "faster one.  First: the first step with all variables.")
    for w in filter(counts, part["entries"]):
        row = w["name"]
        if j.r["write"]:
            e.put(row, "write ms", interval(w["seconds"], 1e3))
            e.put(row, "of the limit", over(w, limit))
        if j.r["read"]:
            e.put(row, "read ms", interval(w["read_seconds"], 1e3))
            e.put(row, "of the read limit", over(w, reading, "read_seconds"))
        if row not in LIMITS:
            e.put(row, "first ms", 1e3 * w["first"])
        if j.r["write"] and w["goal"] > 0 and limit:
            ratio = over(w, limit)
            goal(j, f"{name}, {row}: {ratio:.2f} times the limit's time (goal: {w['goal']:.2f}).", ratio <= w["goal"])
            hypothesis(j, f"{j.directory}, a step, {name}", w, limit, (row, "the limit"), than=w["goal"])
    if j.r["write"]:
        judge_conversion(j, part)


# ---- the paper's tables

def show_buffers(j, part):
    for lap, read in laps(j):
        e = j.figure("lines", "buffers reads" if read else "buffers", f"Table 1: {'reads' if read else 'writes'} by the size of the buffer",
                      axis="buffer, MB", unit="MB/s", decimals=0,
                      note=f"A variable of {part['bytes'] / MB:.0f} MB by blocks, {'one get' if read else 'begin to commit, visible; the second step'}.  An "
                      f"I/O server is an aggregator: cb_nodes = 1, and {j.r['ranks']}.  The paper's: writes, one server, a file system of 28 stripes.")
        for w in filter(counts, part["entries"]):
            row = str(w["megabytes"])
            e.put(row, "many servers" if w["many"] else "one server", rate(w[lap], part["bytes"] / MB))
            if w["many"] and not read:
                e.put(row, "the paper, one server", TABLE_1[w["megabytes"]])
        where = f"{j.directory}, Table 1, {'reads' if read else 'writes'}"
        small, one, many = (find(part["entries"], name) for name in ("1 MB, one", "8 MB, one", "8 MB, many"))
        hypothesis(j, where, small, one, ("one server, 1 MB", "one server, 8 MB"), lap)
        hypothesis(j, where, one, many, ("one server, 8 MB", "many servers, 8 MB"), lap)


def show_meshes(j, part):
    for lap, read in laps(j):
        e = j.figure("table", "meshes reads" if read else "meshes", f"Tables 2 and 3: steps of small meshes{', reads' if read else ''}",
                      axis="mesh, elements / nodes", unit="MB/s",
                      note=f"{part['steps']} steps of 6 nodal and 6 element variables, float64, {'a get of each' if read else 'a commit after each'}; buffers "
                      "of 1 MB unless another is named.  The paper's, writes, had 8, 32 and, for ALEGRA, 140 processes, and one server.")
        for w in filter(counts, part["entries"]):
            e.put(w["mesh"], f"{'many servers' if w['many'] else 'one server'}, {w['level']}", rate(w[lap], w["bytes"] / MB))
            if w["many"]:
                e.put(w["mesh"], f"ms a step, {w['level']}", interval(w[lap], 1e3))
            if w["many"] and w["level"] == "durable" and not read:
                e.put(w["mesh"], "the paper", TABLES_2_3[w["mesh"]])
    if j.r["write"]:
        small, large = (find(part["entries"], f"ALEGRA 3-D, 7599 / 9138, {n} MB, 2") for n in (1, 4))
        hypothesis(j, f"{j.directory}, Table 3, one server, durable steps", small, large, ("a buffer of 1 MB", "a buffer of 4 MB"))


def show_commits(j, parts):
    n = len(parts[0]["step"])
    e = j.figure("table", "commits", "Commits of tiny data", axis="level", unit="milliseconds", decimals=2,
                  note=f"{n} segments of {parts[0]['variables']} variables of 8 entries a rank; medians of the first and of the last tenth.  A step is begin, "
                  "put and commit.")
    for p in parts:
        some = n // 10
        for what in ("commit", "step"):
            e.put(p["level"], f"{what}, first", quartiles(p[what][:some], 1e3))
            e.put(p["level"], f"{what}, last", quartiles(p[what][-some:], 1e3))
        first, last = median(p["step"][:some]), median(p["step"][-some:])
        goal(j, f"Steps of tiny data, {p['level']}: {1e3 * first:.2f} ms for the first {some} of {n}, {1e3 * last:.2f} ms for the last (goal: flat, at most "
             f"{FLAT:g} times).", last <= FLAT * first)


def show_opening(j, part):
    e = j.figure("table", "opening", "Opening a dataset", axis="segments x variables", decimals=3,
                  note="Processor time of one process, and the time until it is open on all ranks.")
    for column, key in (("open, CPU s", "open"), ("every section, CPU s", "look"), ("open on all ranks, s", "all")):
        e.put(f"{part['segments']} x {part['variables']}", column, quartiles(part[key]))
    took = median(part["open"])
    goal(j, f"Opening {part['segments']} segments x {part['variables']} variables takes {took:.3f} s of processor time (goal: 0.5 s).", took < 0.5)


def judge(j):
    for j.directory in j.r["directories"]:
        for name, show in (("buffers", show_buffers), ("meshes", show_meshes), ("visible", show_variants), ("durable", show_variants)):
            for part in j.parts(name, j.directory):
                show(j, part)
        if j.parts("commits", j.directory):
            show_commits(j, j.parts("commits", j.directory))
        for part in j.parts("opening", j.directory):
            show_opening(j, part)
    j.finding(f"{j.r['ranks']} ranks on {j.r['measured']['processors']} cores; numbers were compared in the first step of each variant.")


# ---- Table 3 as an Exodus file

def show_exodus(j, part):
    size = 8 * part["variables"] * (part["nodes"] + part["elements"])
    for lap, read in laps(j):
        e = j.figure("table", "table 3 reads" if read else "table 3", f"Table 3: steps of ALEGRA's mesh in an Exodus file{', reads' if read else ''}",
                      axis="variant, buffer", unit="MB/s",
                      note=f"{part['nodes']} nodes, {part['elements']} elements, {part['steps']} steps of {part['variables']} variables of each, float64; metadata "
                      f"after each step, which is visible or durable.  Servers are aggregators, many: {part['many']} (the paper's: 14, and 140 processes).  The "
                      "paper: netCDF directly less than 10 MB/s, HDF5 less than 4, 14 servers more than 150.")
        for w in filter(counts, part["entries"]):
            if read and not w["servers"]:
                continue
            e.put(w["row"], f"{'many servers' if w['servers'] > 1 else 'one server'}, {w['level']}", rate(w[lap], size / MB))
            if w["servers"] and not read:
                e.put(w["row"], "the paper, one server", TABLE_3[w["megabytes"]])
    for level in ("visible", "durable") if j.r["write"] else ():
        variants = {(e["row"], e["servers"]): e for e in part["entries"] if e["level"] == level and counts(e)}
        for library in ("netCDF", "HDF5"):
            hypothesis(j, f"{j.directory}, Table 3, {level} steps", variants.get((f"{library} directly, one process", 0)), variants.get(("Exodus, 4 MB", 1)),
                  (f"{library} by one process", "Exodus, one server, 4 MB"))


def judge_exodus(j):
    for j.directory in j.r["directories"]:
        for part in j.parts("exodus", j.directory):
            show_exodus(j, part)
        for part in j.parts("missing", j.directory):
            j.finding(f"No {part['library']} (Debian: apt-get install {part['package']}).")
    j.finding(f"{j.r['ranks']} ranks on {j.r['measured']['processors']} cores; all numbers were compared first.")
