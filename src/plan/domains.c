/* plan: file domains and windows: the aggregator and the cycle of each file offset.
 *
 * There is no table of the A aggregators: the start of every domain is computed on demand.
 *   EVEN      the extent is U units of `align` bytes; domain a begins at unit floor(U * a / A), so
 *             that min(U, A) domains are not empty and no domain exceeds ceil(U / A) units
 *   BALANCED  domain a begins after a/A of the requested bytes, by inverting the cumulative
 *             histogram, linearly inside a bucket, and aligning down
 *   CYCLIC    blocks of `window` bytes, starting at lo, are assigned round-robin
 *   ARRAY     domain a begins at slab floor(n * a / A) of the array, limited to the extent
 * tutti__domains_find inverts these formulas: by division or, for BALANCED and ARRAY, by bisection
 * over the aggregators.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <tutti/options.h>
#include "plan/domains.h"
#include "plan/scale.h"

/* AUTO uses BALANCED if the largest number of bytes of an aggregator with EVEN is more than this
 * factor times that with BALANCED. */
#define UNEVEN 1.25
/* AUTO needs the histogram if less than this fraction of the extent is requested. */
#define DENSE 0.9
/* Upper limit of alignments, so that rounding up never overflows. */
#define ALIGN_MAX ((tutti_off)1 << 60)

static tutti_off count_units(const tutti__domains *d) {
    return tutti__blocks(d->hi - d->lo, d->align);
}

/* ---- BALANCED: the cumulative histogram */

/* Return the file offset at which bucket i begins, 0 <= i <= TUTTI__HISTOGRAM. */
static tutti_off bucket_start(const tutti__domains *d, tutti_off i) {
    return d->first + tutti__cut(d->hi - d->first, i, TUTTI__HISTOGRAM);
}

/* Return the requested bytes before `offset`, interpolated in the histogram. */
static tutti_off bytes_before(const tutti__domains *d, tutti_off offset) {
    if (offset <= d->first) return 0;
    if (offset >= d->hi) return d->before[TUTTI__HISTOGRAM];
    const tutti_off i = tutti__part_of(d->hi - d->first, offset - d->first, TUTTI__HISTOGRAM);
    const tutti_off start = bucket_start(d, i), width = bucket_start(d, i + 1) - start;
    return d->before[i] + tutti__cut(d->before[i + 1] - d->before[i], offset - start, width);
}

/* Set before[i] to the sum of the buckets before i, scaled down if the sum would overflow; returns
 * the total. */
static tutti_off cumulate_histogram(const tutti_off *bucket,
                                    tutti_off before[TUTTI__HISTOGRAM + 1]) {
    __int128 total = 0;
    for (int i = 0; i < TUTTI__HISTOGRAM; i++) total += bucket[i];
    int shift = 0;
    while (total >> shift > INT64_MAX) shift++;
    before[0] = 0;
    for (int i = 0; i < TUTTI__HISTOGRAM; i++) before[i + 1] = before[i] + (bucket[i] >> shift);
    return before[TUTTI__HISTOGRAM];
}

/* ---- domains of all kinds except CYCLIC: domain a is [domain_start(a), domain_start(a + 1)) */

static tutti_off domain_start(const tutti__domains *d, int a) {
    if (a == 0) return d->lo;
    if (a == d->aggregators) return d->hi;
    if (d->kind == TUTTI_DOMAINS_ARRAY) {
        const tutti__slabs *s = &d->slabs;
        const tutti_off at = s->at + tutti__cut(s->n, a, d->aggregators) * s->slab;
        return tutti__min(tutti__max(tutti__align_down(at, d->align), d->lo), d->hi);
    }
    if (d->kind != TUTTI_DOMAINS_BALANCED)
        return d->lo + tutti__cut(count_units(d), a, d->aggregators) * d->align;
    /* Find the last bucket with at most `target` bytes before it, and interpolate inside the
     * bucket. */
    const tutti_off target = tutti__cut(d->before[TUTTI__HISTOGRAM], a, d->aggregators);
    int i = 0, above = TUTTI__HISTOGRAM;
    while (above - i > 1) {
        const int mid = i + (above - i) / 2;
        if (d->before[mid] <= target)
            i = mid;
        else
            above = mid;
    }
    const tutti_off start = bucket_start(d, i), width = bucket_start(d, i + 1) - start;
    const tutti_off inside = d->before[i + 1] - d->before[i];
    return tutti__align_down(start + tutti__cut(width, target - d->before[i], inside), d->align);
}

/* ---- choice of the kind */

int tutti__domains_want_histogram(const tutti__summary *s, int kind_option) {
    if (s->lo >= s->hi || s->bytes == 0) return 0;
    if (kind_option == TUTTI_DOMAINS_BALANCED) return 1;
    return kind_option == TUTTI_DOMAINS_AUTO && (double)s->bytes < DENSE * (double)(s->hi - s->lo);
}

/* Return the largest number of bytes of an aggregator.  If there are more aggregators than buckets,
 * neighbours are averaged. */
static double largest_share(const tutti__domains *d) {
    const int n = d->aggregators < TUTTI__HISTOGRAM ? d->aggregators : TUTTI__HISTOGRAM;
    double most = 0;
    for (int k = 0; k < n; k++) {
        const int a = (int)tutti__cut(d->aggregators, k, n);
        const int b = (int)tutti__cut(d->aggregators, k + 1, n);
        const tutti_off bytes =
            bytes_before(d, domain_start(d, b)) - bytes_before(d, domain_start(d, a));
        const double each = (double)bytes / (b - a);
        if (each > most) most = each;
    }
    return most;
}

void tutti__domains_make(const tutti__summary *s, const tutti__domain_rule *rule,
                         tutti__domains *out) {
    const int empty = s->lo >= s->hi, kind = rule->kind;
    memset(out, 0, sizeof *out);
    out->kind = kind == TUTTI_DOMAINS_CYCLIC ? kind : TUTTI_DOMAINS_EVEN;
    out->aggregators = rule->aggregators > 1 ? rule->aggregators : 1;
    out->align = tutti__min(tutti__max(rule->align, 1), ALIGN_MAX);
    out->first = empty ? 0 : s->lo;
    out->lo = tutti__align_down(out->first, out->align);
    out->hi = empty ? out->lo : s->hi;

    const tutti_off whole = count_units(out) * out->align;
    const tutti_off window = tutti__min(tutti__align_down(rule->window, out->align), whole);
    out->window = tutti__max(window, out->align);
    out->share = tutti__blocks(count_units(out), out->aggregators) * out->align;

    if (rule->slabs) {
        out->kind = TUTTI_DOMAINS_ARRAY;
        out->slabs = *rule->slabs;
        return;
    }
    if (empty || !rule->bucket || kind == TUTTI_DOMAINS_EVEN || kind == TUTTI_DOMAINS_CYCLIC)
        return;
    if (cumulate_histogram(rule->bucket, out->before) == 0) return;
    const double even = largest_share(out);
    out->kind = TUTTI_DOMAINS_BALANCED;
    if (kind == TUTTI_DOMAINS_AUTO && even <= UNEVEN * largest_share(out))
        out->kind = TUTTI_DOMAINS_EVEN;
}

int tutti__domains_is_valid(const tutti__domains *d) {
    const int balanced = d->kind == TUTTI_DOMAINS_BALANCED;
    if (d->kind < TUTTI_DOMAINS_EVEN || d->kind > TUTTI_DOMAINS_ARRAY) return 0;
    if (d->kind == TUTTI_DOMAINS_ARRAY && (d->slabs.n < 1 || d->slabs.slab < 1)) return 0;
    return d->aggregators >= 1 && d->align >= 1 && d->window >= 1 && d->lo % d->align == 0 &&
           d->lo <= d->first && d->first <= d->hi && d->share % d->align == 0 &&
           (!balanced || d->before[TUTTI__HISTOGRAM] > 0);
}

/* ---- queries */

void tutti__domains_extent(const tutti__domains *d, int a, tutti_off *lo, tutti_off *hi) {
    TUTTI_ASSERT(a >= 0 && a < d->aggregators);
    const int all = d->kind == TUTTI_DOMAINS_CYCLIC;
    *lo = all ? d->lo : domain_start(d, a);
    *hi = all ? d->hi : domain_start(d, a + 1);
}

void tutti__domains_window(const tutti__domains *d, int a, tutti_count c, tutti_off *lo,
                           tutti_off *hi) {
    tutti__domains_extent(d, a, lo, hi);
    const __int128 block =
        d->kind == TUTTI_DOMAINS_CYCLIC ? (__int128)c * d->aggregators + a : (__int128)c;
    if (block >= tutti__blocks(*hi - *lo, d->window)) {
        *lo = *hi;
        return;
    }
    *lo += (tutti_off)block * d->window;
    *hi = *hi - *lo < d->window ? *hi : *lo + d->window;
}

tutti_count tutti__domains_cycles(const tutti__domains *d, int a) {
    tutti_off lo, hi;
    tutti__domains_extent(d, a, &lo, &hi);
    const tutti_count blocks = tutti__blocks(hi - lo, d->window);
    if (d->kind != TUTTI_DOMAINS_CYCLIC) return blocks;
    return blocks / d->aggregators + (a < blocks % d->aggregators);
}

void tutti__domains_find(const tutti__domains *d, tutti_off offset, int *a_out,
                         tutti_count *c_out) {
    TUTTI_ASSERT(offset >= d->lo && offset < d->hi);
    if (d->kind == TUTTI_DOMAINS_CYCLIC) {
        const tutti_count block = (offset - d->lo) / d->window;
        *a_out = (int)(block % d->aggregators);
        *c_out = block / d->aggregators;
        return;
    }
    int a = 0;
    if (d->kind == TUTTI_DOMAINS_EVEN) {
        a = (int)tutti__part_of(count_units(d), (offset - d->lo) / d->align, d->aggregators);
    } else {
        int above = d->aggregators;
        while (above - a > 1) {
            const int mid = a + (above - a) / 2;
            if (domain_start(d, mid) <= offset)
                a = mid;
            else
                above = mid;
        }
    }
    *a_out = a;
    *c_out = (offset - domain_start(d, a)) / d->window;
}
