/* file: the trace file.  It is written whenever a file is closed: rank 0 gathers all ranks' events and
 * writes the file anew.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "file/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/trace.h"

tutti_err tutti__trace_begin(const tutti_file *f) {
    return f->opt.trace[0] ? tutti__trace_enable(f->team->rank) : TUTTI_OK;
}

static tutti_err trace_save(const char *path, int n, const tutti__letter *in) {
    FILE *out = fopen(path, "w");
    if (!out) return tutti__error_sys(errno, -1, "the trace file cannot be written");
    int first = 1;
    fputs("{\"traceEvents\":[\n", out);
    for (int i = 0; i < n; i++) {
        if (in[i].bytes == 0) continue;
        if (!first) fputs(",\n", out);
        fwrite(in[i].data, 1, in[i].bytes, out);
        first = 0;
    }
    fputs("\n]}\n", out);
    const int bad = ferror(out);
    if (fclose(out) != 0 || bad)
        return tutti__error_sys(EIO, -1, "the trace file cannot be written");
    return TUTTI_OK;
}

tutti_err tutti__trace_write(tutti_file *f) {
    tutti__letter *in = NULL;
    int n = 0;
    if (!f->opt.trace[0]) return TUTTI_OK;
    char *text = tutti__trace_json();
    const tutti__letter mine = {0, text ? strlen(text) : 0, text};
    tutti_err err = tutti__team_letters(f->team, text ? 1 : 0, &mine, &n, &in);
    tutti__free(text);
    if (err == TUTTI_OK && f->team->rank == 0) err = trace_save(f->opt.trace, n, in);
    tutti__letters_free(n, &in);
    return tutti__team_agree(f->team, err);
}
