#!/usr/bin/env python3
"""Compare the formulas of docs/explanation/automatic-choices.md with the times that the library predicts.

    formulas.py docs/explanation/automatic-choices.md CASES

Each line of CASES is a JSON object: numbers of a request, the profile, and the predicted list, sieve and two_phase.
SPDX-License-Identifier: BSD-3-Clause
"""
import json
import re
import sys

SIZES = (64, 512, 4096, 65536, 1 << 20)


def line(rates, size):
    """Return the seconds of a request of `size` bytes by the rates (bytes per second; 0: not measured) at SIZES."""
    points = [(s, s / r) for s, r in zip(SIZES, rates) if r > 0]
    if size <= points[0][0]:
        return points[0][1]
    if size >= points[-1][0]:
        return points[-1][1] * size / points[-1][0]
    for (a, ta), (b, tb) in zip(points, points[1:]):
        if size <= b:
            return ta + (size - a) / (b - a) * (tb - ta)
    raise AssertionError(size)


def namespace(case):
    """Return the names used by the block of docs/explanation/automatic-choices.md."""
    p = case["profile"]

    def among(kind, size, clients):
        def of(who):
            names = ["%s_%s_%s" % (kind, who, s) for s in ("64", "512", "4k", "64k", "1m")]
            return line([p.get(n, 0) for n in names], size)
        one, everybody = of("one"), of("all")
        measured = p["ranks"] * p["nodes"]
        if clients <= 1 or measured <= 1:
            return one if clients <= 1 else everybody
        part = (min(clients, measured) - 1) / (measured - 1)
        return 1 / (1 / one + part * (1 / everybody - 1 / one))

    way = "write" if case["is_write"] else "read"

    def staged(window):
        lo, hi = p["staged_%s_512k" % way], p["staged_%s_4m" % way]
        return lo + (hi - lo) * min(max((window - (1 << 19)) / ((1 << 22) - (1 << 19)), 0), 1)

    def device(n, size, k):
        return n / size * among("direct_read", size, k) if case["cold"] and not case["is_write"] else 0

    def shared_pages(size):
        gain = min(p["write_all_512"] / p["write_own_512"], 1)
        return gain if size <= 512 else gain + (1 - gain) * (size - 512) / (4096 - 512)

    rates = [p["copy_64"], p["copy_512"]] + 3 * [p["copy_4k"]]
    crowd = max(case["largest"] / p["cores"], 1) / max(p["ranks"] / p["cores"], 1)

    def steps(n):
        return next(k for k in range(1, 31) if 1 << k >= n)

    names = dict(case, t=lambda size, k: among(way, size, k), copy=lambda size: line(rates, size), staged=staged,
                 device=device, shared_pages=shared_pages, crowd=crowd, copy_4k=p["copy_4k"],
                 net_latency=p["net_latency"], net_bandwidth=p["net_bandwidth"],
                 message_latency=p["message_latency"],
                 latency=p["net_latency"] if case["groups"] > 1 else p["message_latency"],
                 measured_ranks=p["ranks"] * p["nodes"], measured_cores=min(p["ranks"], p["cores"]) * p["nodes"],
                 cores=min(min(case["largest"], p["cores"]) * case["groups"], case["ranks"]),
                 vote=p["vote"] * steps(case["ranks"]) / steps(p["ranks"] * p["nodes"]) * crowd
                 if case["ranks"] > 1 else 0)
    return names


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    block = re.search(r"formulas\.py evaluates this block.*?```python\n(.*?)```", text, re.S).group(1)
    code = compile(block, sys.argv[1], "exec")
    cases = wrong = 0
    for text in open(sys.argv[2], encoding="utf-8"):
        case = json.loads(text)
        names = namespace(case)
        exec(code, names)  # pylint: disable=exec-used
        cases += 1
        for method, seconds in case["predicted"].items():
            if abs(names[method] - seconds) > 1e-9 * abs(seconds):
                wrong += 1
                print("%s: %g by the docs, %g by the library: %s" % (method, names[method], seconds, text[:400]))
    return "%d of %d cases differ" % (wrong, cases) if wrong or cases < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
