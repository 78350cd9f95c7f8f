/* mpiio: the shared file pointer.
 *
 * A file that never uses it pays nothing but a name: rank 0 draws one at open, and whoever needs the pointer
 * first makes it.  Where all ranks share memory it is a word in /dev/shm that is added to; otherwise a number in a
 * hidden file beside the data, under a lock.
 *
 * Setting it (seek, a new view) is collective, and needs no word to be written: every setting begins a new
 * epoch, which has a word of its own, zero at first, and a base that all ranks know.
 *
 *   pointer = base + word[epoch]
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "request.h"

enum { WORDS = 512 }; /* of a page that is mapped at a time */

typedef struct mpiio_shared {
    pthread_mutex_t lock;
    int in_memory;
    int64_t token;
    char *path;     /* NULL: not used so far */
    int fd;         /* or -1 */
    int64_t *page;  /* in memory: the one that has the word of this epoch */
    int64_t mapped; /* its number */
    int64_t epoch;
    MPI_Offset base;
} mpiio_shared;

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

static int64_t machine;
static pthread_once_t machine_once = PTHREAD_ONCE_INIT;

static void machine_find(void) {
    char boot[64] = "";
    struct stat st;
    uint64_t hash = 14695981039346656037u;
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, boot, sizeof boot) : -1;
    if (fd >= 0) close(fd);
    machine = -1;
    if (n <= 0 || stat("/dev/shm", &st) != 0 || access("/dev/shm", W_OK | X_OK) != 0) return;
    for (ssize_t i = 0; i < n; i++) hash = (hash ^ (unsigned char)boot[i]) * 1099511628211u;
    hash = (hash ^ (uint64_t)st.st_dev) * 1099511628211u;
    machine = (int64_t)(hash >> 2);
}

int64_t mpiio_machine_id(void) {
    pthread_once(&machine_once, machine_find);
    return machine;
}

static char *name_make(const char *path, int64_t token, int in_memory) {
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    char *name = NULL;
    const int n = in_memory
                      ? asprintf(&name, "/dev/shm/tutti-pointer-%llx", (unsigned long long)token)
                      : asprintf(&name, "%.*s.%.200s.tutti-%llx", (int)(base - path), path, base,
                                 (unsigned long long)token);
    return n < 0 ? NULL : name;
}

int mpiio_shared_make(mpiio_file *f) {
    mpiio_shared *s = calloc(1, sizeof *s);
    if (!s) return mpiio_complain(MPI_ERR_NO_MEM, "no memory for a file");
    pthread_mutex_init(&s->lock, NULL);
    s->fd = -1;
    f->shared = s;
    return MPI_SUCCESS;
}

void mpiio_shared_name(mpiio_file *f, int64_t token, int in_memory) {
    f->shared->token = token;
    f->shared->in_memory = in_memory;
}

/* Whoever has used it removes it: all ranks are in close, so that nobody will make it again. */
void mpiio_shared_drop(mpiio_file *f) {
    mpiio_shared *s = f->shared;
    f->shared = NULL;
    if (!s) return;
    if (s->page) munmap(s->page, WORDS * sizeof *s->page);
    if (s->fd >= 0) {
        close(s->fd);
        unlink(s->path);
    }
    pthread_mutex_destroy(&s->lock);
    free(s->path);
    free(s);
}

/* ---- the word of this epoch; all with the lock */

static int trouble(const mpiio_shared *s, const char *what) {
    const int code = errno == EACCES || errno == EPERM || errno == EROFS ? MPI_ERR_ACCESS
                     : errno == ENOSPC                                   ? MPI_ERR_NO_SPACE
                                                                         : MPI_ERR_IO;
    return mpiio_complain(code, "the shared file pointer '%s' cannot be %s: %s", s->path, what,
                          strerrordesc_np(errno));
}

static int pointer_open(mpiio_shared *s, const char *beside) {
    if (s->fd >= 0) return MPI_SUCCESS;
    if (!s->path) s->path = name_make(beside, s->token, s->in_memory);
    if (!s->path) return mpiio_complain(MPI_ERR_NO_MEM, "no memory for a name");
    s->fd = open(s->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    return s->fd >= 0 ? MPI_SUCCESS : trouble(s, "opened");
}

/* Memory is allocated, not merely reserved: a full /dev/shm is an error, not a signal. */
static int page_map(mpiio_shared *s) {
    const int64_t wanted = s->epoch / WORDS;
    const size_t bytes = WORDS * sizeof *s->page;
    if (s->page && s->mapped == wanted) return MPI_SUCCESS;
    if (s->page) munmap(s->page, bytes);
    s->page = NULL;
    errno = posix_fallocate(s->fd, (off_t)(wanted * (int64_t)bytes), (off_t)bytes);
    if (errno != 0) return trouble(s, "made");
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd,
                    (off_t)(wanted * (int64_t)bytes));
    if (at == MAP_FAILED) return trouble(s, "mapped");
    s->page = at;
    s->mapped = wanted;
    return MPI_SUCCESS;
}

static int word_add_in_memory(mpiio_shared *s, int64_t bytes, int64_t *before) {
    const int code = page_map(s);
    if (code == MPI_SUCCESS)
        *before = __atomic_fetch_add(&s->page[s->epoch % WORDS], bytes, __ATOMIC_SEQ_CST);
    return code;
}

static int word_lock(const mpiio_shared *s, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    int rc;
    do rc = fcntl(s->fd, F_SETLKW, &lock);
    while (rc != 0 && errno == EINTR);
    return rc;
}

/* Words that were never written are zero, also where the file ends before them. */
static int word_add_in_file(mpiio_shared *s, int64_t bytes, int64_t *before) {
    int64_t word = 0;
    const off_t at = (off_t)(s->epoch * (int64_t)sizeof word);
    if (word_lock(s, F_WRLCK) != 0) return trouble(s, "locked");
    ssize_t n = pread(s->fd, &word, sizeof word, at);
    *before = word;
    word += bytes;
    if (n >= 0 && bytes != 0) n = pwrite(s->fd, &word, sizeof word, at);
    const int code = n >= 0 ? MPI_SUCCESS : trouble(s, "changed");
    if (word_lock(s, F_UNLCK) != 0 && code == MPI_SUCCESS) return trouble(s, "unlocked");
    return code;
}

int mpiio_shared_add(mpiio_file *f, MPI_Offset bytes, MPI_Offset *before) {
    mpiio_shared *s = f->shared;
    int64_t word = 0;
    pthread_mutex_lock(&s->lock);
    int code = pointer_open(s, f->path);
    if (code == MPI_SUCCESS)
        code =
            s->in_memory ? word_add_in_memory(s, bytes, &word) : word_add_in_file(s, bytes, &word);
    *before = s->base + word;
    pthread_mutex_unlock(&s->lock);
    return code;
}

void mpiio_shared_set(mpiio_file *f, MPI_Offset at) {
    mpiio_shared *s = f->shared;
    pthread_mutex_lock(&s->lock);
    s->epoch++;
    s->base = at;
    pthread_mutex_unlock(&s->lock);
}

/* ---- rank after rank */

/* The last rank knows what all have, and that all are here. */
int mpiio_shared_ordered(mpiio_file *f, MPI_Offset bytes, MPI_Offset *at) {
    const mpiio_ranks *r = f->ranks;
    int64_t mine = bytes, before = 0, told[2] = {MPI_SUCCESS, 0};
    MPI_Offset base = 0;
    MPI_Request request;
    int code = PMPI_Iexscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, r->comm, &request);
    if (code == MPI_SUCCESS) code = mpiio_finish(&request);
    if (r->rank == 0) before = 0; /* MPI leaves it undefined */
    if (r->rank == r->size - 1) {
        told[0] = code == MPI_SUCCESS ? mpiio_shared_add(f, before + bytes, &base) : code;
        told[1] = base;
    }
    int rc = PMPI_Ibcast(told, 2, MPI_INT64_T, r->size - 1, r->comm, &request);
    if (rc == MPI_SUCCESS) rc = mpiio_finish(&request);
    *at = told[1] + before;
    if (rc != MPI_SUCCESS || told[0] == MPI_SUCCESS) return rc;
    if (r->rank == r->size - 1) return (int)told[0];
    return mpiio_complain((int)told[0], "rank %d cannot use the shared file pointer", r->size - 1);
}
