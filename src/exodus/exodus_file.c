/* exodus: creating and opening the file and its sidecar; the number of records.  Rank 0 reads and
 * writes header and catalogue and broadcasts them; each rank decodes them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/size_limit.h"
#include "metadata/meta.h" /* declares tutti__directory_sync */
#include "exodus/sidecar.h"
#include "timestep/writer_lock.h"

enum { MAGIC = 4 }; /* number of magic bytes at the start of a header */

tutti_off tutti__exodus_file_end(const tutti__cdf *c, tutti_count records) {
    if (records == 0 || tutti__exodus_has_fixed_steps(c)) return c->fixed_end;
    return c->record_begin + records * c->record_bytes;
}

/* ---- rank 0 */

/* Lock one byte far beyond any data, so that the lock conflicts with no access to the file. */
static tutti_err lock_file(const tutti_exodus *x, int fd) {
    return tutti__writer_lock_acquire(&(tutti__writer_lock){.path = x->path,
                                                            .fd = fd,
                                                            .start = (tutti_off)1 << 62,
                                                            .bytes = 1,
                                                            .is_optional = x->opt.without_locks});
}

static tutti_err read_bytes(int fd, char *to, tutti_off at, size_t n) {
    for (size_t done = 0; done < n;) {
        const ssize_t k = pread(fd, to + done, n - done, (off_t)(at + (tutti_off)done));
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return tutti__error_sys(errno, at, "cannot read the catalogue");
        TUTTI_CHECK(k > 0, TUTTI_ERR_FORMAT, "the file ends at offset %lld, within its catalogue",
                    (long long)(at + (tutti_off)done));
        done += (size_t)k;
    }
    return TUTTI_OK;
}

/* Sync the directory of a file. */
static tutti_err file_directory_sync(const char *path) {
    char *copy = tutti__strdup(path);
    if (!copy) return TUTTI_ERR_NOMEM;
    char *slash = strrchr(copy, '/');
    if (slash) slash[slash == copy] = 0;
    const tutti_err err = tutti__directory_sync(slash ? copy : ".");
    tutti__free(copy);
    return err;
}

/* Return whether `head` is a header of Tutti without its magic: no records, then dimensions, the
 * first of which is known.  After a power failure the header may consist of zeros; these are
 * accepted only if the name of the file is that of a series, since otherwise they may be data of
 * another program. */
static int is_unpublished(const char head[42], int is_follower) {
    static const char ZEROS[42];
    if (is_follower && memcmp(head, ZEROS, sizeof ZEROS) == 0) return 1;
    return memcmp(head, ZEROS, 12) == 0 && memcmp(head + 12, "\0\0\0\12", 4) == 0 &&
           memcmp(head + 32, "len_string", 10) == 0;
}

int tutti__exodus_file_exists(const char *path, int is_follower) {
    char head[42] = "";
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno != ENOENT;
    const int unpublished = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                            (st.st_size == 0 || (pread(fd, head, sizeof head, 0) == sizeof head &&
                                                 is_unpublished(head, is_follower)));
    close(fd);
    return !unpublished;
}

/* Remove the file at x->path, if it may be replaced and no other program is writing it. */
static tutti_err remove_old_file(tutti_exodus *x) {
    const int fd = open(x->path, O_RDWR | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return TUTTI_OK;
    if (fd < 0) return tutti__error_sys(errno, -1, "cannot open the file to replace");
    tutti_err err = TUTTI_OK;
    if (!x->opt.overwrite && tutti__exodus_file_exists(x->path, strcmp(x->path, x->first) != 0))
        err = tutti__error_set(TUTTI_ERR_EXISTS, 0, -1,
                               "'%s' exists: set option overwrite to replace it", x->path);
    if (err == TUTTI_OK) err = lock_file(x, fd);
    if (err == TUTTI_OK && unlink(x->path) != 0)
        err = tutti__error_sys(errno, -1, "cannot remove the file to replace");
    close(fd);
    return err;
}

/* Remove the files that follow a file that is overwritten. */
static tutti_err remove_followers(const char *first, tutti__series_naming naming) {
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

/* Store the topologies of empty blocks in the sidecar, since the file has no arrays for them. */
static tutti_err store_topologies(tutti_exodus *x) {
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

/* Return the hash of a header, excluding the number of records. */
static uint64_t hash_header(char *bytes, size_t n, int version) {
    char count[8];
    const size_t word = version == 5 ? 8 : 4;
    memcpy(count, bytes + 4, word);
    memset(bytes + 4, 0, word);
    const uint64_t hash = tutti__checksum_of(bytes, n);
    memcpy(bytes + 4, count, word);
    return hash;
}

static tutti__sidecar_options make_sidecar_options(const tutti_exodus *x) {
    return (tutti__sidecar_options){.writes = (x->mode & TUTTI_WRITE) != 0,
                                    .durable = x->opt.level == TUTTI_DURABLE,
                                    .busy = x->opt.lock_timeout,
                                    .header = x->header};
}

static tutti_err create_on_root(tutti_exodus *x) {
    char *head = NULL;
    size_t n = 0;
    TUTTI_TRY(tutti__exodus_head(&x->model, &x->cdf, (void **)&head, &n));
    x->header = hash_header(head, (size_t)x->cdf.header_bytes, x->cdf.version);
    x->at = tutti__exodus_file_end(&x->cdf, 0);
    tutti_err err = remove_old_file(x);
    for (int k = TUTTI__SERIES_IOSS; k < TUTTI__SERIES_NAMINGS; k++)
        if (err == TUTTI_OK && x->file_number == 1 && x->opt.overwrite)
            err = remove_followers(x->first, (tutti__series_naming)k);
    if (err == TUTTI_OK) {
        x->fd = open(x->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (x->fd < 0) err = tutti__error_sys(errno, -1, "cannot create the file");
    }
    if (err == TUTTI_OK) err = lock_file(x, x->fd);
    memset(head, 0, MAGIC); /* no magic until tutti__exodus_file_publish */
    if (err == TUTTI_OK && tutti__limited_pwrite(x->fd, head, n, 0) != 0)
        err = tutti__error_sys(errno, 0, "cannot write the header");
    if (err == TUTTI_OK && tutti__limited_truncate(x->fd, x->at) != 0)
        err = tutti__error_sys(errno, x->at, "cannot extend the file for the mesh");
    tutti__free(head);
    if (err == TUTTI_OK && x->opt.sidecar) {
        const tutti__sidecar_options opt = make_sidecar_options(x);
        err = tutti__sidecar_make(x->path, &opt, &x->sidecar);
        if (err == TUTTI_OK) err = store_topologies(x);
    }
    if (err == TUTTI_OK && x->opt.level == TUTTI_DURABLE) err = file_directory_sync(x->path);
    return err;
}

static void close_on_root(tutti_exodus *x) {
    TUTTI_KEEP_LAST_ERROR;
    /* store the number of steps for tutti_exodus_verify; an error is ignored */
    if (x->sidecar && (x->mode & TUTTI_WRITE) && x->cdf.records > 0) {
        const tutti_err err = tutti__sidecar_set_steps(x->sidecar, x->cdf.records);
        (void)err;
    }
    tutti__sidecar_close(&x->sidecar);
    if (x->fd >= 0) close(x->fd);
    x->fd = -1;
}

/* Open the file on all ranks; `path` is NULL on a rank that has failed.   Collective. */
static tutti_err open_data_file(tutti_exodus *x, const char *path) {
    TUTTI_TRY(tutti_file_open(x->team->comm, path, x->mode, &x->io, &x->file));
    tutti_file_on_progress(x->file, x->progress, x->progress_context);
    return TUTTI_OK;
}

tutti_err tutti__exodus_file_make(tutti_exodus *x) {
    const int root = x->team->rank == 0;
    const tutti_err made = root ? create_on_root(x) : TUTTI_OK;
    if (made != TUTTI_OK) /* the other ranks wait in open, and return this error */
        tutti_set_local_error(made, tutti_last_error()->detail, tutti_last_error()->text);
    const tutti_err err = open_data_file(x, made == TUTTI_OK ? x->path : NULL);
    if (err != TUTTI_OK && root) {
        if (x->fd >= 0) {
            unlink(x->path);
            tutti__sidecar_remove(x->path);
        }
        close_on_root(x);
    }
    x->at = tutti__exodus_file_end(&x->cdf, 0);
    x->warning[0] = 0;
    x->mesh_lost = 0;
    x->record_blocks = 1;
    return err;
}

tutti_err tutti__exodus_file_publish(tutti_exodus *x) {
    const char magic[MAGIC] = {'C', 'D', 'F', (char)x->cdf.version};
    const int is_durable = x->opt.level == TUTTI_DURABLE;
    tutti_err err = TUTTI_OK;
    if (is_durable) TUTTI_TRY(tutti__team_agree(x->team, tutti__sync_here(x->file)));
    if (x->team->rank == 0) {
        if (tutti__limited_pwrite(x->fd, magic, MAGIC, 0) != 0)
            err = tutti__error_sys(errno, 0, "cannot write the header");
        else if (is_durable && fdatasync(x->fd) != 0)
            err = tutti__error_sys(errno, 0, "cannot sync the header");
    }
    return tutti__team_agree(x->team, err);
}

/* ---- opening: data that rank 0 broadcasts */

typedef struct {
    size_t header_n;
    tutti_off file_bytes;
    tutti_count records;
    double last;
    uint64_t hash;
    tutti_count topologies;
    int record_blocks;
    char warning[sizeof((tutti_exodus *)0)->warning];
} file_facts;

/* Properties and bytes of a file: header, catalogue, topologies of empty blocks. */
typedef struct {
    file_facts t;
    char *bytes;
    size_t n;
} file_contents;

static tutti_err append_bytes(file_contents *f, const void *from, size_t n) {
    char *p = tutti__realloc(f->bytes, f->n + n + 1);
    if (!p) return TUTTI_ERR_NOMEM;
    if (n > 0 && from) memcpy(p + f->n, from, n);
    f->bytes = p;
    f->n += n;
    return TUTTI_OK;
}

static tutti_err read_catalogue(int fd, const tutti__cdf *c, file_contents *f) {
    tutti__exodus_catalogue where = {0};
    TUTTI_TRY(tutti__exodus_catalogue_of(c, &where));
    const size_t at = f->n;
    tutti_err err = append_bytes(f, NULL, where.bytes);
    for (tutti_count i = 0; i < where.n && err == TUTTI_OK; i++)
        err = read_bytes(fd, f->bytes + at + where.v[i].data, where.v[i].at,
                         (size_t)where.v[i].bytes);
    tutti__free(where.v);
    return err;
}

/* Add samples of an array, at equal distances, to a hash. */
static tutti_err hash_samples(int fd, const tutti__cdf *c, const char *name, uint64_t *hash) {
    enum { SAMPLES = 8, BYTES = 4096 };
    const tutti_count index = tutti__cdf_find_var(c, name);
    char bytes[BYTES] = "";
    if (index < 0 || c->vars[index].is_record) return TUTTI_OK;
    const tutti__cdf_var *v = &c->vars[index];
    const tutti_off all = v->numbers * tutti__cdf_size(v->type), n = tutti__min(all, BYTES);
    for (tutti_off i = 0; i < SAMPLES; i++) {
        const tutti_off at = v->begin + (all - n) / (SAMPLES - 1) * i;
        if (pread(fd, bytes, (size_t)n, (off_t)at) < 0)
            return tutti__error_sys(errno, at, "cannot read the mesh");
        *hash = tutti__hash(*hash, bytes, (size_t)n);
        if (n == all) break;
    }
    return TUTTI_OK;
}

/* Compute a hash that identifies the mesh, from the catalogue and samples of arrays in which meshes
 * with the same counts differ.  Reading whole arrays would take as long as reading the mesh. */
static tutti_err hash_mesh(int fd, const tutti__cdf *c, const file_contents *f, uint64_t *out) {
    static const char *const ARRAYS[] = {"node_num_map", "elem_num_map", "coord",   "coordx",
                                         "coordy",       "coordz",       "connect1"};
    uint64_t hash = tutti__hash(TUTTI__HASH_START, f->bytes + f->t.header_n, f->n - f->t.header_n);
    for (size_t i = 0; i < sizeof ARRAYS / sizeof *ARRAYS; i++)
        TUTTI_TRY(hash_samples(fd, c, ARRAYS[i], &hash));
    *out = hash;
    return TUTTI_OK;
}

/* Read the time of the last record; that of the next step must be larger. */
static tutti_err read_last_time(int fd, const tutti__cdf *c, file_facts *t) {
    const tutti_count v = tutti__cdf_find_var(c, "time_whole");
    unsigned char bytes[8];
    if (v < 0 || t->records == 0) return TUTTI_OK;
    const size_t size = (size_t)tutti__cdf_size(c->vars[v].type);
    const tutti_off at =
        c->vars[v].begin + (t->records - 1) * tutti__exodus_step_stride(c, &c->vars[v]);
    TUTTI_TRY(read_bytes(fd, (char *)bytes, at, size));
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

/* For writers: truncate bytes that a killed writer left after the last record, extend a file that
 * lacks its last padding, correct the number of records, and remove checksums of steps that do not
 * exist. */
static tutti_err remove_uncommitted(tutti_exodus *x, const tutti__cdf *c, tutti_count in_header,
                                    const file_facts *t) {
    const tutti_off end = tutti__exodus_file_end(c, t->records);
    /* such a file has no uncommitted bytes */
    if (tutti__exodus_has_fixed_steps(c)) return TUTTI_OK;
    if (t->file_bytes != end && tutti__limited_truncate(x->fd, end) != 0)
        return tutti__error_sys(errno, end, "cannot truncate the file after its last record");
    if (in_header != t->records) TUTTI_TRY(tutti__cdf_set_records(x->fd, c, t->records));
    return x->sidecar ? tutti__sidecar_drop(x->sidecar, t->records) : TUTTI_OK;
}

static tutti_err open_sidecar(tutti_exodus *x, file_contents *f) {
    tutti__sidecar_topology *v = NULL;
    const tutti__sidecar_options opt = make_sidecar_options(x);
    f->t.record_blocks = 1;
    if (!x->opt.sidecar) return TUTTI_OK;
    TUTTI_TRY(tutti__sidecar_open(x->path, &opt, f->t.warning, sizeof f->t.warning, &x->sidecar));
    if (!x->sidecar) return TUTTI_OK;
    f->t.record_blocks = tutti__sidecar_has_record_blocks(x->sidecar);
    TUTTI_TRY(tutti__sidecar_topologies(x->sidecar, &v, &f->t.topologies));
    const tutti_err err = append_bytes(f, v, (size_t)f->t.topologies * sizeof *v);
    tutti__free(v);
    return err;
}

static tutti_err open_on_root(tutti_exodus *x, file_contents *f) {
    const int writes = (x->mode & TUTTI_WRITE) != 0;
    tutti__cdf c;
    x->fd = open(x->path, (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (x->fd < 0) return tutti__error_sys(errno, -1, "cannot open the file");
    if (writes) TUTTI_TRY(lock_file(x, x->fd));
    TUTTI_TRY(
        tutti__cdf_read_header(x->path, (void **)&f->bytes, &f->t.header_n, &f->t.file_bytes));
    f->n = f->t.header_n;
    TUTTI_TRY(tutti__cdf_decode(f->bytes, f->n, f->t.file_bytes, &c));
    const tutti_count in_header = c.records;
    tutti__exodus_steps_settle(&c, f->t.file_bytes);
    f->t.records = c.records;
    f->t.hash = x->header = hash_header(f->bytes, f->n, c.version);
    tutti_err err = read_catalogue(x->fd, &c, f);
    if (err == TUTTI_OK) err = hash_mesh(x->fd, &c, f, &x->identity);
    if (err == TUTTI_OK) err = read_last_time(x->fd, &c, &f->t);
    if (err == TUTTI_OK) err = open_sidecar(x, f);
    if (err == TUTTI_OK && writes) err = remove_uncommitted(x, &c, in_header, &f->t);
    tutti__cdf_free(&c);
    return err;
}

static tutti_err read_step_count(const tutti_exodus *x, int fd, file_contents *f,
                                 tutti_count *out) {
    tutti__cdf c;
    uint64_t identity = 0;
    TUTTI_TRY(
        tutti__cdf_read_header(x->path, (void **)&f->bytes, &f->t.header_n, &f->t.file_bytes));
    f->n = f->t.header_n;
    TUTTI_TRY(tutti__cdf_decode(f->bytes, f->n, f->t.file_bytes, &c));
    tutti__exodus_steps_settle(&c, f->t.file_bytes);
    *out = c.records;
    const uint64_t header = hash_header(f->bytes, f->n, c.version);
    tutti_err err = read_catalogue(fd, &c, f);
    if (err == TUTTI_OK) err = hash_mesh(fd, &c, f, &identity);
    tutti__cdf_free(&c);
    TUTTI_TRY(err);
    struct stat opened, now; /* the inode number of an open file is not reused */
    const int is_same_file = fstat(x->fd, &opened) == 0 && fstat(fd, &now) == 0 &&
                             opened.st_dev == now.st_dev && opened.st_ino == now.st_ino;
    TUTTI_CHECK(is_same_file && header == x->header && identity == x->identity, TUTTI_ERR_STATE,
                "'%s' has been replaced since it was opened: open it again", x->path);
    return TUTTI_OK;
}

tutti_err tutti__exodus_file_steps(const tutti_exodus *x, tutti_count *out) {
    file_contents f = {0};
    const int fd = open(x->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tutti__error_sys(errno, -1, "cannot open the file");
    const tutti_err err = read_step_count(x, fd, &f, out);
    tutti__free(f.bytes);
    close(fd);
    return err;
}

/* ---- opening: all ranks */

static tutti_err decode_contents(tutti_exodus *x, const file_contents *f) {
    tutti__exodus_catalogue where = {0};
    TUTTI_TRY(tutti__cdf_decode(f->bytes, f->t.header_n, f->t.file_bytes, &x->cdf));
    tutti__exodus_steps_settle(&x->cdf, f->t.file_bytes);
    TUTTI_TRY(tutti__exodus_catalogue_of(&x->cdf, &where));
    const char *catalogue = f->bytes + f->t.header_n;
    const tutti_err err = tutti__exodus_decode(&x->cdf, &where, catalogue, &x->model);
    for (tutti_count i = 0; i < f->t.topologies && err == TUTTI_OK; i++) {
        tutti__sidecar_topology t;
        memcpy(&t, catalogue + where.bytes + (size_t)i * sizeof t, sizeof t);
        const tutti_count row =
            tutti__exodus_model_find(&x->model, (tutti_exodus_kind)t.kind, t.id);
        tutti_exodus_entity *e = row >= 0 ? &x->model.of[t.kind].row[row] : NULL;
        char *copy = e && e->entries == 0 ? tutti__strdup(t.name) : NULL;
        if (!copy) continue;
        tutti__free((void *)(uintptr_t)e->topology);
        e->topology = copy;
        e->nodes = t.nodes;
    }
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
    file_contents f = {0};
    tutti_err err = tutti__team_agree(x->team, root ? open_on_root(x, &f) : TUTTI_OK);
    if (err == TUTTI_OK) err = tutti__team_broadcast(x->team, &f.t, (int)sizeof f.t);
    if (err == TUTTI_OK) err = tutti__team_broadcast_bytes(x->team, (void **)&f.bytes, &f.n);
    if (err == TUTTI_OK) err = tutti__team_agree(x->team, decode_contents(x, &f));
    tutti__free(f.bytes);
    if (err == TUTTI_OK) err = open_data_file(x, x->path);
    if (err == TUTTI_OK) return TUTTI_OK;
    close_on_root(x);
    tutti__exodus_model_free(&x->model);
    tutti__cdf_free(&x->cdf);
    return err;
}

tutti_err tutti__exodus_file_close(tutti_exodus *x) {
    if (x->file) tutti__file_stats_add(x->file, &x->stats);
    const tutti_err err = x->file ? tutti_file_close(&x->file) : TUTTI_OK;
    close_on_root(x);
    return err;
}

/* ---- records */

tutti_err tutti__exodus_file_records(tutti_exodus *x, tutti_count records, int durable) {
    struct stat st;
    const tutti_off end = tutti__exodus_file_end(&x->cdf, records);
    if (fstat(x->fd, &st) != 0)
        return tutti__error_sys(errno, -1, "cannot read the size of the file");
    if (st.st_size < end) { /* the last variable was not written */
        if (tutti__limited_truncate(x->fd, end) != 0)
            return tutti__error_sys(errno, end, "cannot extend the file to the end of the record");
        if (durable && fdatasync(x->fd) != 0) return tutti__error_sys(errno, -1, "fdatasync");
    }
    TUTTI_TRY(tutti__cdf_set_records(x->fd, &x->cdf, records));
    if (durable && fdatasync(x->fd) != 0) return tutti__error_sys(errno, -1, "fdatasync");
    return TUTTI_OK;
}
