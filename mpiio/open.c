/* mpiio: open, close, delete.
 *
 * Steps that can fail on a single rank (arguments, hints, the native handle, memory) come first,
 * followed by one agreement on the communicator of the program.  tutti_file_open, which includes an
 * agreement, is the last step that can fail.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "request.h"

/* ---- arguments */

/* ROMIO uses prefixes such as "ufs:" to choose its file system. */
static const char *strip_prefix(const char *path) {
    static const char *const kinds[] = {"ufs",   "nfs",    "xfs",  "pfs",    "piofs",
                                        "pvfs",  "pvfs2",  "gpfs", "lustre", "daos",
                                        "panfs", "testfs", "bg",   "zoidfs", "gridftp"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t n = strlen(kinds[i]);
        if (strncmp(path, kinds[i], n) == 0 && path[n] == ':') return path + n + 1;
    }
    return path;
}

static int check_amode(int amode) {
    const int known = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY | MPI_MODE_CREATE |
                      MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN |
                      MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
    const int reads = amode & MPI_MODE_RDONLY, both = amode & MPI_MODE_RDWR;
    const int ways = !!reads + !!both + !!(amode & MPI_MODE_WRONLY);
    if ((amode & ~known) || ways != 1)
        return mpiio_complain(MPI_ERR_AMODE,
                              "mode is %d: must have exactly one of MPI_MODE_RDONLY, "
                              "MPI_MODE_WRONLY and MPI_MODE_RDWR",
                              amode);
    if (reads && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
        return mpiio_complain(
            MPI_ERR_AMODE,
            "MPI_MODE_CREATE and MPI_MODE_EXCL are not allowed with MPI_MODE_RDONLY");
    if (both && (amode & MPI_MODE_SEQUENTIAL))
        return mpiio_complain(MPI_ERR_AMODE,
                              "MPI_MODE_SEQUENTIAL is not allowed with MPI_MODE_RDWR");
    return MPI_SUCCESS;
}

static int check_path(const char *path) {
    if (path && strip_prefix(path)[0]) return MPI_SUCCESS;
    return mpiio_complain(path ? MPI_ERR_NO_SUCH_FILE : MPI_ERR_ARG, "argument filename is %s",
                          path ? "empty" : "NULL");
}

static int check_comm(MPI_Comm comm) {
    int between = 0;
    if (comm == MPI_COMM_NULL)
        return mpiio_complain(MPI_ERR_COMM, "argument comm is MPI_COMM_NULL");
    const int code = PMPI_Comm_test_inter(comm, &between);
    if (code != MPI_SUCCESS || !between) return code;
    return mpiio_complain(MPI_ERR_COMM,
                          "the communicator is an intercommunicator: must be an intracommunicator");
}

/* ---- local data of a rank */

static void file_free(mpiio_file *f) {
    mpiio_shared_drop(f);
    mpiio_view_drop(&f->view);
    if (f->native != MPI_FILE_NULL) mpiio_handle_give(f->native);
    if (f->hints != MPI_INFO_NULL) PMPI_Info_free(&f->hints);
    mpiio_ranks_give(&f->ranks);
    pthread_mutex_destroy(&f->lock);
    free(f->path);
    free(f);
}

static int file_prepare(mpiio_file *f, const char *path, int amode, MPI_Info info,
                        tutti_options *opt) {
    if (!f) return mpiio_complain(MPI_ERR_NO_MEM, "cannot allocate a file handle");
    f->native = MPI_FILE_NULL;
    f->hints = MPI_INFO_NULL;
    f->view.etype = f->view.filetype = f->view.tile = MPI_DATATYPE_NULL;
    pthread_mutex_init(&f->lock, NULL);
    f->amode = amode;
    int code = check_amode(amode);
    if (code == MPI_SUCCESS) code = check_path(path);
    if (code == MPI_SUCCESS) code = mpiio_hints_read(info, opt);
    if (code == MPI_SUCCESS) code = mpiio_hints_open(f, info);
    if (code == MPI_SUCCESS) code = mpiio_view_init(&f->view);
    if (code != MPI_SUCCESS) return code;
    f->path = strdup(strip_prefix(path));
    if (!f->path) return mpiio_complain(MPI_ERR_NO_MEM, "cannot allocate a file handle");
    code = mpiio_shared_make(f);
    return code == MPI_SUCCESS ? mpiio_handle_take(&f->native) : code;
}

/* ---- agreement */

enum { CLASS, MODE, MODE_, TEAM, TEAM_, APART, TOKEN, DEVICE, SUMMARY, NUMBERS };

/* Agree whether the file can be opened.  *device: on return, whether the file is a device on any
 * rank.  The file gets a cached private communicator if the same one is unused on all ranks,
 * otherwise a new communicator.   Collective. */
static int open_agree(MPI_Comm comm, mpiio_file *f, int local_class, const tutti_options *opt,
                      int *device) {
    mpiio_ranks *offer = mpiio_ranks_offer(comm);
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    const int64_t team = offer ? offer->id : -1;
    const int64_t amode = f ? f->amode : 0;
    int64_t n[NUMBERS] = {
        [CLASS] = local_class, [MODE] = amode, [MODE_] = -amode, [TEAM] = team, [TEAM_] = -team};
    if (local_class == MPI_SUCCESS) n[APART] = opt->nodes[0] != '\0';
    n[DEVICE] = *device;
    n[SUMMARY] = mpiio_summary_wanted();
    if (rank == 0) n[TOKEN] = mpiio_shared_token();
    int code = mpiio_agree_on(comm, NUMBERS, n);
    if (code == MPI_SUCCESS && local_class != MPI_SUCCESS && local_class == n[CLASS])
        code = local_class; /* the same class on all ranks, with this rank's message */
    else if (code == MPI_SUCCESS && n[CLASS] != MPI_SUCCESS)
        code = mpiio_complain((int)n[CLASS], "another rank cannot open the file");
    else if (code == MPI_SUCCESS && n[MODE] != -n[MODE_])
        code = mpiio_complain(MPI_ERR_NOT_SAME, "ranks open the file with different modes");
    *device = (int)n[DEVICE];
    if (code != MPI_SUCCESS || *device) {
        mpiio_ranks_give(&offer);
        return code;
    }
    f->summary = n[SUMMARY] > 0; /* requested by any rank, since the summary is collective */
    if (offer && n[TEAM] == -n[TEAM_]) {
        f->ranks = offer;
    } else {
        mpiio_ranks_give(&offer);
        code = mpiio_ranks_make(comm, n[TOKEN], &f->ranks);
    }
    if (code == MPI_SUCCESS) mpiio_shared_begin(f, n[TOKEN], !n[APART]);
    return code;
}

/* ---- open */

/* Open the file on the private communicator, with which Tutti caches its data. */
static int open_tutti(mpiio_file *f, const tutti_options *opt) {
    int mode = f->amode & MPI_MODE_RDONLY   ? TUTTI_READ
               : f->amode & MPI_MODE_WRONLY ? TUTTI_WRITE
                                            : TUTTI_READ | TUTTI_WRITE;
    if (f->amode & MPI_MODE_CREATE) mode |= TUTTI_CREATE;
    if ((f->amode & MPI_MODE_CREATE) && (f->amode & MPI_MODE_EXCL)) mode |= TUTTI_EXCLUSIVE;
    mpiio_enter(NULL);
    const tutti_err err = tutti_file_open(f->ranks->comm, f->path, mode, opt, &f->file);
    mpiio_leave(NULL);
    if (err != TUTTI_OK) return mpiio_complain_tutti(err);
    /* MPI_MODE_APPEND only moves the pointers */
    if (!(f->amode & MPI_MODE_APPEND)) return MPI_SUCCESS;
    tutti_off size = 0;
    mpiio_enter(f);
    const int code = mpiio_complain_tutti(tutti_file_size(f->file, &size));
    mpiio_leave(f);
    f->position = size;
    if (code == MPI_SUCCESS)
        mpiio_shared_set(f, size);
    else if (tutti_file_close(&f->file) != TUTTI_OK)
        f->file = NULL;
    return code;
}

int mpiio_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *out) {
    tutti_options opt = {0};
    struct stat st;
    int code = check_comm(comm);
    if (!out) return mpiio_fail(NULL, mpiio_complain(MPI_ERR_ARG, "argument fh is NULL"));
    if (code != MPI_SUCCESS) return mpiio_fail(NULL, code);
    /* Tutti opens regular files only: the MPI library opens devices and pipes */
    int device =
        path && stat(strip_prefix(path), &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
    mpiio_file *f = calloc(1, sizeof *f);
    const int local_class = file_prepare(f, path, amode, info, &opt);
    /* must follow the creation of the first handle, which may set the callback of the MPI library:
     * MPI_Finalize calls callbacks in reverse order, and this library's must be called first */
    mpiio_watch();
    code = open_agree(comm, f, local_class, &opt, &device);
    if (code == MPI_SUCCESS && !device) code = open_tutti(f, &opt);
    if (code != MPI_SUCCESS || device) {
        if (f) file_free(f);
        if (code == MPI_SUCCESS) return mpiio_pass_open(comm, path, amode, info, out);
        *out = MPI_FILE_NULL;
        return mpiio_fail(NULL, code);
    }
    f->explain = opt.explain;
    f->opened = mpiio_now();
    mpiio_table_add(f);
    *out = f->native;
    return MPI_SUCCESS;
}

/* ---- close and delete */

static int close_tutti(mpiio_file *f) {
    mpiio_requests_settle(f);
    mpiio_split_drop(f);
    if (f->summary) mpiio_summary(f);
    mpiio_enter(f);
    const tutti_err err = tutti_file_close(&f->file);
    mpiio_leave(f);
    int code = mpiio_complain_tutti(err);
    if (!f->file && (f->amode & MPI_MODE_DELETE_ON_CLOSE)) { /* the file has been closed */
        int64_t removed = MPI_SUCCESS; /* rank 0 deletes the file before any rank returns */
        if (f->ranks->rank == 0) removed = mpiio_complain_tutti(tutti_file_delete(f->path, NULL));
        const int agreed = mpiio_agree(f->ranks, 1, &removed);
        if (code == MPI_SUCCESS) code = agreed == MPI_SUCCESS ? (int)removed : agreed;
    }
    return code;
}

int mpiio_close(MPI_File *fh) {
    mpiio_file *f = mpiio_find(*fh);
    const int code = mpiio_fail(f, close_tutti(f));
    if (f->file) return code; /* the file stays open, since an operation is pending */
    mpiio_table_remove(f);
    file_free(f);
    *fh = MPI_FILE_NULL;
    return code;
}

int mpiio_delete(const char *path, MPI_Info info) {
    (void)info;
    int code = check_path(path);
    if (code == MPI_SUCCESS) {
        mpiio_enter(NULL);
        code = mpiio_complain_tutti(tutti_file_delete(strip_prefix(path), NULL));
        mpiio_leave(NULL);
    }
    return mpiio_fail(NULL, code);
}

/* ---- MPI_Finalize: Tutti closes open files; this callback also removes resources outside of the
 * process */

static void left_open(mpiio_file *f) {
    mpiio_shared_drop(f);
    f->file = NULL;
}

static int close_all(MPI_Comm self, int key, void *value, void *extra) {
    (void)self, (void)key, (void)value, (void)extra;
    mpiio_table_each(left_open);
    mpiio_requests_end();
    mpiio_handles_close();
    mpiio_ranks_finalize();
    mpiio_hints_end();
    return MPI_SUCCESS;
}

static void watch_finalize(void) {
    int key = MPI_KEYVAL_INVALID;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_all, &key, NULL) != MPI_SUCCESS)
        return;
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    PMPI_Comm_free_keyval(&key);
}

static int watching;

void mpiio_watch(void) {
    if (!__atomic_exchange_n(&watching, 1, __ATOMIC_RELAXED)) watch_finalize();
}

/* Make Tutti set its callback, which happens when it opens the first file. */
static void watch_tutti(void) {
    tutti_options opt;
    tutti_file *none = NULL;
    mpiio_enter(NULL);
    if (tutti_options_init(&opt) == TUTTI_OK) {
        opt.explain = 0;
        opt.trace[0] = '\0';
        opt.store = TUTTI_STORE_NULL;
        if (tutti_file_open(MPI_COMM_SELF, "none", TUTTI_READ, &opt, &none) == TUTTI_OK &&
            tutti_file_close(&none) != TUTTI_OK)
            none = NULL;
    }
    mpiio_leave(NULL);
}

/* Set the callbacks in this order: MPI library, Tutti, this library.  MPI_Finalize calls them in
 * reverse order. */
void mpiio_watch_early(void) {
    MPI_File native;
    if (__atomic_exchange_n(&watching, 1, __ATOMIC_RELAXED)) return;
    if (mpiio_handle_take(&native) == MPI_SUCCESS) mpiio_handle_give(native);
    watch_tutti();
    watch_finalize();
}
