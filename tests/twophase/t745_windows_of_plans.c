/* TEST ranks=1,3,4 timeout=60 */
/* Windows of plans have the size that the cost model predicts, for every exchange, pipeline, number of
 * sub-buffers and division into nodes; all buffers of a node together fit in cb_buffer_size.  A step
 * implies messages, and the explanation states the exchange.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "collective/find.h"
#include "exchange/shuffle.h"

static int rank, ranks;

typedef struct {
    const char *exchange, *step, *pipeline, *subs, *buffer, *nodes, *window;
} setup;

static const char *pick_value(const char *const *v, int n) {
    return v[rnd(n)];
}

static setup any(void) {
    static const char *const
        exchanges[] = {"auto", "shm", "two-sided", "fence", "lock"},
        *const steps[] = {"0", "0", "2", "4", "5"},
        *const pipelines[] = {"auto", "none", "comm", "write-comm-2"},
        *const subs[] = {"1", "2", "3", "5"}, *const buffers[] = {"128k", "1m", "16m", "100m"},
        *const nodes[] = {"", "2", "single"}, *const windows[] = {"0", "0", "64k", "4m"};
    return (setup){pick_value(exchanges, 5), pick_value(steps, 5),   pick_value(pipelines, 4),
                   pick_value(subs, 4),      pick_value(buffers, 4), pick_value(nodes, 3),
                   pick_value(windows, 4)};
}

static tutti_options options(const setup *s) {
    tutti_options opt;
    tutti_options_defaults(&opt);
    CHECK_OK(tutti_options_set(&opt, "method", "two-phase"));
    CHECK_OK(tutti_options_set(&opt, "store", "null"));
    CHECK_OK(tutti_options_set(&opt, "exchange", s->exchange));
    CHECK_OK(tutti_options_set(&opt, "step", s->step));
    CHECK_OK(tutti_options_set(&opt, "pipeline", s->pipeline));
    CHECK_OK(tutti_options_set(&opt, "sub_buffers", s->subs));
    CHECK_OK(tutti_options_set(&opt, "cb_buffer_size", s->buffer));
    CHECK_OK(tutti_options_set(&opt, "window_size", s->window));
    CHECK_OK(tutti_options_set(&opt, "nodes", ranks > 1 ? s->nodes : ""));
    return opt;
}

static tutti_off window_said(const char *text) {
    const char *at = strstr(text, "windows of ");
    return at ? strtoll(at + strlen("windows of "), NULL, 10) : -1;
}

static void check_way(const setup *s, const tutti_options *opt, const char *text) {
    char words[64];
    if (strcmp(s->exchange, "auto") != 0)
        snprintf(words, sizeof words, "exchange %s", s->exchange);
    else
        snprintf(words, sizeof words, opt->step ? "exchange two-sided step %d" : "exchange shm",
                 opt->step);
    CHECK(strstr(text, words), "'%s' is not in '%s'", words, text);
    if (strstr(text, " step ") || strstr(text, "exchange fence") || strstr(text, "exchange lock"))
        if (opt->sub_buffers == 1) CHECK(strstr(text, "pipeline none"), "%s", text);
}

/* Check that the buffers of the largest node fit in cb_buffer_size. */
static void check_memory(const tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    const tutti_file *f = p->file;
    const int buffers = t->literal ? tutti__exchange_buffers(t->kind, t->step, t->window_slots)
                                   : (t->window_slots + t->relay_slots) * (t->messages ? 2 : 1);
    const tutti_off all = buffers * t->domains.window * f->team->nodes.largest;
    CHECK(all <= f->opt.cb_buffer_size || t->domains.window == 4096, "%lld of %lld bytes",
          (long long)all, (long long)f->opt.cb_buffer_size);
}

static void combination(const setup *s) {
    enum { PIECE = 4096, PIECES = 16 << 10 };
    tutti_options opt = options(s);
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    tutti_plan *p = NULL;
    const int is_write = (int)rnd(2);
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, "t745.dat", TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE,
                             &opt, &f));
    CHECK_OK(
        tutti_access_vector((tutti_off)PIECE * rank, PIECES, PIECE, (tutti_off)PIECE * ranks, &a));
    CHECK_OK(is_write ? tutti_plan_write(f, a, &p) : tutti_plan_read(f, a, &p));
    if (p) {
        const tutti_off counted = tutti__align_down(p->choice.window, f->opt.striping_unit);
        CHECK_EQ(window_said(tutti_plan_explain(p)), counted);
        check_way(s, &opt, tutti_plan_explain(p));
        check_memory(p);
    }
    tutti_plan_free(&p);
    tutti_access_free(&a);
    CHECK_OK(tutti_file_close(&f));
}

int main(int argc, char **argv) {
    char where[160];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(20261122);
    for (int round = 0; round < 80; round++) {
        const setup s = any();
        snprintf(where, sizeof where, "exchange %s step %s pipeline %s subs %s of %s nodes %s",
                 s.exchange, s.step, s.pipeline, s.subs, s.buffer, s.nodes);
        check_where(where);
        combination(&s);
    }
    check_where("");
    const int rc = check_done();
    MPI_Finalize();
    return rc;
}
