#!/bin/sh
# TEST ranks=0 timeout=120
# Names, titles and infos with arbitrary bytes (not UTF-8, control characters, zero bytes, markup): JSON and XML of ls,
# show, info, diff and export are well-formed, and no control character is printed.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
compile cli/dataset_writer.c dataset_writer && compile cli/exodus_pair.c pair || exit 1
./dataset_writer g </dev/null && ./pair a.e </dev/null && ./pair b.e value </dev/null || exit 1
python3 - <<'END' || exit 1
import sqlite3
for path in "a.e", "b.e":  # other names of the same length
    data = open(path, "rb").read()
    for old, new in ((b"temperature", b'\xff"<&\x01\x1b[\\\xc3>\x7f'), (b"stress", b"\xed\xa0\x80]]>"), (b"a cube", b"\x1b[2J\xfe\n"), (b"cube", b"\x9b<\"\t")):
        assert data.count(old) >= 1 and len(old) == len(new)
        data = data.replace(old, new)
    open(path, "wb").write(data)
db = sqlite3.connect("g/metadata.sqlite")
db.text_factory = bytes
n = 0
for table, column in ("variables", "name"), ("variables", "units"), ("variables", "long_name"):
    for number, in db.execute("SELECT id FROM %s WHERE name NOT LIKE '%%:%%'" % table).fetchall():
        n += 1
        db.execute("UPDATE %s SET %s = CAST(? AS TEXT) WHERE id = ?" % (table, column), (b"n%d\xff<\"&\xc2\x9b\\\xc3\x28" % n, number))
db.execute("UPDATE infos SET value = ?, count = 14 WHERE type = CAST('bytes' AS TEXT)", (b"zero\0byte\xff\x1b[2J",))
db.commit()
END

# parses TYPE FILE...: check that files are valid JSON or XML, without control characters other than white space
parses() {
    python3 - "$@" <<'END' || { echo "$*: does not parse"; cat "$2"; bad=1; }
import json, sys
import xml.dom.minidom
for path in sys.argv[2:]:
    data = open(path, "rb").read()
    if b"<AppendedData" in data:
        data = data[:data.index(b"<AppendedData")] + b"</VTKFile>"
    text = data.decode()
    assert all(c in "\n\t" or not (ord(c) < 32 or 127 <= ord(c) < 160) for c in text), path
    if sys.argv[1] == "json":
        json.loads(text)
    elif sys.argv[1] == "xml":
        xml.dom.minidom.parseString(data)
END
}
for file in a.e g; do
    for words in "ls $file" "show $file" "diff $file $file" "verify $file"; do
        # shellcheck disable=SC2086
        tutti 1 $words
        parses text out err
        # shellcheck disable=SC2086
        tutti 1 $words --json
        parses json out
    done
done
tutti 1 exodus info a.e --json || fail 'info'
parses json out
grep -q 'ufffd' out || fail 'no replacement character'
tutti 1 diff a.e b.e && fail 'no difference'
parses text out
tutti 1 diff a.e b.e --json
parses json out
expect 1 '\xff' export a.e --vtk -v "$(printf 'no\377such')"
tutti 2 export a.e --vtk --sets -o v || fail 'vtk'
parses xml v.pvd v-0001.pvtu v-0001-p0.vtu v-sets.pvtu
tutti 1 export a.e --xdmf || fail 'xdmf'
parses xml a.e.xmf
tutti 1 show g --json || fail 'show'
grep -q 'zero\\u0000byte\\ufffd' out || fail 'the info is cut'
tutti 1 export g --xdmf -o g.xmf || fail 'xdmf of a dataset'
parses xml g.xmf
tutti 1 export g --zarr -o g.json || fail 'zarr'
parses json g.json
tutti 1 export g --csv -o c || fail 'csv'
python3 - "$TUTTI_COMMAND" <<'END' || bad=1
import sqlite3, subprocess, sys, xml.dom.minidom
db = sqlite3.connect("g/metadata.sqlite")
db.text_factory = bytes
name = db.execute("SELECT name FROM variables LIMIT 1").fetchone()[0]
subprocess.run([sys.argv[1], "plot", "g", "-v", name, "-o", "p.svg"], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
xml.dom.minidom.parse("p.svg")
END
finish
