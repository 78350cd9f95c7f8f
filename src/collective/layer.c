/* collective: execution of transfers of higher modules, and access of those modules to a file
 * (layer.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/layer.h"

#include "collective/request.h"

/* ---- transfers */

/* Make the request of a transfer.  The caller calls tutti__parts_free(&r.op.parts) when the request
 * has been executed or started. */
static tutti_request request_of(const tutti__transfer *t) {
    tutti_request r = {.asked.name = t->name,
                       .op = {.file = t->file,
                              .access = t->access,
                              .is_write = t->is_write,
                              .buf = (char *)(uintptr_t)t->buf,
                              .capacity = t->capacity,
                              .base = t->base,
                              .checksums = t->checksums},
                       .asked.how = t->how,
                       .asked.refused = t->local_err,
                       .asked.least = t->least,
                       .asked.agrees = t->agrees,
                       .asked.ahead = t->ahead,
                       .callback.collected = t->collected,
                       .callback.context = t->context,
                       .asked.staging_out = t->staging_out};
    if (!t->access) tutti__ask_parts(&r, t->parts_n, t->parts);
    return r;
}

tutti_err tutti__transfer_run(const tutti__transfer *t, tutti_request **r_out) {
    tutti_request r = request_of(t);
    const tutti_err err =
        t->how == TUTTI__AT_ONCE ? tutti__request_run(&r, NULL) : tutti__start(&r, r_out);
    tutti__parts_free(&r.op.parts);
    return err;
}

tutti_err tutti__transfer_check(const tutti__transfer *t) {
    tutti_request r = request_of(t);
    const tutti_err err = r.asked.refused == TUTTI_OK ? tutti__request_usable(&r) : r.asked.refused;
    tutti__parts_free(&r.op.parts);
    return err;
}

/* ---- requests */

int tutti__request_is_abandoned(const tutti_request *r) {
    return r && r->progress.abandoned;
}

void tutti__request_complete_abandoned(tutti_request *r) {
    if (!r || !r->progress.abandoned) return;
    TUTTI_KEEP_LAST_ERROR;
    tutti__request_wait(r);
    (void)!tutti__request_collect(&r, NULL);
}

/* ---- files */

int tutti__file_is_busy(const tutti_file *f) {
    return tutti__handle_alive(&f->handle, &tutti__file_class) && f->team;
}

tutti__team *tutti__file_team(const tutti_file *f) {
    return f->team;
}

const tutti_options *tutti__file_options(const tutti_file *f) {
    return &f->opt;
}

tutti_off tutti__file_base(const tutti_file *f, tutti_off at) {
    const int strict = f->opt.direct_io || f->layout.striped || f->layout.incoherent;
    return strict && at % f->opt.striping_unit != 0 ? 0 : at;
}

const char *tutti__file_path(const tutti_file *f) {
    return f->path;
}

tutti_off tutti__file_origin(const tutti_file *f) {
    return f->origin;
}

void tutti__file_stats_add(const tutti_file *f, tutti_stats *to) {
    tutti_stats all;
    tutti_file_stats(f, NULL, &all);
    tutti__stats_add(to, &all);
}

void tutti__file_hold(tutti_file *f) {
    pthread_mutex_lock(&f->use);
}

void tutti__file_release(tutti_file *f) {
    pthread_mutex_unlock(&f->use);
}

/* ---- file access by this rank alone */

tutti_err tutti__write_here(tutti_file *f, tutti_off at, const void *data, size_t bytes) {
    const tutti_io_run run = {at, (void *)(uintptr_t)data, bytes};
    return tutti__store_write(f->store, &run, 1);
}

tutti_err tutti__read_here(tutti_file *f, tutti_off at, void *to, size_t bytes) {
    const tutti_io_run run = {at, to, bytes};
    tutti_off done = 0;
    TUTTI_TRY(tutti__store_read(f->store, &run, 1, &done));
    TUTTI_CHECK(done == (tutti_off)bytes, TUTTI_ERR_TRUNCATED,
                "short read: %lld of %zu bytes at offset %lld", (long long)done, bytes,
                (long long)at);
    return TUTTI_OK;
}

tutti_err tutti__size_here(const tutti_file *f, tutti_off *size_out) {
    return tutti__store_size(f->store, size_out);
}

tutti_err tutti__resize_here(tutti_file *f, tutti_off size) {
    return tutti__store_resize(f->store, size);
}
