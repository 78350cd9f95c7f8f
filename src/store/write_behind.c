/* store: starting writeback of written bytes.
 *
 * A write through the page cache only copies the bytes, and a later sync waits for the disk.  The
 * kernel starts writeback only after many seconds.  Therefore a thread starts it while the program
 * computes, by sync_file_range in chunks, because such a call may wait if the queue of the disk is
 * full.  A write extends the interval of its file and adds the file to a queue.  The thread starts
 * writeback of one chunk of the first file and continues with the next file.  Closing a file
 * removes it from the queue, and waits for at most one chunk.
 *
 * There is one thread for all files of the process; it ends when the last file that uses it is
 * closed.  Failures are ignored, since this is only an optimisation, and sync reports errors of the
 * disk.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/fdfile.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/vfs.h>

#define CHUNK ((tutti_off)8 << 20)
#define LEAST ((tutti_off)1 << 20) /* minimum bytes of an interval */

#define TMPFS_MAGIC 0x01021994u
#define RAMFS_MAGIC 0x858458f6u
#define HUGETLBFS_MAGIC 0x958458f6u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all variables below */
/* signalled when a file is queued, or `ends` is set */
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
/* signalled when a call has returned, or the thread has ended */
static pthread_cond_t progress = PTHREAD_COND_INITIALIZER;
static tutti__fdfile *first;              /* first file of the queue; NULL: empty */
static const tutti__fdfile *current_file; /* file of the current call; NULL: none */
static pthread_t thread;
/* number of files that use the thread, 0: no thread; whether the thread must end */
static int users, ends;

static void enqueue_file(tutti__fdfile *f) {
    tutti__fdfile **at = &first;
    while (*at) at = &(*at)->behind.next;
    f->behind.next = NULL;
    f->behind.queued = 1;
    *at = f;
}

static void dequeue_file(tutti__fdfile *f) {
    tutti__fdfile **at = &first;
    while (*at != f) at = &(*at)->behind.next;
    *at = f->behind.next;
    f->behind.queued = 0;
}

static void *write_behind_main(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!ends) {
        /* Start writeback of one chunk of the first file, which is moved to the end of the queue.
         * The lock is released during the call. */
        if (first) {
            tutti__fdfile *f = first;
            tutti__behind *h = &f->behind;
            const tutti_off lo = h->lo, bytes = tutti__min(h->hi - lo, CHUNK);
            dequeue_file(f);
            h->lo += bytes;
            if (h->lo < h->hi) enqueue_file(f);
            current_file = f;
            pthread_mutex_unlock(&lock);
            const int failed = sync_file_range(f->fd, lo, bytes, SYNC_FILE_RANGE_WRITE);
            pthread_mutex_lock(&lock);
            current_file = NULL;
            h->useless |= failed && errno != EINTR;
            pthread_cond_broadcast(&progress);
        } else
            pthread_cond_wait(&work, &lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Add a user of the thread, and create the thread for the first user.  Returns 0 if that fails. */
static int add_thread_user(void) {
    /* the new thread blocks all signals: threads of the program handle them */
    sigset_t all, before;
    while (ends) pthread_cond_wait(&progress, &lock); /* wait for the end of the previous thread */
    if (users == 0) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        const int code = pthread_create(&thread, NULL, write_behind_main, NULL);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (code != 0) return 0;
    }
    users++;
    return 1;
}

void tutti__fdfile_write_behind(tutti_store *s, tutti_off lo, tutti_off hi) {
    tutti__fdfile *f = (tutti__fdfile *)s;
    tutti__behind *h = &f->behind;
    if (hi - lo < LEAST) return;
    pthread_mutex_lock(&lock);
    if (!h->known && !h->useless) {
        /* writeback is useful only for files on a local disk with page cache */
        struct statfs fs;
        const int is_known =
            f->align == 0 && !f->base.layout.client_cache && fstatfs(f->fd, &fs) == 0;
        const uint32_t type = is_known ? (uint32_t)fs.f_type : TMPFS_MAGIC;
        h->known = type != TMPFS_MAGIC && type != RAMFS_MAGIC && type != HUGETLBFS_MAGIC &&
                   add_thread_user();
        h->useless = !h->known;
    }
    if (!h->useless) {
        tutti__interval_grow(&h->lo, &h->hi, lo, hi);
        if (!h->queued) enqueue_file(f);
        pthread_cond_signal(&work);
    }
    pthread_mutex_unlock(&lock);
}

void tutti__fdfile_write_behind_end(tutti__fdfile *f) {
    if (!f->behind.known) return;
    pthread_mutex_lock(&lock);
    if (f->behind.queued) dequeue_file(f);
    while (current_file == f) pthread_cond_wait(&progress, &lock);
    if (--users == 0) {
        ends = 1;
        pthread_cond_broadcast(&work);
        pthread_mutex_unlock(&lock);
        pthread_join(thread, NULL);
        pthread_mutex_lock(&lock);
        ends = 0;
        pthread_cond_broadcast(&progress);
    }
    pthread_mutex_unlock(&lock);
}
