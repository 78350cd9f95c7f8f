/* tutti exodus join: the input files.  Files NAME.N.R must be complete; other names are used in the given
 * order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/join.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Parse NAME.N.R: length of NAME, N, R, and number of digits of R.  Returns 0 if the name has
 * another form. */
static int name_parse(const char *path, size_t *stem, long *n, long *r, int *digits) {
    const char *last = strrchr(path, '.'), *before = last;
    if (!last || !last[1] || last == path) return 0;
    while (before > path && before[-1] != '.') before--;
    if (before == path || before == last) return 0;
    for (const char *s = before; s < last; s++)
        if (!isdigit((unsigned char)*s)) return 0;
    for (const char *s = last + 1; *s; s++)
        if (!isdigit((unsigned char)*s)) return 0;
    *stem = (size_t)(before - path) - 1;
    *n = strtol(before, NULL, 10);
    *r = strtol(last + 1, NULL, 10);
    *digits = (int)strlen(last + 1);
    return *n > 0 && *n < 100000000 && *r < *n;
}

static int set_check(const data_config *c, const char *first, size_t stem, long n, char **out) {
    int digits;
    for (int i = 0; i < c->paths; i++) {
        size_t s;
        long m, r;
        if (!name_parse(c->path[i], &s, &m, &r, &digits) || m != n || s != stem ||
            strncmp(c->path[i], first, stem) != 0)
            return cli_error("'%s' is not a piece of the same file as '%s'", c->path[i], first);
        if (out[r]) return cli_error("'%s' and '%s' are the same piece", out[r], c->path[i]);
        out[r] = c->path[i];
    }
    for (long r = 0; r < n; r++)
        if (!out[r])
            return cli_error("piece %ld of %ld of '%.*s' is missing", r, n, (int)stem, first);
    return 0;
}

int exodus_join_names(const data_config *c, char ***paths_out, int *n_out) {
    size_t stem = 0;
    long n = 0, r = 0;
    int digits = 0;
    if (!name_parse(c->path[0], &stem, &n, &r, &digits)) {
        n = c->paths;
        *paths_out = cli_malloc((size_t)n * sizeof **paths_out);
        for (long i = 0; i < n; i++) (*paths_out)[i] = cli_strdup(c->path[i]);
    } else if (c->paths == 1) {
        *paths_out = cli_malloc((size_t)n * sizeof **paths_out);
        for (r = 0; r < n; r++)
            (*paths_out)[r] = cli_format("%.*s.%ld.%0*ld", (int)stem, c->path[0], n, digits, r);
    } else {
        char **found = cli_malloc((size_t)n * sizeof *found);
        memset(found, 0, (size_t)n * sizeof *found);
        if (set_check(c, c->path[0], stem, n, found)) return free(found), 1;
        for (long i = 0; i < n; i++) found[i] = cli_strdup(found[i]);
        *paths_out = found;
    }
    *n_out = (int)n;
    return 0;
}
