/* TEST ranks=1,2,3,5,8 timeout=60 own=1 preload=mpiio */
/* A long random sequence of MPI-IO calls: all kinds of calls, random views and memory types,
 * seeks, sizes, atomic mode, reopening.  The MPI standard defines the result of each call.  A
 * serial model of the file computes the expected counts, positions, sizes, bytes read and bytes in
 * the file.
 *
 * All ranks use the same random numbers, so that each rank knows all operations.  A sync-barrier-sync precedes
 * accesses that conflict with earlier accesses according to the model; conflicting accesses within one collective
 * call are made empty.
 *
 *   t840_sequence [FILE]     the named file is kept, with a record FILE.RANK of counts, sums, positions
 *   TUTTI_TEST_TAME=1        only calls that the MPI-IO of the MPI library supports
 *   TUTTI_TEST_NATIVE=1      without the drop-in: known defects of the MPI library are avoided or counted
 *   TUTTI_TEST_SEED, TUTTI_TEST_EVENTS, TUTTI_TEST_LOG (1: print a line per event and rank; 2: also compare the file
 *   after each event)
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <unistd.h>
#include "mpiio/flights.h"

#ifdef __SANITIZE_ADDRESS__
#define SLOWER 3
#else
#define SLOWER 1
#endif

/* ---- accesses */

/* Choose random accesses for all ranks; ranks that do not take part in an independent call have -1 bytes. */
static void choose_asks(const family_call *c, file_ask *ask) {
    const int64_t most = rnd(12) ? 600 : 12000;
    const int near_end = !c->is_write && rnd(3) == 0;
    for (int r = 0; r < w.np; r++) {
        const view *v = &w.view[r];
        const int64_t e = v->etype.n, shown = view_bytes_before(v, MODEL_BYTES) / e;
        int64_t first =
            c->where == POINTER ? w.position[r] / e : rnd(shown < 400 ? shown + 1 : 400);
        int64_t n = rnd(5) ? rnd(most / e + 1) : 0;
        const int takes_part = c->together || c->where == SHARED || rnd(3);
        if (c->where == AT && near_end) {
            first = view_bytes_before(v, w.model.size) / e - rnd(40);
            first = first < 0 ? 0 : first;
        }
        if (n > shown - first) n = shown > first ? shown - first : 0;
        ask[r] = (file_ask){.first = first * e, .bytes = takes_part ? n * e : -1};
    }
}

/* For ordered and shared calls, place the accesses of all ranks one after the other, in the order of `turn`. */
static void order_accesses(file_ask *ask, const int *turn) {
    const view *v = &w.view[0];
    const int64_t shown = view_bytes_before(v, MODEL_BYTES) / v->etype.n * v->etype.n;
    int64_t at = w.shared;
    for (int k = 0; k < w.np; k++) {
        file_ask *a = &ask[turn[k]];
        a->first = at;
        if (a->bytes > shown - at) a->bytes = shown > at ? shown - at : 0;
        at += a->bytes;
    }
    w.shared = at;
}

/* Synchronise if an access conflicts with earlier calls, and remove accesses that conflict within the call. */
static void avoid_conflicts(const family_call *c, file_ask *ask, int64_t *there) {
    int conflict = 0;
    for (int r = 0; r < w.np; r++)
        conflict |=
            ask[r].bytes > 0 && model_conflict(&w.model, &w.view[r], &ask[r], r, c->is_write);
    if (conflict) synchronise_ranks();
    for (int r = 0; r < w.np; r++) {
        if (ask[r].bytes < 0) continue;
        if (model_conflict(&w.model, &w.view[r], &ask[r], r, c->is_write)) {
            CHECK(c->where != SHARED, "shared pointers do not overlap");
            ask[r].bytes = 0;
        }
        there[r] = model_access(&w.model, &w.view[r], &ask[r], r, c->is_write);
        w.model.completed[ask[r].op] = 0;
        if (c->where == POINTER) w.position[r] += ask[r].bytes;
    }
    for (int r = 0; r < w.np; r++) /* until now, the accesses of this call count as concurrent */
        if (ask[r].bytes >= 0) w.model.completed[ask[r].op] = c->how == BLOCKING;
}

/* Set the file pointer after a read beyond the end of the file, because the standard does not define its position. */
static void place_pointers(const family_call *c, const file_ask *ask, const int64_t *there) {
    int any_short = 0;
    for (int r = 0; r < w.np; r++) any_short |= ask[r].bytes > there[r];
    /* split calls may move the pointer until they end, MPICH's own nonblocking calls until they are complete */
    if (any_short && (w.native || c->how == SPLIT)) complete_pending();
    if (c->where == POINTER && ask[w.rank].bytes > there[w.rank])
        MPI_OK(MPI_File_seek(w.fh, w.position[w.rank] / etype_size(), MPI_SEEK_SET));
    if (c->where == SHARED && any_short) {
        complete_pending();
        MPI_OK(MPI_File_seek_shared(w.fh, w.shared / etype_size(), MPI_SEEK_SET));
    }
}

static void shuffle_items(int *turn, int n) {
    for (int i = 0; i < n; i++) turn[i] = i;
    for (int i = n - 1; i > 0; i--) {
        const int k = (int)rnd(i + 1), kept = turn[i];
        turn[i] = turn[k];
        turn[k] = kept;
    }
}

static void in_rank_order(flight *f, const int *turn) {
    for (int k = 0; k < w.np; k++) {
        if (turn[k] == w.rank) start_operation(f);
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

static void data_event(family_call c) {
    file_ask ask[MAX_RANKS];
    int64_t there[MAX_RANKS] = {0};
    int turn[MAX_RANKS];
    c.is_write = w.can_write && (!w.can_read || rnd(2));
    c.large = (int)rnd(2);
    choose_asks(&c, ask);
    shuffle_items(turn, w.np);
    if (c.together)
        for (int r = 0; r < w.np; r++) turn[r] = r;
    if (c.where == SHARED) order_accesses(ask, turn);
    if (c.how == SPLIT || w.flights == FLIGHTS || (w.native && c.together)) complete_all();
    if (c.together || c.where == SHARED) end_split();
    avoid_conflicts(&c, ask, there);
    if (w.native && !w.romio && c.how != BLOCKING && !c.is_write)
        /* nonblocking reads beyond the end of the file hang in Open MPI's own MPI-IO */
        for (int r = 0; r < w.np; r++)
            if (ask[r].bytes > there[r]) c.how = BLOCKING;
    flight now_done = {0};
    flight *f = c.how == SPLIT ? &w.split : c.how == BLOCKING ? &now_done : NULL;
    if (!f) f = &w.flight[w.flights++];
    if (c.how == SPLIT) {
        w.split_last = w.model.ops;
        w.split_first = w.split_last - w.np + 1;
    }
    if (ask[w.rank].bytes >= 0) prepare_operation(f, &c, &ask[w.rank], there[w.rank]);
    for (int r = 0; r < w.np; r++) f->over_end |= ask[r].bytes > there[r];
    if (c.where == SHARED && !c.together)
        in_rank_order(f, turn);
    else if (ask[w.rank].bytes >= 0)
        start_operation(f);
    if (c.how == BLOCKING)
        for (int r = 0; r < w.np; r++)
            if (ask[r].bytes >= 0) w.model.completed[ask[r].op] = 1;
    place_pointers(&c, ask, there);
}

/* ---- views, sizes, positions */

/* Wait until all ranks have computed their accesses. */
static void wait_for_all_ranks(void) {
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void set_view(int same) {
    complete_pending();
    set_event_text("set_view");
    view *v = w.view;
    views_free(v, w.np);
    w.same_view = random_views(v, w.np, MODEL_BYTES / 2, same);
    v += w.rank;
    if (!is_predefined(v->etype.type)) MPI_OK(MPI_Type_commit(&v->etype.type));
    MPI_OK(MPI_Type_commit(&v->type.type));
    /* Open MPI's own MPI-IO has no "internal" */
    const char *rep = rnd(2) && !w.native ? "internal" : "native";
    const int code =
        MPI_File_set_view(w.fh, v->disp, v->etype.type, v->type.type, rep, MPI_INFO_NULL);
    check_code("set_view", code);
    if (code != MPI_SUCCESS) print_operation(&(flight){.call.type = MPI_BYTE});
    memset(w.position, 0, sizeof w.position);
    w.shared = 0;
}

static void test_seek(void) {
    const view *v = &w.view[w.rank];
    const int64_t e = v->etype.n;
    const int whence = (int)rnd(3);
    /* with MPI_SEEK_END, Open MPI's own MPI-IO counts bytes */
    const int no_end = w.native && !w.romio;
    if (whence == 2 && w.model.grown) synchronise_ranks();
    set_event_text("seek");
    for (int r = 0; r < w.np; r++) {
        const int64_t er = w.view[r].etype.n;
        int64_t to = rnd(300);
        if (whence == 2) /* offsets count from the end of the file in etypes, rounded up */
            to = (view_bytes_before(&w.view[r], w.model.size) + er - 1) / er - rnd(20);
        w.position[r] = (to < 0 ? 0 : to) * er;
    }
    const int64_t to = w.position[w.rank] / e;
    MPI_Offset here;
    if (whence == 0 || (whence == 2 && no_end)) MPI_OK(MPI_File_seek(w.fh, to, MPI_SEEK_SET));
    if (whence == 1) {
        MPI_OK(MPI_File_get_position(w.fh, &here));
        MPI_OK(MPI_File_seek(w.fh, to - here, MPI_SEEK_CUR));
    }
    if (whence == 2 && !no_end)
        MPI_OK(MPI_File_seek(w.fh, to - (view_bytes_before(v, w.model.size) + e - 1) / e,
                             MPI_SEEK_END));
    MPI_OK(MPI_File_get_position(w.fh, &here));
    CHECK_EQ(here, to);
    wait_for_all_ranks();
}

static void seek_shared(void) {
    MPI_Offset here;
    complete_pending();
    set_event_text("seek_shared");
    w.shared = rnd(300) * etype_size();
    MPI_OK(MPI_File_seek_shared(w.fh, w.shared / etype_size(), MPI_SEEK_SET));
    MPI_OK(MPI_File_get_position_shared(w.fh, &here));
    CHECK_EQ(here, w.shared / etype_size());
    wait_for_all_ranks();
}

static void test_queries(void) {
    const view *v = &w.view[w.rank];
    const int64_t e = v->etype.n, some = rnd(1000);
    MPI_Offset place;
    MPI_Aint extent, lb, as_told;
    set_event_text("queries");
    MPI_OK(MPI_File_get_position(w.fh, &place));
    CHECK_EQ(place, w.position[w.rank] / e);
    MPI_OK(MPI_File_get_byte_offset(w.fh, some, &place));
    CHECK_EQ(place, view_at(v, some * e));
    if (w.same_view && !w.flights) {
        MPI_OK(MPI_File_get_position_shared(w.fh, &place));
        CHECK_EQ(place, w.shared / e);
    }
    if (!w.model.grown) {
        MPI_OK(MPI_File_get_size(w.fh, &place));
        CHECK_EQ(place, w.model.size);
    }
    MPI_OK(MPI_File_get_type_extent(w.fh, v->type.type, &extent));
    MPI_OK(MPI_Type_get_extent(v->type.type, &lb, &as_told));
    CHECK_EQ(extent, as_told);
    if (w.record)
        fprintf(w.record, "%d at %lld, extent %lld\n", w.event, (long long)w.position[w.rank] / e,
                (long long)extent);
    wait_for_all_ranks();
}

static void set_size(void) {
    synchronise_ranks();
    if (!w.can_write) return;
    const int64_t size = rnd(2) ? rnd(w.model.size + 1) : rnd(MODEL_BYTES);
    MPI_Offset told;
    if (rnd(2)) {
        set_event_text("set_size");
        MPI_OK(MPI_File_set_size(w.fh, size));
        model_set_size(&w.model, size);
    } else {
        set_event_text("preallocate");
        const int64_t most = size > w.model.size ? size : w.model.size;
        /* preallocate of Open MPI's own MPI-IO writes through the view, at wrong offsets */
        if (w.native && !w.romio)
            MPI_OK(MPI_File_set_size(w.fh, most));
        else
            MPI_OK(MPI_File_preallocate(w.fh, size));
        if (w.native) /* preallocate of MPICH's own MPI-IO moves the file pointer */
            MPI_OK(MPI_File_seek(w.fh, w.position[w.rank] / etype_size(), MPI_SEEK_SET));
        model_set_size(&w.model, most);
    }
    MPI_OK(MPI_File_get_size(w.fh, &told));
    CHECK_EQ(told, w.model.size);
    wait_for_all_ranks();
}

static void set_atomic(void) {
    const int on = (int)rnd(2);
    int told = -1;
    synchronise_ranks();
    set_event_text("set_atomicity");
    MPI_OK(MPI_File_set_atomicity(w.fh, on));
    MPI_OK(MPI_File_get_atomicity(w.fh, &told));
    CHECK_EQ(told, on);
}

/* ---- calls for the whole file */

static MPI_Info random_hints(void) {
    const char *const table[][2] = {
        {"cb_buffer_size", "4096"},
        {"cb_buffer_size", "65536"},
        {"cb_nodes", "1"},
        {"cb_nodes", "2"},
        {"romio_cb_write", "enable"},
        {"romio_cb_read", "enable"},
        {"romio_cb_write", "disable"},
        {"striping_unit", "4096"},
        {"romio_ds_write", "disable"},
        {"tutti_method", "two-phase"},
        {"tutti_method", "sieve"},
        {"tutti_method", "list"},
        {"tutti_method", "root"},
        {"tutti_method", "independent"},
        {"tutti_exchange", "two-sided"},
        {"tutti_window_size", "1k"},
        {"tutti_store", "threads"},
        {"tutti_background", "io-only"},
        {"tutti_pipeline", "write-comm-2"},
    };
    MPI_Info info;
    MPI_OK(MPI_Info_create(&info));
    if (w.native) /* data sieving of MPICH writes wrong data if tiles of a view are adjacent */
        MPI_OK(MPI_Info_set(info, "romio_ds_write", "disable"));
    for (int64_t i = rnd(5); i > 0; i--) {
        const char *const *pair = table[rnd(sizeof table / sizeof *table)];
        MPI_OK(MPI_Info_set(info, pair[0], pair[1]));
    }
    return info;
}

/* Compare the bytes of the file, read without MPI, with the model. */
static void compare_file(void) {
    static unsigned char seen[MODEL_BYTES + 1];
    if (w.rank) return;
    const int fd = open(w.path, O_RDONLY);
    const int64_t n = fd < 0 ? -1 : read(fd, seen, sizeof seen);
    if (fd >= 0) close(fd);
    CHECK_EQ(n, w.model.size);
    int64_t wrong = 0, first = -1;
    for (int64_t i = 0; i < n && i < w.model.size; i++)
        if (seen[i] != w.model.data[i] && wrong++ == 0) first = i;
    CHECK(wrong == 0, "%lld bytes of the file are wrong, the first at %lld", (long long)wrong,
          (long long)first);
}

static void close_file(void) {
    synchronise_ranks();
    set_event_text("close");
    MPI_OK(MPI_File_close(&w.fh));
    CHECK(w.fh == MPI_FILE_NULL, "the handle is null");
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    compare_file();
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void open_file(void) {
    const int how = w.model.ops ? (int)rnd(6) : 0;
    MPI_Info info = random_hints();
    w.can_write = how != 1;
    w.can_read = how != 2;
    w.amode = w.can_write ? w.can_read ? MPI_MODE_RDWR : MPI_MODE_WRONLY : MPI_MODE_RDONLY;
    if (w.can_write) w.amode |= MPI_MODE_CREATE;
    if (how == 3) w.amode |= MPI_MODE_APPEND;
    if (how == 4) w.amode |= MPI_MODE_UNIQUE_OPEN;
    set_event_text("open");
    const int code = MPI_File_open(MPI_COMM_WORLD, w.path, w.amode, info, &w.fh);
    if (code != MPI_SUCCESS) {
        check_code("open", code);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_OK(MPI_Info_free(&info));
    views_free(w.view, w.np);
    for (int r = 0; r < w.np; r++) {
        map_named(&w.view[r].etype, MPI_BYTE);
        map_named(&w.view[r].type, MPI_BYTE);
        w.view[r].disp = 0;
        w.position[r] = how == 3 ? w.model.size : 0;
    }
    w.shared = w.position[0];
    w.same_view = 1;
    test_queries();
}

static void any_view(void) {
    set_view(0);
}
static void same_view(void) {
    set_view(1);
}
static void reopen_file(void) {
    close_file();
    open_file();
}

/* Possible events and their weights. */
static const struct {
    int weight;
    void (*event)(void); /* NULL: a data access call, described by the next fields */
    enum call_where where;
    enum call_how how;
    int together;
} events[] = {
    {8, NULL, AT, BLOCKING, 1},
    {8, NULL, POINTER, BLOCKING, 1},
    {4, NULL, AT, NONBLOCKING, 1},
    {4, NULL, POINTER, NONBLOCKING, 1},
    {4, NULL, AT, SPLIT, 1},
    {4, NULL, POINTER, SPLIT, 1},
    {6, NULL, AT, BLOCKING, 0},
    {6, NULL, POINTER, BLOCKING, 0},
    {4, NULL, AT, NONBLOCKING, 0},
    {4, NULL, POINTER, NONBLOCKING, 0},
    {6, NULL, SHARED, BLOCKING, 1},
    {5, NULL, SHARED, SPLIT, 1},
    {4, NULL, SHARED, BLOCKING, 0},
    {4, NULL, SHARED, NONBLOCKING, 0},
    {8, test_queries, AT, BLOCKING, 0},
    {3, test_one_request, AT, BLOCKING, 0},
    {4, test_seek, AT, BLOCKING, 0},
    {4, any_view, AT, BLOCKING, 0},
    {4, same_view, AT, BLOCKING, 0},
    {2, end_split, AT, BLOCKING, 0},
    {2, complete_all, AT, BLOCKING, 0},
    {2, set_size, AT, BLOCKING, 0},
    {1, set_atomic, AT, BLOCKING, 0},
    {2, reopen_file, AT, BLOCKING, 0},
    {2, synchronise_ranks, AT, BLOCKING, 0},
    {2, seek_shared, AT, BLOCKING, 0},
};

static void one_event(void) {
    const int n = sizeof events / sizeof *events;
    int total = 0, k = 0;
    for (int i = 0; i < n; i++) total += events[i].weight;
    int64_t left = rnd(total);
    while (left >= events[k].weight) left -= events[k++].weight;
    if (!w.same_view && (events[k].where == SHARED || events[k].event == seek_shared)) return;
    if (events[k].event) return events[k].event();
    data_event((family_call){
        .where = events[k].where, .how = events[k].how, .together = events[k].together});
}

static void start_world(int argc, char **argv) {
    const char *dir = getenv("TUTTI_TEST_DIR"), *native = getenv("TUTTI_TEST_NATIVE");
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.np);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    w.native = native && *native;
    types_tame = w.native || getenv("TUTTI_TEST_TAME") != NULL;
    w.log = getenv("TUTTI_TEST_LOG") ? atoi(getenv("TUTTI_TEST_LOG")) : 0;
#ifdef MPICH_VERSION
    w.romio = 1;
    types_tame *= 2;
#endif
    if (argc > 1)
        snprintf(w.path, sizeof w.path, "%s", argv[1]);
    else
        snprintf(w.path, sizeof w.path, "%s/sequence", dir ? dir : ".");
    char text[600];
    snprintf(text, sizeof text, "%s.%d", w.path, w.rank);
    w.record = argc > 1 ? fopen(text, "w") : NULL;
    type_large_forms = 0;
    if (w.rank == 0) unlink(w.path);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    const char *events = getenv("TUTTI_TEST_EVENTS");
    MPI_Init(&argc, &argv);
    start_world(argc, argv);
    check_seed(840 + (uint64_t)w.np);
    for (int r = 0; r < w.np; r++) {
        map_named(&w.view[r].etype, MPI_BYTE);
        map_named(&w.view[r].type, MPI_BYTE);
    }
    open_file();
    const int usual = w.np <= 3   ? 500
                      : w.np <= 5 ? 250
                                  : 120,
              last = events ? atoi(events) : usual / SLOWER;
    for (w.event = 1; w.event <= last; w.event++) {
        one_event();
        if (check_failures_) MPI_Abort(MPI_COMM_WORLD, 1);
        if (w.log < 2) continue;
        synchronise_ranks();
        compare_file();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    close_file();
    views_free(w.view, w.np);
    if (argc < 2 && w.rank == 0) unlink(w.path);
    if (w.record) fclose(w.record);
    if (w.native && w.defects && w.rank == 0)
        fprintf(stderr, "known defects of the MPI library met: %d\n", w.defects);
    MPI_Finalize();
    return check_done();
}
