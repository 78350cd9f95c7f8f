/* replicas: check, write and read with the accesses of an inspector.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replicas/replicas_impl.h"

/* Start a check on a team of the ranks of the inspector, and compare the copies if no rank has an
 * error. */
static tutti_err check_copies_on(tutti__team *t, const tutti_replicas *r, const void *buf,
                                 tutti_err local_err, uint64_t hash) {
    const tutti__call call = {.object = tutti__replicas_class.name,
                              .name = "check",
                              .what = "the inspector, the offset or the flags",
                              .hash = hash};
    if (local_err == TUTTI_OK && !buf && tutti_access_bytes(r->reads) > 0) {
        local_err = tutti__error_refused();
        if (local_err == TUTTI_OK)
            local_err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument buf is NULL");
    }
    TUTTI_TRY(tutti__team_call(t, &call, local_err));
    return tutti__copies_check(t, r, buf);
}

tutti_err tutti_replicas_check(tutti_replicas *r, const void *buf) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__replicas_live(r));
    const tutti_err err = check_copies_on(r->team, r, buf, TUTTI_OK, r->id);
    if (err != TUTTI_OK) tutti__error_context("check", NULL, -1);
    return err;
}

/* ---- files */

/* Check the arguments of this rank. */
static tutti_err check_transfer(const tutti_file *f, const tutti_replicas *r, int flags) {
    int compared = 0;
    TUTTI_TRY(tutti__replicas_live(r));
    TUTTI_CHECK((flags & ~TUTTI_REPLICAS_CHECK) == 0, TUTTI_ERR_ARG,
                "flags is %d: must be 0 or TUTTI_REPLICAS_CHECK", flags);
    TUTTI_MPI(MPI_Comm_compare(tutti__file_team(f)->comm, r->team->comm, &compared));
    TUTTI_CHECK(compared == MPI_IDENT || compared == MPI_CONGRUENT, TUTTI_ERR_ARG,
                "the file and the inspector have different communicators");
    return TUTTI_OK;
}

/* Transfer `access`, shifted to `offset`.   Collective. */
static tutti_err transfer_at(tutti__transfer *t, const tutti_access *access, tutti_off offset) {
    tutti_access *at = NULL;
    if (t->local_err == TUTTI_OK && offset < 0)
        t->local_err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "offset is %lld: must be >= 0",
                                        (long long)offset);
    if (t->local_err == TUTTI_OK) t->local_err = tutti_access_shift(access, offset, 0, &at);
    t->access = at;
    const tutti_err err = tutti__transfer_run(t, NULL);
    tutti_access_free(&at);
    return err;
}

static uint64_t hash_call(const tutti_replicas *r, tutti_off offset, int flags,
                          tutti_err local_err) {
    const int64_t words[] = {offset, flags};
    return local_err == TUTTI_OK ? tutti__hash(r->id, words, sizeof words) : 0;
}

static tutti_err write_items(tutti_file *f, tutti_off offset, const tutti_replicas *r,
                             const void *buf, int flags) {
    const tutti_err local_err = check_transfer(f, r, flags);
    const uint64_t hash = hash_call(r, offset, flags, local_err);
    if (flags & TUTTI_REPLICAS_CHECK) {
        {
            TUTTI_KEEP_LAST_ERROR_IF(local_err != TUTTI_OK);
            tutti__requests_settle(f);
        }
        const tutti_err err = check_copies_on(tutti__file_team(f), r, buf, local_err, hash);
        if (err != TUTTI_OK) tutti__error_context("write", tutti__file_path(f), -1);
        TUTTI_TRY(err);
    }
    tutti__transfer t = {.name = "write",
                         .file = f,
                         .is_write = 1,
                         .buf = buf,
                         .local_err = local_err,
                         .agrees = (int64_t)hash};
    return transfer_at(&t, local_err == TUTTI_OK ? r->writes : NULL, offset);
}

tutti_err tutti_replicas_write(tutti_file *f, tutti_off offset, tutti_replicas *r, const void *buf,
                               int flags) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__file_live(f));
    tutti__file_hold(f);
    const tutti_err err = write_items(f, offset, r, buf, flags);
    tutti__file_release(f);
    return err;
}

tutti_err tutti_replicas_read(tutti_file *f, tutti_off offset, tutti_replicas *r, void *buf) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__file_live(f));
    tutti_err local_err = check_transfer(f, r, 0);
    /* the condition is the same on all ranks */
    if (local_err == TUTTI_OK && r->missing >= 0 && r->stats.bytes > 0)
        local_err =
            tutti__error_set(TUTTI_ERR_STATE, 0, -1,
                             "no rank lists item %lld: the positions of later items are unknown; "
                             "set items or positions in the spec",
                             (long long)r->missing);
    tutti__transfer t = {.name = "read",
                         .file = f,
                         .buf = buf,
                         .local_err = local_err,
                         .agrees = (int64_t)hash_call(r, offset, 0, local_err)};
    /* a file that ends before the last item is truncated; an offset beyond the limit fails later */
    if (local_err == TUTTI_OK && r->stats.bytes > 0 && tutti__add_ok(offset, r->end, &t.least) &&
        !tutti__add_ok(t.least, tutti__file_origin(f), &t.least))
        t.least = 0;
    return transfer_at(&t, local_err == TUTTI_OK ? r->reads : NULL, offset);
}
