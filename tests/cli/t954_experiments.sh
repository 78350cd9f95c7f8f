#!/bin/sh
# TEST ranks=0 timeout=240 builds=mpich,asan cores=2
# Each experiment of tutti-experiments with --quick on 2 ranks: exit status, all reports; every available variant is
# verified in every round, and no files remain.  Wrong usage.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"

# With sanitizers, run one round on one number of processes, since times do not matter.
small='--rounds 2' series=2
[ -z "${TUTTI_SANITIZE:-}" ] || small='--rounds 1 --procs 2' series=1
for name in steps overlap pipelines primitives auto; do
    case $name in
    steps) sizes='--array 1m --files 256k,1m --op write,read' ;;
    overlap) sizes='--array 32m --size 16m --op write,read' ;;
    pipelines | primitives) sizes="--size 512k --series $series --op write,read" ;;
    auto) sizes='--size 256k' ;;
    esac
    # shellcheck disable=SC2086 # lists of words
    experiment 2 $name --quick $sizes $small --json $name.json --csv $name.csv --html $name.html ||
        fail "$name: exit code $?"
    grep -q 'Every byte was verified' out || fail "$name: no word of verification"
done

python3 - $series <<'END_OF_CHECK' || bad=1
import csv, html.parser, json, sys

VARIANTS = {  # names of the variants of each figure
    "processes": ["non-collective"] + [f"step {n}" for n in range(1, 6)] + ["auto", "MPI library", "conforming"],
    "files": ["step 5", "auto"],
    "stagger": ["at once", "+100 us", "conforming"],
    "independent": ["sequential", "sequential, posix", "thread", "io-only", "io-only, no compute"],
    "collective": ["sequential", "sequential, posix", "all", "io-only", "io-only, no compute", "exchange alone",
                   "MPI begin/end"],
    "collective direct": ["sequential", "sequential, posix", "all", "io-only"],
    "overlap": ["none", "comm", "write", "write-comm", "write-comm-2", "auto", "MPI library"],
    "primitives": ["two-sided", "fence", "lock", "shm", "auto", "MPI library"],
    "writes": ["auto", "independent", "shm", "posix", "threads", "uring", "fence", "lock", "comm", "write",
               "write-comm", "MPI library"],
    "reads": ["auto", "independent", "shm", "MPI library"],
}
FIGURES = {
    "steps": {"processes", "files", "shares", "stagger", "processes reads", "files reads", "shares reads"},
    "overlap": {f"{part}{op}" for part in ("independent", "independent direct", "collective", "collective direct")
                for op in ("", " reads")} | {"hidden"},
    "pipelines": {x + op for x in ("wins", "times", "times, least", "split", "phases", "improvement", "improvement of all",
                                   "wins by median") for op in ("", " reads")} | {"hidden"},
    "primitives": {x + op for x in ("wins", "wins with shm", "times", "times, least") for op in ("", " reads")},
    "auto": {"regret", "peer"},
}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.plots = [], 0

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "link", "img", "iframe"), tag
        self.plots += tag == "svg"
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())


def check_variant(e, where):
    if not e["available"]:
        assert e["failure"], where
        return
    kept = e["name"] != "exchange alone"  # this variant uses the store null
    assert e["verified"] == kept and not e["failure"] and e["seconds"] and min(e["seconds"]) > 0, (where, e)


def setting(e, name):
    """Return the last value of an option in the settings of a variant."""
    found = [s.split("=", 1)[1] for s in e["settings"].split() if s.startswith(name + "=")]
    return found[-1] if found else None


def alike(point, names, options):
    """Check that the named variants have the same value of each option."""
    for option in options:
        values = {setting(e, option) for e in point["entries"] if e["name"] in names}
        assert len(values) == 1 and None not in values, (point["figure"], option, values)


def check_alike(p):
    stage = ["cb_nodes", "window_size", "cb_buffer_size"]
    if p["figure"] == "overlap":
        variants = {e["name"]: e for e in p["entries"]}
        alike(p, VARIANTS["overlap"][:5] + ["exchange alone"], ["cb_nodes", "cb_buffer_size", "exchange", "step"])
        alike(p, VARIANTS["overlap"][1:5], ["window_size"])
        # Check the setup of the paper: fewer aggregators than ranks, one buffer of twice the size, and FLASH I/O as
        # 24 calls.
        assert setting(variants["none"], "cb_nodes") == str(max(1, p["ranks"] // 2)), variants["none"]["settings"]
        assert int(setting(variants["none"], "window_size")) == 2 * int(setting(variants["write"], "window_size"))
        assert variants["none"]["stats"]["messages"] > 0 or p["ranks"] == 1, (p["pattern"], variants["none"]["stats"])
        assert variants["none"]["stats"]["operations"] == p["ranks"] * (24 if p["pattern"] == "flash" else 1), p["pattern"]
    if p["figure"] == "primitives":
        alike(p, VARIANTS["primitives"][:4], stage + ["pipeline"])
        assert setting(p["entries"][0], "step") == "4", p["entries"][0]["settings"]
    if p["figure"] in ("collective", "collective direct"):
        alike(p, ["sequential", "all", "io-only", "io-only, no compute", "exchange alone"], stage)
        alike(p, ["sequential", "all", "io-only", "io-only, no compute"], ["store", "exchange", "step", "pipeline"])
        variants = {e["name"]: e for e in p["entries"]}
        assert setting(variants["io-only"], "step") == "5", variants["io-only"]["settings"]
        for name in ("sequential", "all", "io-only"):  # one large request per process
            if "stats" in variants.get(name, {}):
                stats = variants[name]["stats"]
                assert stats["windows"] == p["ranks"], (name, stats)


def check_figure(x):
    assert len(x["values"]) == len(x["rows"]) and x["title"], x["id"]
    for row in x["values"]:
        assert len(row) == len(x["columns"])
        for v in row:
            assert v is None or isinstance(v, str) or v["low"] <= v["value"] <= v["high"], (x["id"], v)


for name, wanted in FIGURES.items():
    r = json.load(open(name + ".json", encoding="utf-8"))
    assert r["format"] == "tutti-experiment-1" and r["experiment"] == name and r["failures"] == 0 and r["profile"]
    assert {x["id"] for x in r["figures"]} == wanted, (name, [x["id"] for x in r["figures"]])
    for x in r["figures"]:
        check_figure(x)
    for c in r["hypotheses"]:
        assert c["what"] and c["where"] and c["above"] and c["below"] and c["rounds"] > 0, c
        assert c["low"] is None or c["low"] <= c["value"] <= c["high"], c
    assert len({(c["where"], c["what"]) for c in r["hypotheses"]}) == len(r["hypotheses"]), name
    assert r["hypotheses"], name
    for p in r["points"]:
        assert 1 <= p["ranks"] <= r["ranks"] == 2
        check_alike(p)
        names = [e["name"] for e in p["entries"]]
        wanted = set(VARIANTS.get(p["figure"], []))
        if p["figure"] in ("collective", "collective direct") and p["operation"] == "read":
            wanted.discard("exchange alone")  # the store null has no bytes to read
        assert wanted <= set(names), (p["figure"], names)
        for e in p["entries"]:
            check_variant(e, (name, p["figure"], p["ranks"], e["name"]))
    if name == "pipelines":
        split = next(x for x in r["figures"] if x["id"] == "split")
        assert split["title"] == "Where the time of Tile 64 KiB goes", split["title"]  # 64 KiB: an eighth of 512 KiB
        assert all(row.endswith((", none", ", comm")) for row in split["rows"]), split["rows"]
        assert "exchange alone" not in next(x for x in r["figures"] if x["id"] == "times")["columns"]
    if name in ("pipelines", "primitives"):
        for op, id in (("write", "wins"), ("read", "wins reads")):
            wins = next(x for x in r["figures"] if x["id"] == id)
            points = [p for p in r["points"] if p["operation"] == op]
            assert sum(v["value"] for v in wins["values"][-1]) == len(points) * int(sys.argv[1]), wins
    rows = list(csv.DictReader(open(name + ".csv", encoding="utf-8")))
    measured = sum(len(e["seconds"]) for p in r["points"] for e in p["entries"])
    assert len(rows) == measured, (name, len(rows), measured)
    page = Page()
    text = open(name + ".html", encoding="utf-8").read()
    page.feed(text)
    assert not page.open and "http" not in text and "viewport" in text, (name, page.open)
    assert page.plots == sum(x["kind"] != "table" and bool(x["rows"]) for x in r["figures"]), name
END_OF_CHECK

program=$TUTTI_COMMAND-experiments
tutti 3 steps --quick --array 96k --files 96k --rounds 1 --procs 3 || fail "3 ranks: exit code $?"
python3 -m json.tool out >/dev/null || fail 'standard output is not JSON alone'
program=
experiment 2 primitives --quick --size 64k --rounds 1 --direct-io 1 --procs 2 --json direct.json ||
    fail "direct_io: exit code $?"
grep -q '"MPI library, page cache"' direct.json || fail 'the MPI library has no direct_io, and does not say so'
experiment 2 primitives --quick --size 64k --rounds 1 --fault '*:write:1:ENOSPC'
[ $? -eq 1 ] || fail 'a failing write should give exit code 1'
tr '\n' ' ' <out | grep -q 'FAILED: .*No space' || fail 'no word of the failing write'

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# compute phases that are too short are refused
if [ -z "${TUTTI_SANITIZE:-}" ]; then
    experiment 2 overlap --quick --array 64k --size 4k --rounds 9 --procs 2 --dir "${TUTTI_TEST_SHM:-.}" || fail "short overlap: exit code $?"
    tr -s '\n ' ' ' <out | grep -q 'too short for a compute phase' || fail 'short phases are compared'
    grep -q ' 0.0 million' out && fail 'a compute phase of nothing'
fi

# wrong ARGUMENTS...: check exit code 2 of wrong usage, without mpirun, which ends slowly if a rank fails
wrong() {
    "$TUTTI_COMMAND-experiments" "$@" >out 2>err
    [ $? -eq 2 ] || fail "tutti-experiments $*: wrong usage should give exit code 2"
}
wrong overlapp --quick
wrong steps --procs 2
wrong steps --procs none
wrong steps --files 12q
wrong steps --size 1m
wrong pipelines --series 0
wrong overlap --array 7
wrong overlap --iterations 0
wrong auto --pattern stars
wrong --series 3
"$TUTTI_COMMAND" bench --series 3 >out 2>err
[ $? -eq 2 ] || fail "bench --series: wrong usage should give exit code 2"

finish
