/* TEST ranks=0 timeout=60 */
/* File operations: creation, exclusive creation, missing files, directories, FIFOs, links, modes, sizes,
 * layout, deletion; a file written with direct_io ends with its last byte.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/stores.h"

#include <fcntl.h>

static tutti_stats stats;

static tutti_err try_open(const char *path, int flags, const tutti_options *opt) {
    tutti_store *s = NULL;
    const tutti_err err = tutti__store_open(path, flags, 0640, opt, 3, &stats, &s);
    CHECK((err == TUTTI_OK) == (s != NULL));
    if (err != TUTTI_OK) {
        CHECK_EQ(tutti_last_error()->rank, 3);
        CHECK(strcmp(tutti_last_error()->operation, "open") == 0);
        CHECK(tutti_last_error()->path[0]);
    }
    CHECK_OK(tutti__store_close(&s));
    return err;
}

static void create_and_delete(const tutti_options *opt) {
    const char *path = scratch(0, "file");
    const mode_t before = umask(022);
    CHECK_ERR(try_open(path, RW, opt), TUTTI_ERR_NOT_FOUND);
    CHECK_EQ(tutti_last_error()->sys_errno, ENOENT);
    CHECK_ERR(tutti__store_delete(path, opt), TUTTI_ERR_NOT_FOUND);
    CHECK_ERR(try_open(path, TUTTI_STORE_CREATE, opt), TUTTI_ERR_ARG);
    CHECK_OK(try_open(path, RWC | TUTTI_STORE_EXCL, opt));
    CHECK_ERR(try_open(path, RWC | TUTTI_STORE_EXCL, opt), TUTTI_ERR_EXISTS);
    CHECK_OK(try_open(path, RWC, opt));
    CHECK_OK(try_open(path, TUTTI_STORE_READ, opt));
    CHECK_OK(try_open(path, TUTTI_STORE_WRITE, opt));
    if (store_is_plain(opt->store)) {
        struct stat st;
        CHECK_EQ(stat(path, &st), 0);
        CHECK_EQ(st.st_mode & 07777, 0640);
    }
    CHECK_OK(tutti__store_delete(path, opt));
    CHECK_ERR(try_open(path, RW, opt), TUTTI_ERR_NOT_FOUND);
    umask(before);
}

static void odd_kinds(const tutti_options *opt) {
    const char *path = scratch(0, "kind");
    char below[5000];
    tutti_options direct = *opt;
    direct.direct_align = 3000;
    CHECK_ERR(try_open(path, RWC | TUTTI_STORE_EXCL, &direct), TUTTI_ERR_OPTION);
    CHECK(access(path, F_OK) != 0, "a file that could not be opened was left behind");
    CHECK_EQ(mkdir(path, 0700), 0);
    for (int flags = TUTTI_STORE_READ; flags <= RWC; flags++)
        if (flags & RW && !(flags & TUTTI_STORE_EXCL))
            CHECK_ERR(try_open(path, flags, opt), TUTTI_ERR_IS_DIRECTORY);
    CHECK_ERR(tutti__store_delete(path, opt), TUTTI_ERR_IS_DIRECTORY);
    CHECK_EQ(rmdir(path), 0);
    CHECK_EQ(mkfifo(path, 0600), 0);
    CHECK_ERR(try_open(path, TUTTI_STORE_READ, opt), TUTTI_ERR_UNSUPPORTED);
    CHECK_ERR(try_open(path, TUTTI_STORE_WRITE, opt), TUTTI_ERR_UNSUPPORTED);
    CHECK_EQ(unlink(path), 0);
    CHECK_ERR(try_open("/dev/full", RW, opt), TUTTI_ERR_UNSUPPORTED);
    CHECK_EQ(symlink(path, path), 0);
    CHECK_ERR(try_open(path, RWC, opt), TUTTI_ERR_OPEN);
    CHECK_EQ(unlink(path), 0);
    snprintf(below, sizeof below, "%s/below", path);
    CHECK_ERR(try_open(below, RWC, opt), TUTTI_ERR_NOT_FOUND);
}

/* Permissions apply to stores; skipped for root, who may access any file. */
static void permissions(const tutti_options *opt) {
    const char *path = scratch(0, "perm");
    if (geteuid() == 0) return;
    CHECK_OK(try_open(path, RWC, opt));
    CHECK_EQ(chmod(path, 0400), 0);
    CHECK_ERR(try_open(path, RW, opt), TUTTI_ERR_PERMISSION);
    CHECK_OK(try_open(path, TUTTI_STORE_READ, opt));
    CHECK_OK(tutti__store_delete(path, opt));
}

static void modes(const tutti_options *opt) {
    const char *path = scratch(0, "mode");
    char byte = 'x';
    tutti_off done = -1;
    tutti_store_request *r = NULL;
    const tutti_io_run run = {.offset = 0, .memory = &byte, .bytes = 1};
    tutti_store *s = open_store(path, TUTTI_STORE_WRITE | TUTTI_STORE_CREATE, opt, &stats);
    CHECK_OK(tutti__store_write(s, &run, 1));
    CHECK_ERR(tutti__store_read(s, &run, 1, &done), TUTTI_ERR_MODE);
    CHECK_OK(tutti__store_close(&s));
    s = open_store(path, TUTTI_STORE_READ, opt, &stats);
    byte = 0;
    CHECK_OK(tutti__store_read(s, &run, 1, &done));
    CHECK_EQ(byte, 'x');
    CHECK_ERR(tutti__store_write(s, &run, 1), TUTTI_ERR_MODE);
    CHECK_ERR(tutti__store_resize(s, 0), TUTTI_ERR_MODE);
    CHECK_ERR(tutti__store_preallocate(s, 10), TUTTI_ERR_MODE);
    if (tutti__store_begin(s, 1, &run, 1, &r) == TUTTI_OK)
        CHECK_ERR(tutti__store_finish(&r, &done), TUTTI_ERR_MODE);
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, opt));
}

static void check_size(tutti_store *s, tutti_off want) {
    tutti_off size = -1;
    CHECK_OK(tutti__store_size(s, &size));
    CHECK_EQ(size, want);
}

static void sizes(const tutti_options *opt) {
    const char *path = scratch(0, "size");
    unsigned char bytes[1000], back[5000];
    tutti_off done = -1;
    memset(bytes, 7, sizeof bytes);
    tutti_store *s = open_store(path, RWC, opt, &stats);
    CHECK(s->layout.block >= 4096 && s->layout.block % 4096 == 0);
    check_size(s, 0);
    write_bytes(s, 0, bytes, sizeof bytes);
    CHECK_OK(tutti__store_preallocate(s, 0));
    CHECK_OK(tutti__store_preallocate(s, 500));
    check_size(s, 1000);
    CHECK_OK(tutti__store_preallocate(s, 5000));
    check_size(s, 5000);
    const tutti_io_run all = {.offset = 0, .memory = back, .bytes = sizeof back};
    CHECK_OK(tutti__store_read(s, &all, 1, &done));
    CHECK_EQ(done, 5000);
    if (opt->store != TUTTI_STORE_NULL) CHECK(memcmp(back, bytes, 1000) == 0);
    CHECK_EQ(back[1000] | back[4999], 0);
    CHECK_OK(tutti__store_resize(s, 10));
    check_size(s, 10);
    CHECK_ERR(tutti__store_resize(s, -1), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__store_preallocate(s, -1), TUTTI_ERR_ARG);
    CHECK_OK(tutti__store_sync(s));
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, opt));
}

static void bad_requests(const tutti_options *opt) {
    const char *path = scratch(0, "bad");
    char byte = 0;
    tutti_off done = -1;
    tutti_store *s = open_store(path, RWC, opt, &stats);
    tutti_store_request *r = NULL;
    const tutti_io_run negative = {.offset = -1, .memory = &byte, .bytes = 1};
    const tutti_io_run nowhere = {.offset = 0, .memory = NULL, .bytes = 1};
    const tutti_io_run wide = {.offset = INT64_MAX, .memory = &byte, .bytes = 1};
    CHECK_ERR(tutti__store_write(s, &negative, 1), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__store_read(s, &nowhere, 1, &done), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__store_write(s, &nowhere, -1), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__store_begin(s, 1, &wide, 1, &r), TUTTI_ERR_OVERFLOW);
    CHECK_EQ(tutti_last_error()->offset, INT64_MAX);
    CHECK(!r && done == -1);
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, opt));
}

/* Several handles of a store on one path are one file; a file of store mem is not visible to users. */
static void shared(const tutti_options *opt) {
    const char *path = scratch(0, "shared");
    char back[4] = "";
    tutti_off done = -1;
    tutti_store *a = open_store(path, RWC, opt, &stats), *b = open_store(path, RW, opt, &stats);
    write_bytes(a, 5, "abc", 3);
    const tutti_io_run run = {.offset = 5, .memory = back, .bytes = 4};
    CHECK_OK(tutti__store_read(b, &run, 1, &done));
    CHECK_EQ(done, 3);
    CHECK(strcmp(back, "abc") == 0);
    CHECK_EQ(access(path, F_OK) == 0, opt->store != TUTTI_STORE_MEM);
    CHECK_OK(tutti__store_close(&a));
    CHECK_OK(tutti__store_close(&b));
    CHECK_OK(tutti__store_delete(path, opt));
}

/* With direct_io, for every start and length around page boundaries, the file ends with the last written
 * byte and was never longer. */
static void direct_ends(tutti_options opt, int dir) {
    static const tutti_off near[] = {0, 1, 511, 512, 4095, 4096, 4097, 8191, 8192, 12289};
    const char *path = scratch(dir, "direct");
    tutti_store *s = NULL;
    unsigned char *page, *back = malloc(40000);
    if (posix_memalign((void **)&page, 4096, 40000) != 0) abort();
    for (int i = 0; i < 40000; i++) page[i] = (unsigned char)(1 + i % 251);
    opt.direct_io = 1;
    if (tutti__store_open(path, RWC, 0600, &opt, 0, &stats, &s) != TUTTI_OK) {
        CHECK_ERR(tutti_last_error()->code, TUTTI_ERR_UNSUPPORTED);
        free(page);
        free(back);
        return;
    }
    CHECK(s->layout.direct_align > 0);
    for (int i = 0; i < 10; i++)
        for (int k = 1; k < 10; k++)
            for (int skew = 0; skew < 2; skew++) {
                struct stat st;
                const tutti_off at = near[i], bytes = near[k];
                const unsigned char *from = page + at % 4096 + skew;
                CHECK_OK(tutti__store_resize(s, 0));
                write_bytes(s, at, from, (size_t)bytes);
                CHECK_EQ(stat(path, &st), 0);
                CHECK_EQ(st.st_size, at + bytes);
                const int fd = open(path, O_RDONLY);
                CHECK_EQ(pread(fd, back, 40000, at), bytes);
                CHECK(memcmp(back, from, (size_t)bytes) == 0);
                close(fd);
            }
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, &opt));
    free(page);
    free(back);
}

int main(void) {
    check_seed(503);
    const leaks l = leaks_start();
    const tutti_store_ops *ops;
    CHECK_ERR(tutti__store_find(-1, &ops), TUTTI_ERR_OPTION);
    CHECK_ERR(tutti__store_find(99, &ops), TUTTI_ERR_OPTION);
    for (int choice = TUTTI_STORE_AUTO; choice <= TUTTI_STORE_NULL; choice++) {
        if (!store_is_built(choice)) {
            CHECK_EQ(tutti_last_error()->code, TUTTI_ERR_UNSUPPORTED);
            continue;
        }
        const tutti_options opt = store_options(choice);
        check_where(store_names[choice]);
        sizes(&opt);
        bad_requests(&opt);
        if (choice == TUTTI_STORE_NULL) continue;
        create_and_delete(&opt);
        modes(&opt);
        shared(&opt);
        if (choice == TUTTI_STORE_MEM) continue;
        odd_kinds(&opt);
        permissions(&opt);
        direct_ends(opt, 0);
        direct_ends(opt, 1);
        leaks_check(l);
    }
    leaks_check(l);
    return check_done();
}
