/* TEST ranks=1,2,3,5,8 timeout=60 */
/* The protocol of collective calls on objects, by votes and by consensus: ranks in different
 * calls, arguments that differ, a failing rank (each rank once), the local error of the caller,
 * ranges, execution on the root, paths of new objects, handles that are NULL or stale.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "comm/consensus.h"
#include "exchange/staging.h"
#include "layer/object.h"

static const tutti__class widget_class = {"widget", "widget", "freed"};
static const tutti__class gadget_class = {"gadget", "gadget", "closed"};

typedef struct {
    TUTTI__OBJECT;
    int other;
} widget;

/* Check that all ranks have an error with this code, operation, path and words in the text. */
static void fails(tutti_err err, tutti_err code, const char *operation, const char *path,
                  const char *words) {
    CHECK_SAME(err, code);
    const tutti_error_info *e = tutti_last_error();
    CHECK(!strcmp(e->operation, operation), "operation '%s', not '%s'", e->operation, operation);
    CHECK(!strcmp(e->path, path), "path '%s', not '%s'", e->path, path);
    CHECK(strstr(e->text, words), "'%s' is not in '%s'", words, e->text);
    tutti__error_clear();
}

static void names(const widget *w, int who) {
    const tutti__call one = {.name = "put", .what = "the values", .hash = 1};
    const tutti__call other = {.name = "get", .what = "the values", .hash = 2};
    const tutti__call elsewhere = {.object = "gadget", .name = "put"};
    char a[128], b[128];
    check_where("names");
    if (ranks == 1) return;
    const int64_t differed = w->team->differed;
    const tutti_err err = tutti__object_call(&w->object, rank == who ? &other : &one, TUTTI_OK);
    const int peer = who > 0 ? 0 : 1, far = who < ranks - 1 ? ranks - 1 : ranks - 2;
    const char *text = tutti_last_error()->text;
    const char *get = strstr(text, "called tutti_widget_get");
    snprintf(a, sizeof a, "rank %d called tutti_widget_get", who);
    CHECK(get && strstr(text, a), "'%s' is not in '%s'", a, text);
    snprintf(a, sizeof a, "rank %d called tutti_widget_put", peer);
    snprintf(b, sizeof b, "rank %d called tutti_widget_put", far);
    CHECK(strstr(text, a) || strstr(text, b), "'%s' names neither rank", text);
    CHECK(!strncmp(tutti_last_message(), "collective mismatch of 'some/path': rank ", 41), "'%s'",
          tutti_last_message());
    fails(err, TUTTI_ERR_MISMATCH, "collective mismatch", "some/path", " while rank ");
    CHECK_EQ(w->team->differed, differed + 1);
    /* one rank calls `put` of another class; then one rank makes another call and also refuses it: both are
     * mismatches */
    fails(tutti__object_call(&w->object, rank == who ? &elsewhere : &one, TUTTI_OK),
          TUTTI_ERR_MISMATCH, "collective mismatch", "some/path", "tutti_gadget_put");
    fails(tutti__object_call(&w->object, rank == who ? &other : &one,
                             rank == who ? TUTTI_ERR_NOMEM : TUTTI_OK),
          TUTTI_ERR_MISMATCH, "collective mismatch", "some/path", "tutti_widget_get");
}

static void arguments(const widget *w, int who) {
    tutti__range r[2] = {tutti__range_of(rank + 5), tutti__range_none()};
    tutti__call c = {.name = "put", .what = "the values", .ranges = 2, .range = r};
    check_where("arguments");
    c.hash = UINT64_MAX; /* the hash may have any value */
    CHECK_SAME(tutti__object_call(&w->object, &c, TUTTI_OK), TUTTI_OK);
    CHECK(r[0].min == 5 && r[0].max == ranks + 4, "from %lld to %lld", (long long)r[0].min,
          (long long)r[0].max);
    CHECK(r[1].min == INT64_MAX && r[1].max == INT64_MIN, "a number that no rank gave");
    if (ranks == 1) return;
    r[0] = tutti__range_of(rank);
    if (rank == who) c.hash = 7;
    fails(tutti__object_call(&w->object, &c, TUTTI_OK), TUTTI_ERR_MISMATCH, "put", "some/path",
          "ranks disagree on the values");
    CHECK(r[0].min == 0 && r[0].max == ranks - 1, "ranges are known although hashes differ");
    c.is_number = 1;
    c.hash = rank == who ? 12 : 34;
    fails(tutti__object_call(&w->object, &c, TUTTI_OK), TUTTI_ERR_MISMATCH, "put", "some/path",
          "ranks disagree on the values: from 12 to 34");
}

static void failures(const widget *w, int who) {
    tutti__range r = tutti__range_of(rank);
    const tutti__call c = {.name = "put", .hash = (uint64_t)rank, .ranges = 1, .range = &r};
    tutti_err local = TUTTI_OK;
    check_where("failures");
    if (rank >= who) local = tutti__error_set(TUTTI_ERR_QUOTA, 0, -1, "reason %d", rank);
    const tutti_err err = tutti__object_call(&w->object, &c, local);
    char text[32];
    snprintf(text, sizeof text, "reason %d", who);
    CHECK_EQ(tutti_last_error()->rank, who);
    /* the error has precedence over mismatches */
    fails(err, TUTTI_ERR_QUOTA, "put", "some/path", text);
    CHECK(r.min == INT64_MAX && r.max == INT64_MIN, "ranges of a call that was refused");
    local = TUTTI_OK;
    if (rank == who) {
        tutti_set_local_error(TUTTI_ERR_FORMAT, 4711, "the caller's reason");
        local = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument values is NULL");
    }
    const tutti_err refused = tutti__object_call(&w->object, &(tutti__call){.name = "put"}, local);
    CHECK_EQ(tutti_last_error()->detail, 4711);
    fails(refused, TUTTI_ERR_FORMAT, "put", "some/path", "the caller's reason");
}

static tutti_err root_work(void *context) {
    int *n = context;
    CHECK_EQ(rank, 0);
    TUTTI_CHECK(*n >= 0, TUTTI_ERR_IO, "n is %d", *n);
    *n += 100;
    return TUTTI_OK;
}

static void root(const widget *w) {
    int n = 5;
    check_where("root");
    CHECK_SAME(tutti__on_root(w->team, root_work, &n), TUTTI_OK);
    CHECK_EQ(n, rank == 0 ? 105 : 5);
    CHECK_SAME(tutti__on_root_share(w->team, root_work, &n, &n, (int)sizeof n), TUTTI_OK);
    CHECK_EQ(n, 205);
    n = -1;
    const tutti_err err = tutti__on_root_share(w->team, root_work, &n, &n, (int)sizeof n);
    fails(tutti__object_error(&w->object, "put", err), TUTTI_ERR_IO, "put", "some/path", "n is -1");
    CHECK_EQ(tutti__object_error(&w->object, "put", TUTTI_OK), TUTTI_OK);
}

static void begins(int who) {
    tutti__team *t = NULL;
    const tutti__call c = {.name = "open", .what = "the path or the mode", .hash = 3};
    tutti__call other = c;
    other.hash = 4;
    check_where("begin");
    CHECK_SAME(tutti__object_begin(MPI_COMM_WORLD, &widget_class, &c, NULL, TUTTI_OK, &t),
               TUTTI_OK);
    CHECK(t && t->size == ranks, "no team");
    tutti__team_give(&t);
    const char *local = rank == who ? "mine" : "theirs";
    tutti_err err = TUTTI_OK;
    if (rank == who) err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "the mode is wrong");
    fails(tutti__object_begin(MPI_COMM_WORLD, &widget_class, &c, local, err, &t), TUTTI_ERR_ARG,
          "open", "mine", "the mode is wrong");
    if (ranks > 1) {
        fails(tutti__object_begin(MPI_COMM_WORLD, &widget_class, &c, local, TUTTI_OK, &t),
              TUTTI_ERR_MISMATCH, "open", "", "ranks disagree on the path or the mode");
        fails(tutti__object_begin(MPI_COMM_WORLD, &widget_class, rank == who ? &other : &c, "same",
                                  TUTTI_OK, &t),
              TUTTI_ERR_MISMATCH, "open", "same", "ranks disagree on the path or the mode");
        fails(tutti__object_begin(MPI_COMM_WORLD, rank == who ? &gadget_class : &widget_class, &c,
                                  "same", TUTTI_OK, &t),
              TUTTI_ERR_MISMATCH, "collective mismatch", "", "tutti_gadget_open");
    }
    CHECK(!t, "a team after a failure");
    fails(tutti__object_begin(MPI_COMM_NULL, &widget_class, &c, "same", TUTTI_OK, &t),
          TUTTI_ERR_ARG, "", "", "");
}

static void test_handles(void) {
    widget w = {.handle.class = &widget_class, .other = 1};
    check_where("handles");
    CHECK_ERR(tutti__object_live(NULL, &widget_class), TUTTI_ERR_ARG);
    CHECK(!strcmp(tutti_last_error()->text, "widget handle is NULL"), "'%s'",
          tutti_last_error()->text);
    CHECK_ERR(tutti__object_live(&w, &widget_class), TUTTI_ERR_STATE);
    tutti__handle_remove(&w.handle); /* no effect: the handle is not registered */
    tutti__handle_add(&w.handle, &widget_class);
    CHECK_OK(tutti__object_live(&w, &widget_class));
    CHECK_ERR(tutti__object_live(&w, &gadget_class), TUTTI_ERR_STATE);
    tutti__handle_remove(&w.handle);
    CHECK_ERR(tutti__object_live(&w, &widget_class), TUTTI_ERR_STATE);
    CHECK(!strcmp(tutti_last_error()->text, "widget handle is stale: the widget has been freed"),
          "'%s'", tutti_last_error()->text);
}

int main(int argc, char **argv) {
    char path[] = "some/path";
    widget w = {.handle.class = &widget_class, .path = path};
    tutti__segment memory = {NULL, 0, 0};
    harness_begin(&argc, &argv, 40);
    test_handles();
    CHECK_OK(tutti__team_take(MPI_COMM_WORLD, "", &w.team));
    for (int shared = 0; shared < 2; shared++) {
        if (shared && ranks > 1) { /* in the second round the ranks agree by consensus */
            CHECK_OK(tutti__segment_make(w.team, 1, tutti__consensus_bytes(w.team), &memory));
            CHECK_OK(tutti__staging_attach(w.team)); /* the team then frees the memory */
            w.team->staging->consensus = memory;
            tutti__consensus_use(w.team, memory.base);
        }
        for (int who = 0; who < ranks; who++) {
            names(&w, who);
            arguments(&w, who);
            failures(&w, who);
            begins(who);
        }
        root(&w);
    }
    tutti__team_give(&w.team);
    return harness_end();
}
