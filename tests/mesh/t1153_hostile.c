/* TEST ranks=1 timeout=120 */
/* Reading randomly damaged meshes in every format leads to a clear error or a consistent mesh, never to a crash, and
 * memory use is bounded by the size of the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/resource.h>
#include "mesh/meshes.h"

static char path[512];
static const char *const words[] = {"-1",  "0",         "99999999999999999999", "$Nodes", "$End",
                                    "nan", "1e400",     "2147483647",           "\"",     "\n",
                                    "4.1", "$Elements", "-9223372036854775808", "15",     "\xff"};

/* Damage the `n` bytes `v` one to three times; `v` has space for `capacity` bytes.  Returns the new number of bytes. */
static int64_t spoil_bytes(unsigned char *v, int64_t n, int64_t capacity) {
    for (int64_t times = 1 + rnd(3); times > 0 && n > 1; times--) {
        const int64_t at = rnd(n), k = 1 + rnd(16);
        const char *w = words[rnd(sizeof words / sizeof *words)];
        const int64_t len = (int64_t)strlen(w);
        static const uint64_t odd[] = {
            0, 1, 0x7fffffff, 0x80000000u, UINT64_MAX, (uint64_t)1 << 62, 1 << 20};
        switch (rnd(7)) {
        case 0: /* flip a bit */
            v[at] ^= (unsigned char)(1 << rnd(8));
            break;
        case 1: /* truncate the file */
            n = at + 1;
            break;
        case 2: /* remove a piece */
            if (at + k < n) {
                memmove(v + at, v + at + k, (size_t)(n - at - k));
                n -= k;
            }
            break;
        case 3: /* repeat a piece */
            if (at + k < n && n + k < capacity) {
                memmove(v + at + k, v + at, (size_t)(n - at));
                n += k;
            }
            break;
        case 4: /* overwrite with a word */
            if (at + len <= n) memcpy(v + at, w, (size_t)len);
            break;
        case 5: /* overwrite with a binary number */
            if (at + 8 <= n) memcpy(v + at, &odd[rnd(7)], rnd(2) ? 8 : 4);
            break;
        default: /* overwrite with zero bytes or the digit 9 */
            memset(v + at, rnd(2) ? 0 : '9', (size_t)(at + k < n ? k : n - at));
        }
    }
    return n;
}

/* Use all data of a mesh that was read, so that sanitizers detect invalid contents. */
static void use_object(tutti_mesh *m) {
    tutti_mesh_view v;
    tutti_mesh_info info;
    CHECK_OK(tutti_mesh_view_get(m, &v));
    for (tutti_count i = 0; i < v.start[v.elements]; i++)
        CHECK(v.node[i] >= 0 && v.node[i] < v.nodes, "node %lld", (long long)v.node[i]);
    CHECK_OK(tutti_mesh_describe(m, &info));
    CHECK_OK(tutti_mesh_renumber(m, TUTTI_MESH_CURVE));
}

static void read_damaged(tutti_mesh *m, tutti_mesh_format f, int rounds) {
    int64_t n = 0;
    int read = 0;
    CHECK_OK(tutti_mesh_write(m, path, f, NULL));
    unsigned char *good = file_bytes(path, &n), *bad = malloc((size_t)n + 256);
    for (int i = 0; i < rounds; i++) {
        tutti_mesh *back = NULL;
        memcpy(bad, good, (size_t)n);
        file_put(path, bad, spoil_bytes(bad, n, n + 200));
        const tutti_err err = tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &back);
        if (err == TUTTI_OK) {
            read++;
            use_object(back);
        } else {
            CHECK(err == TUTTI_ERR_FORMAT || err == TUTTI_ERR_UNSUPPORTED, "round %d: %s", i,
                  tutti_last_message());
            CHECK(strstr(tutti_last_message(), "line") || strstr(tutti_last_message(), "byte") ||
                      f == TUTTI_MESH_NATIVE,
                  "'%s' does not say where", tutti_last_message());
        }
        tutti_mesh_free(&back);
    }
    CHECK(f == TUTTI_MESH_NATIVE ? read < rounds : read > 0, "%d of %d could be read", read,
          rounds);
    free(good);
    free(bad);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1153);
    static const tutti_mesh_group group = {3, 1, "region"};
    const int rounds =
        getenv("TUTTI_TEST_TIER") && !strcmp(getenv("TUTTI_TEST_TIER"), "full") ? 5000 : 500;
    whole w = whole_box(2, 1);
    tutti_mesh *m = whole_mesh(&w, MPI_COMM_WORLD);
    /* use a file system in memory if possible, because thousands of files are synced */
    const char *shm = getenv("TUTTI_TEST_SHM");
    snprintf(path, sizeof path, "%s/hostile", shm ? shm : check_dir());
    CHECK_OK(tutti_mesh_set_groups(m, 1, &group));
    for (int f = TUTTI_MESH_NATIVE; f <= TUTTI_MESH_GMSH_22_BINARY; f++)
        read_damaged(m, (tutti_mesh_format)f, rounds);
    tutti_mesh_free(&m);
    whole_free(&w);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    CHECK(used.ru_maxrss < 2 << 20, "%ld KiB of memory", used.ru_maxrss);
    file_remove(path);
    return harness_end();
}
