/* TEST ranks=0 timeout=60 */
/* Headers compared with the netCDF programs: files with random headers pass ncvalidator; ncoffsets prints
 * the same offsets; ncgen creates files with the same headers from the output of ncdump; files of nccopy
 * of each kind are read.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>
#include "headers.h"

static char dir[500];

static int run_case(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int run_case(const char *format, ...) {
    char command[1500];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return system(command);
}

/* Give attributes without values one value, as ncgen does. */
static void some_values(model_att *a, int n) {
    for (int i = 0; i < n; i++)
        if (a[i].n == 0) a[i].n = 1;
}

static void write_file(const char *name, const tutti__cdf *c) {
    char path[600];
    void *bytes = NULL;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    CHECK_OK(tutti__cdf_encode(c, &bytes));
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    CHECK(fd >= 0 && write(fd, bytes, (size_t)c->header_bytes) == c->header_bytes);
    /* the file ends after the last record, or after the fixed variables if there are no records */
    const tutti_off end =
        c->records ? c->record_begin + c->records * c->record_bytes : c->fixed_end;
    CHECK(ftruncate(fd, end) == 0);
    close(fd);
    tutti__free(bytes);
}

static int read_file(const char *name, tutti__cdf *c) {
    char path[600];
    void *bytes = NULL;
    size_t n = 0;
    tutti_off size = 0;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    CHECK_OK(tutti__cdf_read_header(path, &bytes, &n, &size));
    if (!bytes) return 0;
    const tutti_err e = tutti__cdf_decode(bytes, n, size, c);
    CHECK_OK(e);
    tutti__free(bytes);
    return e == TUTTI_OK;
}

/* Compare the begins of all variables with the output of ncoffsets: fixed variables, then record variables. */
static void offsets(const tutti__cdf *c) {
    char line[600], path[600];
    run_case("cd %s && ncoffsets a.nc >offsets", dir);
    snprintf(path, sizeof path, "%s/offsets", dir);
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    for (int kind = 0; f && kind < 2; kind++)
        for (tutti_count i = 0; i < c->vars_n; i++) {
            long long begin = -1;
            if (c->vars[i].is_record != kind) continue;
            while (begin < 0 && fgets(line, sizeof line, f)) {
                const char *at = strstr(line, "start file offset =");
                if (at) begin = atoll(at + strlen("start file offset ="));
            }
            CHECK_EQ(c->vars[i].begin, begin);
        }
    if (f) fclose(f);
}

static void compare_values(int version) {
    static const char *const kinds[] = {[1] = "classic", [2] = "64-bit-offset", [5] = "cdf5"};
    const tutti__cdf_align align = {rnd(2) ? 0 : 1024, rnd(2) ? 0 : 4096};
    model m;
    tutti__cdf c, back;
    model_random(&m, version);
    some_values(m.atts, m.atts_n);
    for (int i = 0; i < m.vars_n; i++) some_values(m.vars[i].atts, m.vars[i].atts_n);
    model_make(&m, &c);
    CHECK_OK(tutti__cdf_layout(&c, &align));
    c.records = c.record_bytes ? rnd(4) : 0;
    write_file("a.nc", &c);
    CHECK(run_case("cd %s && ncvalidator a.nc >said 2>&1 || { cat said >&2; exit 1; }", dir) == 0);
    offsets(&c);
    CHECK(run_case("cd %s && ncdump -h -p 9,17 a.nc >a.cdl && ncgen -k %s -o b.nc a.cdl", dir,
                   kinds[version]) == 0);
    if (read_file("b.nc", &back)) {
        model made = m;
        for (int i = 0; i < m.vars_n; i++) /* ncgen 4.9 changes this type */
            if (m.vars[i].type == TUTTI__CDF_INT64) made.vars[i].type = back.vars[i].type;
        model_same(&back, &made);
        tutti__cdf_free(&back);
    }
    CHECK(run_case("cd %s && nccopy -k cdf5 a.nc c.nc", dir) == 0);
    if (read_file("c.nc", &back)) {
        m.version = 5;
        model_same(&back, &m);
        CHECK_EQ(back.records, c.records);
        tutti__cdf_free(&back);
    }
    tutti__cdf_free(&c);
}

static void test_others(void) {
    void *bytes = NULL;
    size_t n = 0;
    tutti_off size = 0;
    char path[600];
    CHECK(run_case(
              "cd %s && echo 'netcdf a { dimensions: x = 3 ; variables: int v(x) ; }' | ncgen -k "
              "nc4 -o d.nc",
              dir) == 0);
    snprintf(path, sizeof path, "%s/d.nc", dir);
    CHECK_ERR(tutti__cdf_read_header(path, &bytes, &n, &size), TUTTI_ERR_UNSUPPORTED);
}

int main(void) {
    if (system("command -v ncdump ncgen nccopy ncvalidator ncoffsets >/dev/null") != 0) {
        printf("no ncdump or ncvalidator (Debian: netcdf-bin, pnetcdf-bin)\n");
        return 77;
    }
    check_seed((uint64_t)getpid());
    snprintf(dir, sizeof dir, "%s", check_dir());
    for (int i = 0; i < 18; i++) compare_values((int[]){1, 2, 5}[i % 3]);
    test_others();
    return check_done();
}
