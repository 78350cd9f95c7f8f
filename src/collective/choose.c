/* collective: which way a request goes.  Decided from numbers that all ranks know, so that all decide
 * alike; the reason is kept for people.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective_impl.h"

#include <stdio.h>

/* Reads of runs at least this long are better done piece by piece: the page cache serves them without
 * a second copy, and a system call costs less than that copy. */
static const tutti_off READ_PIECE = 3 << 10;

/* Below this share of the extent the ranks' pieces hardly ever meet. */
static const double SPARSE = 0.05;

/* Reading on over a gap costs less than another request up to about this distance. */
static const double READ_APART = 2048;

/* What a method asked for by name really becomes. */
static int method_possible(const tutti_file *f, int method, int is_write, char *why, size_t size) {
    if (method == TUTTI_METHOD_SIEVE && is_write && !tutti__sieve_can_write(f)) {
        snprintf(why, size, "list: sieve would have to read and rewrite (options rmw, TUTTI_READ)");
        return TUTTI_METHOD_LIST;
    }
    snprintf(why, size, "as the option says");
    return method;
}

static int choose_write(const tutti_file *f, tutti_off piece, double density, char *why,
                        size_t size) {
    if (piece >= f->opt.direct_run) {
        snprintf(why, size, "list: pieces of %lld bytes need no staging", (long long)piece);
        return TUTTI_METHOD_LIST;
    }
    if (density < SPARSE && piece >= 4096) {
        snprintf(why, size, "list: pieces of %lld bytes far apart (%.1f %% of the extent)",
                 (long long)piece, 100 * density);
        return TUTTI_METHOD_LIST;
    }
    snprintf(why, size, "two-phase: pieces of %lld bytes, %.0f %% of the extent", (long long)piece,
             100 * density);
    return TUTTI_METHOD_TWO_PHASE;
}

/* `apart`: the mean distance from a piece of one rank to its next. */
static int choose_read(tutti_off piece, double density, double apart, char *why, size_t size) {
    if (piece >= READ_PIECE || (density < SPARSE && apart > READ_APART)) {
        snprintf(why, size,
                 "list: pieces of %lld bytes, %.0f %% of the extent, are read without staging",
                 (long long)piece, 100 * density);
        return TUTTI_METHOD_LIST;
    }
    if (density < SPARSE) {
        snprintf(why, size, "sieve: pieces of %lld bytes, %.1f %% of the extent, close together",
                 (long long)piece, 100 * density);
        return TUTTI_METHOD_SIEVE;
    }
    snprintf(why, size, "two-phase: pieces of %lld bytes, %.0f %% of the extent", (long long)piece,
             100 * density);
    return TUTTI_METHOD_TWO_PHASE;
}

int tutti__method_choose(const tutti_file *f, const tutti__summary *s, int is_write, char *why,
                         size_t size) {
    int method = f->opt.method;
    if (!is_write && f->opt.method_read != TUTTI_METHOD_AUTO) method = f->opt.method_read;
    if (method != TUTTI_METHOD_AUTO) return method_possible(f, method, is_write, why, size);
    if (s->bytes == 0) {
        snprintf(why, size, "list: no bytes");
        return TUTTI_METHOD_LIST;
    }
    const tutti_off piece =
        s->run; /* the rank with the shortest pieces decides: it takes longest */
    const double density = (double)s->bytes / (double)(s->hi - s->lo);
    return is_write
               ? choose_write(f, piece, density, why, size)
               : choose_read(piece, density, (double)piece * (double)s->ranks / density, why, size);
}
