/* TEST ranks=0 timeout=60 */
/* Profiles: numbers are written and read without change, invalid texts are refused with their line and
 * have no effect, files are searched in the documented order, and replacing one section keeps the others.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/profile.h"
#include "check.h"

static double *number(tutti_profile *p, int i) {
    return (double *)(void *)((char *)p + tutti_profile_row(i)->field);
}

static tutti_filesystem place_at(const char *mount, const char *type, unsigned major,
                                 unsigned minor) {
    tutti_filesystem p;
    memset(&p, 0, sizeof p);
    snprintf(p.mount, sizeof p.mount, "%s", mount);
    snprintf(p.type, sizeof p.type, "%s", type);
    p.major = major;
    p.minor = minor;
    return p;
}

/* Fill a profile with random values in the range of their units. */
static void make_up(tutti_profile *p, const char *type) {
    const tutti_profile_info *row;
    tutti_profile_defaults(p, type);
    for (int i = 0; (row = tutti_profile_row(i)) != NULL; i++) {
        const double any = (double)(1 + rnd(999999)) / 1000;
        if (strcmp(row->unit, "RATE") == 0)
            *number(p, i) = any * (rnd(2) ? 1e3 : 1e9) + 1;
        else if (strcmp(row->unit, "COUNT") == 0)
            *number(p, i) = (double)(1 + rnd(1000));
        else if (strcmp(row->unit, "FLAG") == 0)
            *number(p, i) = (double)rnd(2);
        else if (strcmp(row->unit, "SHARE") == 0)
            *number(p, i) = any / 1000;
        else
            *number(p, i) = any / 1e6;
    }
}

static int close_to(double a, double b) {
    const double d = a > b ? a - b : b - a;
    return d <= 1e-5 * (a > b ? a : b);
}

static void check_same(tutti_profile *a, tutti_profile *b, const char *section) {
    for (int i = 0; tutti_profile_row(i); i++)
        if (!section || strcmp(tutti_profile_row(i)->section, section) == 0)
            CHECK(close_to(*number(a, i), *number(b, i)), "%s: %g, %g", tutti_profile_row(i)->name,
                  *number(a, i), *number(b, i));
}

static void test_round_trip(void) {
    for (int round = 0; round < 200; round++) {
        tutti__profile_set set = {.n = 0}, back;
        tutti_profile p[5], got;
        tutti_filesystem place[5];
        const int n = (int)rnd(5);
        tutti_profile_defaults(&set.machine, NULL);
        for (int i = 0; i < n; i++) {
            char mount[64];
            snprintf(mount, sizeof mount, i ? "/a #%d]/= b" : "/", i);
            place[i] = place_at(mount, i % 2 ? "ext" : "nfs", (unsigned)i, 7);
            make_up(&p[i], place[i].type);
            CHECK_OK(tutti__profile_put(&set, &place[i], &p[i]));
        }
        char *text = tutti__profile_print(&set);
        CHECK(text, "no text");
        CHECK_OK(tutti__profile_parse(text, strlen(text), &back));
        CHECK_EQ(back.n, n);
        for (int i = 0; i < n; i++) {
            tutti__profile_pick(&back, &place[i], &got);
            CHECK(got.measured == 1, "unknown");
            check_same(&got, &p[i], "FILES");
            check_same(&got, &p[n - 1], "MACHINE");
        }
        char *again = tutti__profile_print(&back);
        CHECK(strcmp(text, again) == 0, "another text");
        tutti__free(text);
        tutti__free(again);
        tutti__profile_set_free(&set);
        tutti__profile_set_free(&back);
    }
}

static void test_pick(void) {
    static const char text[] = "# words\nversion = 1\n[filesystem /data]\r\ntype = ext # words\n"
                               "device = 8:1\nwrite_one_4k = 5e5\n\n[machine]\ncores=64\n"
                               "[filesystem /net]\ntype = nfs\ndevice = 0:40\nread_one_4k = 12345";
    tutti__profile_set set;
    tutti_profile p;
    CHECK_OK(tutti__profile_parse(text, sizeof text - 1, &set));
    tutti_filesystem place = place_at("/data", "ext", 9, 9);
    tutti__profile_pick(&set, &place, &p);
    CHECK(p.measured == 1 && p.write_one_4k == 5e5 && p.cores == 64 && p.remote == 0, "by mount");
    place = place_at("/elsewhere", "ext", 8, 1);
    tutti__profile_pick(&set, &place, &p);
    CHECK(p.measured == 1 && p.write_one_4k == 5e5, "by device");
    place = place_at("/elsewhere", "xfs", 8, 1);
    tutti__profile_pick(&set, &place, &p);
    CHECK(p.measured == 0 && p.write_one_4k > 1e9 && p.cores == 64, "another type");
    place =
        place_at("/elsewhere", "nfs", 0, 40); /* device numbers of network file systems change */
    tutti__profile_pick(&set, &place, &p);
    CHECK(p.measured == 0 && p.remote == 1, "a device without a number");
    place = place_at("/net", "nfs", 0, 77);
    tutti__profile_pick(&set, &place, &p);
    CHECK(p.measured == 1 && p.read_one_4k == 12345 && p.remote == 1, "by mount, on the net");
    set.machine.nodes = 4;
    set.machine.net_bandwidth = 1.1e7;
    /* default values are used, but not those of this network file system */
    place = place_at("/far", "nfs", 0, 78);
    tutti__profile_pick(&set, &place, &p);
    CHECK(p.write_one_1m == 1.1e7 && p.write_all_1m == 4.4e7, "%g, %g", p.write_one_1m,
          p.write_all_1m);
    CHECK(p.read_all_64 == 5e5, "%g", p.read_all_64);
    tutti__profile_set_free(&set);
}

static void check_refused(const char *text, int line) {
    char where[32];
    tutti__profile_set set;
    snprintf(where, sizeof where, "line %d ", line);
    const tutti_err err = tutti__profile_parse(text, strlen(text), &set);
    CHECK(err == TUTTI_ERR_FORMAT, "%s: %s", tutti_error_name(err), text);
    CHECK(strstr(tutti_last_message(), where), "'%s' for '%s'", tutti_last_message(), text);
    if (err == TUTTI_OK) tutti__profile_set_free(&set);
}

#define HEAD "version = 1\n"

static void test_refusals(void) {
    check_refused("", 1);
    check_refused("\n\n# nothing\n", 4);
    check_refused("version = 2\n", 1);
    check_refused(HEAD "version = 1\n", 2);
    check_refused("[machine]\n", 1);
    check_refused("cores = 2\n", 1);
    check_refused(HEAD "cores = 2\n", 2);
    check_refused(HEAD "[machine]\ncores = 2\ncores = 2\n", 4);
    check_refused(HEAD "[machine]\n[machine]\n", 3);
    check_refused(HEAD "[machine]\nwrite_one_4k = 1e6\n", 3);
    check_refused(HEAD "[filesystem /x]\ncores = 2\n", 3);
    check_refused(HEAD "[filesystem /x]\n[filesystem /x]\n", 3);
    check_refused(HEAD "[filesystem x]\n", 2);
    check_refused(HEAD "[filesystem ]\n", 2);
    check_refused(HEAD "[filesystem /x\n", 2);
    check_refused(HEAD "[disk /x]\n", 2);
    check_refused(HEAD "[filesystem /x]\ntype = a_very_long_type_of_files\n", 3);
    check_refused(HEAD "[filesystem /x]\ntype = a\ntype = a\n", 4);
    check_refused(HEAD "[filesystem /x]\ndevice = 1\n", 3);
    check_refused(HEAD "[filesystem /x]\ndevice = 1:2:3\n", 3);
    check_refused(HEAD "[filesystem /x]\ndevice = 9999999999:2\n", 3);
    check_refused(HEAD "[filesystem /x]\ntype = a\nnonsense\n", 4);
    check_refused(HEAD "[filesystem /x]\nfastness = 3\n", 3);
    check_refused(HEAD "[filesystem /x]\noverlap_uring = 1.5\n", 3);
    check_refused(HEAD "[filesystem /x]\nremote = 0.5\n", 3);
    check_refused(HEAD "[machine]\ncopy_64 = 1\001\n", 3);
    static const char *const numbers[] = {
        "",     "x",     "-1",    "nan",   "inf", "0x10", "1,5",   "1.",  ".5",
        "1e",   "1e+",   "1e999", "1e-99", "0",   "1 2",  "1e3.5", "++1", "12345678901234567890",
        "1e16", "1.1.1", "1e--3", "= 3"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[128];
        snprintf(text, sizeof text, HEAD "[machine]\ncopy_64 = %s\n", numbers[i]);
        check_refused(text, 3);
    }
}

/* Damaged texts are refused or read, without leaks or overruns. */
static void test_damage(void) {
    tutti__profile_set set = {.n = 0}, back;
    tutti_profile p;
    const tutti_filesystem place = place_at("/work", "ext", 254, 0);
    make_up(&p, "ext");
    CHECK_OK(tutti__profile_put(&set, &place, &p));
    char *text = tutti__profile_print(&set);
    const size_t n = strlen(text);
    for (int round = 0; round < 3000; round++) {
        char *copy = tutti__malloc(n);
        memcpy(copy, text, n);
        for (int64_t hits = 1 + rnd(4); hits > 0; hits--) copy[rnd((int64_t)n)] = (char)rnd(256);
        const size_t cut = rnd(4) ? n : (size_t)rnd((int64_t)n);
        const tutti_err err = tutti__profile_parse(copy, cut, &back);
        CHECK(err == TUTTI_OK || err == TUTTI_ERR_FORMAT, "%s", tutti_error_name(err));
        if (err == TUTTI_OK) tutti__profile_set_free(&back);
        tutti__free(copy);
    }
    char *large = tutti__malloc(TUTTI__PROFILE_BYTES + 1);
    memset(large, '\n', TUTTI__PROFILE_BYTES + 1);
    CHECK_ERR(tutti__profile_parse(large, TUTTI__PROFILE_BYTES + 1, &back), TUTTI_ERR_FORMAT);
    memset(large, 'x', 5000);
    CHECK_ERR(tutti__profile_parse(large, 5000, &back), TUTTI_ERR_FORMAT);
    size_t at = (size_t)sprintf(large, HEAD);
    for (int i = 0; i <= TUTTI__PROFILE_SECTIONS; i++)
        at += (size_t)sprintf(large + at, "[filesystem /%d]\n", i);
    CHECK_ERR(tutti__profile_parse(large, at, &back), TUTTI_ERR_FORMAT);
    for (int i = 1; i < 20; i++) { /* the i-th allocation fails */
        tutti__memory_fail_after(i);
        const tutti_err err = tutti__profile_parse(text, n, &back);
        tutti__memory_fail_after(0);
        CHECK(err == TUTTI_OK || err == TUTTI_ERR_NOMEM, "%s", tutti_error_name(err));
        if (err == TUTTI_OK) tutti__profile_set_free(&back);
    }
    tutti__free(large);
    tutti__free(text);
    tutti__profile_set_free(&set);
}

/* ---- files */

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    CHECK(f, "cannot write %s", path);
    if (!f) return;
    fputs(text, f);
    fclose(f);
}

static double cores_of(const char *file) {
    tutti_profile p;
    const tutti_filesystem place = place_at("/nowhere", "other", 0, 0);
    CHECK_OK(tutti_profile_load(file, &place, &p));
    return p.cores;
}

static void test_order(const char *dir) {
    char path[512], text[600];
    tutti_profile p;
    const tutti_filesystem place = place_at("/nowhere", "other", 0, 0);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    setenv("HOME", dir, 1);
    unsetenv("XDG_CONFIG_HOME");
    if (access("/etc/tutti/profile", F_OK) != 0) CHECK_EQ(cores_of(NULL), online);
    snprintf(path, sizeof path, "%s/.config", dir);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/.config/tutti", dir);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/.config/tutti/profile", dir);
    write_file(path, HEAD "[machine]\ncores = 1001\n");
    CHECK_OK(tutti_profile_path(text, sizeof text));
    CHECK(strcmp(text, path) == 0, "%s", text);
    CHECK_EQ(cores_of(NULL), 1001);
    snprintf(path, sizeof path, "%s/.config/tutti/tutti", dir);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/.config/tutti/tutti/profile", dir);
    write_file(path, HEAD "[machine]\ncores = 1002\n");
    snprintf(text, sizeof text, "%s/.config/tutti", dir);
    setenv("XDG_CONFIG_HOME", text, 1);
    CHECK_EQ(cores_of(""), 1002);
    write_file(path, HEAD "[machine]\ncores = 1002\nnumber_of_another_version = 5\n");
    if (access("/etc/tutti/profile", F_OK) != 0) CHECK_EQ(cores_of(""), online);
    tutti_error_info ignored;
    CHECK_OK(tutti__profile_load(NULL, &place, &p, &ignored));
    CHECK(ignored.code == TUTTI_ERR_FORMAT && strstr(ignored.text, "line 4 "), "%s", ignored.text);
    /* an invalid profile is an error if the program names the file */
    CHECK_ERR(tutti_profile_load(path, &place, &p), TUTTI_ERR_FORMAT);
    snprintf(path, sizeof path, "%s/named", dir);
    CHECK_ERR(tutti_profile_load(path, &place, &p), TUTTI_ERR_NOT_FOUND);
    CHECK(strstr(tutti_last_message(), "named"), "%s", tutti_last_message());
    CHECK(tutti_profile_load(dir, &place, &p) != TUTTI_OK, "a directory");
    write_file(path, HEAD "[machine]\ncores = 1003\n");
    CHECK_EQ(cores_of(path), 1003);
    write_file(path, "no profile");
    CHECK_ERR(tutti_profile_load(path, &place, &p), TUTTI_ERR_FORMAT);
    CHECK_ERR(tutti_profile_load(path, NULL, &p), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_profile_path(text, 3), TUTTI_ERR_NOT_FOUND);
}

static void test_save(const char *dir) {
    char path[512];
    tutti_profile a, b, got;
    tutti_filesystem pa = place_at("/a", "ext", 1, 2), pb = place_at("/b", "nfs", 0, 3);
    make_up(&a, "ext");
    make_up(&b, "nfs");
    snprintf(path, sizeof path, "%s/new/deep/profile", dir);
    CHECK_OK(tutti_profile_save(path, &pa, &a));
    CHECK_OK(tutti_profile_save(path, &pb, &b));
    CHECK_OK(tutti_profile_load(path, &pa, &got));
    check_same(&got, &a, "FILES");
    check_same(&got, &b, "MACHINE");
    make_up(&a, "ext");
    CHECK_OK(tutti_profile_save(path, &pa, &a));
    CHECK_OK(tutti_profile_load(path, &pa, &got));
    check_same(&got, &a, NULL);
    CHECK_OK(tutti_profile_load(path, &pb, &got));
    check_same(&got, &b, "FILES");
    snprintf(pa.type, sizeof pa.type, "xfs"); /* another file system is mounted at this path */
    CHECK_OK(tutti_profile_save(path, &pa, &a));
    CHECK_OK(tutti_profile_load(path, &pa, &got));
    a.copy_64 = 0;
    CHECK_ERR(tutti_profile_save(path, &pa, &a), TUTTI_ERR_ARG);
    write_file(path, "mine");
    /* a file that is not a profile is not overwritten */
    CHECK_ERR(tutti_profile_save(path, &pb, &b), TUTTI_ERR_FORMAT);
    CHECK(tutti_profile_save("/proc/nowhere/profile", &pb, &b) != TUTTI_OK, "saved in /proc");
}

/* A full profile accepts no further file system, but existing ones can be replaced. */
static void test_full(void) {
    tutti__profile_set set = {.n = 0};
    tutti_profile p;
    tutti_filesystem place;
    char mount[32];
    make_up(&p, "ext");
    for (int i = 0; i <= TUTTI__PROFILE_SECTIONS; i++) {
        snprintf(mount, sizeof mount, "/m%d", i);
        place = place_at(mount, "ext", 0, 0);
        CHECK_EQ(tutti__profile_put(&set, &place, &p),
                 i < TUTTI__PROFILE_SECTIONS ? TUTTI_OK : TUTTI_ERR_FORMAT);
    }
    place = place_at("/m7", "ext", 0, 0);
    p.write_one_4k = 12345;
    CHECK_OK(tutti__profile_put(&set, &place, &p));
    CHECK_EQ(set.n, TUTTI__PROFILE_SECTIONS);
    tutti__profile_pick(&set, &place, &p);
    CHECK_EQ(p.write_one_4k, 12345);
    tutti__profile_set_free(&set);
}

static void test_place(const char *dir) {
    char path[512];
    tutti_filesystem a, b;
    CHECK_OK(tutti_profile_filesystem(dir, &a));
    CHECK(a.mount[0] == '/' && a.type[0], "%s %s", a.mount, a.type);
    snprintf(path, sizeof path, "%s/not-there", dir);
    CHECK_OK(tutti_profile_filesystem(path, &b));
    CHECK(memcmp(&a, &b, sizeof a) == 0, "%s, %s", a.mount, b.mount);
    snprintf(path, sizeof path, "%s/not-there/file", dir);
    CHECK_ERR(tutti_profile_filesystem(path, &b), TUTTI_ERR_NOT_FOUND);
    CHECK_OK(tutti_profile_filesystem("/proc/self/status", &b));
    CHECK(strcmp(b.mount, "/proc") == 0, "%s", b.mount);
    CHECK_OK(tutti_profile_filesystem("file", &a));
    CHECK_OK(tutti_profile_filesystem(".", &b));
    CHECK(memcmp(&a, &b, sizeof a) == 0, "%s, %s", a.mount, b.mount);
    CHECK_ERR(tutti_profile_filesystem("", &b), TUTTI_ERR_ARG);
}

int main(void) {
    char dir[] = "profile.XXXXXX", full[400];
    const long live = tutti__memory_live();
    check_seed(10);
    /* use a locale with a decimal comma, if it is installed */
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    test_round_trip();
    test_pick();
    test_refusals();
    test_damage();
    test_full();
    CHECK(mkdtemp(dir) && realpath(dir, full), "no directory");
    test_order(full);
    test_save(full);
    test_place(full);
    CHECK_EQ(tutti__memory_live(), live);
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s'", full);
    CHECK_EQ(system(command), 0);
    return check_done();
}
