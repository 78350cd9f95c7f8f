/* mpiio: open, close, delete.
 *
 * Whatever can fail on one rank alone is done first (arguments, hints, the native handle, memory),
 * and told to all in one agreement on the program's communicator.  Tutti's open, which agrees by
 * itself, comes last: after it nothing can fail.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "request.h"

/* ---- arguments */

/* "ufs:" and its like are how ROMIO is told which of its file systems to use. */
static const char *strip(const char *path) {
    static const char *const kinds[] = {"ufs",   "nfs",    "xfs",  "pfs",    "piofs",
                                        "pvfs",  "pvfs2",  "gpfs", "lustre", "daos",
                                        "panfs", "testfs", "bg",   "zoidfs", "gridftp"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t n = strlen(kinds[i]);
        if (strncmp(path, kinds[i], n) == 0 && path[n] == ':') return path + n + 1;
    }
    return path;
}

/* Tutti takes regular files only: devices and pipes are the MPI library's business. */
static int is_device(const char *path) {
    struct stat st;
    return path && stat(strip(path), &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int check_amode(int amode) {
    const int known = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY | MPI_MODE_CREATE |
                      MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN |
                      MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
    const int reads = amode & MPI_MODE_RDONLY, both = amode & MPI_MODE_RDWR;
    const int ways = !!reads + !!both + !!(amode & MPI_MODE_WRONLY);
    if ((amode & ~known) || ways != 1)
        return mpiio_complain(MPI_ERR_AMODE,
                              "mode %d: exactly one of MPI_MODE_RDONLY, _WRONLY and _RDWR", amode);
    if (reads && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
        return mpiio_complain(MPI_ERR_AMODE, "MPI_MODE_CREATE or _EXCL with MPI_MODE_RDONLY");
    if (both && (amode & MPI_MODE_SEQUENTIAL))
        return mpiio_complain(MPI_ERR_AMODE, "MPI_MODE_SEQUENTIAL with MPI_MODE_RDWR");
    return MPI_SUCCESS;
}

static int check_path(const char *path) {
    if (path && strip(path)[0]) return MPI_SUCCESS;
    return mpiio_complain(path ? MPI_ERR_NO_SUCH_FILE : MPI_ERR_ARG, "the file has no name");
}

static int check_comm(MPI_Comm comm) {
    int between = 0;
    if (comm == MPI_COMM_NULL)
        return mpiio_complain(MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
    const int code = PMPI_Comm_test_inter(comm, &between);
    if (code != MPI_SUCCESS || !between) return code;
    return mpiio_complain(MPI_ERR_COMM, "files cannot be opened by an intercommunicator");
}

/* MPI's MPI_MODE_APPEND moves pointers only. */
static int tutti_mode(int amode) {
    int mode = amode & MPI_MODE_RDONLY   ? TUTTI_READ
               : amode & MPI_MODE_WRONLY ? TUTTI_WRITE
                                         : TUTTI_READ | TUTTI_WRITE;
    if (amode & MPI_MODE_CREATE) mode |= TUTTI_CREATE;
    if ((amode & MPI_MODE_CREATE) && (amode & MPI_MODE_EXCL)) mode |= TUTTI_EXCLUSIVE;
    return mode;
}

/* ---- what a rank needs of its own */

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

static int file_fill(mpiio_file *f, const char *path) {
    int code = mpiio_view_init(&f->view);
    f->path = strdup(strip(path));
    if (!f->path) return mpiio_complain(MPI_ERR_NO_MEM, "no memory for a file");
    if (code == MPI_SUCCESS) code = mpiio_shared_make(f);
    if (code == MPI_SUCCESS) code = mpiio_handle_take(&f->native);
    return code;
}

static mpiio_file *file_make(void) {
    mpiio_file *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->native = MPI_FILE_NULL;
    f->hints = MPI_INFO_NULL;
    f->view.etype = f->view.filetype = f->view.tile = MPI_DATATYPE_NULL;
    pthread_mutex_init(&f->lock, NULL);
    return f;
}

static int file_prepare(mpiio_file *f, const char *path, int amode, MPI_Info info,
                        tutti_options *opt) {
    if (!f) return mpiio_complain(MPI_ERR_NO_MEM, "no memory for a file");
    f->amode = amode;
    int code = check_amode(amode);
    if (code == MPI_SUCCESS) code = check_path(path);
    if (code == MPI_SUCCESS) code = mpiio_hints_read(info, opt);
    if (code == MPI_SUCCESS) code = mpiio_hints_open(f, info);
    if (code == MPI_SUCCESS) code = file_fill(f, path);
    return code;
}

/* ---- agreement */

enum { CLASS, MODE, MODE_, TEAM, TEAM_, APART, TOKEN, DEVICE, SUMMARY, NUMBERS };

static int judge(int mine, const int64_t *n) {
    if (mine == n[CLASS] && mine != MPI_SUCCESS) return mine; /* its words, the class of all */
    if (n[CLASS] != MPI_SUCCESS)
        return mpiio_complain((int)n[CLASS], "another rank cannot open the file");
    if (n[MODE] != -n[MODE_])
        return mpiio_complain(MPI_ERR_NOT_SAME, "ranks open with different modes");
    return MPI_SUCCESS;
}

/* One of our own communicators, if all ranks have the same one to spare; otherwise a new one. */
static int ranks_take(MPI_Comm comm, mpiio_ranks *offer, const int64_t *n, mpiio_ranks **out) {
    if (offer && n[TEAM] == -n[TEAM_]) {
        *out = offer;
        return MPI_SUCCESS;
    }
    mpiio_ranks_give(&offer);
    return mpiio_ranks_make(comm, n[TOKEN], out);
}

/* All ranks go on, or none.  *device: whether it is one for any rank.  Collective. */
static int open_agree(MPI_Comm comm, mpiio_file *f, int mine, const tutti_options *opt,
                      int *device) {
    mpiio_ranks *offer = mpiio_ranks_offer(comm);
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    const int64_t team = offer ? offer->id : -1;
    const int64_t amode = f ? f->amode : 0;
    int64_t n[NUMBERS] = {
        [CLASS] = mine, [MODE] = amode, [MODE_] = -amode, [TEAM] = team, [TEAM_] = -team};
    if (mine == MPI_SUCCESS) n[APART] = opt->nodes[0] != '\0';
    n[DEVICE] = *device;
    n[SUMMARY] = mpiio_summary_wanted();
    if (rank == 0) n[TOKEN] = mpiio_shared_token();
    int code = mpiio_agree_on(comm, NUMBERS, n);
    if (code == MPI_SUCCESS) code = judge(mine, n);
    *device = (int)n[DEVICE];
    if (code != MPI_SUCCESS || *device) {
        mpiio_ranks_give(&offer);
        return code;
    }
    f->summary = n[SUMMARY] > 0; /* of any rank: it is collective */
    code = ranks_take(comm, offer, n, &f->ranks);
    if (code == MPI_SUCCESS) mpiio_shared_begin(f, n[TOKEN], !n[APART]);
    return code;
}

/* ---- open */

static int append_begin(mpiio_file *f) {
    tutti_off size = 0;
    mpiio_enter(f);
    const int code = mpiio_complain_tutti(tutti_file_size(f->file, &size));
    mpiio_leave(f);
    f->position = size;
    if (code == MPI_SUCCESS) mpiio_shared_set(f, size);
    return code;
}

/* By our own communicator, so that Tutti finds again what it has made for it. */
static int open_tutti(mpiio_file *f, const tutti_options *opt) {
    mpiio_enter(NULL);
    const tutti_err err =
        tutti_file_open(f->ranks->comm, f->path, tutti_mode(f->amode), opt, &f->file);
    mpiio_leave(NULL);
    if (err != TUTTI_OK) return mpiio_complain_tutti(err);
    if (!(f->amode & MPI_MODE_APPEND)) return MPI_SUCCESS;
    const int code = append_begin(f);
    if (code != MPI_SUCCESS && tutti_file_close(&f->file) != TUTTI_OK) f->file = NULL;
    return code;
}

int mpiio_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *out) {
    tutti_options opt = {0};
    int code = check_comm(comm);
    if (!out) return mpiio_fail(NULL, mpiio_complain(MPI_ERR_ARG, "nowhere to put the file"));
    if (code != MPI_SUCCESS) return mpiio_fail(NULL, code);
    int device = is_device(path);
    mpiio_file *f = file_make();
    const int mine = file_prepare(f, path, amode, info, &opt);
    /* after the MPI library's own, which a first handle may bring: it comes first then */
    mpiio_watch();
    code = open_agree(comm, f, mine, &opt, &device);
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

/* Rank 0 removes the file, and nobody goes on before it is gone.  Collective. */
static int delete_on_close(const mpiio_file *f) {
    int64_t code = MPI_SUCCESS;
    if (f->ranks->rank == 0) code = mpiio_complain_tutti(tutti_file_delete(f->path, NULL));
    const int rc = mpiio_agree(f->ranks, 1, &code);
    return rc == MPI_SUCCESS ? (int)code : rc;
}

static int close_tutti(mpiio_file *f) {
    mpiio_requests_settle(f);
    mpiio_split_drop(f);
    if (f->summary) mpiio_summary(f);
    mpiio_enter(f);
    const tutti_err err = tutti_file_close(&f->file);
    mpiio_leave(f);
    int code = mpiio_complain_tutti(err);
    if (!f->file && (f->amode & MPI_MODE_DELETE_ON_CLOSE)) { /* it has been closed */
        const int gone = delete_on_close(f);
        if (code == MPI_SUCCESS) code = gone;
    }
    return code;
}

int mpiio_close(MPI_File *fh) {
    mpiio_file *f = mpiio_find(*fh);
    const int code = mpiio_fail(f, close_tutti(f));
    if (f->file) return code; /* Tutti wants something ended first */
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
        code = mpiio_complain_tutti(tutti_file_delete(strip(path), NULL));
        mpiio_leave(NULL);
    }
    return mpiio_fail(NULL, code);
}

/* ---- MPI_Finalize: Tutti closes what is open; what we hold outside of the process goes too */

static void left_open(mpiio_file *f) {
    mpiio_shared_drop(f);
    f->file = NULL;
}

static int finalize(MPI_Comm self, int key, void *value, void *extra) {
    (void)self, (void)key, (void)value, (void)extra;
    mpiio_table_each(left_open);
    mpiio_requests_end();
    mpiio_handles_close();
    mpiio_ranks_finalize();
    mpiio_hints_end();
    return MPI_SUCCESS;
}

static void watch(void) {
    int key = MPI_KEYVAL_INVALID;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize, &key, NULL) != MPI_SUCCESS) return;
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    PMPI_Comm_free_keyval(&key);
}

static int watching;

void mpiio_watch(void) {
    if (!__atomic_exchange_n(&watching, 1, __ATOMIC_RELAXED)) watch();
}

/* Tutti begins to watch when it opens its first file. */
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

/* What the MPI library's own brings, then Tutti's, then ours: MPI_Finalize calls the last first. */
void mpiio_watch_early(void) {
    MPI_File native;
    if (__atomic_exchange_n(&watching, 1, __ATOMIC_RELAXED)) return;
    if (mpiio_handle_take(&native) == MPI_SUCCESS) mpiio_handle_give(native);
    watch_tutti();
    watch();
}
