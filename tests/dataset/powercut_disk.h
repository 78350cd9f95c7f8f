/* A simulated disk that loses power: replays a log of powercut_record.so and cuts the power at chosen records.
 *
 * After a cut, all data that was synced is on the disk.  Of the data that was not synced, the disk has
 *
 *   nothing, everything, everything but the end of the last write,
 *   everything written to one file or directory and nothing written to others (caches are written back in any order),
 *   the last change of one file or directory and nothing else, or
 *   a random selection of sectors of 512 bytes, of file lengths and of names.
 *
 * Cuts are made where they can show that a sync is missing: at each mark (a call has returned, so
 * that its effect must be durable), before each sync (most data is pending there), and at random records.
 * After each cut the callback `look` compares the files with the states before and after the cut.  A replay
 * that ignores the syncs of one call site must lose data: otherwise the tests would not detect that a sync
 * is missing there.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_POWERCUT_DISK_H
#define TUTTI_TESTS_POWERCUT_DISK_H

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "powercut.h"

enum { SECTOR = 512, OBJECTS = 4000, SITES = 256 };

/* Check that the files in `directory` are in state `was` or `will`; return a description of the error or NULL. */
typedef const char *powercut_look(const char *directory, const char *was, const char *will);

/* ---- contents of the disk, and data written since the last sync */

typedef struct {
    const powercut_record *of;
    const char *bytes;
} pending;

typedef struct {
    uint64_t inode;
    int is_directory;
    char *bytes; /* contents on the device, `size` bytes */
    int64_t size;
    pending *later; /* writes since the last sync */
    int later_n;
} object;

/* A name in a directory: the object that it referred to at the last sync of the directory, and now. */
typedef struct {
    char name[200];
    int directory; /* index of the directory in `objects` */
    int is; /* index in `objects` of the object that had this name at the last sync, or -1: none */
    int later[64], later_n; /* the same after each later change of the name */
    long changed;           /* value of `changes` at the last change of this name */
} entry;

static object objects[OBJECTS];
static int objects_n;
static entry entries[OBJECTS];
static int entries_n;
static long changes; /* number of records applied so far */
static uint64_t chance;

static int random_below(int n) {
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (int)((chance >> 33) % (uint64_t)n);
}

static void *not_null(void *p) {
    if (!p) abort();
    return p;
}

static int object_new(uint64_t inode, int is_directory) {
    if (objects_n == OBJECTS) abort();
    objects[objects_n] = (object){.inode = inode, .is_directory = is_directory};
    return objects_n++;
}

static int object_of(uint64_t inode) { /* inode numbers are reused: return the newest object */
    for (int i = objects_n - 1; i > 0; i--)
        if (objects[i].inode == inode) return i;
    return 0; /* the number is that of the root */
}

static int entry_now(const entry *e) {
    return e->later_n ? e->later[e->later_n - 1] : e->is;
}

/* Return the entry of a path such as "/d/name"; create it if it does not exist. */
static entry *entry_of(const char *path) {
    char copy[300], *at = copy, *name;
    int directory = 0;
    snprintf(copy, sizeof copy, "%s", path + 1);
    for (;;) {
        name = strsep(&at, "/");
        entry *e = NULL;
        for (int i = 0; i < entries_n && !e; i++)
            if (entries[i].directory == directory && strcmp(entries[i].name, name) == 0)
                e = &entries[i];
        if (!e) {
            if (entries_n == OBJECTS) abort();
            e = &entries[entries_n++];
            *e = (entry){.directory = directory, .is = -1};
            snprintf(e->name, sizeof e->name, "%s", name);
        }
        if (!at) return e;
        directory = entry_now(e);
    }
}

static void entry_set(entry *e, int is) {
    if (e->later_n == 64) abort();
    e->later[e->later_n++] = is;
    e->changed = changes;
}

/* ---- records */

static void resize(char **bytes, int64_t *size, int64_t to) {
    if (to > *size) {
        *bytes = not_null(realloc(*bytes, (size_t)to + 1));
        memset(*bytes + *size, 0, (size_t)(to - *size));
    }
    *size = to;
}

/* Apply `n` pending records to the contents of a file: all of them, or a random selection of sectors and
 * lengths (`some`); `torn`: only the first part of the last record. */
static void apply_pending(char **bytes, int64_t *size, const pending *v, int n, int some,
                          int torn) {
    int64_t length = *size;
    /* number of records whose change of the length is on the disk */
    const int lengths = some ? random_below(n + 1) : n;
    for (int i = 0; i < n; i++) {
        const powercut_record *r = v[i].of;
        const int is_punch = r->what == POWERCUT_PUNCH;
        int64_t end = r->at + r->bytes;
        if (is_punch) {
            memcpy(&end, v[i].bytes, sizeof end);
            end = r->at + end < *size ? r->at + end : *size;
        }
        if (torn && i == n - 1) end = r->at + (end - r->at) / SECTOR / 2 * SECTOR;
        if (r->what == POWERCUT_LENGTH) {
            if (i >= lengths) continue;
            if (*size < r->at) resize(bytes, size, r->at);
            if (*size > r->at) memset(*bytes + r->at, 0, (size_t)(*size - r->at));
            length = r->at;
            continue;
        }
        if (end > *size) resize(bytes, size, end);
        for (int64_t at = r->at; at < end;) {
            const int64_t next = (at / SECTOR + 1) * SECTOR, to = next < end ? next : end;
            if (!some || random_below(2)) {
                if (is_punch)
                    memset(*bytes + at, 0, (size_t)(to - at));
                else
                    memcpy(*bytes + at, v[i].bytes + (at - r->at), (size_t)(to - at));
            }
            at = to;
        }
        if (i < lengths && end > length) length = end;
    }
    resize(bytes, size, length);
}

/* The model assumes that a sync of a directory by SQLite makes only the name of the journal durable, so that
 * the library cannot rely on SQLite for other names. */
static int is_journal(const char *name) {
    const size_t n = strlen(name);
    return n > 8 && strcmp(name + n - 8, "-journal") == 0;
}

static void sync_object(int which, int by_sqlite) {
    object *o = &objects[which];
    if (o->is_directory) {
        for (int i = 0; i < entries_n; i++)
            if (entries[i].directory == which && (!by_sqlite || is_journal(entries[i].name))) {
                entries[i].is = entry_now(&entries[i]);
                entries[i].later_n = 0;
            }
        return;
    }
    apply_pending(&o->bytes, &o->size, o->later, o->later_n, 0, 0);
    o->later_n = 0;
}

static void apply_record(const powercut_record *r, const char *bytes) {
    char path[600] = ""; /* followed by the second path of a rename */
    object *o;
    if (r->bytes < (int64_t)sizeof path) memcpy(path, bytes, (size_t)r->bytes);
    changes++; /* once per record: both names of a rename change at the same time */
    switch (r->what) {
    case POWERCUT_CREATE:
    case POWERCUT_MKDIR:
        entry_set(entry_of(path), object_new(r->object, r->what == POWERCUT_MKDIR));
        return;
    case POWERCUT_LINK:
        entry_set(entry_of(path + strlen(path) + 1), entry_now(entry_of(path)));
        return;
    case POWERCUT_UNLINK:
        entry_set(entry_of(path), -1);
        return;
    case POWERCUT_RENAME:
        entry_set(entry_of(path + strlen(path) + 1), entry_now(entry_of(path)));
        entry_set(entry_of(path), -1);
        return;
    case POWERCUT_SYNC:
        sync_object(object_of(r->object), r->at == POWERCUT_SQLITE);
        return;
    case POWERCUT_MARK:
    case POWERCUT_SITE:
        return;
    default:
        o = &objects[object_of(r->object)];
        o->later = not_null(realloc(o->later, ((size_t)o->later_n + 1) * sizeof *o->later));
        o->later[o->later_n++] = (pending){r, bytes};
    }
}

/* ---- a cut */

typedef enum { NOTHING, EVERYTHING, TORN, RANDOM, ONE_OBJECT, LAST_CHANGE } loss;

typedef struct {
    loss kind;
    int object; /* index in `objects` for ONE_OBJECT and LAST_CHANGE, otherwise -1 */
    const powercut_record *last; /* last record before the cut */
} cut;

static int is_pending(int which) {
    if (!objects[which].is_directory) return objects[which].later_n > 0;
    for (int i = 0; i < entries_n; i++)
        if (entries[i].directory == which && entries[i].later_n) return 1;
    return 0;
}

/* Return whether no other name in the directory of `e` was changed later. */
static int is_last_change(const entry *e) {
    for (int i = 0; i < entries_n; i++)
        if (entries[i].directory == e->directory && entries[i].changed > e->changed) return 0;
    return 1;
}

static int entry_after(const entry *e, const cut *c) {
    if (c->kind == NOTHING || e->later_n == 0) return e->is;
    if ((c->kind == ONE_OBJECT || c->kind == LAST_CHANGE) && e->directory != c->object)
        return e->is;
    if (c->kind == LAST_CHANGE && !is_last_change(e)) return e->is;
    if (c->kind != RANDOM) return entry_now(e);
    const int n = random_below(e->later_n + 1);
    return n ? e->later[n - 1] : e->is;
}

static void file_build(const char *path, int which, const cut *c) {
    const object *o = &objects[which];
    const pending *v = o->later;
    int64_t size = o->size;
    int n = o->later_n;
    char *bytes = not_null(malloc((size_t)size + 1));
    if (size) memcpy(bytes, o->bytes, (size_t)size);
    const int torn = c->kind == TORN && n && v[n - 1].of == c->last;
    if (c->kind == NOTHING ||
        ((c->kind == ONE_OBJECT || c->kind == LAST_CHANGE) && which != c->object))
        n = 0;
    if (c->kind == LAST_CHANGE && n > 1) {
        v += n - 1;
        n = 1;
    }
    apply_pending(&bytes, &size, v, n, c->kind == RANDOM, torn);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || write(fd, bytes, (size_t)size) != size) abort();
    close(fd);
    free(bytes);
}

static void directory_build(const char *where, int directory, const cut *c) {
    char path[1000];
    (void)mkdir(where, 0777);
    for (int i = 0; i < entries_n; i++) {
        const int is = entries[i].directory == directory ? entry_after(&entries[i], c) : -1;
        if (is < 0) continue;
        snprintf(path, sizeof path, "%.700s/%.199s", where, entries[i].name);
        if (objects[is].is_directory)
            directory_build(path, is, c);
        else
            file_build(path, is, c);
    }
}

static void directory_remove(const char *where) {
    char path[1000];
    DIR *dir = opendir(where);
    struct dirent *e;
    while (dir && (e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        snprintf(path, sizeof path, "%.700s/%.255s", where, e->d_name);
        if (unlink(path) != 0) directory_remove(path);
    }
    if (dir) closedir(dir);
    (void)rmdir(where);
}

/* ---- the log */

static char *log_bytes;
static int64_t log_size;

static void log_read(const char *name) {
    struct stat st;
    const int fd = open(name, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0) abort();
    log_bytes = not_null(malloc((size_t)st.st_size + 1));
    while (log_size < st.st_size) {
        const ssize_t n = read(fd, log_bytes + log_size, (size_t)(st.st_size - log_size));
        if (n <= 0) abort();
        log_size += n;
    }
    close(fd);
}

/* Copy the record at offset `at` of the log to `out`; return the offset of the next record. */
static int64_t log_record(int64_t at, powercut_record *out) {
    memcpy(out, log_bytes + at, sizeof *out);
    return at + (int64_t)sizeof *out + out->bytes;
}

/* Copy the state of the next mark at or after offset `at` to `to`; "" if no mark follows. */
static void next_mark(int64_t at, char *to, size_t size) {
    powercut_record r;
    to[0] = 0;
    for (int64_t next; at < log_size; at = next) {
        next = log_record(at, &r);
        if (r.what != POWERCUT_MARK) continue;
        snprintf(to, size, "%.*s", (int)r.bytes, log_bytes + at + sizeof r);
        return;
    }
}

/* ---- the replay */

/* One pass over the log. */
typedef struct {
    const char *where; /* directory for the files after a cut */
    powercut_look *look;
    int every;             /* a random cut after 1 of `every` records; 0: none */
    const int64_t *forget; /* call site whose syncs are ignored; NULL: none */
    int forget_all; /* ignore all syncs; like `forget`, ends the pass at the first loss of data */
    char was[2000], will[2000];
    long records, cuts, harm; /* numbers of records, of cuts and of cuts that lost data */
} replay;

static void try_cut(replay *p, cut c) {
    directory_remove(p->where);
    directory_build(p->where, 0, &c);
    p->cuts++;
    const char *wrong = p->look(p->where, p->was, p->will);
    if (!wrong) return;
    if (p->harm++ < 5 && !p->forget && !p->forget_all)
        fprintf(stderr, "record %ld ('%c'), loss %d of object %d: %s\n", p->records, c.last->what,
                (int)c.kind, c.object, wrong);
}

/* Cut the power before a sync, when the cache may have written back any single file or directory. */
static void cut_before_sync(replay *p, const powercut_record *last) {
    for (int i = 0; i < objects_n; i++) {
        if (!is_pending(i)) continue;
        try_cut(p, (cut){ONE_OBJECT, i, last});
        if (objects[i].is_directory || objects[i].later_n > 1)
            try_cut(p, (cut){LAST_CHANGE, i, last});
    }
    try_cut(p, (cut){EVERYTHING, -1, last});
    try_cut(p, (cut){RANDOM, -1, last});
}

static int something_pending(void) {
    for (int i = 0; i < objects_n; i++)
        if (is_pending(i)) return 1;
    return 0;
}

static int is_over(const replay *p) {
    return p->harm > 0 && (p->forget || p->forget_all);
}

static void replay_run(replay *p) {
    const powercut_record *before = NULL; /* the last record that changed the disk */
    objects_n = entries_n = 0;
    object_new(0, 1);
    for (int64_t at = 0; at < log_size && !is_over(p); p->records++) {
        /* the record is not freed, because pending records point to it */
        powercut_record *r = not_null(malloc(sizeof *r));
        const char *bytes = log_bytes + at + sizeof *r;
        at = log_record(at, r);
        const int is_sync = r->what == POWERCUT_SYNC;
        if (r->what == POWERCUT_SITE) continue;
        if (is_sync && (p->forget_all || (p->forget && *p->forget == r->at))) continue;
        next_mark(at, p->will, sizeof p->will);
        if (is_sync && before->what != POWERCUT_SYNC && something_pending())
            cut_before_sync(p, before);
        if (r->what == POWERCUT_MARK)
            snprintf(p->was, sizeof p->was, "%.*s", (int)r->bytes, bytes);
        else
            apply_record(r, bytes);
        if (r->what == POWERCUT_MARK)
            for (int k = NOTHING; k <= RANDOM && something_pending(); k++)
                if (k != TORN) try_cut(p, (cut){(loss)k, -1, r});
        if (p->every && random_below(p->every) == 0)
            for (int k = NOTHING; k <= RANDOM; k++) try_cut(p, (cut){(loss)k, -1, r});
        before = r;
    }
    directory_remove(p->where);
}

/* Store the call sites of all syncs and their return addresses as text; return their number. */
static int sites_find(int64_t *sites, const char **names, int *lengths) {
    powercut_record r;
    int n = 0;
    for (int64_t at = 0, next; at < log_size; at = next) {
        next = log_record(at, &r);
        /* a site of 0 bytes is a sync by the test itself */
        int known = r.what != POWERCUT_SITE || r.bytes == 0;
        for (int i = 0; i < n; i++) known |= sites[i] == r.at;
        if (known) continue;
        if (n == SITES) abort();
        sites[n] = r.at;
        names[n] = log_bytes + at + sizeof r;
        lengths[n++] = (int)r.bytes;
    }
    return n;
}

/* Replay with the arguments LOG DIRECTORY EVERY SEED all|each|none.  all, each: no sync is ignored, and no cut
 * may lose data.  each: afterwards one replay per call site ignores its syncs, and prints "needed SITE" if
 * a cut loses data, otherwise "unneeded SITE".  none: all syncs are ignored.
 * Returns 1 if a cut of the first replay lost data. */
static int powercut_replay(char **argv, const char *first, powercut_look *look) {
    replay p = {.where = argv[1], .look = look, .every = atoi(argv[2])};
    int64_t sites[SITES];
    const char *names[SITES];
    int lengths[SITES];
    const uint64_t seed = strtoull(argv[3], NULL, 10);
    log_read(argv[0]);
    chance = seed;
    snprintf(p.was, sizeof p.was, "%s", first);
    p.forget_all = strcmp(argv[4], "none") == 0;
    replay_run(&p);
    printf("%ld records, %ld cuts, %ld did harm\n", p.records, p.cuts, p.harm);
    if (p.harm || strcmp(argv[4], "each") != 0) return p.harm != 0;
    const int n = sites_find(sites, names, lengths);
    for (int i = 0; i < n; i++) {
        replay q = {.where = argv[1], .look = look, .forget = &sites[i]};
        snprintf(q.was, sizeof q.was, "%s", first);
        chance = seed;
        replay_run(&q);
        printf("%s %.*s\n", q.harm ? "needed" : "unneeded", lengths[i], names[i]);
    }
    return 0;
}

#endif
