#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi cores=2
# `make run` with small sizes completes and prints its results; its page has the plots and no external resources; the
# printed ratios are correct, and a difference is reported only if all rounds agree.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR" || exit 1
"$top/scripts/tour.py" --small "$TUTTI_BUILD_DIR" files report.html >out 2>&1 || { cat out; exit 1; }
python3 - "$top/scripts" "$TUTTI_BUILD_DIR" <<'END' || { cat out; exit 1; }
import base64, html.parser, re, sys
sys.path.insert(0, sys.argv[1])
import tour

said = open("out").read()
assert len(re.findall(r"times as fast as MPI_File_(write|read)_all", said)) == 7, "six comparisons, and one with fsync"
assert said.count(": ok;") == 2 and "steps 150 to 300" in said, "verified twice, resumed"
by, own, idg2 = re.search(r"mesh by (\w+): .*; (\d+) intervals as owned, (\d+) by idg2", said).groups()
assert by in ("metis", "rcb") and 3 * int(idg2) <= int(own), said
# Try each partitioner; one without improvement ends the program.
tutti = sys.argv[2] + "/tutti"
for by in "metis", "rcb":
    owners, how, count = tour.division(tutti, "files/pipe.msh", by)
    assert owners["by"] in (by, "rcb") and how[:2] == ["--by", owners["by"]] and 3 * count["idg2"] <= count["own"], owners
try:
    tour.division(tutti, "files/pipe.msh", "curve")
    sys.exit("idg2 without a gain is not an error")
except SystemExit as end:
    assert "expected at most a third" in str(end), end
class Page(html.parser.HTMLParser):
    open, seen = [], {}
    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        self.seen[tag] = self.seen.get(tag, 0) + 1
        assert tag not in ("script", "link", "iframe"), tag
        assert not a.get("src") or a["src"].startswith("data:"), a["src"][:80]
        if tag not in ("meta", "img", "br"): self.open.append(tag)
    def handle_startendtag(self, tag, attrs): pass
    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())
page = Page()
page.feed(open("report.html").read())
page.close()
assert not page.open and page.seen["figure"] == 3 and page.seen["img"] == 3, page.seen
# Terms are defined, page cache and fsync are mentioned, and text in pictures has sufficient contrast.
text = open("report.html").read()
for term in ("block2d", "strided", "flash", "reused plan", "contiguous, at best", "interval", "own", "idg2"):
    assert f"<dt>{term}</dt><dd>" in text, term
assert "figures of the page cache" in text and "with fsync" in text and "MiB/s" in text and "temperature in K" in text
def light(colour):
    if len(colour) == 4: colour = "#" + "".join(2 * c for c in colour[1:])
    c = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    c = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in c]
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]
for data in re.findall(r"data:image/svg\+xml;base64,([^\"]*)", text):
    svg = base64.b64decode(data).decode()
    colours = re.findall(r"text \{[^}]*fill: (#[0-9a-f]+)", svg) + re.findall(r"<text[^>]* fill=\"(#[0-9a-f]+)\"", svg)
    assert colours and all(1.05 / (light(c) + 0.05) >= 4.5 for c in colours), colours
assert "temperature [K]</text>" in svg and ">time</text>" in svg, "axes with units"
largest = [float(p.split(",")[1]) for p in re.findall(r'class="bound" points="([^"]*)"', svg)[1].split()]
assert largest[-1] - largest[0] > 60, "the plate does not cool down visibly"  # plots are 320 pixels high
fast, slow = [1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.0], [2.0, 2.3, 1.9, 2.1, 2.0, 2.2, 1.8]
mixed = [0.5, 2.0, 0.9, 1.2, 1.0, 0.7, 1.6]
assert tour.verdict(fast, slow, "it")[1] == "yes" and tour.verdict(slow, fast, "it")[1] == "no"
assert tour.verdict(fast, mixed, "it")[0].startswith("no difference") and tour.verdict(fast[:4], slow[:4], "it")[1] == ""
mid, low, high = tour.ratio(slow, fast)
assert low <= mid <= high and tour.bounds(fast) == (0.9, 1.1) and tour.bounds(list(range(9))) == (1, 7)
END
sed -n "/^\[run\]/,/^\[bip/p" "$top/packages.txt" | grep -qx libmetis-dev || { echo "METIS is not among the packages of make run"; exit 1; }
[ -z "$(find files -name '*.tutti')" ] || { echo 'datasets are left behind'; exit 1; }
