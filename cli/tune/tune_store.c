/* tutti tune: overlap of file access: the library writes interleaved pieces in two phases, by the synchronous
 * store and by the asynchronous stores.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tune/tune.h"

enum { PIECE = 512 };

static int prepare_store(tune_job *job, const tune_probe *p) {
    tutti_options opt;
    tutti_options_defaults(&opt);
    opt.method = TUTTI_METHOD_TWO_PHASE;
    opt.exchange = TUTTI_EXCHANGE_SHM;
    opt.pipeline = TUTTI_PIPELINE_WRITE_COMM_2;
    opt.store = p->store;
    opt.direct_io = p->direct;
    opt.cb_nodes = job->world.ranks;
    opt.window_size = TUNE_WINDOW;
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_TRUNCATE;
    if (tutti_file_open(job->world.comm, job->path, mode, &opt, &job->file) == TUTTI_OK) return 0;
    return cli_error_tutti();
}

static int run_store(tune_job *job, const tune_probe *p, long count) {
    tutti_access *a = NULL;
    const tutti_off stride = (tutti_off)PIECE * job->world.ranks;
    const tutti_count pieces = (tutti_count)count * (TUNE_UNIT / PIECE);
    (void)p;
    if (tutti_access_vector((tutti_off)PIECE * job->world.rank, pieces, PIECE, stride, &a) !=
        TUTTI_OK)
        return cli_error_tutti();
    const tutti_err err = tutti_file_write(job->file, a, job->user, NULL);
    tutti_access_free(&a);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

static void end_store(tune_job *job) {
    if (job->file && tutti_file_close(&job->file) != TUTTI_OK) job->file = NULL;
}

int tune_store_probes(const tune_job *job, tune_probe *out) {
    static const struct {
        int store;
        const char *name;
    } stores[] = {{TUTTI_STORE_POSIX, "posix"},
                  {TUTTI_STORE_URING, "uring"},
                  {TUTTI_STORE_THREADS, "threads"}};
    int n = 0;
    for (int direct = 0; direct < (job->direct_fd >= 0 ? 2 : 1); direct++)
        for (int i = 0; i < 3; i++) {
            tune_probe *p = &out[n++];
            *p = (tune_probe){.run = run_store,
                              .prepare = prepare_store,
                              .end = end_store,
                              .size = TUNE_UNIT,
                              .spread = job->area / (TUNE_USER / TUNE_UNIT),
                              .direct = direct,
                              .is_write = 1,
                              .optional = 1,
                              .store = stores[i].store,
                              .bodies = job->world.ranks};
            if (p->spread < TUNE_UNIT) p->spread = TUNE_UNIT;
            snprintf(p->v.name, sizeof p->v.name, "%sstore %s", direct ? "direct " : "",
                     stores[i].name);
        }
    return n;
}
