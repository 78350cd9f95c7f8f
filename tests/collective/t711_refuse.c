/* TEST ranks=1,4 timeout=120 */
/* Each rank in turn passes an invalid argument: all ranks fail with the same error, and nothing changes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

static char path[512], other[520]; /* messages contain the end of a path */
static unsigned char *bytes;
enum { SIZE = 5000, MODE = TUTTI_READ | TUTTI_WRITE };

/* ---- open */

/* Open with an invalid argument on rank `who`; all other arguments are valid. */
static tutti_err open_wrong(int who, int kind, tutti_file **f) {
    tutti_options opt;
    const char *p = path;
    int mode = MODE, permissions = 0600;
    tutti_options_defaults(&opt);
    if (rank == who) switch (kind) {
        case 0:
            p = NULL;
            break;
        case 1:
            p = "";
            break;
        case 2:
            mode = MODE | 1024;
            break;
        case 3:
            mode = TUTTI_CREATE;
            break;
        case 4:
            mode = MODE | TUTTI_EXCLUSIVE;
            break;
        case 5:
            f = NULL;
            break;
        case 6:
            opt.method = 99;
            break;
        case 7:
            opt.cb_buffer_size = -5;
            break;
        case 8:
            memset(opt.nodes, 'x', sizeof opt.nodes);
            break;
        case 9:
            p = other;
            break;
        case 10:
            mode = TUTTI_READ;
            break;
        case 11:
            permissions = 0644;
            break;
        case 12:
            snprintf(opt.nodes, sizeof opt.nodes, "3,zwei");
            break;
        default:
            snprintf(opt.fault, sizeof opt.fault, "nonsense");
        }
    return tutti_file_open_with(MPI_COMM_WORLD, p, mode, permissions, &opt, f);
}

static tutti_err open_code(int who, int kind) {
    static const tutti_err codes[] = {TUTTI_ERR_ARG,      TUTTI_ERR_ARG,      TUTTI_ERR_ARG,
                                      TUTTI_ERR_ARG,      TUTTI_ERR_ARG,      TUTTI_ERR_ARG,
                                      TUTTI_ERR_OPTION,   TUTTI_ERR_OPTION,   TUTTI_ERR_OPTION,
                                      TUTTI_ERR_MISMATCH, TUTTI_ERR_MISMATCH, TUTTI_ERR_MISMATCH,
                                      TUTTI_ERR_OPTION,   TUTTI_ERR_OPTION};
    if (kind >= 9 && kind <= 11 && ranks == 1) return kind == 9 ? TUTTI_ERR_NOT_FOUND : TUTTI_OK;
    if (kind == 9 && who == 0) return TUTTI_ERR_NOT_FOUND; /* the lowest rank's error is returned */
    if (kind >= 12 && who > 0)
        return TUTTI_OK; /* other ranks' options are ignored if their form is valid */
    return codes[kind];
}

/* Return the part of a path that messages always contain. */
static const char *end_of(const char *text) {
    const size_t n = strlen(text);
    return n > 200 ? text + n - 200 : text;
}

static void opens_refused(int who) {
    char where[80];
    for (int kind = 0; kind <= 13; kind++) {
        tutti_file *f = NULL;
        snprintf(where, sizeof where, "open kind %d on rank %d", kind, who);
        check_where(where);
        CHECK_SAME(open_wrong(who, kind, &f), open_code(who, kind));
        const tutti_error_info e = *tutti_last_error();
        if (open_code(who, kind) != TUTTI_OK) {
            CHECK(f == NULL, "a handle after a refused open");
            CHECK(!strcmp(e.operation, "open"), "operation '%s'", e.operation);
            if (kind < 8) CHECK_EQ(e.rank, who);
            if (e.code == TUTTI_ERR_MISMATCH && kind == 9)
                CHECK(strstr(tutti_last_message(), end_of(path)) &&
                          strstr(tutti_last_message(), end_of(other)),
                      "not both paths are named: %s", tutti_last_message());
        }
        if (f) CHECK_OK(tutti_file_close(&f));
    }
    CHECK(access(other, F_OK) != 0, "the other file was made");
}

/* ---- requests */

enum { NULL_BUFFER, NULL_ACCESS, KINDS };

/* Transfer bytes by the call with number `way`. */
static tutti_err make_call(tutti_file *f, int way, const tutti_access *a, void *buf,
                           tutti_off *count) {
    tutti_plan *p = NULL;
    tutti_err err;
    switch (way) {
    case 0:
        return tutti_file_write(f, a, buf, count);
    case 1:
        return tutti_file_read(f, a, buf, count);
    case 2:
        return tutti_file_write_begin(f, a, buf);
    case 3:
        return tutti_file_read_begin(f, a, buf);
    default:
        err = way == 4 ? tutti_plan_write(f, a, &p) : tutti_plan_read(f, a, &p);
        if (err == TUTTI_OK) err = tutti_plan_run(p, buf, 0, count);
        tutti_plan_free(&p);
        return err;
    }
}

static void requests_refused(tutti_file *f, int who) {
    char where[80];
    unsigned char buf[64];
    tutti_access *good = NULL;
    CHECK_OK(tutti_access_contiguous(64 * rank, 64, &good));
    memset(buf, 0xee, sizeof buf);
    for (int kind = 0; kind < KINDS; kind++)
        for (int way = 0; way < 6; way++) {
            tutti_off count = -7;
            const tutti_access *a = rank == who && kind == NULL_ACCESS ? NULL : good;
            snprintf(where, sizeof where, "request kind %d way %d on rank %d", kind, way, who);
            check_where(where);
            CHECK_SAME(
                make_call(f, way, a, rank == who && kind == NULL_BUFFER ? NULL : buf, &count),
                TUTTI_ERR_ARG);
            CHECK_EQ(tutti_last_error()->rank, who);
            CHECK_EQ(count, -7);
            for (int i = 0; i < 64; i++) CHECK(buf[i] == 0xee, "the buffer was touched");
        }
    tutti_access_free(&good);
}

/* Rank `who` passes NULL for request_out: the other ranks return the error when they wait. */
static void start_refused(tutti_file *f, const tutti_access *a, int who) {
    tutti_request *r = NULL;
    unsigned char buf[64] = {0};
    tutti_err err = tutti_file_write_start(f, a, buf, rank == who ? NULL : &r);
    if (rank != who && err == TUTTI_OK) err = tutti_request_wait(&r, NULL);
    const tutti_error_info mine = *tutti_last_error();
    CHECK_OK(tutti_file_sync(f)); /* rank `who` takes part in the operation */
    tutti__error_assign(&mine);
    CHECK_SAME(err, TUTTI_ERR_ARG);
    CHECK_EQ(tutti_last_error()->rank, who);
}

/* Rank `who` passes NULL, -1 or a number that differs from that of the other ranks. */
static void numbers_refused(tutti_file *f, int who) {
    tutti_access *a = NULL;
    tutti_plan *p = NULL;
    tutti_off size = -7, count = -7;
    unsigned char buf[64] = {0};
    const int me = rank == who;
    check_where("numbers");
    CHECK_SAME(tutti_file_size(f, me ? NULL : &size), TUTTI_ERR_ARG);
    CHECK_EQ(size, -7);
    CHECK_SAME(tutti_file_resize(f, me ? -1 : SIZE), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_file_preallocate(f, me ? -1 : SIZE), TUTTI_ERR_ARG);
    if (ranks > 1) CHECK_SAME(tutti_file_resize(f, me ? 1 : SIZE), TUTTI_ERR_MISMATCH);
    CHECK_OK(tutti_access_contiguous(64 * rank, 64, &a));
    CHECK_SAME(tutti_plan_write(f, a, me ? NULL : &p), TUTTI_ERR_ARG);
    CHECK(p == NULL, "a plan after a refusal");
    CHECK_SAME(tutti_plan_write(f, a, &p), TUTTI_OK);
    if (p) {
        if (ranks > 1) CHECK_SAME(tutti_plan_run(p, buf, me ? 8 : 0, &count), TUTTI_ERR_MISMATCH);
        CHECK_SAME(tutti_plan_run(p, me ? NULL : buf, 0, &count), TUTTI_ERR_ARG);
        CHECK_SAME(tutti_plan_run(p, buf, -1000, &count), TUTTI_ERR_ARG);
        CHECK_SAME(tutti_plan_run(p, buf, INT64_MAX, &count), TUTTI_ERR_ARG);
        CHECK_EQ(count, -7);
    }
    tutti_plan_free(&p);
    start_refused(f, a, who);
    tutti_access_free(&a);
}

/* Every rank refuses calls that the mode of the file does not permit. */
static void modes_refused(void) {
    tutti_access *a = NULL;
    unsigned char buf[8] = {0};
    tutti_off count = -7;
    check_where("modes");
    CHECK_OK(tutti_access_contiguous(8 * rank, 8, &a));
    for (int writes = 0; writes < 2; writes++) {
        tutti_file *f = NULL;
        CHECK_SAME(
            tutti_file_open(MPI_COMM_WORLD, path, writes ? TUTTI_WRITE : TUTTI_READ, NULL, &f),
            TUTTI_OK);
        if (!f) continue;
        for (int way = writes; way < 6; way += 2)
            CHECK_SAME(make_call(f, way, a, buf, &count), TUTTI_ERR_MODE);
        const tutti_err own = writes ? tutti_file_read_independent(f, a, buf, &count)
                                     : tutti_file_write_independent(f, a, buf, &count);
        CHECK(own == TUTTI_ERR_MODE && tutti_last_error()->rank == rank, "%s",
              tutti_last_message());
        if (!writes) CHECK_SAME(tutti_file_resize(f, 1), TUTTI_ERR_MODE);
        if (!writes) CHECK_SAME(tutti_file_preallocate(f, 1), TUTTI_ERR_MODE);
        if (!writes) CHECK_SAME(tutti_file_sync(f), TUTTI_OK);
        CHECK_EQ(count, -7);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    }
    tutti_access_free(&a);
}

/* Create a plan: the first one allocates staging memory, which remains cached on the communicator. */
static void staging_made(tutti_file *f) {
    tutti_access *a = NULL;
    tutti_plan *p = NULL;
    CHECK_OK(tutti_access_contiguous(64 * rank, 64, &a));
    CHECK_SAME(tutti_plan_read(f, a, &p), TUTTI_OK);
    tutti_plan_free(&p);
    tutti_access_free(&a);
}

/* Run an operation in the background: its second file handle is kept until the file is closed. */
static void handle_made(tutti_file *f) {
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_contiguous(0, 0, &a));
    CHECK_SAME(tutti_file_read_begin(f, a, NULL), TUTTI_OK);
    CHECK_SAME(tutti_file_read_end(f, NULL), TUTTI_OK);
    tutti_access_free(&a);
}

static void combination(const char *text) {
    tutti_options opt = options_of(text);
    for (int append = 0; append < 2; append++) {
        tutti_file *f = NULL;
        CHECK_SAME(
            tutti_file_open(MPI_COMM_WORLD, path, MODE | (append ? TUTTI_APPEND : 0), &opt, &f),
            TUTTI_OK);
        if (!f) return;
        staging_made(f);
        handle_made(f);
        const account start = account_now();
        for (int who = 0; who < ranks; who++) {
            requests_refused(f, who);
            account_check(start);
            if (!append) numbers_refused(f, who);
        }
        check_where(text);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
        file_is(path, bytes, SIZE, "after refusals");
    }
}

/* Without communication, each rank refuses handles that are NULL. */
static void nothing_refused(void) {
    tutti_file *f = NULL;
    tutti_plan *p = NULL;
    tutti_off n = -7;
    tutti_options opt;
    check_where("NULL");
    CHECK_ERR(tutti_file_close(&f), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_close(NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_size(NULL, &n), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_resize(NULL, 1), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_preallocate(NULL, 1), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_sync(NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_options(NULL, &opt), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_change(NULL, &opt), TUTTI_ERR_ARG);
    for (int way = 0; way < 6; way++)
        CHECK_ERR(make_call(NULL, way, NULL, NULL, &n), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_write_independent(NULL, NULL, NULL, &n), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_read_independent(NULL, NULL, NULL, &n), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_write_end(NULL, &n), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_read_end(NULL, &n), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_plan_start(NULL, NULL, 0), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_plan_wait(NULL, &n), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_plan_run(NULL, NULL, 0, &n), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_open(MPI_COMM_NULL, path, MODE, NULL, &f), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_delete(NULL, NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_file_delete("", NULL), TUTTI_ERR_ARG);
    tutti_plan_free(&p);
    tutti_plan_free(NULL);
    tutti_file_on_progress(NULL, NULL, NULL);
    tutti_file_stats(NULL, NULL, NULL);
    CHECK(tutti_plan_size(NULL) == 0 && !*tutti_plan_explain(NULL) && !*tutti_file_explain(NULL),
          "NULL");
    CHECK_EQ(n, -7);
}

int main(int argc, char **argv) {
    static const char *const texts[] = {"method=two-phase exchange=shm",
                                        "method=two-phase exchange=two-sided",
                                        "method=two-phase nodes=2 store=uring",
                                        "method=list store=threads",
                                        "method=independent store=aio",
                                        "method=sieve rmw=1",
                                        "method=root nodes=rr:2",
                                        "method=auto store=uring"};
    harness_begin(&argc, &argv, 711);
    snprintf(path, sizeof path, "%s-%0140d", scratch_path("refuse"), 0);
    snprintf(other, sizeof other, "%s.other", path);
    bytes = malloc(SIZE);
    for (int i = 0; i < SIZE; i++) bytes[i] = mix(1, (uint64_t)i);
    file_put(path, bytes, SIZE);
    nothing_refused();
    for (int who = 0; who < ranks; who++) opens_refused(who);
    modes_refused();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) combination(texts[i]);
    free(bytes);
    file_remove(path);
    return harness_end();
}
