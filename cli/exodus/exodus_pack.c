/* Encoding of outlines as bytes for other ranks.  Sender and receiver are the same program, so that the input
 * is not checked.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>
#include <string.h>

/* A buffer that is packed or unpacked: pack_or_unpack copies a field to the bytes, or the bytes to
 * the field. */
typedef struct {
    char *bytes;
    size_t n, capacity, at;
    int unpacks;
} parcel;

static void pack_or_unpack(parcel *p, void *what, size_t n) {
    if (n == 0) return;
    if (p->unpacks) {
        memcpy(what, p->bytes + p->at, n);
        p->at += n;
        return;
    }
    if (p->n + n > p->capacity) {
        p->capacity = 2 * (p->n + n) + 4096;
        p->bytes = cli_realloc(p->bytes, p->capacity);
    }
    memcpy(p->bytes + p->n, what, n);
    p->n += n;
}

static void move_text(parcel *p, char **text) {
    size_t n = p->unpacks ? 0 : strlen(*text);
    pack_or_unpack(p, &n, sizeof n);
    if (p->unpacks) {
        *text = cli_malloc(n + 1);
        (*text)[n] = '\0';
    }
    pack_or_unpack(p, *text, n);
}

static void move_texts(parcel *p, int *n, char ***texts) {
    pack_or_unpack(p, n, sizeof *n);
    if (p->unpacks) *texts = cli_malloc((size_t)*n * sizeof **texts);
    for (int i = 0; i < *n; i++) move_text(p, &(*texts)[i]);
}

static void move_outline(parcel *p, exodus_outline *o) {
    pack_or_unpack(p, &o->p, sizeof o->p);
    move_text(p, &o->title);
    for (int d = 0; d < o->p.dims && d < 3; d++) move_text(p, &o->coordinate[d]);
    o->p.title = o->title;
    o->p.coordinate_names = NULL;
    for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++) {
        exodus_table *t = &o->of[kind];
        tutti_count n = t->n;
        pack_or_unpack(p, &n, sizeof n);
        for (tutti_count i = 0; i < n; i++) {
            tutti_exodus_entity e = {.id = 0};
            char *name = NULL, *topology = NULL;
            if (!p->unpacks) {
                e = t->entity[i];
                name = (char *)(uintptr_t)e.name;
                topology = (char *)(uintptr_t)e.topology;
            }
            pack_or_unpack(p, &e, sizeof e);
            move_text(p, &name);
            move_text(p, &topology);
            if (p->unpacks) {
                e.name = name;
                e.topology = topology;
                exodus_outline_add(o, &e);
                free(name);
                free(topology);
            }
            int names = !p->unpacks && t->attribute[i] ? e.attributes : 0;
            char **list = p->unpacks ? NULL : t->attribute[i];
            move_texts(p, &names, &list);
            if (p->unpacks && names > 0)
                t->attribute[i] = list;
            else if (p->unpacks)
                free(list);
        }
        move_texts(p, &t->variables, &t->variable);
        const size_t capacity = exodus_table_room(n);
        if (p->unpacks && t->variables > 0) t->has = cli_malloc(capacity * (size_t)t->variables);
        pack_or_unpack(p, t->has, (size_t)(n * t->variables));
        move_texts(p, &t->properties, &t->property);
        if (p->unpacks) t->value = cli_malloc((size_t)t->properties * sizeof *t->value);
        for (int k = 0; k < t->properties; k++) {
            if (p->unpacks) t->value[k] = cli_malloc(capacity * sizeof *t->value[k]);
            pack_or_unpack(p, t->value[k], (size_t)n * sizeof *t->value[k]);
        }
    }
    pack_or_unpack(p, &o->qas, sizeof o->qas);
    if (p->unpacks) o->qa = cli_malloc((size_t)o->qas * sizeof *o->qa);
    for (int i = 0; i < o->qas; i++)
        for (int k = 0; k < 4; k++) move_text(p, &o->qa[i][k]);
    move_texts(p, &o->lines, &o->line);
}

void *exodus_outline_pack(const exodus_outline *o, size_t *bytes_out) {
    parcel p = {.bytes = NULL};
    exodus_outline copy = *o; /* shallow copy, since packing changes nothing */
    move_outline(&p, &copy);
    *bytes_out = p.n;
    return p.bytes;
}

void exodus_outline_unpack(const void *bytes, exodus_outline *out) {
    parcel p = {.bytes = (char *)(uintptr_t)bytes, .unpacks = 1};
    *out = (exodus_outline){.qas = 0};
    move_outline(&p, out);
}
