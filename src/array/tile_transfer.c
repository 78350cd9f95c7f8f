/* array: file access of a tile iteration.
 *
 * Operations are split collectives of the engine: the begin call plans, and exchanges written data;
 * a thread or the kernel performs the file access (background io-only), which overlaps with
 * computation at every thread level of MPI.  Several boxes are combined into one access, so that
 * all ranks have the same number of operations.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/tile_transfer.h"

#include <string.h>

static tutti_err access_box(const tutti_array_spec *spec, const tutti__box *box,
                            const tutti__box *frame, tutti_access **out) {
    const tutti_slice slice = tutti__box_slice(spec->ndims, box);
    tutti_section memory;
    memset(&memory, 0, sizeof memory);
    memory.ndims = spec->ndims;
    memory.order = spec->order;
    memory.element_size = spec->element_size;
    for (int d = 0; d < spec->ndims; d++) {
        memory.shape[d] = frame->hi[d] - frame->lo[d];
        memory.lo[d] = box->lo[d] - frame->lo[d];
        memory.hi[d] = box->hi[d] - frame->lo[d];
        memory.stride[d] = 1;
    }
    return tutti__slice_access(spec, &slice, &memory, out);
}

static tutti_err access_boxes(const tutti_array_spec *spec, int n, const tutti__box *boxes,
                              const tutti__box *frame, tutti_access **out) {
    tutti_access *part[2 * TUTTI_MAX_DIMS] = {NULL};
    const tutti_off nowhere_else[2 * TUTTI_MAX_DIMS] = {
        0}; /* no displacement: the accesses have the offsets of their boxes */
    tutti_err err = TUTTI_OK;
    if (n == 0) return tutti_access_contiguous(0, 0, out);
    if (n == 1) return access_box(spec, boxes, frame, out);
    for (int i = 0; i < n && err == TUTTI_OK; i++)
        err = access_box(spec, &boxes[i], frame, &part[i]);
    if (err == TUTTI_OK)
        err = tutti_access_concat(n, (const tutti_access *const *)part, nowhere_else, out);
    for (int i = 0; i < n; i++) tutti_access_free(&part[i]);
    return err;
}

/* Record the memory that an operation used. */
static void record_memory(tutti__tile_transfer *f, tutti_off staging) {
    f->most = tutti__max(f->most, f->described + staging);
}

tutti_err tutti__tile_transfer_prepare(tutti__tile_transfer *f, int n, const tutti__box *boxes,
                                       const tutti__packed *frame) {
    if (!f->array) return TUTTI_OK;
    TUTTI_TRY(access_boxes(&f->array->local, n, boxes, frame->box, &f->access));
    f->buf = frame->bytes;
    f->described = (tutti_off)tutti_access_size(f->access);
    record_memory(f, 0);
    f->prepared = 1;
    return TUTTI_OK;
}

/* Return whether this rank has no operation: in local placement also if it has no elements. */
static int is_idle(const tutti__tile_transfer *f) {
    return !f->prepared || (f->array->dist && tutti_access_bytes(f->access) == 0);
}

static tutti__transfer describe_tile_transfer(const tutti__tile_transfer *f, int ahead) {
    const tutti_array *a = f->array;
    return (tutti__transfer){.name = f->is_write ? "write" : "read",
                             .file = a->file,
                             .is_write = f->is_write,
                             .access = f->access,
                             .buf = f->buf,
                             .how = ahead ? TUTTI__SPLIT : TUTTI__AT_ONCE,
                             .ahead = ahead,
                             .least = f->is_write ? 0 : a->local.offset + a->bytes,
                             .capacity = f->memory_limit};
}

static void free_access(tutti__tile_transfer *f) {
    tutti_access_free(&f->access);
    f->prepared = 0;
}

void tutti__tile_transfer_begin(tutti__tile_transfer *f) {
    if (!is_idle(f)) {
        const tutti__transfer t = describe_tile_transfer(f, 1);
        if (f->is_write) tutti__array_written(f->array);
        f->err = tutti__transfer_run(&t, &f->request);
        if (f->err != TUTTI_OK) f->error = *tutti_last_error();
        if (f->request && tutti__file_options(f->array->file)->background != TUTTI_BACKGROUND_ALL)
            record_memory(f, tutti__request_staging(f->request));
    }
    free_access(f);
}

tutti_err tutti__tile_transfer_end(tutti__tile_transfer *f) {
    const tutti_err err = f->err;
    f->err = TUTTI_OK;
    if (err != TUTTI_OK) tutti__error_assign(&f->error);
    if (!f->request) return err;
    tutti_file *file = f->array->file;
    if (tutti__file_options(file)->background != TUTTI_BACKGROUND_ALL) tutti__requests_settle(file);
    tutti__request_wait(f->request);
    record_memory(f, tutti__request_staging(f->request));
    return tutti__request_collect(&f->request, NULL);
}

void tutti__tile_transfer_join(tutti__tile_transfer *f) {
    tutti__tile_transfer **at = &f->array->tile_writes;
    while (*at) at = &(*at)->next;
    *at = f;
}

void tutti__tile_transfer_leave(tutti__tile_transfer *f) {
    tutti__tile_transfer **at = &f->array->tile_writes;
    while (*at != f) at = &(*at)->next;
    *at = f->next;
}

void tutti__array_finish_tile_writes(tutti_array *a) {
    TUTTI_KEEP_LAST_ERROR;
    for (tutti__tile_transfer *f = a->tile_writes; f; f = f->next) {
        f->err = tutti__tile_transfer_end(f);
        if (f->err != TUTTI_OK) f->error = *tutti_last_error();
    }
}

tutti_err tutti__tile_transfer_run(tutti__tile_transfer *f) {
    tutti_err err = TUTTI_OK;
    if (!is_idle(f)) {
        tutti_off staging = 0;
        tutti__transfer t = describe_tile_transfer(f, 0);
        t.staging_out = &staging;
        if (f->is_write) tutti__array_written(f->array);
        err = tutti__transfer_run(&t, NULL);
        record_memory(f, staging);
    }
    free_access(f);
    return err;
}

int tutti__tile_transfer_abandon(tutti__tile_transfer *f) {
    const int over = !f->request || !tutti__file_team(f->array->file);
    tutti_request_abandon(&f->request);
    return over;
}

void tutti__tile_transfer_cancel(tutti__tile_transfer *f) {
    free_access(f);
}

int tutti__tile_transfer_is_staged(const tutti_array *a) {
    const int background = tutti__file_options(a->file)->background;
    return background == TUTTI_BACKGROUND_AUTO || background == TUTTI_BACKGROUND_IO_ONLY;
}
