/* exodus: the file itself: made, opened, its number of records.  Rank 0 reads and writes header and
 * catalogue; it tells the others what it has read, and each makes a model of that.
 *
 * A writer has a lock on one byte far behind any data, so that it is in nobody's way, and goes with the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/size_limit.h"
#include "metadata/meta.h" /* tutti__directory_sync */
#include "exodus/sidecar.h"
#include "timestep/writer_lock.h"

enum { MAGIC = 4 }; /* bytes that a header begins with */

tutti_off tutti__exodus_file_end(const tutti__cdf *c, tutti_count records) {
    if (records == 0 || tutti__exodus_has_fixed_steps(c)) return c->fixed_end;
    return c->record_begin + records * c->record_bytes;
}

/* ---- rank 0 */

/* One byte far behind any data, so that it conflicts with no access to the file. */
static tutti_err lock_file(const tutti_exodus *x, int fd) {
    return tutti__writer_lock_acquire(&(tutti__writer_lock){.path = x->path,
                                                            .fd = fd,
                                                            .start = (tutti_off)1 << 62,
                                                            .bytes = 1,
                                                            .is_optional = x->opt.without_locks});
}

static tutti_err bytes_read(int fd, char *to, tutti_off at, size_t n) {
    for (size_t done = 0; done < n;) {
        const ssize_t k = pread(fd, to + done, n - done, (off_t)(at + (tutti_off)done));
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return tutti__error_sys(errno, at, "reading the catalogue");
        TUTTI_CHECK(k > 0, TUTTI_ERR_FORMAT, "the file ends within its catalogue");
        done += (size_t)k;
    }
    return TUTTI_OK;
}

/* Names in the directory are on the device. */
static tutti_err directory_sync(const char *path) {
    char *copy = tutti__strdup(path);
    if (!copy) return TUTTI_ERR_NOMEM;
    char *slash = strrchr(copy, '/');
    if (slash) slash[slash == copy] = 0;
    const tutti_err err = tutti__directory_sync(slash ? copy : ".");
    tutti__free(copy);
    return err;
}

/* A header of ours without its first bytes: no records, then dimensions, of which this is the first.  A power cut can leave zeros in its
 * place; only where the name is ours, too, it is certain that they are not the beginning of somebody's data. */
static int is_begun(const char head[42], int is_follower) {
    static const char ZEROS[42];
    if (is_follower && memcmp(head, ZEROS, sizeof ZEROS) == 0) return 1;
    return memcmp(head, ZEROS, 12) == 0 && memcmp(head + 12, "\0\0\0\12", 4) == 0 &&
           memcmp(head + 32, "len_string", 10) == 0;
}

int tutti__exodus_file_there(const char *path, int is_follower) {
    char head[42] = "";
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno != ENOENT;
    const int begun = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                      (st.st_size == 0 || (pread(fd, head, sizeof head, 0) == sizeof head &&
                                           is_begun(head, is_follower)));
    close(fd);
    return !begun;
}

/* What is there is nobody else's. */
static tutti_err old_remove(tutti_exodus *x) {
    const int fd = open(x->path, O_RDWR | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return TUTTI_OK;
    if (fd < 0) return tutti__error_sys(errno, -1, "opening what is there");
    tutti_err err = TUTTI_OK;
    if (!x->opt.overwrite && tutti__exodus_file_there(x->path, strcmp(x->path, x->first) != 0))
        err = tutti__error_set(TUTTI_ERR_EXISTS, 0, -1, "'%s' is there already", x->path);
    if (err == TUTTI_OK) err = lock_file(x, fd);
    if (err == TUTTI_OK && unlink(x->path) != 0)
        err = tutti__error_sys(errno, -1, "removing what is there");
    close(fd);
    return err;
}

static tutti_err series_remove(const char *first, tutti__series_naming naming) {
    int removed = 1;
    for (int number = 2; removed; number++) {
        char *path = tutti__series_path(first, number, naming);
        if (!path) return TUTTI_ERR_NOMEM;
        removed = unlink(path) == 0;
        if (removed) tutti__sidecar_remove(path);
        tutti__free(path);
    }
    return TUTTI_OK;
}

/* Files that followed the file that is overwritten do not belong to the new one. */
static tutti_err old_followers(const tutti_exodus *x) {
    if (x->file_number > 1 || !x->opt.overwrite) return TUTTI_OK;
    for (int k = TUTTI__SERIES_IOSS; k < TUTTI__SERIES_NAMINGS; k++)
        TUTTI_TRY(series_remove(x->first, (tutti__series_naming)k));
    return TUTTI_OK;
}

/* Topologies of blocks that have no array to hang them on. */
static tutti_err topologies_keep(tutti_exodus *x) {
    tutti__sidecar_topology *v = NULL;
    tutti_count n = 0;
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k <= TUTTI_EXODUS_FACE_BLOCK; k++)
        for (tutti_count i = 0; i < x->model.of[k].n; i++) {
            const tutti_exodus_entity *e = &x->model.of[k].row[i];
            if (e->entries > 0) continue;
            tutti__sidecar_topology *t = tutti__table_grow(&v, &n, sizeof *v);
            if (!t) {
                tutti__free(v);
                return TUTTI_ERR_NOMEM;
            }
            *t = (tutti__sidecar_topology){.kind = k, .id = e->id, .nodes = e->nodes};
            snprintf(t->name, sizeof t->name, "%s", e->topology);
        }
    const tutti_err err = n > 0 ? tutti__sidecar_put_topologies(x->sidecar, n, v) : TUTTI_OK;
    tutti__free(v);
    return err;
}

/* A hash of a header, without the number of records. */
static uint64_t header_hash(char *bytes, size_t n, int version) {
    char count[8];
    const size_t word = version == 5 ? 8 : 4;
    memcpy(count, bytes + 4, word);
    memset(bytes + 4, 0, word);
    const uint64_t hash = tutti__sum_of(bytes, n);
    memcpy(bytes + 4, count, word);
    return hash;
}

static tutti__sidecar_options sidecar_options(const tutti_exodus *x) {
    return (tutti__sidecar_options){.writes = (x->mode & TUTTI_WRITE) != 0,
                                    .durable = x->opt.level == TUTTI_DURABLE,
                                    .busy = x->opt.lock_timeout,
                                    .header = x->header};
}

static tutti_err root_make(tutti_exodus *x) {
    char *head = NULL;
    size_t n = 0;
    TUTTI_TRY(tutti__exodus_head(&x->model, &x->cdf, (void **)&head, &n));
    x->header = header_hash(head, (size_t)x->cdf.header_bytes, x->cdf.version);
    x->at = tutti__exodus_file_end(&x->cdf, 0);
    tutti_err err = old_remove(x);
    if (err == TUTTI_OK) err = old_followers(x);
    if (err == TUTTI_OK) {
        x->fd = open(x->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (x->fd < 0) err = tutti__error_sys(errno, -1, "making the file");
    }
    if (err == TUTTI_OK) err = lock_file(x, x->fd);
    memset(head, 0, MAGIC); /* it has no mesh yet: tutti__exodus_file_show */
    if (err == TUTTI_OK && tutti__limited_pwrite(x->fd, head, n, 0) != 0)
        err = tutti__error_sys(errno, 0, "writing the header");
    if (err == TUTTI_OK && tutti__limited_truncate(x->fd, x->at) != 0)
        err = tutti__error_sys(errno, x->at, "making room for the mesh");
    tutti__free(head);
    if (err == TUTTI_OK && x->opt.sidecar) {
        const tutti__sidecar_options opt = sidecar_options(x);
        err = tutti__sidecar_make(x->path, &opt, &x->sidecar);
        if (err == TUTTI_OK) err = topologies_keep(x);
    }
    if (err == TUTTI_OK && x->opt.level == TUTTI_DURABLE) err = directory_sync(x->path);
    return err;
}

static void root_close(tutti_exodus *x) {
    TUTTI_KEEP_LAST_ERROR;
    if (x->sidecar && (x->mode & TUTTI_WRITE) &&
        x->cdf.records > 0) { /* without it verify knows less */
        const tutti_err err = tutti__sidecar_set_steps(x->sidecar, x->cdf.records);
        (void)err;
    }
    tutti__sidecar_close(&x->sidecar);
    if (x->fd >= 0) close(x->fd);
    x->fd = -1;
}

/* Open the file on all ranks; `path` is NULL on a rank that refuses.   Collective. */
static tutti_err open_data(tutti_exodus *x, const char *path) {
    TUTTI_TRY(tutti_file_open(x->team->comm, path, x->mode, &x->io, &x->file));
    tutti_file_on_progress(x->file, x->progress, x->progress_context);
    return TUTTI_OK;
}

tutti_err tutti__exodus_file_make(tutti_exodus *x) {
    const int root = x->team->rank == 0;
    const tutti_err made = root ? root_make(x) : TUTTI_OK;
    if (made != TUTTI_OK) /* the others wait for rank 0 in open, and get this error */
        tutti_set_local_error(made, tutti_last_error()->detail, tutti_last_error()->text);
    const tutti_err err = open_data(x, made == TUTTI_OK ? x->path : NULL);
    if (err != TUTTI_OK && root) {
        if (x->fd >= 0) {
            unlink(x->path);
            tutti__sidecar_remove(x->path);
        }
        root_close(x);
    }
    x->at = tutti__exodus_file_end(&x->cdf, 0);
    x->warning[0] = 0;
    x->mesh_lost = 0;
    x->record_blocks = 1;
    return err;
}

static tutti_err root_show(tutti_exodus *x) {
    const char magic[MAGIC] = {'C', 'D', 'F', (char)x->cdf.version};
    if (tutti__limited_pwrite(x->fd, magic, MAGIC, 0) != 0)
        return tutti__error_sys(errno, 0, "writing the header");
    if (x->opt.level == TUTTI_DURABLE && fdatasync(x->fd) != 0)
        return tutti__error_sys(errno, 0, "syncing the header");
    return TUTTI_OK;
}

tutti_err tutti__exodus_file_show(tutti_exodus *x) {
    if (x->opt.level == TUTTI_DURABLE) TUTTI_TRY(tutti__exodus_agree(x, tutti__sync_here(x->file)));
    return tutti__exodus_agree(x, x->team->rank == 0 ? root_show(x) : TUTTI_OK);
}

/* ---- opening: what rank 0 tells */

typedef struct {
    size_t header_n;
    tutti_off file_bytes;
    tutti_count records;
    double last;
    uint64_t hash;
    tutti_count topologies;
    int record_blocks;
    char warning[sizeof((tutti_exodus *)0)->warning];
} told;

/* Bytes that are told: the header, the catalogue, topologies. */
typedef struct {
    told t;
    char *bytes;
    size_t n;
} finding;

static tutti_err bytes_add(finding *f, const void *from, size_t n) {
    char *p = tutti__realloc(f->bytes, f->n + n + 1);
    if (!p) return TUTTI_ERR_NOMEM;
    if (n > 0 && from) memcpy(p + f->n, from, n);
    f->bytes = p;
    f->n += n;
    return TUTTI_OK;
}

static tutti_err catalogue_read(int fd, const tutti__cdf *c, finding *f) {
    tutti__exodus_catalogue where = {0};
    TUTTI_TRY(tutti__exodus_catalogue_of(c, &where));
    const size_t at = f->n;
    tutti_err err = bytes_add(f, NULL, where.bytes);
    for (tutti_count i = 0; i < where.n && err == TUTTI_OK; i++)
        err = bytes_read(fd, f->bytes + at + where.v[i].data, where.v[i].at,
                         (size_t)where.v[i].bytes);
    tutti__free(where.v);
    return err;
}

/* Some of the bytes of an array, spread over it. */
static tutti_err samples_add(int fd, const tutti__cdf *c, const char *name, uint64_t *hash) {
    enum { SAMPLES = 8, BYTES = 4096 };
    const tutti_count index = tutti__cdf_find_var(c, name);
    char bytes[BYTES] = "";
    if (index < 0 || c->vars[index].is_record) return TUTTI_OK;
    const tutti__cdf_var *v = &c->vars[index];
    const tutti_off all = v->numbers * tutti__cdf_size(v->type), n = tutti__min(all, BYTES);
    for (tutti_off i = 0; i < SAMPLES; i++) {
        const tutti_off at = v->begin + (all - n) / (SAMPLES - 1) * i;
        if (pread(fd, bytes, (size_t)n, (off_t)at) < 0)
            return tutti__error_sys(errno, at, "reading the mesh");
        *hash = tutti__hash(*hash, bytes, (size_t)n);
        if (n == all) break;
    }
    return TUTTI_OK;
}

/* Which mesh the file has: names, ids and all else of the catalogue, and samples of the arrays that two meshes of the same
 * counts differ in.  Reading whole arrays would take as long as reading the mesh. */
static tutti_err identity_find(int fd, const tutti__cdf *c, const finding *f, uint64_t *out) {
    static const char *const ARRAYS[] = {"node_num_map", "elem_num_map", "coord",   "coordx",
                                         "coordy",       "coordz",       "connect1"};
    uint64_t hash = tutti__hash(TUTTI__HASH_START, f->bytes + f->t.header_n, f->n - f->t.header_n);
    for (size_t i = 0; i < sizeof ARRAYS / sizeof *ARRAYS; i++)
        TUTTI_TRY(samples_add(fd, c, ARRAYS[i], &hash));
    *out = hash;
    return TUTTI_OK;
}

/* The time of the last record, which the next one must be behind. */
static tutti_err last_time(int fd, const tutti__cdf *c, told *t) {
    const tutti_count v = tutti__cdf_find_var(c, "time_whole");
    unsigned char bytes[8];
    if (v < 0 || t->records == 0) return TUTTI_OK;
    const size_t size = (size_t)tutti__cdf_size(c->vars[v].type);
    const tutti_off at =
        c->vars[v].begin + (t->records - 1) * tutti__exodus_step_stride(c, &c->vars[v]);
    TUTTI_TRY(bytes_read(fd, (char *)bytes, at, size));
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++) word = word << 8 | bytes[i];
    if (c->vars[v].type == TUTTI__CDF_DOUBLE) {
        memcpy(&t->last, &word, sizeof t->last);
    } else if (c->vars[v].type == TUTTI__CDF_FLOAT) {
        float single;
        const uint32_t half = (uint32_t)word;
        memcpy(&single, &half, sizeof single);
        t->last = single;
    }
    return TUTTI_OK;
}

/* A writer: what a killed one has left behind the last record goes, what is missing of its padding is
 * there, and sums of steps that are not there are forgotten. */
static tutti_err tidy(tutti_exodus *x, const tutti__cdf *c, tutti_count in_header, const told *t) {
    const tutti_off end = tutti__exodus_file_end(c, t->records);
    if (tutti__exodus_has_fixed_steps(c)) return TUTTI_OK; /* it has no uncommitted bytes */
    if (t->file_bytes != end && tutti__limited_truncate(x->fd, end) != 0)
        return tutti__error_sys(errno, end, "cutting off what is behind the last record");
    if (in_header != t->records) TUTTI_TRY(tutti__cdf_set_records(x->fd, c, t->records));
    return x->sidecar ? tutti__sidecar_drop(x->sidecar, t->records) : TUTTI_OK;
}

static tutti_err sidecar_find(tutti_exodus *x, finding *f) {
    tutti__sidecar_topology *v = NULL;
    const tutti__sidecar_options opt = sidecar_options(x);
    f->t.record_blocks = 1;
    if (!x->opt.sidecar) return TUTTI_OK;
    TUTTI_TRY(tutti__sidecar_open(x->path, &opt, f->t.warning, sizeof f->t.warning, &x->sidecar));
    if (!x->sidecar) return TUTTI_OK;
    f->t.record_blocks = tutti__sidecar_has_record_blocks(x->sidecar);
    TUTTI_TRY(tutti__sidecar_topologies(x->sidecar, &v, &f->t.topologies));
    const tutti_err err = bytes_add(f, v, (size_t)f->t.topologies * sizeof *v);
    tutti__free(v);
    return err;
}

static tutti_err root_find(tutti_exodus *x, finding *f) {
    const int writes = (x->mode & TUTTI_WRITE) != 0;
    tutti__cdf c;
    x->fd = open(x->path, (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (x->fd < 0) return tutti__error_sys(errno, -1, "opening the file");
    if (writes) TUTTI_TRY(lock_file(x, x->fd));
    TUTTI_TRY(
        tutti__cdf_read_header(x->path, (void **)&f->bytes, &f->t.header_n, &f->t.file_bytes));
    f->n = f->t.header_n;
    TUTTI_TRY(tutti__cdf_decode(f->bytes, f->n, f->t.file_bytes, &c));
    const tutti_count in_header = c.records;
    tutti__exodus_steps_settle(&c, f->t.file_bytes);
    f->t.records = c.records;
    f->t.hash = x->header = header_hash(f->bytes, f->n, c.version);
    tutti_err err = catalogue_read(x->fd, &c, f);
    if (err == TUTTI_OK) err = identity_find(x->fd, &c, f, &x->identity);
    if (err == TUTTI_OK) err = last_time(x->fd, &c, &f->t);
    if (err == TUTTI_OK) err = sidecar_find(x, f);
    if (err == TUTTI_OK && writes) err = tidy(x, &c, in_header, &f->t);
    tutti__cdf_free(&c);
    return err;
}

/* Is it still the file that was opened?  An open file keeps its inode number. */
static int is_replaced(const tutti_exodus *x, int fd) {
    struct stat opened, now;
    return fstat(x->fd, &opened) != 0 || fstat(fd, &now) != 0 || opened.st_dev != now.st_dev ||
           opened.st_ino != now.st_ino;
}

static tutti_err steps_find(const tutti_exodus *x, int fd, finding *f, tutti_count *out) {
    tutti__cdf c;
    uint64_t identity = 0;
    TUTTI_TRY(
        tutti__cdf_read_header(x->path, (void **)&f->bytes, &f->t.header_n, &f->t.file_bytes));
    f->n = f->t.header_n;
    TUTTI_TRY(tutti__cdf_decode(f->bytes, f->n, f->t.file_bytes, &c));
    tutti__exodus_steps_settle(&c, f->t.file_bytes);
    *out = c.records;
    const uint64_t header = header_hash(f->bytes, f->n, c.version);
    tutti_err err = catalogue_read(fd, &c, f);
    if (err == TUTTI_OK) err = identity_find(fd, &c, f, &identity);
    tutti__cdf_free(&c);
    TUTTI_TRY(err);
    TUTTI_CHECK(!is_replaced(x, fd) && header == x->header && identity == x->identity,
                TUTTI_ERR_STATE, "'%s' has been replaced since it was opened: open it again",
                x->path);
    return TUTTI_OK;
}

tutti_err tutti__exodus_file_steps(const tutti_exodus *x, tutti_count *out) {
    finding f = {0};
    const int fd = open(x->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tutti__error_sys(errno, -1, "opening the file");
    const tutti_err err = steps_find(x, fd, &f, out);
    tutti__free(f.bytes);
    close(fd);
    return err;
}

/* ---- opening: all ranks */

static void topologies_set(tutti__exodus_model *m, const char *bytes, tutti_count n) {
    for (tutti_count i = 0; i < n; i++) {
        tutti__sidecar_topology t;
        memcpy(&t, bytes + (size_t)i * sizeof t, sizeof t);
        const tutti_count row = tutti__exodus_model_find(m, (tutti_exodus_kind)t.kind, t.id);
        tutti_exodus_entity *e = row >= 0 ? &m->of[t.kind].row[row] : NULL;
        char *copy = e && e->entries == 0 ? tutti__strdup(t.name) : NULL;
        if (!copy) continue;
        tutti__free((void *)(uintptr_t)e->topology);
        e->topology = copy;
        e->nodes = t.nodes;
    }
}

static tutti_err take(tutti_exodus *x, const finding *f) {
    tutti__exodus_catalogue where = {0};
    TUTTI_TRY(tutti__cdf_decode(f->bytes, f->t.header_n, f->t.file_bytes, &x->cdf));
    tutti__exodus_steps_settle(&x->cdf, f->t.file_bytes);
    TUTTI_TRY(tutti__exodus_catalogue_of(&x->cdf, &where));
    const char *catalogue = f->bytes + f->t.header_n;
    const tutti_err err = tutti__exodus_decode(&x->cdf, &where, catalogue, &x->model);
    if (err == TUTTI_OK) topologies_set(&x->model, catalogue + where.bytes, f->t.topologies);
    tutti__free(where.v);
    x->last = f->t.last;
    x->header = f->t.hash;
    x->at = tutti__exodus_file_end(&x->cdf, x->cdf.records);
    x->record_blocks = f->t.record_blocks;
    memcpy(x->warning, f->t.warning, sizeof x->warning);
    return err;
}

tutti_err tutti__exodus_file_open(tutti_exodus *x) {
    const int root = x->team->rank == 0;
    finding f = {0};
    tutti_err err = tutti__exodus_agree(x, root ? root_find(x, &f) : TUTTI_OK);
    if (err == TUTTI_OK) err = tutti__team_tell(x->team, &f.t, (int)sizeof f.t);
    if (err == TUTTI_OK) err = tutti__exodus_tell(x, (void **)&f.bytes, &f.n);
    if (err == TUTTI_OK) err = tutti__exodus_agree(x, take(x, &f));
    tutti__free(f.bytes);
    if (err == TUTTI_OK) err = open_data(x, x->path);
    if (err == TUTTI_OK) return TUTTI_OK;
    root_close(x);
    tutti__exodus_model_free(&x->model);
    tutti__cdf_free(&x->cdf);
    return err;
}

tutti_err tutti__exodus_file_close(tutti_exodus *x) {
    if (x->file) tutti__file_stats_add(x->file, &x->stats);
    const tutti_err err = x->file ? tutti_file_close(&x->file) : TUTTI_OK;
    root_close(x);
    return err;
}

/* ---- records */

tutti_err tutti__exodus_file_records(tutti_exodus *x, tutti_count records, int durable) {
    struct stat st;
    const tutti_off end = tutti__exodus_file_end(&x->cdf, records);
    if (fstat(x->fd, &st) != 0) return tutti__error_sys(errno, -1, "looking at the file");
    if (st.st_size < end) { /* what comes last was not put */
        if (tutti__limited_truncate(x->fd, end) != 0)
            return tutti__error_sys(errno, end, "ending the record");
        if (durable && fdatasync(x->fd) != 0) return tutti__error_sys(errno, -1, "fdatasync");
    }
    TUTTI_TRY(tutti__cdf_set_records(x->fd, &x->cdf, records));
    if (durable && fdatasync(x->fd) != 0) return tutti__error_sys(errno, -1, "fdatasync");
    return TUTTI_OK;
}
