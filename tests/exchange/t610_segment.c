/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Staging memory grows on request and is otherwise kept, is shared by exactly the ranks of a group, and
 * leaves no name; a request that is too large fails with an error, not a signal.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <unistd.h>
#include "check.h"
#include "exchange/staging.h"

static int rank, ranks;

/* Check that exactly the ranks of the group share the memory: each writes every size-th byte, and all read
 * all bytes. */
static void used_together(tutti__team *t, int shared, size_t bytes) {
    const tutti__groups *g = shared ? &t->nodes : &t->singles;
    unsigned char *v = (unsigned char *)t->staging->segment[shared ? 0 : 1].base;
    MPI_Barrier(t->comm);
    for (size_t i = (size_t)g->me; i < bytes; i += (size_t)g->size)
        v[i] = (unsigned char)(17 * g->own + g->me + (int)(i >> 10));
    MPI_Barrier(t->comm);
    size_t wrong = 0;
    for (size_t i = 0; i < bytes; i++)
        wrong += v[i] != (unsigned char)(17 * g->own + (int)(i % (size_t)g->size) + (int)(i >> 10));
    CHECK(wrong == 0, "%zu bytes of %zu are not the group's", wrong, bytes);
    MPI_Barrier(t->comm);
}

static void growth(tutti__team *t, int shared) {
    static const size_t sizes[] = {1, 5000, 100, 5000, 300000, 4096, 300001};
    size_t most = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        tutti__segment *s = &t->staging->segment[shared ? 0 : 1];
        const char *before = s->base;
        CHECK_OK(tutti__staging_ensure(t, shared, sizes[i]));
        if (sizes[i] <= most)
            CHECK(s->base == before, "%zu bytes: not kept", sizes[i]);
        else
            most = sizes[i];
        CHECK(s->base && s->bytes >= most && (uintptr_t)s->base % 4096 == 0, "%zu bytes", sizes[i]);
        CHECK_EQ(s->shared, shared && t->nodes.size > 1);
        used_together(t, shared, s->bytes);
    }
}

/* Return the number of names of this process in /dev/shm. */
static int names_left(void) {
    char prefix[40];
    int n = 0;
    DIR *d = opendir("/dev/shm");
    snprintf(prefix, sizeof prefix, "tutti-shm-%ld-", (long)getpid());
    for (struct dirent *e; d && (e = readdir(d));)
        n += strncmp(e->d_name, prefix, strlen(prefix)) == 0;
    if (d) closedir(d);
    return n;
}

/* A size beyond any /dev/shm is refused on all ranks of the node; afterwards a small size works. */
static void too_much(tutti__team *t) {
    if (t->nodes.size > 1) CHECK_ERR(tutti__staging_ensure(t, 1, (size_t)1 << 46), TUTTI_ERR_NOMEM);
    CHECK_EQ(names_left(), 0);
    CHECK_OK(tutti__staging_ensure(t, 1, 10000));
    used_together(t, 1, 10000);
}

/* If memory cannot grow, the existing memory is kept, so that plans which use it can still run. */
static void without_memory(tutti__team *t) {
    const tutti__segment before = t->staging->segment[1];
    tutti__memory_fail_after(1);
    CHECK_ERR(tutti__staging_ensure(t, 0, (size_t)1 << 20), TUTTI_ERR_NOMEM);
    tutti__memory_fail_after(0);
    CHECK(t->staging->segment[1].base == before.base &&
              t->staging->segment[1].bytes == before.bytes,
          "not kept");
    CHECK_OK(tutti__staging_ensure(t, 0, 100));
    used_together(t, 0, 100);
}

static char *borrowed(tutti__team *t, size_t bytes, tutti__segment *s) {
    CHECK_OK(tutti__staging_borrow(t, bytes, s));
    CHECK(s->base && s->bytes >= bytes && s->bytes / 2 <= bytes, "%zu bytes for %zu", s->bytes,
          bytes);
    memset(s->base, 1, bytes);
    return s->base;
}

/* Memory is borrowed, and the largest returned block is kept. */
static void lending(tutti__team *t) {
    const tutti__segment *kept = &t->staging->kept;
    tutti__segment a, b, c;
    char *first = borrowed(t, 10000, &a), *second = borrowed(t, 10000, &b);
    CHECK(first != second, "lent twice");
    tutti__staging_return(t, &a);
    tutti__staging_return(t, &b); /* only one block is kept */
    CHECK(!a.base && !b.base && kept->base == first, "not kept");
    CHECK_OK(tutti__staging_borrow(t, 0, &b)); /* 0 bytes need no memory */
    CHECK(borrowed(t, 6000, &a) == first, "not lent again");
    tutti__staging_return(t, &a);
    tutti__staging_return(t, &b);
    CHECK(kept->base == first, "the larger one is kept");
    (void)borrowed(t, 1000, &b); /* the request is far smaller than the kept memory */
    (void)borrowed(t, 20000, &c);
    tutti__staging_return(t, &b);
    tutti__staging_return(NULL, &c);
    CHECK(kept->bytes == 1000 && !c.base, "%zu bytes are kept", kept->bytes);
    tutti__memory_fail_after(1);
    CHECK_ERR(tutti__staging_borrow(t, 5000, &a), TUTTI_ERR_NOMEM);
    tutti__memory_fail_after(0);
    CHECK(!kept->base && !a.base, "out of memory");
}

int main(int argc, char **argv) {
    static const char *const nodes[] = {"", "2", "rr:2", "1,2", "single"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(0);
    MPI_Comm comm;
    const long live = tutti__memory_live();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        tutti__team *t = NULL;
        check_where(nodes[i]);
        CHECK_OK(tutti__team_take(comm, nodes[i], &t));
        if (!t) continue;
        CHECK_OK(tutti__staging_attach(t));
        lending(t);
        growth(t, 1);
        growth(t, 0);
        too_much(t);
        without_memory(t);
        tutti__team_give(&t);
    }
    CHECK_EQ(names_left(), 0);
    MPI_Comm_free(&comm);
    CHECK_EQ(tutti__memory_live(), live);
    int bad = 0;
    MPI_Allreduce(&check_failures_, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return check_done() || bad;
}
