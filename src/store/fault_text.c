/* store: parsing the option `fault`, RANK:WHAT:N[:ERRNO].
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/fault.h"
#include "store/store.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_ERRNO 4095

/* The parts of RANK:WHAT:N[:ERRNO], which point into a copy of the text. */
typedef struct fault_text {
    char copy[sizeof(((tutti_options *)0)->fault)];
    char *part[4];
    int parts;
} fault_text;

static int parse_count(const char *text, tutti_count *out) {
    char *end;
    if (*text < '0' || *text > '9') return 0;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0;
}

static int parse_errno(const char *text, int *out) {
    for (int e = 1; e <= LARGEST_ERRNO; e++) {
        const char *name = strerrorname_np(e);
        if (!name || strcmp(name, text) != 0) continue;
        *out = e;
        return 1;
    }
    return 0;
}

static int parse_what(const char *text, tutti__fault_what *out) {
    static const char *const names[] = {"",       "open",  "write", "read", "sync", "size",
                                        "resize", "close", "short", "slow", "held"};
    for (int i = 1; i < (int)(sizeof names / sizeof *names); i++) {
        if (strcmp(names[i], text) != 0) continue;
        *out = (tutti__fault_what)i;
        return 1;
    }
    return 0;
}

/* Return 1 if the text is well formed; *is_local is set to whether it applies to `rank`. */
static int parse_parts(const char *text, int rank, tutti__fault *f, int *is_local) {
    fault_text t;
    tutti_count who = rank;
    if (strlen(text) >= sizeof t.copy) return 0;
    memcpy(t.copy, text, strlen(text) + 1);
    char *at = t.copy;
    for (t.parts = 0; at && t.parts < 4; t.parts++) t.part[t.parts] = strsep(&at, ":");
    if (at || t.parts < 3) return 0;
    if (strcmp(t.part[0], "*") != 0 && !parse_count(t.part[0], &who)) return 0;
    *is_local = who == rank;
    if (!parse_what(t.part[1], &f->what)) return 0;
    if (!parse_count(t.part[2], &f->n) || f->n < 1) return 0;
    const int fails = f->what < TUTTI__FAULT_SHORT;
    return t.parts == 3 || (fails && parse_errno(t.part[3], &f->sys_errno));
}

tutti_err tutti__fault_parse(const char *text, int rank, tutti__fault *fault_out) {
    tutti__fault f = {.sys_errno = EIO};
    const int saved = errno;
    int is_local = 0;
    if (*text) {
        const int good = parse_parts(text, rank, &f, &is_local);
        errno = saved;
        TUTTI_CHECK(good, TUTTI_ERR_OPTION, "option fault is '%s': must be RANK:WHAT:N[:ERRNO]",
                    text);
    }
    if (!is_local) f.what = TUTTI__FAULT_NONE;
    *fault_out = f;
    return TUTTI_OK;
}
