/* TEST ranks=1 timeout=60 own=1 */
/* A limit of file sizes (RLIMIT_FSIZE) below the size of an Exodus file: end_definitions and commit fail with
 * TUTTI_ERR_TOO_BIG, the program continues, its signal mask and handlers are unchanged, and without the limit both
 * calls succeed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/stat.h>
#include <tutti/exodus.h>
#include "harness.h"
#include "size_limits.h"

enum { NODES = 20000 };
static char path[600];
static double v[NODES];

static rlim_t size_now(void) {
    struct stat st = {0};
    CHECK(stat(path, &st) == 0, "no file");
    return (rlim_t)st.st_size;
}

int main(int argc, char **argv) {
    tutti_exodus *x = NULL;
    tutti_decomposition *p = NULL;
    harness_begin(&argc, &argv, 1393);
    snprintf(path, sizeof path, "%s/t1393.e", check_dir());
    signal(SIGXFSZ, SIG_DFL);
    CHECK_OK(tutti_exodus_create(MPI_COMM_WORLD, path, NULL, &x));
    CHECK_OK(tutti_exodus_init(x, &(tutti_exodus_parameters){.dims = 1, .nodes = NODES}));
    CHECK_OK(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 2, (const char *[]){"first", "last"}));
    check_where("the header");
    LIMITED(64, tutti_exodus_end_definitions(x));
    check_where("commit of a step that ends before its record");
    CHECK_OK(tutti_exodus_decomposition(
        x, TUTTI_EXODUS_NODAL, 0,
        &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = NODES}, &p));
    CHECK_OK(tutti_exodus_begin(x, 1));
    CHECK_OK(tutti_exodus_put(x, 1,
                              &(tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
                                                    .entries = p,
                                                    .variable = "first",
                                                    .type = TUTTI_FLOAT64,
                                                    .buf = v}));
    LIMITED(size_now(), tutti_exodus_commit(x));
    CHECK_EQ(tutti_exodus_steps(x), 1);
    CHECK_OK(tutti_exodus_verify(x, NULL));
    tutti_decomposition_free(&p);
    CHECK_OK(tutti_exodus_close(&x));
    return harness_end();
}
