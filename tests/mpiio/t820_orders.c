/* TEST ranks=1,2,3,5 timeout=100 own=1 preload=mpiio */
/* Many pending requests: collective and independent operations on two files are started in a different order on each
 * rank as far as the standard allows, together with messages, persistent requests and null requests.  They are
 * completed by random Wait and Test calls on random parts of the list, in a different order on each rank.  Data
 * read must equal the data written in earlier rounds; all counts, and at the end all bytes of both files, must be
 * correct.
 *
 * The view of file 0 distributes blocks of five ints over the ranks; file 1 has the default view, and each rank reads
 * data of any rank.  The thread level depends on the number of ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpiio/requests.h"

enum { SLOTS = 8, LENGTH = 500, BLOCK = 5, ROUNDS = 14, FILES = 2, JOBS = FILES * SLOTS };
enum { MAX_RANKS = 8, EXTRA = 4, LIST = JOBS + EXTRA, MESSAGE = 30000 };

typedef struct {
    int file, slot, who; /* who: rank whose data is accessed */
    int is_write, collective;
} job;

static MPI_File files[FILES];
static int turns[FILES][SLOTS]; /* number of times each slot has been written */
static job jobs[JOBS];
static int buffers[JOBS][LENGTH];
static MPI_Request list[LIST];
static int job_of[LIST]; /* index in `jobs` for each request of `list`; -1: none */
static int completed[LIST];
static int round_;

/* ---- choosing jobs with random numbers that are the same on all ranks, and orders with rank-dependent numbers */

static void seed_of(int number) {
    check_state_ = check_seed_ * 1000003u + (uint64_t)number;
}

static void jobs_choose(int *n_out) {
    int n = 0;
    for (int f = 0; f < FILES; f++)
        for (int s = 0; s < SLOTS; s++) {
            const job j = {f, s, 0, turns[f][s] == 0 || rnd(2), (int)rnd(2)};
            if (rnd(4) > 0) jobs[n++] = j;
        }
    for (int i = 0; i < n; i++) {
        job *j = &jobs[i];
        turns[j->file][j->slot] += j->is_write;
    }
    *n_out = n;
}

/* Shuffle the jobs; collective jobs on the same file keep their order. */
static void jobs_order(int n, int *order) {
    int at = 0, next[FILES + 1] = {0};
    const int kinds = FILES + 1; /* collective jobs on each file, and independent jobs */
    while (at < n) {
        const int kind = (int)rnd(kinds);
        int i = next[kind];
        while (i < n && (jobs[i].collective ? jobs[i].file : FILES) != kind) i++;
        next[kind] = i + 1;
        if (i < n) order[at++] = i;
    }
}

static void shuffle_items(int n, MPI_Request *r, int *of) {
    for (int i = n - 1; i > 0; i--) {
        const int k = (int)rnd(i + 1), o = of[i];
        const MPI_Request q = r[i];
        r[i] = r[k];
        of[i] = of[k];
        r[k] = q;
        of[k] = o;
    }
}

/* ---- starting and completing */

static MPI_Offset offset_of(const job *j) {
    if (j->file == 0) return (MPI_Offset)j->slot * LENGTH; /* the view counts ints */
    return ((MPI_Offset)j->slot * ranks + j->who) * LENGTH * (MPI_Offset)sizeof(int);
}

static void job_start(int i, MPI_Request *out) {
    job *j = &jobs[i];
    const MPI_File f = files[j->file];
    j->who = j->is_write || j->file == 0 ? rank : (int)rnd(ranks);
    for (int k = 0; k < LENGTH; k++)
        buffers[i][k] =
            j->is_write ? mark(j->file * SLOTS + j->slot, rank, turns[j->file][j->slot], k) : 0;
    const MPI_Offset at = offset_of(j);
    if (j->is_write && j->collective)
        CHECK_MPI(MPI_File_iwrite_at_all(f, at, buffers[i], LENGTH, MPI_INT, out));
    else if (j->is_write)
        CHECK_MPI(MPI_File_iwrite_at(f, at, buffers[i], LENGTH, MPI_INT, out));
    else if (j->collective)
        CHECK_MPI(MPI_File_iread_at_all(f, at, buffers[i], LENGTH, MPI_INT, out));
    else
        CHECK_MPI(MPI_File_iread_at(f, at, buffers[i], LENGTH, MPI_INT, out));
}

static void job_check(int i) {
    const job *j = &jobs[i];
    if (j->is_write) return;
    for (int k = 0; k < LENGTH; k++)
        if (buffers[i][k] != mark(j->file * SLOTS + j->slot, j->who, turns[j->file][j->slot], k)) {
            CHECK(0, "round %d: int %d of slot %d in file %d", round_, k, j->slot, j->file);
            return;
        }
}

static void on_completion(int i, const MPI_Status *status, int code) {
    CHECK_MPI(code);
    if (completed[i]) return; /* the request is inactive */
    completed[i] = 1;
    if (job_of[i] < 0) return;
    CHECK(list[i] == MPI_REQUEST_NULL, "the handle stays");
    CHECK_EQ(bytes_of(status), LENGTH * sizeof(int));
    job_check(job_of[i]);
}

static int all_completed(int n) {
    for (int i = 0; i < n; i++)
        if (!completed[i]) return 0;
    return 1;
}

static void one_round(MPI_Request persistent) {
    static char out[MESSAGE], in[MESSAGE];
    int n, order[JOBS];
    seed_of(2 * round_);
    jobs_choose(&n);
    seed_of(1000 + round_ * MAX_RANKS + rank);
    jobs_order(n, order);
    for (int i = 0; i < n; i++) {
        job_of[i] = order[i];
        job_start(order[i], &list[i]);
    }
    MPI_Irecv(in, MESSAGE, MPI_CHAR, (rank + 1) % ranks, 7, MPI_COMM_WORLD, &list[n]);
    MPI_Isend(out, MESSAGE, MPI_CHAR, (rank + ranks - 1) % ranks, 7, MPI_COMM_WORLD, &list[n + 1]);
    list[n + 2] = MPI_REQUEST_NULL;
    list[n + 3] = persistent;
    if (round_ % 2) MPI_Start(&list[n + 3]);
    for (int i = n; i < n + EXTRA; i++) job_of[i] = i == n + 3 ? -2 : -1;
    n += EXTRA;
    shuffle_items(n, list, job_of);
    for (int i = 0; i < n; i++)
        completed[i] = list[i] == MPI_REQUEST_NULL || (job_of[i] == -2 && round_ % 2 == 0);
    const waiting w = {list, n, on_completion};
    while (!all_completed(n)) wait_somehow(&w);
}

/* Synchronise, as required before reading bytes written by other ranks. */
static void test_synchronise(void) {
    for (int f = 0; f < FILES; f++) CHECK_MPI(MPI_File_sync(files[f]));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int f = 0; f < FILES; f++) CHECK_MPI(MPI_File_sync(files[f]));
}

/* ---- complete tests */

static int file_int(int fd, int64_t at) {
    int v = 0;
    CHECK(pread(fd, &v, sizeof v, at * (int64_t)sizeof v) == (ssize_t)sizeof v, "int %lld",
          (long long)at);
    return v;
}

static void slot_check(int fd, int f, int s, int who) {
    for (int k = 0; k < LENGTH; k += 1 + (int)rnd(7)) {
        const int64_t i = (int64_t)s * LENGTH + k, block = i / BLOCK;
        const int64_t at = f == 0 ? (block * ranks + who) * BLOCK + i % BLOCK
                                  : ((int64_t)s * ranks + who) * LENGTH + k;
        if (file_int(fd, at) != mark(f * SLOTS + s, who, turns[f][s], k)) {
            CHECK(0, "file %d, slot %d, rank %d, int %d", f, s, who, k);
            return;
        }
    }
}

static void files_check(const char *const *paths) {
    for (int f = 0; f < FILES; f++) {
        const int fd = open(paths[f], O_RDONLY);
        for (int s = 0; s < SLOTS; s++)
            if (turns[f][s] > 0) slot_check(fd, f, s, rank);
        close(fd);
    }
}

static void view_set(MPI_File f) {
    MPI_Datatype block, type;
    MPI_Type_contiguous(BLOCK, MPI_INT, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)sizeof(int) * BLOCK * ranks, &type);
    MPI_Type_commit(&type);
    CHECK_MPI(MPI_File_set_view(f, (MPI_Offset)sizeof(int) * BLOCK * rank, MPI_INT, type, "native",
                                MPI_INFO_NULL));
    MPI_Type_free(&block);
    MPI_Type_free(&type);
}

static void run_rounds(const char *hints) {
    const char *const paths[FILES] = {scratch("orders0"), scratch("orders1")};
    MPI_Request persistent;
    check_where(hints);
    memset(turns, 0, sizeof turns);
    for (int f = 0; f < FILES; f++) files[f] = open_with(paths[f], hints);
    view_set(files[0]);
    MPI_Send_init(NULL, 0, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &persistent);
    for (round_ = 0; round_ < ROUNDS && check_failures_ < 20; round_++) {
        one_round(persistent);
        test_synchronise();
    }
    MPI_Request_free(&persistent);
    for (int f = 0; f < FILES; f++) CHECK_MPI(MPI_File_close(&files[f]));
    MPI_Barrier(MPI_COMM_WORLD);
    files_check(paths);
    for (int f = 0; f < FILES; f++) remove_file(paths[f]);
}

int main(int argc, char **argv) {
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_MULTIPLE, MPI_THREAD_FUNNELED,
                                 MPI_THREAD_SERIALIZED};
    const char *world = getenv("OMPI_COMM_WORLD_SIZE");
    if (!world) world = getenv("PMI_SIZE");
    requests_begin(&argc, &argv, levels[((world ? atoi(world) : 1) - 1) % 4], 820);
    run_rounds("");
    run_rounds("tutti_background=io-only cb_buffer_size=16384");
    run_rounds("tutti_background=none tutti_exchange=two-sided cb_buffer_size=16384");
    return requests_end();
}
