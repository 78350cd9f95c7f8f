/* collective: choice of a method.  The cost model (plan/cost.h) predicts the time of each candidate
 * from values that are the same on all ranks, so that all ranks choose the same method; the reason
 * is stored as text.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/find.h"

#include <stdio.h>
#include <string.h>

#include "base/profile.h"
#include "exchange/shuffle.h"
#include "plan/scale.h"

/* Limits of the list that TUTTI_EXPLAIN prints: candidates, candidates with the chosen method and
 * exchange, and candidates with any other method and exchange. */
enum { SHOWN = 8, SHOWN_TAKEN = 2, SHOWN_ALIKE = 1 };

/* Asynchronous file access gets its own store if it hides more than this share of the access
 * time. */
static const double WORTH_HIDING = 0.2;

static const char *const method_names[] = {"auto",  "independent", "list",
                                           "sieve", "root",        "two-phase"};
static const char *const exchange_names[] = {"auto", "shm", "two-sided", "fence", "lock"};
static const char *const pipeline_names[] = {"auto",  "none",       "comm",
                                             "write", "write-comm", "write-comm-2"};

static tutti__cost_case case_of(const tutti_file *f, const tutti__summary *s, int is_write) {
    const tutti__groups *g = &f->team->nodes;
    return (tutti__cost_case){.s = s,
                              .opt = &f->opt,
                              .profile = &f->profile,
                              .is_write = is_write,
                              .ranks = f->team->size,
                              .groups = g->n,
                              .largest = g->largest,
                              .align = f->opt.striping_unit,
                              .striped = f->layout.striped,
                              .remote = f->layout.remote,
                              .may_sieve = tutti__file_may_rmw(f),
                              .buffers = tutti__exchange_buffers};
}

/* Format a time like "1.2 s", "3.4 ms" or "56 us". */
static void format_seconds(double t, char *out, size_t size) {
    if (t >= 1)
        snprintf(out, size, "%.1f s", t);
    else if (t >= 1e-3)
        snprintf(out, size, "%.1f ms", 1e3 * t);
    else
        snprintf(out, size, "%.0f us", 1e6 * t);
}

static void format_reason(const tutti__summary *s, const tutti__candidate *k, int n, char *why,
                          size_t size) {
    char chosen[24], other[24], memory[48] = "";
    int rival = 1; /* the best candidate of a different kind of method, for comparison */
    while (rival < n && tutti__is_staged(k[rival].method) == tutti__is_staged(k->method)) rival++;
    const double density = 100 * (double)s->bytes / ((double)s->hi - (double)s->lo);
    format_seconds(k->seconds, chosen, sizeof chosen);
    if (s->piece < s->run)
        snprintf(memory, sizeof memory, " (%lld in memory)", (long long)s->piece);
    const int at = snprintf(
        why, size, "%s: %spieces of %lld bytes%s, %s%.*f %% of the extent, about %s",
        method_names[k->method], s->cold ? "not cached, " : "", (long long)s->run, memory,
        tutti__summary_is_common(s) ? "the same on all ranks, " : "", density < 5, density, chosen);
    if (rival >= n || at < 0 || (size_t)at >= size) return;
    format_seconds(k[rival].seconds, other, sizeof other);
    /* the simpler of two nearly equal candidates is chosen: see tutti__cost_candidates */
    snprintf(why + at, size - (size_t)at, " (%s %s%s)", method_names[k[rival].method], other,
             k[rival].seconds < k->seconds ? ", only slightly less: the simpler method is used"
                                           : "");
}

void tutti__choose(const tutti_file *f, const tutti__summary *s, int is_write, tutti__choice *out) {
    tutti__candidate k[TUTTI__CANDIDATES];
    char seconds[24];
    const tutti__cost_case c = case_of(f, s, is_write);
    const int n = tutti__cost_candidates(&c, k);
    int asked = f->opt.method;
    if (!is_write && f->opt.method_read != TUTTI_METHOD_AUTO) asked = f->opt.method_read;
    memset(out, 0, sizeof *out);
    out->method = f->atomic.on ? TUTTI_METHOD_LIST : k[0].method;
    out->least = tutti__cost_least(&c, TUTTI__OFF_END);
    out->cold = s->cold;

    /* determine and explain the size of holes that are read */
    const tutti__gap g = tutti__cost_gap(&c);
    out->gap = g.bytes;
    format_seconds(g.seconds, seconds, sizeof seconds);
    if (f->opt.sieve_gap > 0)
        snprintf(out->gap_why, sizeof out->gap_why, "as the option specifies");
    else if (g.dense)
        snprintf(out->gap_why, sizeof out->gap_why, "half of the extent is requested");
    else
        snprintf(out->gap_why, sizeof out->gap_why, "one more request costs %s", seconds);

    /* parameters of staging, for any method: they are needed to prove that ranks do not overlap,
     * and in the background */
    for (int i = 0; i < n; i++) {
        if (!tutti__is_staged(k[i].method)) continue;
        out->exchange = k[i].exchange;
        out->pipeline = k[i].pipeline;
        out->aggregators = k[i].aggregators;
        out->window = k[i].window;
        break;
    }

    char *why = out->why;
    const size_t size = sizeof out->why;
    if (f->atomic.on) {
        snprintf(why, size, "list: atomic mode");
    } else if (asked == TUTTI_METHOD_AUTO && s->bytes > 0 && tutti__cost_is_small(&c)) {
        snprintf(why, size, "list: %lld to %lld bytes of each rank, in one piece",
                 (long long)s->run, (long long)s->max_bytes);
    } else if (asked == TUTTI_METHOD_SIEVE && is_write && !tutti__file_may_rmw(f)) {
        out->method = TUTTI_METHOD_LIST;
        snprintf(why, size, "list: sieve would have to read and rewrite (options rmw, TUTTI_READ)");
    } else if (asked != TUTTI_METHOD_AUTO) {
        out->method = asked;
        snprintf(why, size, "as the option specifies");
    } else if (s->bytes == 0) {
        snprintf(why, size, "list: no bytes");
    } else {
        format_reason(s, k, n, why, size);
    }
}

static void print_candidate(const tutti__candidate *k) {
    char seconds[24];
    format_seconds(k->seconds, seconds, sizeof seconds);
    fprintf(stderr, "tutti: %10s  %s", seconds, method_names[k->method]);
    if (tutti__is_staged(k->method))
        fprintf(stderr, ", %s, %s, %d aggregator%s, windows of %lld bytes",
                exchange_names[k->exchange], pipeline_names[k->pipeline], k->aggregators,
                k->aggregators == 1 ? "" : "s", (long long)k->window);
    fputc('\n', stderr);
}

void tutti__choose_explain(const tutti_file *f, const tutti__summary *s, int is_write) {
    tutti__candidate k[TUTTI__CANDIDATES];
    const tutti__cost_case c = case_of(f, s, is_write);
    if (s->bytes == 0) return;
    const int n = tutti__cost_candidates(&c, k);
    for (int i = 0, shown = 0; i < n && shown < SHOWN; i++) {
        int alike = 0;
        for (int j = 0; j < i; j++)
            alike += k[j].method == k[i].method && k[j].exchange == k[i].exchange;
        const int taken = k[i].method == k[0].method && k[i].exchange == k[0].exchange;
        if (alike >= (taken ? SHOWN_TAKEN : SHOWN_ALIKE)) continue;
        print_candidate(&k[i]);
        shown++;
    }
}

/* ---- page cache residency */

/* Sampled pages: at most SAMPLES (SAMPLES_OF_RUN in a single run), one per SAMPLE_BYTES.  An access
 * is cold if at least one of COLD_SHARE sampled pages is not in the cache. */
enum { SAMPLES = 16, SAMPLES_OF_RUN = 4 };
static const tutti_off SAMPLE_BYTES = 32 << 10;
static const int COLD_SHARE = 4;

/* On file systems with a cache per node, the caches are dropped before a read
 * (tutti__operation_refresh), so sampling is unnecessary; the measurements of such file systems
 * include this. */
int tutti__choose_cold(const tutti_file *f, const tutti_access *a, tutti_store *store) {
    const tutti_off bytes = tutti__side_bytes(a->file), runs = tutti__side_runs(a->file);
    const tutti_off span = tutti__side_hi(a->file) - tutti__side_lo(a->file);
    int asked = 0, missing = 0;
    if (bytes == 0 || span < tutti__blocks(TUTTI__COLD_SPAN, f->team->size)) return 0;
    if (f->layout.incoherent || f->atomic.on || f->opt.direct_io) return 0;
    const tutti_off most = runs > 1 ? tutti__min(runs, SAMPLES) : SAMPLES_OF_RUN;
    const tutti_off n = tutti__max(1, tutti__min(span / SAMPLE_BYTES, most));
    for (tutti_off i = 0; i < n; i++) {
        tutti__cursor c;
        tutti__burst b = {0, 0, 0, 0};
        tutti__cursor_seek(&c, a->file, tutti__cut(bytes, 2 * i + 1, 2 * n));
        (void)tutti__cursor_peek(&c, &b);
        const int cached = tutti__store_cached(store, f->origin + b.offset);
        if (cached < 0 && i == 0) return 0; /* the store cannot query the page cache */
        asked += cached >= 0;
        missing += cached == 0;
    }
    return missing > 0 && COLD_SHARE * missing >= asked;
}

/* ---- choices when a file is opened */

int tutti__choose_store(const tutti_options *opt, const tutti_profile *p) {
    const double uring = opt->direct_io ? p->direct_overlap_uring : p->overlap_uring;
    const double threads = opt->direct_io ? p->direct_overlap_threads : p->overlap_threads;
    const tutti_store_ops *ops;
    if (opt->store != TUTTI_STORE_AUTO || !p->measured) return opt->store;
    if (uring >= threads && uring > WORTH_HIDING) {
        if (tutti__store_find(TUTTI_STORE_URING, &ops) == TUTTI_OK) return TUTTI_STORE_URING;
        tutti__error_clear();
    }
    return threads > WORTH_HIDING ? TUTTI_STORE_THREADS : opt->store;
}

void tutti__choose_profile(const char *path, const tutti_options *opt, tutti_profile *out) {
    tutti_filesystem place = {.type = "other"};
    tutti_error_info ignored = {.code = TUTTI_OK}, named = ignored;
    const int nowhere = opt->store == TUTTI_STORE_MEM || opt->store == TUTTI_STORE_NULL;
    /* an error of the path itself is reported by open */
    if (!nowhere && tutti_profile_filesystem(path, &place) != TUTTI_OK) tutti__error_clear();
    /* a profile is optional: a missing or invalid one is not an error */
    tutti_err err = tutti__profile_load(opt->profile, &place, out, &ignored);
    if (err != TUTTI_OK) {
        named = *tutti_last_error();
        tutti__error_clear();
        err = tutti__profile_load(NULL, &place, out, &ignored);
    }
    if (err != TUTTI_OK) {
        tutti__error_clear();
        tutti_profile_defaults(out, place.type);
    }
    const tutti_error_info *const said[] = {&named, &ignored};
    for (int i = 0; i < 2; i++)
        if (said[i]->code != TUTTI_OK && opt->explain)
            fprintf(stderr, "tutti: the profile '%s' is not used: %s\n", said[i]->path,
                    said[i]->text);
}
