/* timestep: phases of a commit (step_commit.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "timestep/step_commit.h"

#include "comm/by_thread.h"
#include "comm/gather.h"

/* Maximum number of blocks (4 MiB) that rank 0 reads alone. */
enum { FEW_BLOCKS = 64 };

/* A commit in progress.  Only rank 0 uses `table`. */
typedef struct {
    tutti__step_commit *of;
    tutti__block_table table;
} commit_state;

/* ---- jobs */

static tutti_err finish_step(void *context) {
    commit_state *s = context;
    const tutti__step_commit *c = s->of;
    if (c->has_checksums) TUTTI_TRY(tutti__block_table_read(c->file, c->blocks, &s->table));
    return c->steps->finish(c->step, s->table.checksums, s->table.n);
}

static tutti_err sync_file(void *context) {
    const commit_state *s = context;
    return tutti__sync_here(s->of->file);
}

static tutti_err publish_step(void *context) {
    const commit_state *s = context;
    return s->of->steps->publish(s->of->step);
}

static tutti_err undo_step(void *context) {
    const commit_state *s = context;
    return s->of->steps->undo(s->of->step);
}

/* ---- phases.  All of them are collective */

/* Gather known checksums on rank 0. */
static tutti_err gather_known(commit_state *s) {
    const tutti__step_commit *c = s->of;
    void *all = NULL;
    int64_t bytes = 0;
    tutti_err err = tutti__team_gather(c->team, c->local_err, c->known,
                                       c->known_n * (int64_t)sizeof *c->known, &all, &bytes);
    if (err == TUTTI_OK && c->team->rank == 0)
        err = tutti__block_table_make(c->blocks, bytes / (int64_t)sizeof *c->known, all, &s->table);
    tutti__free(all);
    return err;
}

/* Execute the phases before the commit point.  *many: nothing was done, since rank 0 would have to
 * read too many blocks. */
static tutti_err finish_and_sync(commit_state *s, int is_first, tutti_err err, int64_t *many) {
    tutti__step_commit *c = s->of;
    const int root = c->team->rank == 0;
    int64_t failed = 0;
    *many = root && err == TUTTI_OK && s->table.missing_n > FEW_BLOCKS;
    if (root && err == TUTTI_OK && !*many) err = tutti__by_thread(finish_step, s);
    if (!c->is_durable) return err;
    if (err == TUTTI_OK && (root ? !*many : is_first)) {
        err = tutti__by_thread(sync_file, s);
        failed = err != TUTTI_OK;
    }
    const tutti__reduction reduction[] = {{TUTTI__MAX, many}, {TUTTI__MAX, &failed}};
    err = tutti__team_reduce(c->team, err, 2, reduction);
    c->is_sync_failed = failed > 0;
    return err;
}

/* Perform the commit on rank 0, which then broadcasts the verdict. */
static tutti_err publish_and_broadcast(commit_state *s, tutti_err err, int64_t *many) {
    const tutti__step_commit *c = s->of;
    tutti__commit_verdict *v = c->verdict;
    if (c->team->rank == 0) {
        if (err == TUTTI_OK && !*many) err = tutti__by_thread(publish_step, s);
        if (err != TUTTI_OK && tutti_last_error()->code != err)
            (void)tutti__error_set(err, 0, -1, "%s", tutti_strerror(err));
        if (err != TUTTI_OK) tutti__error_context(NULL, NULL, 0);
        v->has_many_missing = *many;
        v->error = err == TUTTI_OK ? (tutti_error_info){.code = TUTTI_OK} : *tutti_last_error();
    }
    TUTTI_TRY(tutti__team_broadcast(c->team, v, c->verdict_bytes));
    *many = v->has_many_missing;
    if (v->error.code != TUTTI_OK) tutti__error_assign(&v->error);
    return v->error.code;
}

tutti_err tutti__step_commit_run(tutti__step_commit *c) {
    commit_state s = {.of = c};
    int64_t many = 0;
    tutti_err err = c->has_checksums ? gather_known(&s) : TUTTI_OK;
    for (int is_first = 1; is_first || many; is_first = 0) {
        if (many) err = tutti__block_table_share(c->team, c->file, c->blocks, &s.table);
        many = 0;
        err = finish_and_sync(&s, is_first, err, &many);
        if (!c->is_durable || (err == TUTTI_OK && !many))
            err = publish_and_broadcast(&s, err, &many);
        if (err != TUTTI_OK) break;
    }
    if (err != TUTTI_OK && c->team->rank == 0) {
        TUTTI_KEEP_LAST_ERROR;
        (void)!tutti__by_thread(undo_step, &s);
    }
    tutti__block_table_free(&s.table);
    return err;
}
