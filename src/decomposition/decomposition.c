/* decomposition: the object: queries, and accesses, which are created at their first use and
 * stored.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/decomposition.h"

#include <string.h>

/* ---- life cycle */

const tutti__class tutti__decomposition_class = {"decomposition", "decomposition", "freed"};

void tutti__decomposition_destroy(tutti_decomposition *p) {
    TUTTI_KEEP_LAST_ERROR;
    if (!p) return;
    for (tutti__sized_access *a = p->accesses, *next; a; a = next) {
        next = a->next;
        tutti_access_free(&a->access);
        tutti__free(a);
    }
    tutti__handle_remove(&p->handle);
    tutti__free(p->held.run);
    tutti__free(p->written.run);
    tutti__free(p->passed);
    tutti__free(p);
}

/* Check that positions ascend and are inside the space, and that the runs have `entries`
 * entries. */
static int runs_are_valid(const tutti__entry_runs *r, tutti_count entries, tutti_count space) {
    tutti_count sum = 0, end = 0;
    for (tutti_count i = 0; i < r->n; i++) {
        const tutti__entry_run *run = &r->run[i];
        if (run->n < 1 || run->position < end || run->place < 0) return 0;
        end = run->position + run->n;
        sum += run->n;
    }
    return sum == entries && r->entries == entries && end <= space;
}

static int slice_is_valid(const tutti_decomposition *p) {
    const tutti_slice *s = &p->slice;
    tutti_count passed = 0;
    if (p->held.run || p->written.run || p->ndims < 1 || p->ndims > TUTTI_MAX_DIMS) return 0;
    if (tutti_slice_count(p->ndims, s, NULL) != p->facts.entries) return 0;
    for (int d = 0; d < p->ndims && p->facts.entries > 0; d++)
        if (s->lo[d] < 0 || s->hi[d] > p->shape[d] || s->stride[d] < 1) return 0;
    for (int d = 0; d < p->memory.ndims && p->facts.entries > 0; d++)
        if (p->memory.lo[d] < 0 || p->memory.hi[d] > p->memory.shape[d]) return 0;
    for (tutti_count i = 0; i < p->facts.entries && p->passed; i++) passed += p->passed[i];
    return p->facts.written == p->facts.entries - passed;
}

int tutti__decomposition_is_valid(const tutti_decomposition *p) {
    const tutti__decomposition_facts *f = &p->facts;
    if (f->entries < 0 || f->entries > p->of || f->written < 0 || f->written > f->entries) return 0;
    for (const tutti__sized_access *a = p->accesses; a; a = a->next)
        if (!a->access || a->item_bytes < 1) return 0;
    if (p->is_slice) return slice_is_valid(p);
    if (p->passed || !runs_are_valid(&p->held, f->entries, p->of)) return 0;
    return f->written == f->entries ? p->written.n == 0
                                    : runs_are_valid(&p->written, f->written, p->of);
}

tutti_err tutti__decomposition_live(const tutti_decomposition *p) {
    if (!p) TUTTI_TRY(tutti__error_refused());
    TUTTI_TRY(tutti__handle_check(p, &tutti__decomposition_class));
    TUTTI_ASSERT(tutti__decomposition_is_valid(p));
    return TUTTI_OK;
}

void tutti_decomposition_free(tutti_decomposition **p) {
    TUTTI_KEEP_ERRNO;
    if (!p || !*p) return;
    const int alive = tutti__handle_alive(*p, &tutti__decomposition_class);
    if (alive && (*p)->users > 0)
        (*p)->is_freed = 1;
    else if (alive)
        tutti__decomposition_destroy(*p);
    *p = NULL;
}

void tutti__decomposition_hold(tutti_decomposition *p) {
    p->users++;
}

void tutti__decomposition_release(tutti_decomposition *p) {
    if (--p->users == 0 && p->is_freed) tutti__decomposition_destroy(p);
}

/* ---- queries */

void tutti__decomposition_facts_of(const tutti_decomposition *p, tutti__decomposition_facts *out) {
    *out = p->facts;
}

tutti_count tutti_decomposition_entries(const tutti_decomposition *p) {
    return tutti__handle_alive(p, &tutti__decomposition_class) ? p->facts.entries : 0;
}

tutti_err tutti__decomposition_list(const tutti_decomposition *p, tutti_count *position_out,
                                    tutti_count *memory_out, unsigned char *writes_out) {
    TUTTI_TRY(tutti__decomposition_live(p));
    if (p->is_slice) {
        tutti__slice_positions(p, position_out, memory_out);
        for (tutti_count i = 0; i < p->facts.entries && writes_out; i++)
            writes_out[i] = !p->passed || !p->passed[i];
        return TUTTI_OK;
    }
    for (tutti_count k = 0; k < p->held.n; k++) {
        const tutti__entry_run *r = &p->held.run[k];
        for (tutti_count i = 0; i < r->n; i++) {
            if (position_out) position_out[r->place + i] = r->position + i;
            if (memory_out) memory_out[r->place + i] = r->memory + i;
        }
    }
    if (!writes_out) return TUTTI_OK;
    const int all = tutti__decomposition_writes_all(p);
    if (p->facts.entries > 0) memset(writes_out, all, (size_t)p->facts.entries);
    for (tutti_count k = 0; k < p->written.n && !all; k++)
        memset(writes_out + p->written.run[k].place, 1, (size_t)p->written.run[k].n);
    return TUTTI_OK;
}

tutti_err tutti_decomposition_positions(const tutti_decomposition *p, tutti_count *index_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__decomposition_live(p));
    TUTTI_CHECK(index_out || p->facts.entries == 0, TUTTI_ERR_ARG, "argument index_out is NULL");
    return tutti__decomposition_list(p, index_out, NULL, NULL);
}

tutti_err tutti__decomposition_runs(const tutti_decomposition *p, int is_write,
                                    tutti__entry_runs *out) {
    TUTTI_TRY(tutti__decomposition_live(p));
    *out = (tutti__entry_runs){0, 0, NULL};
    if (p->is_slice) {
        const tutti_err err = tutti__slice_runs(p, is_write, out);
        if (err != TUTTI_OK) {
            tutti__free(out->run);
            out->run = NULL;
        }
        return err;
    }
    const tutti__entry_runs *from =
        is_write && !tutti__decomposition_writes_all(p) ? &p->written : &p->held;
    const size_t bytes = (size_t)from->n * sizeof *from->run;
    *out = *from;
    out->run = tutti__malloc(bytes);
    if (!out->run) return TUTTI_ERR_NOMEM;
    if (bytes > 0) memcpy(out->run, from->run, bytes);
    return TUTTI_OK;
}

/* ---- accesses */

static tutti_err make_runs_access(const tutti__entry_runs *runs, tutti_off item,
                                  tutti_access **out) {
    const size_t n = (size_t)runs->n;
    tutti_off *v = tutti__malloc(3 * n * sizeof *v);
    tutti_err err = v ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (size_t k = 0; k < n && err == TUTTI_OK; k++) {
        const tutti__entry_run *r = &runs->run[k];
        tutti_off *file = &v[k], *memory = &v[n + k], *length = &v[2 * n + k], end;
        if (!tutti__mul_ok(r->n, item, length) || !tutti__mul_ok(r->position, item, file) ||
            !tutti__add_ok(*file, *length, &end) || !tutti__mul_ok(r->memory, item, memory) ||
            !tutti__add_ok(*memory, *length, &end))
            err = tutti__error_set(
                TUTTI_ERR_OVERFLOW, 0, -1,
                "%lld items of %lld bytes at position %lld (position %lld in memory) end beyond "
                "2^63 bytes",
                (long long)r->n, (long long)item, (long long)r->position, (long long)r->memory);
    }
    if (err == TUTTI_OK) err = tutti_access_pieces(runs->n, v, v + n, v + 2 * n, out);
    tutti__free(v);
    return err;
}

/* Make an access whose file side is contiguous from offset 0 on, in the order of the spec; entries
 * that are consecutive in memory are merged. */
static tutti_err make_packed_access(const tutti_decomposition *p, tutti_off item,
                                    tutti_access **out) {
    const size_t n = (size_t)p->facts.entries, most = (size_t)p->facts.written;
    tutti_count *memory = tutti__malloc(n * sizeof *memory);
    unsigned char *writes = tutti__malloc(n);
    tutti_off *v = tutti__malloc(3 * most * sizeof *v);
    tutti_off *file = v, *from = v + most, *length = v + 2 * most, at = 0;
    tutti_count k = 0;
    tutti_err err = memory && writes && v ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) err = tutti__decomposition_list(p, NULL, memory, writes);
    for (size_t i = 0; err == TUTTI_OK && i < n; i++) {
        if (!writes[i]) continue;
        if (k > 0 && from[k - 1] + length[k - 1] == memory[i] * item) {
            length[k - 1] += item;
        } else {
            file[k] = at;
            from[k] = memory[i] * item;
            length[k++] = item;
        }
        at += item;
    }
    if (err == TUTTI_OK) err = tutti_access_pieces(k, file, from, length, out);
    tutti__free(v);
    tutti__free(writes);
    tutti__free(memory);
    return err;
}

static tutti_err get_access(tutti_decomposition *p, tutti_off item_bytes, int is_write,
                            const tutti_access **out) {
    tutti__sized_access *a = p->accesses;
    while (a && (a->item_bytes != item_bytes || a->is_write != is_write)) a = a->next;
    if (!a) {
        a = tutti__malloc(sizeof *a);
        if (!a) return TUTTI_ERR_NOMEM;
        *a = (tutti__sized_access){item_bytes, is_write, NULL, p->accesses};
        const tutti_err err =
            is_write == TUTTI__PACKED ? make_packed_access(p, item_bytes, &a->access)
            : p->is_slice
                ? tutti__slice_items(p, item_bytes, &a->access)
                : make_runs_access(is_write ? &p->written : &p->held, item_bytes, &a->access);
        if (err != TUTTI_OK) tutti__free(a);
        TUTTI_TRY(err);
        p->accesses = a;
    }
    *out = a->access;
    return TUTTI_OK;
}

tutti_err tutti__decomposition_access(tutti_decomposition *p, tutti_off item_bytes, int is_write,
                                      const tutti_access **out) {
    TUTTI_TRY(tutti__decomposition_live(p));
    TUTTI_CHECK(item_bytes >= 1, TUTTI_ERR_ARG, "item_bytes is %lld: must be >= 1",
                (long long)item_bytes);
    return get_access(p, item_bytes, is_write && !tutti__decomposition_writes_all(p), out);
}

tutti_err tutti__decomposition_packed(tutti_decomposition *p, tutti_off item_bytes,
                                      const tutti_access **out) {
    TUTTI_TRY(tutti__decomposition_live(p));
    return get_access(p, item_bytes, TUTTI__PACKED, out);
}
