"""Tables of the results of standalone programs (experiments/programs, experiments/peers): medians and quartiles of each value.

SPDX-License-Identifier: BSD-3-Clause"""
from .intervals import median, quantile


def unit_of(name):
    """Return (heading, factor) of a value by its name."""
    for suffix, unit, factor in (("seconds", "ms", 1e3), ("bytes", "B", 1)):
        if name.endswith(suffix):
            return (name[:-len(suffix)].strip("_").replace("_", " ") + " " + unit).strip(), factor
    return name, 1


def values_of(variants):
    """Return the names of the samples, in the order of the JSON."""
    return list(dict.fromkeys(k for v in variants for k, x in v.items() if isinstance(x, list)))


def rows_of(r):
    """Return the table: a heading, then a row for each variant of each series.  The last column is the median over rounds of the ratio of
    the first value to that of the first variant."""
    every = [v for s in r["series"] for v in s["variants"]]
    values, rates = values_of(every), any("bytes" in s for s in r["series"])
    head = ["series", "variant"]
    for k in values:
        head += [unit_of(k)[0], "quartiles"] if k == values[0] else [unit_of(k)[0]]
    rows = [head + ["MB/s"] * rates + ["of first"]]
    for s in r["series"]:
        for v in s["variants"]:
            row = [s["title"], v["name"]]
            for k in values:
                samples, factor = v.get(k, []), unit_of(k)[1]
                row.append(f"{factor * median(samples):.4g}" if samples else "-")
                if k == values[0]:
                    row.append(f"{factor * quantile(samples, 0.25):.4g} to {factor * quantile(samples, 0.75):.4g}")
            first = median(v[values[0]])
            row += [f"{s['bytes'] / first / 1e6:.0f}" if "bytes" in s and first > 0 else "-"] * rates
            pairs = [a / b for a, b in zip(v[values[0]], s["variants"][0][values[0]]) if b > 0]
            rows.append(row + [f"{median(pairs):.2f}" if pairs else "-"])
    return rows


def markdown(r):
    rows = rows_of(r)
    rows.insert(1, ["---", "---"] + ["--:"] * (len(rows[0]) - 2))
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def text_of(r):
    settings = ", ".join(f"{k} {v}" for k, v in r["settings"].items())
    return f"{r['program']}: {r['ranks']} rank{'s' * (r['ranks'] != 1)}, {settings}\n\n{markdown(r)}"
