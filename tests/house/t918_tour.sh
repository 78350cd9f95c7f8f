#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi cores=2
# What `make run` does, small: it comes to its end, says what it shows, and its page has the pictures and nothing from elsewhere; what it
# says of ratios is so: a difference is shown where all rounds agree, and none where they do not.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR" || exit 1
"$top/scripts/tour.py" --small "$TUTTI_BUILD_DIR" files report.html >out 2>&1 || { cat out; exit 1; }
python3 - "$top/scripts" <<'END' || { cat out; exit 1; }
import html.parser, re, sys
sys.path.insert(0, sys.argv[1])
import tour

said = open("out").read()
assert len(re.findall(r"times as fast as MPI_File_(write|read)_all", said)) == 6, "six comparisons"
assert said.count(": ok;") == 2 and "steps 20 to 40" in said, "verified twice, gone on with"
assert re.search(r"\d+ intervals as owned, \d+ by idg2", said)
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
assert not page.open and page.seen["figure"] == 3 and page.seen["svg"] == 2 and page.seen["img"] == 1, page.seen
fast, slow = [1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.0], [2.0, 2.3, 1.9, 2.1, 2.0, 2.2, 1.8]
mixed = [0.5, 2.0, 0.9, 1.2, 1.0, 0.7, 1.6]
assert tour.verdict(fast, slow, "it")[1] == "yes" and tour.verdict(slow, fast, "it")[1] == "no"
assert tour.verdict(fast, mixed, "it")[0].startswith("no difference") and tour.verdict(fast[:4], slow[:4], "it")[1] == ""
mid, low, high = tour.ratio(slow, fast)
assert low <= mid <= high and tour.bounds(fast) == (0.9, 1.1) and tour.bounds(list(range(9))) == (1, 7)
END
[ -z "$(find files -name '*.tutti')" ] || { echo 'datasets are left behind'; exit 1; }
