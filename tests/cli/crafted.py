"""crafted.py FILE STATEMENT...: writes a CDF-5 file from the statements d, x, a, s and l of tests/exodus/crafted.h.
SPDX-License-Identifier: BSD-3-Clause"""
import struct
import sys

TYPES = {"b": (1, "b"), "c": (2, "c"), "s": (3, "h"), "i": (4, "i"), "f": (5, "f"), "d": (6, "d"), "l": (10, "q")}


def name(text):
    data = text.encode()
    return struct.pack(">q", len(data)) + data + b"\0" * (-len(data) % 4)


def listed(tag, items):
    return struct.pack(">iq", tag if items else 0, len(items)) + b"".join(items)


class File:
    def __init__(self, statements):
        self.dims, self.vars, self.values, self.wrong = {}, {}, [], {}
        for word in (s.split() for s in ";".join(statements).split(";") if s.strip()):
            if word[0] == "d":
                self.dims[word[1]] = int(word[2])
            elif word[0] == "x":
                self.vars[word[1]] = {"type": word[2], "dims": word[3:], "atts": []}
            elif word[0] == "a":
                self.vars[word[1]]["atts"].append((word[2], word[3]))
            elif word[0] == "s":
                self.values.append((word[1], int(word[2]), int(word[3])))
            elif word[0] == "l":
                self.wrong[word[1]] = int(word[2])

    def count(self, v):
        n = 1
        for d in v["dims"]:
            n *= self.dims[d]
        return n

    def header(self, begins):
        index = {d: i for i, d in enumerate(self.dims)}
        dims = [name(d) + struct.pack(">q", self.wrong.get(d, n)) for d, n in self.dims.items()]
        rows = []
        for text, v in self.vars.items():
            code, letter = TYPES[v["type"]]
            atts = [name(k) + struct.pack(">iq", 2, len(t)) + t.encode() + b"\0" * (-len(t) % 4) for k, t in v["atts"]]
            size = self.count(v) * struct.calcsize(">" + letter)
            rows.append(name(text) + struct.pack(">q", len(v["dims"])) +
                        b"".join(struct.pack(">q", index[d]) for d in v["dims"]) +
                        listed(12, atts) + struct.pack(">iqq", code, size + -size % 4, begins.get(text, 0)))
        return b"CDF\5" + struct.pack(">q", 0) + listed(10, dims) + listed(12, []) + listed(11, rows)

    def data(self):
        at, begins = len(self.header({})), {}
        for text, v in self.vars.items():
            begins[text] = at
            size = self.count(v) * struct.calcsize(">" + TYPES[v["type"]][1])
            at += size + -size % 4
        out = bytearray(self.header(begins)) + bytearray(at - len(self.header(begins)))
        for text, i, value in self.values:
            letter = ">" + TYPES[self.vars[text]["type"]][1]
            struct.pack_into(letter, out, begins[text] + i * struct.calcsize(letter), value)
        return bytes(out)


with open(sys.argv[1], "wb") as f:
    f.write(File(sys.argv[2:]).data())
