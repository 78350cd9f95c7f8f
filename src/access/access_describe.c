/* access: description of an access in one line.  A loop is printed as "count x [inside every
 * stride]".
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include "access/node.h"

#define PARTS_SHOWN 4

/* Destination of several snprintf calls: `length` counts all characters, and those that fit are
 * written. */
typedef struct {
    char *buf;
    size_t size;
    int length;
} text;

static void print_text(text *t, const char *fmt, ...) TUTTI_PRINTF(2, 3);

static void print_text(text *t, const char *fmt, ...) {
    const size_t used = tutti__min(t->length, (tutti_off)t->size);
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(t->size ? t->buf + used : NULL, t->size - used, fmt, args);
    va_end(args);
    if (n > 0) t->length += n;
}

static void print_node(text *t, const tutti__node *n);

static void print_node(text *t, const tutti__node *n) {
    switch (n->kind) {
    case TUTTI__RUN:
        print_text(t, "%lld bytes", (long long)n->bytes);
        break;
    case TUTTI__VEC:
        print_text(t, "%lld x [", (long long)n->vec.count);
        print_node(t, n->vec.child);
        print_text(t, " every %lld]", (long long)n->vec.stride);
        break;
    case TUTTI__LIST:
        if (n->list.fixed)
            print_text(t, "%lld runs of %lld bytes", (long long)n->list.n,
                       (long long)n->list.fixed);
        else
            print_text(t, "%lld runs, %lld bytes", (long long)n->list.n, (long long)n->bytes);
        break;
    case TUTTI__CAT:
        print_text(t, "{");
        for (tutti_count i = 0; i < n->cat.n && i < PARTS_SHOWN; i++) {
            if (i) print_text(t, ", ");
            print_node(t, n->cat.part[i].node);
            print_text(t, " at +%lld", (long long)n->cat.part[i].disp);
        }
        if (n->cat.n > PARTS_SHOWN)
            print_text(t, ", and %lld more", (long long)n->cat.n - PARTS_SHOWN);
        print_text(t, "}");
        break;
    }
}

int tutti_access_describe(const tutti_access *a, char *buf, size_t size) {
    text t = {buf, buf ? size : 0, 0};
    if (!a || !a->file.node) {
        print_text(&t, "empty");
        return t.length;
    }
    print_node(&t, a->file.node);
    print_text(&t, " at %lld", (long long)a->file.disp);
    if (a->memory.disp != 0 || a->memory.node->kind != TUTTI__RUN) {
        print_text(&t, "; memory ");
        print_node(&t, a->memory.node);
        print_text(&t, " at %lld", (long long)a->memory.disp);
    }
    if (a->repeats.file.node)
        print_text(&t, "; %lld bytes repeated", (long long)tutti_access_repeated(a));
    return t.length;
}
