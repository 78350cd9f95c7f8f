/* array: file access of a tile walk.
 *
 * Operations are split collectives of the engine: begin plans, exchanges what is written, and
 * leaves file access to a thread or the kernel (background io-only), so that it really goes on
 * while the caller computes, at every thread level of MPI.  Several boxes are one access, so that
 * all ranks have the same number of operations whatever they have to read.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/tiles_io.h"

#include <string.h>

static tutti_section place_in(const tutti__box *box, const tutti__box *frame,
                              const tutti_array_spec *spec) {
    tutti_section s;
    memset(&s, 0, sizeof s);
    s.ndims = spec->ndims;
    s.order = spec->order;
    s.element_size = spec->element_size;
    for (int d = 0; d < spec->ndims; d++) {
        s.shape[d] = frame->hi[d] - frame->lo[d];
        s.lo[d] = box->lo[d] - frame->lo[d];
        s.hi[d] = box->hi[d] - frame->lo[d];
        s.stride[d] = 1;
    }
    return s;
}

static tutti_err box_access(const tutti_array_spec *spec, const tutti__box *box,
                            const tutti__box *frame, tutti_access **out) {
    const tutti_slice slice = tutti__box_slice(spec->ndims, box);
    const tutti_section memory = place_in(box, frame, spec);
    return tutti__slice_access(spec, &slice, &memory, out);
}

static tutti_err boxes_access(const tutti_array_spec *spec, int n, const tutti__box *boxes,
                              const tutti__box *frame, tutti_access **out) {
    tutti_access *part[2 * TUTTI_MAX_DIMS] = {NULL};
    const tutti_off nowhere_else[2 * TUTTI_MAX_DIMS] = {0}; /* each part knows its place */
    tutti_err err = TUTTI_OK;
    if (n == 0) return tutti_access_contiguous(0, 0, out);
    if (n == 1) return box_access(spec, boxes, frame, out);
    for (int i = 0; i < n && err == TUTTI_OK; i++)
        err = box_access(spec, &boxes[i], frame, &part[i]);
    if (err == TUTTI_OK)
        err = tutti_access_concat(n, (const tutti_access *const *)part, nowhere_else, out);
    for (int i = 0; i < n; i++) tutti_access_free(&part[i]);
    return err;
}

/* What an operation took. */
static void count_memory(tutti__tile_flight *f, tutti_off staging) {
    f->most = tutti__max(f->most, f->described + staging);
}

tutti_err tutti__tile_flight_prepare(tutti__tile_flight *f, int n, const tutti__box *boxes,
                                     const tutti__packed *frame) {
    if (!f->array) return TUTTI_OK;
    TUTTI_TRY(boxes_access(&f->array->mine, n, boxes, frame->box, &f->access));
    f->buf = frame->bytes;
    f->described = (tutti_off)tutti_access_size(f->access);
    count_memory(f, 0);
    f->prepared = 1;
    return TUTTI_OK;
}

/* In local placement nobody waits for a rank that has nothing to do. */
static int idle(const tutti__tile_flight *f) {
    return !f->prepared || (f->array->dist && tutti_access_bytes(f->access) == 0);
}

static tutti__transfer transfer_of(const tutti__tile_flight *f, int ahead) {
    const tutti_array *a = f->array;
    return (tutti__transfer){.name = f->is_write ? "write" : "read",
                             .file = a->file,
                             .is_write = f->is_write,
                             .access = f->access,
                             .buf = f->buf,
                             .how = ahead ? TUTTI__SPLIT : TUTTI__AT_ONCE,
                             .ahead = ahead,
                             .least = f->is_write ? 0 : a->mine.offset + a->bytes,
                             .room = f->room};
}

static void done_with_access(tutti__tile_flight *f) {
    tutti_access_free(&f->access);
    f->prepared = 0;
}

void tutti__tile_flight_begin(tutti__tile_flight *f) {
    if (!idle(f)) {
        const tutti__transfer t = transfer_of(f, 1);
        if (f->is_write) tutti__array_written(f->array);
        f->err = tutti__transfer_run(&t, &f->request);
        if (f->err != TUTTI_OK) f->trouble = *tutti_last_error();
        if (f->request && tutti__file_options(f->array->file)->background != TUTTI_BACKGROUND_ALL)
            count_memory(f, tutti__request_staging(f->request));
    }
    done_with_access(f);
}

tutti_err tutti__tile_flight_end(tutti__tile_flight *f) {
    const tutti_err err = f->err;
    f->err = TUTTI_OK;
    if (err != TUTTI_OK) tutti__error_assign(&f->trouble);
    if (!f->request) return err;
    tutti_file *file = f->array->file;
    if (tutti__file_options(file)->background != TUTTI_BACKGROUND_ALL) tutti__requests_settle(file);
    tutti__request_wait(f->request);
    count_memory(f, tutti__request_staging(f->request));
    return tutti__request_collect(&f->request, NULL);
}

void tutti__tile_flight_join(tutti__tile_flight *f) {
    tutti__tile_flight **at = &f->array->behind;
    while (*at) at = &(*at)->next;
    *at = f;
}

void tutti__tile_flight_leave(tutti__tile_flight *f) {
    tutti__tile_flight **at = &f->array->behind;
    while (*at != f) at = &(*at)->next;
    *at = f->next;
}

void tutti__array_catch_up(tutti_array *a) {
    TUTTI_KEEP_LAST_ERROR;
    for (tutti__tile_flight *f = a->behind; f; f = f->next) {
        f->err = tutti__tile_flight_end(f);
        if (f->err != TUTTI_OK) f->trouble = *tutti_last_error();
    }
}

tutti_err tutti__tile_flight_run(tutti__tile_flight *f) {
    tutti_err err = TUTTI_OK;
    if (!idle(f)) {
        tutti_off staging = 0;
        tutti__transfer t = transfer_of(f, 0);
        t.staging_out = &staging;
        if (f->is_write) tutti__array_written(f->array);
        err = tutti__transfer_run(&t, NULL);
        count_memory(f, staging);
    }
    done_with_access(f);
    return err;
}

int tutti__tile_flight_forget(tutti__tile_flight *f) {
    const int over = !f->request || !tutti__file_team(f->array->file);
    tutti_request_abandon(&f->request);
    return over;
}

void tutti__tile_flight_cancel(tutti__tile_flight *f) {
    done_with_access(f);
}

int tutti__tile_flight_staged(const tutti_array *a) {
    const int way = tutti__file_options(a->file)->background;
    return way == TUTTI_BACKGROUND_AUTO || way == TUTTI_BACKGROUND_IO_ONLY;
}
