/* dataset_ids DIRECTORY NODES TURN [WRONG]: writes a dataset with a list of NODES entries, whose ids 10,
 * 20, ... are rotated by TURN entries; values depend on the id, and the value of the id WRONG differs.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <tutti/tutti.h>

enum { MOST = 100 };

int main(int argc, char **argv) {
    tutti_dataset *d = NULL;
    tutti_decomposition *all = NULL;
    int64_t ids[MOST], wrong = argc > 4 ? atoll(argv[4]) : -1;
    double a[MOST], b[MOST * 2];
    MPI_Init(&argc, &argv);
    if (argc < 4) return 2;
    const int n = atoi(argv[2]), turn = atoi(argv[3]);
    for (int i = 0; i < n; i++) {
        ids[i] = 10 + 10 * ((i * 7 + turn) % n);
        a[i] = (double)ids[i] / 4;
        b[2 * i] = a[i];
        b[2 * i + 1] = ids[i] == wrong ? -1 : 2 * a[i];
    }
    const tutti_variable_spec of_a = {.space = "nodes", .type = TUTTI_FLOAT32};
    const tutti_variable_spec of_b = {
        .space = "nodes", .item = TUTTI_VECTOR, .components = 2, .type = TUTTI_FLOAT64};
    const tutti_decomposition_spec implicit_ids = {.kind = TUTTI_BY_RANK_ORDER, .n = n};
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE;
    int bad = tutti_dataset_open(MPI_COMM_WORLD, argv[1], mode, NULL, &d) ||
              tutti_dataset_list(d, "nodes") || tutti_dataset_variable(d, "a", &of_a) ||
              tutti_dataset_variable(d, "b", &of_b) ||
              tutti_dataset_begin(d, TUTTI_TOPOLOGY, 0, 0) ||
              tutti_dataset_ids(d, "nodes", n, ids) || tutti_dataset_commit(d) ||
              tutti_decomposition_create(d, "nodes", &implicit_ids, &all);
    for (int s = 0; s < 2 && !bad; s++) {
        const tutti_put puts[] = {{"a", all, TUTTI_FLOAT64, a}, {"b", all, TUTTI_FLOAT64, b}};
        bad = tutti_dataset_begin(d, TUTTI_STATE, s, s) || tutti_dataset_put(d, 2, puts) ||
              tutti_dataset_commit(d);
    }
    tutti_decomposition_free(&all);
    if (d && tutti_dataset_close(&d)) bad = 1;
    MPI_Finalize();
    return bad;
}
