/* TEST ranks=0 timeout=60 */
/* The option fault: every kind, on every store, fails in the requested call with the expected code, errno,
 * offset and operation; malformed values are refused.  Also each allocation fails once.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/stores.h"

static const struct {
    const char *name;
    int sys_errno;
    tutti_err code;
} errors[] = {
    {"EIO", EIO, TUTTI_ERR_IO},          {"ENOSPC", ENOSPC, TUTTI_ERR_NO_SPACE},
    {"EDQUOT", EDQUOT, TUTTI_ERR_QUOTA}, {"EACCES", EACCES, TUTTI_ERR_PERMISSION},
    {"EFBIG", EFBIG, TUTTI_ERR_TOO_BIG}, {"EROFS", EROFS, TUTTI_ERR_READ_ONLY},
};
#define ERRORS ((int)(sizeof errors / sizeof *errors))
static const char *const kinds[] = {"write", "read", "sync", "size", "resize"};
enum { WRITE, READ, SYNC, SIZE, RESIZE, KINDS };

static tutti_stats stats;
static char bytes[64];

static void set_fault(tutti_options *opt, const char *text) {
    snprintf(opt->fault, sizeof opt->fault, "%s", text);
}

static tutti_err begin_and_finish(tutti_store *s, int is_write, const tutti_io_run *run) {
    tutti_store_request *r = NULL;
    tutti_off done;
    const tutti_err err = tutti__store_begin(s, is_write, run, 1, &r);
    if (err != TUTTI_OK) return err;
    while (!tutti__store_test(r)) continue;
    return tutti__store_finish(&r, &done);
}

/* Make one call of the given kind; if `begun`, an asynchronous one, which counts like the others. */
static tutti_err make_call(tutti_store *s, int kind, int begun) {
    const tutti_io_run run = {.offset = 12345, .memory = bytes, .bytes = sizeof bytes};
    tutti_off out;
    switch (kind) {
    case WRITE:
        return begun ? begin_and_finish(s, 1, &run) : tutti__store_write(s, &run, 1);
    case READ:
        return begun ? begin_and_finish(s, 0, &run) : tutti__store_read(s, &run, 1, &out);
    case SYNC:
        return tutti__store_sync(s);
    case SIZE:
        return tutti__store_size(s, &out);
    default:
        return begun ? tutti__store_preallocate(s, 7) : tutti__store_resize(s, 12345);
    }
}

static void check_strike(int kind, int begun, int e) {
    const tutti_error_info *info = tutti_last_error();
    const char *operation = kind == RESIZE && begun ? "preallocate" : kinds[kind];
    CHECK_EQ(info->code, errors[e].code);
    CHECK_EQ(info->sys_errno, errors[e].sys_errno);
    CHECK(strcmp(info->operation, operation) == 0, "'%s' not '%s'", info->operation, operation);
    if (kind == WRITE || kind == READ) CHECK_EQ(info->offset, 12345);
    CHECK(strstr(tutti_last_message(), errors[e].name), "%s", tutti_last_message());
}

static void inject_fault(int choice, int kind, int nth, int e) {
    const leaks l = leaks_start();
    const char *path = scratch(1, "fault");
    tutti_options opt = store_options(choice);
    snprintf(opt.fault, sizeof opt.fault, "%s:%s:%d:%s", nth == 2 ? "*" : "0", kinds[kind], nth,
             errors[e].name);
    tutti_store *s = open_store(path, RWC, &opt, &stats);
    CHECK(strcmp(s->ops->name, store_names[choice]) == 0 && s->layout.block > 0);
    for (int i = 1; i <= nth + 2; i++) {
        const int begun = (i + e) % 2;
        const tutti_err err = make_call(s, kind, begun);
        CHECK_ERR(err, i < nth ? TUTTI_OK : errors[e].code);
        if (i >= nth) check_strike(kind, begun, e);
        for (int other = 0; other < KINDS; other++)
            if (other != kind) CHECK_OK(make_call(s, other, begun));
    }
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, &opt));
    leaks_check(l);
}

static void strike_open_and_close(int choice) {
    const leaks l = leaks_start();
    const char *path = scratch(1, "fault");
    tutti_options opt = store_options(choice);
    tutti_store *s = NULL;
    set_fault(&opt, "0:open:1:EACCES");
    CHECK_ERR(tutti__store_open(path, RWC, 0600, &opt, 0, &stats, &s), TUTTI_ERR_PERMISSION);
    CHECK_EQ(tutti_last_error()->rank, 0);
    set_fault(&opt, "0:open:1");
    CHECK_ERR(tutti__store_open(path, RWC, 0600, &opt, 0, &stats, &s), TUTTI_ERR_OPEN);
    CHECK(!s && access(path, F_OK) != 0);
    CHECK_OK(tutti__store_open(path, RWC, 0600, &opt, 1, &stats, &s)); /* rank 1 has no fault */
    CHECK_OK(tutti__store_close(&s));
    set_fault(&opt, "0:close:1:ENOSPC");
    s = open_store(path, RWC, &opt, &stats);
    CHECK_ERR(tutti__store_close(&s), TUTTI_ERR_NO_SPACE);
    CHECK(!s);
    CHECK_OK(tutti__store_delete(path, &opt));
    leaks_check(l);
}

static void test_malformed(void) {
    static const char *const texts[] = {
        "0",         ":",          "0:write",     "0:write:0",     "0:write:x",      "x:write:1",
        "0:blink:1", "0:write:1:", "0:write:1:X", "0:write:-1",    "0:write:1:EIO:", ":write:1",
        "0::1",      "-1:write:1", "0:short:0",   "0:short:5:EIO", "9:write:1:NONE", " 0:write:1"};
    tutti_options opt = store_options(TUTTI_STORE_POSIX);
    tutti_store *s = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        set_fault(&opt, texts[i]);
        check_where(texts[i]);
        CHECK_ERR(tutti__store_open(scratch(1, "bad"), RWC, 0600, &opt, 0, &stats, &s),
                  TUTTI_ERR_OPTION);
    }
}

/* Each allocation of open, then of begin, fails once; nothing leaks. */
static void no_memory(int choice) {
    const leaks l = leaks_start();
    const char *path = scratch(1, "memory");
    tutti_options opt = store_options(choice);
    tutti_store *s = NULL;
    tutti_store_request *r = NULL;
    tutti_err err = TUTTI_ERR_NOMEM;
    set_fault(&opt, "0:sync:1"); /* this adds the allocation of the fault store */
    for (int n = 1; err != TUTTI_OK && n < 20; n++) {
        tutti__memory_fail_after(n);
        err = tutti__store_open(path, RWC | TUTTI_STORE_EXCL, 0600, &opt, 0, &stats, &s);
        tutti__memory_fail_after(0);
        if (err == TUTTI_OK) break;
        CHECK_EQ(err, TUTTI_ERR_NOMEM);
        if (access(path, F_OK) == 0) unlink(path);
        (void)!tutti__store_delete(path, &opt);
        leaks_check(l);
    }
    CHECK_OK(err);
    const tutti_io_run run = {.offset = 0, .memory = bytes, .bytes = sizeof bytes};
    for (int n = 1; n <= 2; n++) {
        tutti__memory_fail_after(n);
        CHECK_ERR(tutti__store_begin(s, 1, &run, 1, &r), TUTTI_ERR_NOMEM);
        tutti__memory_fail_after(0);
    }
    CHECK_OK(begin_and_finish(s, 1, &run));
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, &opt));
    leaks_check(l);
}

int main(void) {
    check_seed(504);
    test_malformed();
    for (int choice = TUTTI_STORE_POSIX; choice <= TUTTI_STORE_NULL; choice++) {
        if (!store_is_built(choice)) continue;
        check_where(store_names[choice]);
        for (int kind = 0; kind < KINDS; kind++)
            for (int nth = 1; nth <= 3; nth++) inject_fault(choice, kind, nth, (int)rnd(ERRORS));
        for (int e = 0; e < ERRORS; e++) inject_fault(choice, WRITE, 2, e);
        strike_open_and_close(choice);
        no_memory(choice);
    }
    return check_done();
}
