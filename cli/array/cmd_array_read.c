/* tutti array read: write a section as text, CSV, NumPy file or image.
 *
 * Text is printed by rank 0, in row-major order regardless of the file's order.  A NumPy file is a flat array
 * after a header: all ranks write it together under a temporary name, which rank 0 renames at the end.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/cmd_array.h"
#include "array/npy.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- text */

typedef struct {
    FILE *file;
    const tutti_array_spec *spec;
    int csv, digits, width;
} writer;

/* Print the indices of a plane before its first row, for arrays of more than two dimensions. */
static void print_heading(const writer *o, const array_side *s, const tutti_count *index) {
    const int n = s->spec.ndims;
    fputs("# [", o->file);
    for (int d = 0; d < n - 2; d++)
        fprintf(o->file, "%lld, ", (long long)s->slice.lo[d] + index[d] * s->slice.stride[d]);
    fputs(":, :]\n", o->file);
}

static int read_text(const cli_world *w, const array_config *c, const array_side *s) {
    FILE *f = NULL;
    int failed = 0;
    if (w->rank == 0) {
        f = cli_output_open(c->out ? c->out : "-");
        failed = !f;
    }
    failed = cli_agree(w, failed);
    if (!failed) {
        writer o = {.file = f, .spec = &s->spec, .csv = c->csv};
        array_rows rows;
        int more = 1, first = 1;
        o.digits = c->csv ? 0 : c->digits > 0 ? c->digits : 6;
        array_rows_start(&rows, w, c, s);
        for (; (more = array_rows_next(&rows)) > 0; first = 0) {
            if (w->rank != 0) continue;
            if (first && !c->csv) {
                /* Column width: the widest element of the first box. */
                const tutti_count n = array_box_shape(s->spec.ndims, &rows.box, NULL);
                int width = 0;
                for (tutti_count i = 0; i < n; i++) {
                    const int one = array_element_width(o.spec, o.digits,
                                                        rows.buffer + i * s->spec.element_size);
                    if (one > width) width = one;
                }
                o.width = width;
            }
            /* Print the elements of a box, with separators; boxes may end within a row. */
            const int n = s->spec.ndims;
            tutti_count at[TUTTI_MAX_DIMS];
            const char *element = rows.buffer;
            memcpy(at, rows.box.lo, sizeof at);
            for (int d = 0; d >= 0;) {
                const int is_row_start = n == 1 || at[n - 1] == 0;
                if (n > 2 && is_row_start && at[n - 2] == 0 && !o.csv) print_heading(&o, s, at);
                if (!is_row_start) fputs(o.csv ? "," : "  ", o.file);
                array_element_print(o.file, o.spec, o.digits, o.width, element);
                if (n == 1 || at[n - 1] + 1 == s->shape[n - 1]) putc('\n', o.file);
                element += s->spec.element_size;
                for (d = n - 1; d >= 0 && ++at[d] == rows.box.hi[d]; d--) at[d] = rows.box.lo[d];
            }
        }
        array_rows_end(&rows);
        failed = more < 0;
    }
    if (f) failed = cli_output_close(f, c->out ? c->out : "standard output", failed);
    return cli_agree(w, failed);
}

/* ---- NumPy */

static int fill_npy(const cli_world *w, const array_config *c, const array_side *s,
                    const char *path) {
    tutti_array_spec spec = s->spec;
    array_side to = {.array = NULL};
    memcpy(spec.shape, s->shape, sizeof spec.shape);
    if (npy_create_for_all(w, path, &spec)) return 1;
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE;
    if (s->count == 0) return 0;
    if (array_side_open_raw(w, c, path, mode, &spec, &to)) return 1;
    array_move move = {.from = s, .to = &to, .budget = c->budget, .what = "converting"};
    for (int d = 0; d < spec.ndims; d++) move.axes[d] = d;
    return array_side_close(&to, array_move_run(w, &move));
}

static int read_npy(const cli_world *w, const array_config *c, const array_side *s) {
    char target[PATH_MAX] = "", folder[PATH_MAX];
    struct stat st;
    int failed = 0;
    if (w->rank == 0) {
        /* If `path` is a symbolic link, replace its target, which must be a regular file. */
        if (stat(c->npy, &st) == 0 && !S_ISREG(st.st_mode))
            failed = cli_error("cannot write '%s': it is not a regular file", c->npy);
        if (!realpath(c->npy, target)) snprintf(target, sizeof target, "%s", c->npy);
    }
    if (cli_agree(w, failed)) return 1;
    MPI_Bcast(target, sizeof target, MPI_CHAR, 0, w->comm);
    /* The temporary file is in the directory of `target`, so that rename() works. */
    const char *slash = strrchr(target, '/');
    const size_t n = slash ? (size_t)(slash - target) + (slash == target) : 1;
    snprintf(folder, sizeof folder, "%.*s", (int)n, slash ? target : ".");
    const char *scratch = cli_scratch(w, folder, "array");
    failed = fill_npy(w, c, s, scratch);
    if (!failed && w->rank == 0 && rename(scratch, target) != 0)
        failed = cli_error_errno("cannot write", c->npy);
    failed = cli_agree(w, failed);
    cli_scratch_remove(w);
    return failed;
}

/* ---- the command */

int array_read(const cli_world *w, const void *config) {
    const array_config *c = config;
    array_side s = {.array = NULL};
    if (array_may_write(w, c->path, c->out) || array_may_write(w, c->path, c->npy) ||
        array_may_write(w, c->path, c->png))
        return 1;
    if (array_side_open(w, c, TUTTI_READ, &s)) return 1;
    const int quiet = (c->npy || c->png) && !c->out && !c->csv;
    const int failed = !array_side_is_global(&s, c->path) || array_side_select(&s, c) ||
                       (c->npy && read_npy(w, c, &s)) || (c->png && array_draw(w, c, &s)) ||
                       (!quiet && read_text(w, c, &s));
    return array_side_close(&s, failed);
}
