#!/bin/sh
# TEST ranks=0 timeout=180 builds=mpich,asan cores=2
# tutti bench with small sizes: all methods on 1 and 4 ranks, stores and exchanges on 3 ranks, every report, a
# failing file system; no files remain.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"

rounds=2
[ -z "${TUTTI_SANITIZE:-}" ] || rounds=1
bench 4 --size 64k --rounds $rounds --pattern block2d,irregular64,flash --method all --peers \
    --json r.json ||
    fail "4 ranks: exit code $?"
"$report" r.json --csv r.csv --html r.html || fail "tutti-report: exit code $?"
grep -q 'Every byte was verified' out || fail 'no word of verification'
grep -q '█' out || fail 'no bars'
python3 - r.json $rounds <<'END' || bad=1
import json, sys
r = json.load(open(sys.argv[1]))
assert r["format"] == "tutti-bench-1" and r["ranks"] == 4 and r["failures"] == 0
assert len(r["cells"]) == 6, len(r["cells"])
m = r["measured"]
assert m["host"] and m["kernel"].startswith("Linux") and m["processors"] > 0 and list(m["mounts"].values())[0] != "not known", m
assert "--pattern block2d,irregular64,flash" in m["command"] and m["date"].startswith("20"), m
for cell in r["cells"]:
    kinds = {}
    for e in cell["entries"]:
        kinds.setdefault(e["kind"], []).append(e)
        assert e["verified"] and len(e["seconds"]) == int(sys.argv[2]) and min(e["seconds"]) > 0, e
        assert e["min"] <= e["q1"] <= e["median"] <= e["q3"] <= e["max"], e
    assert len(kinds["tutti"]) == 8 and len(kinds["peer"]) == 1, sorted(kinds)
    assert abs(kinds["limit"][0]["to_limit"] - 1) < 1e-9
    if cell["operation"] == "read":
        assert min(e["to_bare"] for e in kinds["pieces"] + kinds["staging"]) == 1
END
python3 - r.csv r.html <<'END' || bad=1
import csv, html.parser, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert rows and all(float(row["seconds"]) > 0 for row in rows)
class Page(html.parser.HTMLParser):
    open = []
    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "link", "img", "iframe"), tag
        if tag != "meta": self.open.append(tag)
    def handle_startendtag(self, tag, attrs): pass
    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())
page = Page()
text = open(sys.argv[2]).read()
page.feed(text)
page.close()
assert not page.open, page.open
assert "http" not in text and "viewport" in text and text.count("<svg") == 8
END

bench 1 --size 64k --rounds 1 --pattern block2d,flash --quick || fail "1 rank: exit code $?"
[ -s tutti-bench.json ] || fail 'no tutti-bench.json'
bench 1 --size 64k --rounds 1 --html r.html
[ $? -eq 2 ] || fail '--html: no exit code 2'
grep -q tutti-report err || fail '--html does not name tutti-report'
bench 3 --size 64k --rounds 1 --pattern strided --store posix,threads,mem,null --exchange shm,two-sided \
    --json - || fail "3 ranks: exit code $?"
python3 -m json.tool out >/dev/null || fail 'standard output is not JSON alone'

bench 2 --size 64k --rounds 1 --pattern strided --op write --method two-phase --plan fresh \
    --fault '*:write:1:ENOSPC'
[ $? -eq 1 ] || fail 'a failing write should give exit code 1'
tr '\n' ' ' <out | grep -q 'FAILED.*space' || fail 'no word of the failing write'
# cold reads and writes with fsync are measured; a file system without cold reads is reported
bench 2 --size 64k --rounds 1 --pattern strided --cold --fsync --peers --json cold.json || fail "cold, fsync: exit code $?"
grep -q '^cold: ' out || fail 'cold is not named'
grep -q '^fsync: ' out || fail 'fsync is not named'
python3 -c '
import json
r = json.load(open("cold.json"))
assert r["cold"] and r["fsync"] and all(e["verified"] for c in r["cells"] for e in c["entries"])
assert all(c["goal"] == 0 for c in r["cells"]), "a goal of the page cache"' || bad=1
bench 2 --size 64k --rounds 1 --pattern strided --op write --method two-phase --plan fresh --fsync --fault '*:sync:1:EIO'
[ $? -eq 1 ] || fail 'a failing sync should give exit code 1'
if [ -n "${TUTTI_TEST_SHM:-}" ]; then
    bench 1 --size 64k --rounds 1 --pattern strided --op read --cold --dir "$TUTTI_TEST_SHM"
    [ $? -eq 1 ] || fail 'memory is cold'
    grep -q 'remain in the page' out || fail 'tmpfs: no message about the page cache'
fi

bench 1 --size 64k --json nowhere/r.json
[ $? -eq 1 ] || fail 'a report that cannot be written should be told'
if grep -q 'limit' out; then fail 'it measured before it looked whether the report can be written'; fi
# results are kept when the run is interrupted
"$TUTTI_COMMAND" bench --size 64k --rounds 3 --pattern all --dir . --json kept.json >out 2>err &
pid=$!
for _ in $(seq 300); do
    [ -s kept.json ] && break
    sleep 0.1
done
kill -KILL $pid 2>/dev/null
wait $pid 2>/dev/null
for _ in $(seq 1000); do # a guard process removes the file
    [ -n "$(find . -name 'tutti-bench.*')" ] || break
    sleep 0.01
done
python3 -c 'import json; assert json.load(open("kept.json"))["cells"]' || fail 'nothing is kept'
bench 2 --rounds none
[ $? -eq 2 ] || fail 'wrong usage should give exit code 2'

finish
