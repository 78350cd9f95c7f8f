/* replicas: checking, writing and reading.  The accesses do the work; here is what must agree.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replicas/replicas_impl.h"

static tutti_err buffer_check(const tutti_replicas *r, const void *buf) {
    if (!buf && tutti_access_bytes(r->reads) > 0) TUTTI_TRY(tutti__error_refused());
    TUTTI_CHECK(buf || tutti_access_bytes(r->reads) == 0, TUTTI_ERR_ARG, "the buffer is NULL");
    return TUTTI_OK;
}

/* Open a check on a team of the inspector's ranks, and do it unless a rank has something against
 * it. */
static tutti_err check_on(tutti__team *t, const tutti_replicas *r, const void *buf, tutti_err mine,
                          uint64_t same) {
    const tutti__call call = {.object = tutti__replicas_class.name,
                              .name = "check",
                              .what = "the inspector, the offset or the flags",
                              .hash = same};
    if (mine == TUTTI_OK) mine = buffer_check(r, buf);
    TUTTI_TRY(tutti__team_call(t, &call, mine));
    return tutti__copies_check(t, r, buf);
}

tutti_err tutti_replicas_check(tutti_replicas *r, const void *buf) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__replicas_live(r));
    const tutti_err err = check_on(r->team, r, buf, TUTTI_OK, r->id);
    if (err != TUTTI_OK) tutti__error_context("check", NULL, -1);
    return err;
}

/* ---- files */

/* What this rank has against it. */
static tutti_err move_check(const tutti_file *f, const tutti_replicas *r, int flags) {
    int same = 0;
    TUTTI_TRY(tutti__replicas_live(r));
    TUTTI_CHECK((flags & ~TUTTI_REPLICAS_CHECK) == 0, TUTTI_ERR_ARG, "flags %d have unknown bits",
                flags);
    TUTTI_MPI(MPI_Comm_compare(tutti__file_team(f)->comm, r->team->comm, &same));
    TUTTI_CHECK(same == MPI_IDENT || same == MPI_CONGRUENT, TUTTI_ERR_ARG,
                "the file is open on other ranks than the inspector");
    return TUTTI_OK;
}

/* `access` at `offset`, by all ranks. */
static tutti_err transfer(tutti__transfer *t, const tutti_access *access, tutti_off offset) {
    tutti_access *at = NULL;
    if (t->local_err == TUTTI_OK && offset < 0)
        t->local_err =
            tutti__error_set(TUTTI_ERR_ARG, 0, -1, "offset %lld is negative", (long long)offset);
    if (t->local_err == TUTTI_OK) t->local_err = tutti_access_shift(access, offset, 0, &at);
    t->access = at;
    const tutti_err err = tutti__transfer_run(t, NULL);
    tutti_access_free(&at);
    return err;
}

static uint64_t same_hash(const tutti_replicas *r, tutti_off offset, int flags, tutti_err mine) {
    const int64_t words[] = {offset, flags};
    return mine == TUTTI_OK ? tutti__hash(r->id, words, sizeof words) : 0;
}

static tutti_err write_held(tutti_file *f, tutti_off offset, const tutti_replicas *r,
                            const void *buf, int flags) {
    const tutti_err mine = move_check(f, r, flags);
    const uint64_t same = same_hash(r, offset, flags, mine);
    if (flags & TUTTI_REPLICAS_CHECK) {
        {
            TUTTI_KEEP_LAST_ERROR_IF(mine != TUTTI_OK);
            tutti__requests_settle(f);
        }
        const tutti_err err = check_on(tutti__file_team(f), r, buf, mine, same);
        if (err != TUTTI_OK) tutti__error_context("write", tutti__file_path(f), -1);
        if (err != TUTTI_OK) return err;
    }
    tutti__transfer t = {.name = "write",
                         .file = f,
                         .is_write = 1,
                         .buf = buf,
                         .local_err = mine,
                         .agrees = (int64_t)same};
    return transfer(&t, mine == TUTTI_OK ? r->writes : NULL, offset);
}

tutti_err tutti_replicas_write(tutti_file *f, tutti_off offset, tutti_replicas *r, const void *buf,
                               int flags) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__file_live(f));
    tutti__file_hold(f);
    const tutti_err err = write_held(f, offset, r, buf, flags);
    tutti__file_release(f);
    return err;
}

/* Positions are known.  The same on all ranks. */
static tutti_err coverage_check(const tutti_replicas *r) {
    TUTTI_CHECK(r->missing < 0 || r->stats.bytes == 0, TUTTI_ERR_STATE,
                "no rank names item %lld: the positions of later items are unknown; set items or "
                "positions in the spec",
                (long long)r->missing);
    return TUTTI_OK;
}

tutti_err tutti_replicas_read(tutti_file *f, tutti_off offset, tutti_replicas *r, void *buf) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__file_live(f));
    tutti_err mine = move_check(f, r, 0);
    if (mine == TUTTI_OK) mine = coverage_check(r);
    tutti__transfer t = {.name = "read",
                         .file = f,
                         .buf = buf,
                         .local_err = mine,
                         .agrees = (int64_t)same_hash(r, offset, 0, mine)};
    /* a shorter file has lost items, regardless of which rank holds the last one; an offset beyond all is refused */
    if (mine == TUTTI_OK && r->stats.bytes > 0 && tutti__add_ok(offset, r->end, &t.least) &&
        !tutti__add_ok(t.least, tutti__file_origin(f), &t.least))
        t.least = 0;
    return transfer(&t, mine == TUTTI_OK ? r->reads : NULL, offset);
}
