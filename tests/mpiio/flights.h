/* Operations of a random sequence (t840_sequence.c): they are started, completed by any completion call of MPI, and
 * compared with the model of the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_FLIGHTS_H
#define TUTTI_TESTS_FLIGHTS_H

#include "mpiio/describe.h"
#include "mpiio/families.h"
#include "mpiio/file_model.h"

enum { FLIGHTS = 6 };

/* A pending or running operation. */
typedef struct {
    family_call call;
    memory_side memory;
    file_ask ask;
    int64_t there;           /* number of bytes that the operation must transfer */
    unsigned char *expected; /* for reads: the bytes that must be read */
    MPI_Request request;
    int active, event;
    int over_end; /* whether some rank reads beyond the end of the file */
} flight;

static struct {
    int np, rank, native, romio, log, event;
    char path[512];
    MPI_File fh;
    int amode, can_read, can_write;
    view view[MAX_RANKS];
    /* individual pointers and shared pointer, in bytes of the view */
    int64_t position[MAX_RANKS], shared;
    int same_view;
    flight flight[FLIGHTS], split;
    int flights; /* number of used slots, the same on all ranks */
    /* range of operations of the pending split call on all ranks; 0: none */
    int split_first, split_last;
    int defects;
    FILE *record; /* record of results, to be compared with another run; or NULL */
    file_model model;
} w;

static char where_text[200];

static inline void set_event_text(const char *what) {
    snprintf(where_text, sizeof where_text, "rank %d of %d, event %d: %s", w.rank, w.np, w.event,
             what);
    check_where(where_text);
    if (w.log) fprintf(stderr, "%s\n", where_text);
}

/* A difference from the model is an error, unless it is a known defect of the MPI library's own MPI-IO. */
#define EXPECT(cond, known, ...)            \
    do {                                    \
        if (!(cond) && w.native && (known)) \
            w.defects++;                    \
        else                                \
            CHECK(cond, __VA_ARGS__);       \
    } while (0)

static inline void check_code(const char *what, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
    CHECK(code == MPI_SUCCESS, "%s: %s", what, text);
}

/* Return a status filled with a pattern, so that missing values are detected; not with the MPI library's own MPI-IO,
 * because Open MPI does not fill in all parts. */
static inline MPI_Status fresh_status(void) {
    MPI_Status st;
    memset(&st, w.native ? 0 : 0x55, sizeof st);
    return st;
}

/* ---- one operation */

static inline void print_operation(const flight *f) {
    const view *v = &w.view[w.rank];
    fprintf(stderr, "%s: at %lld, %lld bytes, view %lld ", where_text, (long long)f->ask.first,
            (long long)f->ask.bytes, (long long)v->disp);
    describe_type(stderr, v->etype.type);
    fprintf(stderr, " ");
    describe_type(stderr, v->type.type);
    fprintf(stderr, ", memory %lld x ", (long long)f->call.count);
    describe_type(stderr, f->call.type);
    fprintf(stderr, "\n");
}

static inline int64_t etype_size(void) {
    return w.view[w.rank].etype.n;
}

static inline void check_status(const flight *f, const MPI_Status *st) {
    const memory_side *m = &f->memory;
    int size, count, cancelled;
    MPI_Count elements;
    MPI_OK(MPI_Type_size(f->call.type, &size));
    MPI_OK(MPI_Get_count(st, MPI_BYTE, &count));
    EXPECT(count == f->there, f->over_end, "%d bytes instead of %lld of %lld", count,
           (long long)f->there, (long long)m->bytes);
    if (count != f->there || size == 0) return;
    MPI_OK(MPI_Get_count(st, f->call.type, &count));
    CHECK(count == (f->there % size ? MPI_UNDEFINED : f->there / size), "count %d of %lld / %d",
          count, (long long)f->there, size);
    if (m->leaf != MPI_DATATYPE_NULL && f->there % m->type.n == 0) {
        MPI_OK(MPI_Get_elements_x(st, f->call.type, &elements));
        CHECK_EQ(elements, f->there / m->type.n);
    }
    MPI_OK(MPI_Test_cancelled(st, &cancelled));
    EXPECT(cancelled == 0, !w.romio, "cancelled is %d", cancelled);
}

/* Check the buffer: a read has changed only the bytes that exist in the file, a write has changed nothing. */
static inline void check_memory(flight *f) {
    memory_side *m = &f->memory;
    int64_t wrong = 0, first = -1;
    for (int64_t i = 0; i < f->there && !f->call.is_write; i++)
        m->before[memory_at(m, i)] = f->expected[i];
    /* the MPI libraries' own MPI-IO has many defects at the end of the file */
    if (w.native && f->over_end) {
        w.defects += memcmp(m->base, m->before, (size_t)m->size) != 0;
        return;
    }
    for (int64_t i = 0; i < m->size; i++) {
        if (m->base[i] == m->before[i]) continue;
        if (first < 0) first = i;
        wrong++;
    }
    CHECK(wrong == 0, "%lld of %lld bytes of memory are wrong, the first at %lld", (long long)wrong,
          (long long)m->size, (long long)first);
}

/* Record counts and a checksum of the bytes, except where the MPI libraries' own MPI-IO has defects. */
static inline void record_result(const flight *f, const MPI_Status *st) {
    const memory_side *m = &f->memory;
    uint64_t sum = 0;
    int count;
    if (!w.record || f->over_end) return;
    MPI_OK(MPI_Get_count(st, f->call.type, &count));
    for (int64_t i = 0; i < m->bytes; i++) sum = sum * 31 + m->base[memory_at(m, i)];
    fprintf(w.record, "%d where %d how %d together %d write %d: count %d, sum %016llx\n", f->event,
            f->call.where, f->call.how, f->call.together, f->call.is_write, count,
            (unsigned long long)sum);
}

static inline void finish_operation(flight *f, const MPI_Status *st) {
    char text[64], name[40];
    family_name(&f->call, name, sizeof name);
    snprintf(text, sizeof text, "%s of event %d", name, f->event);
    set_event_text(text);
    const int failures = check_failures_;
    check_status(f, st);
    check_memory(f);
    if (check_failures_ > failures) print_operation(f);
    record_result(f, st);
    memory_free(&f->memory);
    free(f->expected);
    f->active = 0;
}

static inline void prepare_operation(flight *f, const family_call *c, const file_ask *a,
                                     int64_t there) {
    const view *v = &w.view[w.rank];
    *f = (flight){.call = *c, .ask = *a, .there = there, .active = 1, .event = w.event};
    f->memory = memory_make(a->bytes, !c->is_write, a->op);
    f->expected = malloc((size_t)there + 1);
    for (int64_t i = 0; i < there; i++) f->expected[i] = w.model.data[view_at(v, a->first + i)];
    f->call.offset = etype_size() ? a->first / etype_size() : 0;
    f->call.buf = f->memory.base - f->memory.lo;
    f->call.count = f->memory.count;
    f->call.type = f->memory.type.type;
    if (f->memory.bottom != MPI_DATATYPE_NULL) {
        f->call.buf = MPI_BOTTOM;
        f->call.count = 1;
        f->call.type = f->memory.bottom;
    }
}

static inline void start_operation(flight *f) {
    MPI_Status st = fresh_status();
    char name[80];
    family_name(&f->call, name, sizeof name);
    snprintf(name + strlen(name), sizeof name - strlen(name), " %lld+%lld", (long long)f->ask.first,
             (long long)f->ask.bytes);
    set_event_text(name);
    if (w.log) print_operation(f);
    const int code = family_start(&f->call, w.fh, &st, &f->request);
    check_code(name, code);
    if (f->call.how == BLOCKING) finish_operation(f, &st);
}

/* ---- pending operations: all ranks know them, and each rank completes them in any order */

static inline void complete_slot(int i, const MPI_Status *st) {
    finish_operation(&w.flight[i], st);
}

static inline void complete_each(void) {
    MPI_Status st = fresh_status();
    MPI_Request rq[FLIGHTS];
    int index, flag = 0;
    for (int i = 0; i < FLIGHTS; i++)
        rq[i] = w.flight[i].active ? w.flight[i].request : MPI_REQUEST_NULL;
    for (;;) {
        if (rnd(2)) {
            MPI_OK(MPI_Waitany(FLIGHTS, rq, &index, &st));
        } else {
            for (flag = 0; !flag;) MPI_OK(MPI_Testany(FLIGHTS, rq, &index, &flag, &st));
        }
        if (index == MPI_UNDEFINED) return;
        complete_slot(index, &st);
    }
}

static inline void complete_some(void) {
    MPI_Status st[FLIGHTS];
    for (int i = 0; i < FLIGHTS; i++) st[i] = fresh_status();
    MPI_Request rq[FLIGHTS];
    int index[FLIGHTS], n = 0;
    for (int i = 0; i < FLIGHTS; i++)
        rq[i] = w.flight[i].active ? w.flight[i].request : MPI_REQUEST_NULL;
    while (n != MPI_UNDEFINED) {
        MPI_OK((rnd(2) ? MPI_Waitsome : MPI_Testsome)(FLIGHTS, rq, &n, index, st));
        for (int i = 0; i < n; i++) complete_slot(index[i], &st[i]);
    }
}

static inline void complete_together(int test) {
    MPI_Status st[FLIGHTS];
    for (int i = 0; i < FLIGHTS; i++) st[i] = fresh_status();
    MPI_Request rq[FLIGHTS];
    int flag = 0;
    for (int i = 0; i < FLIGHTS; i++)
        rq[i] = w.flight[i].active ? w.flight[i].request : MPI_REQUEST_NULL;
    if (test)
        while (!flag) MPI_OK(MPI_Testall(FLIGHTS, rq, &flag, st));
    else
        MPI_OK(MPI_Waitall(FLIGHTS, rq, st));
    for (int i = 0; i < FLIGHTS; i++)
        if (w.flight[i].active) complete_slot(i, &st[i]);
}

/* Complete the operations one after the other, in the order of their slots or backwards. */
static inline void complete_in_order(int backwards) {
    MPI_Status st = fresh_status();
    for (int k = 0; k < FLIGHTS; k++) {
        const int i = backwards ? FLIGHTS - 1 - k : k;
        int flag = 0;
        if (!w.flight[i].active) continue;
        while (rnd(2) && !flag) MPI_OK(MPI_Test(&w.flight[i].request, &flag, &st));
        if (!flag) MPI_OK(MPI_Wait(&w.flight[i].request, &st));
        complete_slot(i, &st);
    }
}

/* Complete all requests; each rank chooses a different completion call. */
static inline void complete_all(void) {
    const uint64_t kept = check_state_;
    check_state_ ^= (uint64_t)(w.rank + 1) * 0x9e3779b97f4a7c15u;
    /* MPICH's own MPI-IO corrupts data if ranks complete operations in different orders */
    const int way = w.native ? 0 : (int)rnd(6);
    if (way <= 1) complete_together(way);
    if (way == 2) complete_each();
    if (way == 3) complete_some();
    if (way >= 4) complete_in_order(way == 5);
    check_state_ = kept;
    w.flights = 0;
    for (int op = 1; op <= w.model.ops; op++)
        w.model.completed[op] = !w.split_first || op < w.split_first || op > w.split_last;
}

/* Test one random request on each rank; other ranks do not know whether it is complete. */
static inline void test_one_request(void) {
    flight *f = &w.flight[rnd(FLIGHTS)];
    MPI_Status st = fresh_status();
    int flag;
    if (!f->active || w.native) return;
    set_event_text("test");
    MPI_OK(MPI_Test(&f->request, &flag, &st));
    if (flag) finish_operation(f, &st);
}

static inline void end_split(void) {
    MPI_Status st = fresh_status();
    if (!w.split_first) return;
    MPI_OK(family_end(&w.split.call, w.fh, &st));
    finish_operation(&w.split, &st);
    memset(w.model.completed + w.split_first, 1, (size_t)(w.split_last - w.split_first + 1));
    w.split_first = 0;
}

static inline void complete_pending(void) {
    end_split();
    complete_all();
}

static inline void synchronise_ranks(void) {
    complete_pending();
    set_event_text("sync");
    if (w.can_write) MPI_OK(MPI_File_sync(w.fh));
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (w.can_write) MPI_OK(MPI_File_sync(w.fh));
    model_synchronise(&w.model);
}

#endif
