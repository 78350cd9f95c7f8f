/* mpiio: the shared file pointer.
 *
 * If all ranks share memory, the pointer is a word in a page of /dev/shm without a name
 * (base/shared_memory.h), which is created with the communicator.  Otherwise the pointer is a
 * number in a hidden file next to the data, accessed under a lock.  The file is created on first
 * use: rank 0 chooses a random name at open, the first rank that needs the pointer creates the
 * file, and the last rank that opens the file removes the name.
 *
 * Setting the pointer (seek, a new view) is collective, and does not write the current word: every
 * setting begins a new epoch with a new word, initially 0, and a base that is the same on all
 * ranks.
 *
 *   pointer = base + word[epoch]
 *
 * The words of a page are used cyclically.  Before each setting there is an agreement, so that
 * ranks are never more than one epoch apart: the word half a page later is unused, and the rank
 * that sets the pointer clears it.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/shared_memory.h"
#include "request.h"

enum { WORDS = 512 };
static const size_t page_bytes = WORDS * sizeof(int64_t);

typedef struct mpiio_shared {
    pthread_mutex_t lock;
    int64_t *words; /* words of the communicator; NULL: use a file */
    int64_t epoch;
    MPI_Offset base;
    int64_t token;
    char *path; /* path of the file; NULL: not used so far */
    int fd;     /* descriptor of the file, or -1 */
} mpiio_shared;

/* Return whether a file may have `end` bytes.  A write beyond the limit on file sizes, which also
 * applies to /dev/shm, would raise a signal. */
static int may_reach(off_t end) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 1;
    if ((rlim_t)end <= limit.rlim_cur) return 1;
    errno = EFBIG;
    return 0;
}

/* ---- names */

int64_t mpiio_shared_token(void) {
    uint64_t drawn = 0;
    struct timespec now;
    if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) != (ssize_t)sizeof drawn) {
        clock_gettime(CLOCK_REALTIME, &now);
        drawn = ((uint64_t)now.tv_nsec << 32) ^ (uint64_t)now.tv_sec ^ ((uint64_t)getpid() << 20);
    }
    return (int64_t)(drawn >> 2) + 1;
}

/* ---- a page for a communicator */

/* Return whether `have` is true on all ranks.   Collective. */
static int all_have(const mpiio_ranks *r, int have) {
    int64_t without = !have;
    return mpiio_agree(r, 1, &without) == MPI_SUCCESS && !without;
}

/* Broadcast the memory that rank 0 has created or linked to a name; return 0 if rank 0 has failed
 * (`have`), or if the broadcast failed. */
static int describe_page(const mpiio_ranks *r, int have, tutti__shared_memory *page) {
    MPI_Request request;
    int64_t message[1 + sizeof *page / sizeof(int64_t)] = {have};
    memcpy(message + 1, page, sizeof *page);
    const int code =
        PMPI_Ibcast(message, sizeof message / sizeof *message, MPI_INT64_T, 0, r->comm, &request);
    if (code != MPI_SUCCESS || mpiio_finish(&request) != MPI_SUCCESS) return 0;
    memcpy(page, message + 1, sizeof *page);
    return message[0] != 0;
}

static void map_page(mpiio_ranks *r, int fd) {
    if (fd < 0) return;
    void *at = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) r->words = at;
}

static void open_page(mpiio_ranks *r, const tutti__shared_memory *page, int linked) {
    const int fd = tutti__shared_memory_open(page, linked);
    map_page(r, fd);
    if (fd >= 0) close(fd);
}

/* The ranks share memory if all of them can open the page that rank 0 has created. */
void mpiio_words_make(mpiio_ranks *r) {
    tutti__shared_memory page = {.pid = 0};
    const int fd = r->rank == 0 ? tutti__shared_memory_create(page_bytes, &page) : -1;
    map_page(r, fd);
    if (describe_page(r, r->words != NULL, &page)) {
        if (r->rank > 0) open_page(r, &page, 0);
        int all = all_have(r, r->words != NULL);
        if (!all && describe_page(r, r->rank == 0 && !tutti__shared_memory_link(&page), &page)) {
            if (!r->words) open_page(r, &page, 1);
            all = all_have(r, r->words != NULL);
            if (r->rank == 0) tutti__shared_memory_unlink(&page);
        }
        if (!all) mpiio_words_free(r);
    }
    if (fd >= 0) close(fd);
}

void mpiio_words_free(mpiio_ranks *r) {
    if (r->words) munmap(r->words, page_bytes);
    r->words = NULL;
}

/* ---- the pointer of a file */

int mpiio_shared_make(mpiio_file *f) {
    mpiio_shared *s = calloc(1, sizeof *s);
    if (!s) return mpiio_complain(MPI_ERR_NO_MEM, "cannot allocate a file handle");
    pthread_mutex_init(&s->lock, NULL);
    s->fd = -1;
    f->shared = s;
    return MPI_SUCCESS;
}

static void epoch_next(mpiio_file *f, MPI_Offset base) {
    mpiio_shared *s = f->shared;
    s->base = base;
    s->epoch = s->words ? ++f->ranks->settings : s->epoch + 1;
    if (s->words) __atomic_store_n(&s->words[(s->epoch + WORDS / 2) % WORDS], 0, __ATOMIC_SEQ_CST);
}

void mpiio_shared_begin(mpiio_file *f, int64_t token, int in_memory) {
    f->shared->token = token;
    f->shared->words = in_memory ? f->ranks->words : NULL;
    epoch_next(f, 0);
}

void mpiio_shared_set(mpiio_file *f, MPI_Offset at) {
    pthread_mutex_lock(&f->shared->lock);
    epoch_next(f, at);
    pthread_mutex_unlock(&f->shared->lock);
}

/* All ranks have entered close, so no rank creates the file again. */
void mpiio_shared_drop(mpiio_file *f) {
    mpiio_shared *s = f->shared;
    f->shared = NULL;
    if (!s) return;
    if (s->fd >= 0) close(s->fd);
    if (s->path) unlink(s->path);
    pthread_mutex_destroy(&s->lock);
    free(s->path);
    free(s);
}

/* ---- a file of words: the number of ranks that have opened the file, then one word per epoch; the
 * caller holds s->lock */

static int complain_errno(const mpiio_shared *s, const char *what) {
    const int code = errno == EACCES || errno == EPERM || errno == EROFS ? MPI_ERR_ACCESS
                     : errno == ENOSPC                                   ? MPI_ERR_NO_SPACE
                                                                         : MPI_ERR_IO;
    return mpiio_complain(code, "the shared file pointer '%s' cannot be %s: %s", s->path, what,
                          strerrordesc_np(errno));
}

static int word_lock(const mpiio_shared *s, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    int rc;
    do rc = fcntl(s->fd, F_SETLKW, &lock);
    while (rc != 0 && errno == EINTR);
    return rc;
}

/* Add to a word of the file.  Words that have not been written are 0, even beyond the end of the
 * file. */
static int word_add(const mpiio_shared *s, int64_t index, int64_t bytes, int64_t *before) {
    int64_t word = 0;
    const off_t at = (off_t)(index * (int64_t)sizeof word);
    if (word_lock(s, F_WRLCK) != 0) return complain_errno(s, "locked");
    ssize_t n = pread(s->fd, &word, sizeof word, at);
    *before = word;
    word += bytes;
    if (n >= 0 && bytes != 0)
        n = may_reach(at + (off_t)sizeof word) ? pwrite(s->fd, &word, sizeof word, at) : -1;
    const int code = n >= 0 ? MPI_SUCCESS : complain_errno(s, "changed");
    if (word_lock(s, F_UNLCK) != 0 && code == MPI_SUCCESS) return complain_errno(s, "unlocked");
    return code;
}

/* Return whether the file must keep its name: on some file systems removing the name makes the file
 * inaccessible to other machines that have it open; for FUSE this is unknown. */
static int needs_name(int fd) {
    /* magic numbers of nfs, cifs, smb2, 9p, afs and fuse */
    static const unsigned long kinds[] = {0x6969,     0xff534d42, 0xfe534d42,
                                          0x01021997, 0x5346414f, 0x65735546};
    struct statfs st;
    if (fstatfs(fd, &st) != 0) return 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (((unsigned long)st.f_type & 0xffffffff) == kinds[i]) return 1;
    return 0;
}

static int pointer_open(const mpiio_file *f) {
    mpiio_shared *s = f->shared;
    int64_t others = 0;
    if (s->fd >= 0) return MPI_SUCCESS;
    const char *slash = strrchr(f->path, '/'), *base = slash ? slash + 1 : f->path;
    if (!s->path && asprintf(&s->path, "%.*s.%.200s.tutti-%llx", (int)(base - f->path), f->path,
                             base, (unsigned long long)s->token) < 0)
        s->path = NULL;
    if (!s->path) return mpiio_complain(MPI_ERR_NO_MEM, "cannot allocate a name");
    s->fd = open(s->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (s->fd < 0) return complain_errno(s, "opened");
    const int code = word_add(s, 0, 1, &others);
    if (code != MPI_SUCCESS) {
        close(s->fd);
        s->fd = -1;
    } else if (others == f->ranks->size - 1 && !needs_name(s->fd)) {
        unlink(s->path);
    }
    return code;
}

int mpiio_shared_add(mpiio_file *f, MPI_Offset bytes, MPI_Offset *before) {
    mpiio_shared *s = f->shared;
    int64_t word = 0;
    int code = MPI_SUCCESS;
    pthread_mutex_lock(&s->lock);
    if (s->words) {
        word = __atomic_fetch_add(&s->words[s->epoch % WORDS], bytes, __ATOMIC_SEQ_CST);
    } else {
        code = pointer_open(f);
        if (code == MPI_SUCCESS) code = word_add(s, s->epoch, bytes, &word);
    }
    *before = s->base + word;
    pthread_mutex_unlock(&s->lock);
    return code;
}

/* ---- ordered access */

/* The last rank, which has the sum of all bytes, advances the pointer and broadcasts the result. */
int mpiio_shared_ordered(mpiio_file *f, MPI_Offset bytes, MPI_Offset *at) {
    const mpiio_ranks *r = f->ranks;
    int64_t local_bytes = bytes, before = 0, result[2] = {MPI_SUCCESS, 0};
    MPI_Offset base = 0;
    MPI_Request request;
    int code = PMPI_Iexscan(&local_bytes, &before, 1, MPI_INT64_T, MPI_SUM, r->comm, &request);
    if (code == MPI_SUCCESS) code = mpiio_finish(&request);
    if (r->rank == 0) before = 0; /* MPI_Iexscan does not define the result on rank 0 */
    if (r->rank == r->size - 1) {
        result[0] = code == MPI_SUCCESS ? mpiio_shared_add(f, before + bytes, &base) : code;
        result[1] = base;
    }
    int rc = PMPI_Ibcast(result, 2, MPI_INT64_T, r->size - 1, r->comm, &request);
    if (rc == MPI_SUCCESS) rc = mpiio_finish(&request);
    *at = result[1] + before;
    if (rc == MPI_SUCCESS && result[0] == MPI_SUCCESS) {
        /* all ranks open the file, so that the last rank removes its name; otherwise close removes
         * it */
        pthread_mutex_lock(&f->shared->lock);
        if (!f->shared->words) (void)pointer_open(f);
        pthread_mutex_unlock(&f->shared->lock);
    }
    if (rc != MPI_SUCCESS || result[0] == MPI_SUCCESS) return rc;
    if (r->rank == r->size - 1) return (int)result[0];
    return mpiio_complain((int)result[0], "rank %d cannot use the shared file pointer",
                          r->size - 1);
}
