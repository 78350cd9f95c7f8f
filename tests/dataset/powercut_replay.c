/* powercut_replay LOG DIRECTORY EVERY SEED   cuts the power after the records of a log of powercut_record.so, after one in EVERY of them, in
 * several ways each: what was synced is there; of the rest nothing, everything, all but the last write's end, or whatever chance says, by
 * sectors of 512 bytes, lengths and names included.  Each time the dataset opens, is one of the two that it was on the way between, has all
 * its values, and can be written to.  Prints how many cuts there were; the exit code is 1 if one of them did harm.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "powercut_steps.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "powercut.h"

enum { SECTOR = 512, OBJECTS = 4000 };

/* ---- what the disk has, and what it has been told since */

typedef struct {
    const powercut_record *of;
    const char *bytes;
} told;

typedef struct {
    uint64_t inode;
    int is_directory;
    char *bytes; /* on the device */
    int64_t size;
    told *later; /* not yet */
    int later_n;
} object;

/* A name of a directory: the object it stood for when the directory was synced, and since. */
typedef struct {
    char name[200];
    int directory; /* object */
    int is;        /* object, or -1 */
    int later[64], later_n;
} entry;

static object objects[OBJECTS];
static int objects_n;
static entry entries[OBJECTS];
static int entries_n;
static uint64_t chance;

static int luck(int n) {
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (int)((chance >> 33) % (uint64_t)n);
}

static void *must(void *p) {
    if (!p) abort();
    return p;
}

static int object_new(uint64_t inode, int is_directory) {
    if (objects_n == OBJECTS) abort();
    objects[objects_n] = (object){.inode = inode, .is_directory = is_directory};
    return objects_n++;
}

static int object_of(uint64_t inode) { /* inodes are used again: the newest */
    for (int i = objects_n - 1; i > 0; i--)
        if (objects[i].inode == inode) return i;
    return 0; /* the root */
}

static int now(const entry *e) {
    return e->later_n ? e->later[e->later_n - 1] : e->is;
}

/* "/d/name" */
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
        directory = now(e);
    }
}

static void entry_set(entry *e, int is) {
    if (e->later_n == 64) abort();
    e->later[e->later_n++] = is;
}

/* ---- a record happens */

static void grow(char **bytes, int64_t *size, int64_t to) {
    if (to > *size) {
        *bytes = must(realloc(*bytes, (size_t)to + 1));
        memset(*bytes + *size, 0, (size_t)(to - *size));
    }
    *size = to;
}

/* All of what was told, or (`some`) a part of it. */
static void apply(char **bytes, int64_t *size, const told *v, int n, int some, int torn) {
    int64_t length = *size;
    const int lengths = some ? luck(n + 1) : n; /* so many changes of the length have arrived */
    for (int i = 0; i < n; i++) {
        const powercut_record *r = v[i].of;
        int64_t end = r->at + r->bytes;
        if (torn && i == n - 1) end = r->at + r->bytes / SECTOR / 2 * SECTOR;
        if (r->what == POWERCUT_LENGTH) {
            if (i >= lengths) continue;
            if (*size < r->at) grow(bytes, size, r->at);
            if (*size > r->at) memset(*bytes + r->at, 0, (size_t)(*size - r->at));
            length = r->at;
            continue;
        }
        if (end > *size) grow(bytes, size, end);
        for (int64_t at = r->at; at < end;) {
            const int64_t next = (at / SECTOR + 1) * SECTOR, to = next < end ? next : end;
            if (!some || luck(2)) memcpy(*bytes + at, v[i].bytes + (at - r->at), (size_t)(to - at));
            at = to;
        }
        if (i < lengths && end > length) length = end;
    }
    grow(bytes, size, length);
}

static void sync_object(int which) {
    object *o = &objects[which];
    if (o->is_directory) {
        for (int i = 0; i < entries_n; i++)
            if (entries[i].directory == which) {
                entries[i].is = now(&entries[i]);
                entries[i].later_n = 0;
            }
        return;
    }
    apply(&o->bytes, &o->size, o->later, o->later_n, 0, 0);
    o->later_n = 0;
}

static void happens(const powercut_record *r, const char *bytes) {
    char path[300];
    snprintf(path, sizeof path, "%.*s", (int)r->bytes, bytes);
    object *o;
    switch (r->what) {
    case POWERCUT_CREATE:
    case POWERCUT_MKDIR:
        entry_set(entry_of(path), object_new(r->object, r->what == POWERCUT_MKDIR));
        return;
    case POWERCUT_UNLINK:
        entry_set(entry_of(path), -1);
        return;
    case POWERCUT_RENAME:
        entry_set(entry_of(bytes + strlen(path) + 1), now(entry_of(path)));
        entry_set(entry_of(path), -1);
        return;
    case POWERCUT_SYNC:
        sync_object(object_of(r->object));
        return;
    case POWERCUT_MARK:
        return;
    default:
        o = &objects[object_of(r->object)];
        o->later = must(realloc(o->later, ((size_t)o->later_n + 1) * sizeof *o->later));
        o->later[o->later_n++] = (told){r, bytes};
    }
}

/* ---- the power is cut */

typedef enum { NOTHING, EVERYTHING, TORN, CHANCE, WAYS } way;

static int left_of(const entry *e, way w) {
    if (w == NOTHING || e->later_n == 0) return e->is;
    if (w != CHANCE) return now(e);
    const int n = luck(e->later_n + 1);
    return n ? e->later[n - 1] : e->is;
}

static void build(const char *where, int directory, way w, const powercut_record *last) {
    char path[1000];
    (void)mkdir(where, 0777);
    for (int i = 0; i < entries_n; i++) {
        const int is = entries[i].directory == directory ? left_of(&entries[i], w) : -1;
        if (is < 0) continue;
        const object *o = &objects[is];
        snprintf(path, sizeof path, "%.700s/%.199s", where, entries[i].name);
        if (o->is_directory) {
            build(path, is, w, last);
            continue;
        }
        int64_t size = o->size;
        char *bytes = must(malloc((size_t)size + 1));
        if (size) memcpy(bytes, o->bytes, (size_t)size);
        const int torn = w == TORN && o->later_n && o->later[o->later_n - 1].of == last;
        if (w != NOTHING) apply(&bytes, &size, o->later, o->later_n, w == CHANCE, torn);
        const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (fd < 0 || write(fd, bytes, (size_t)size) != size) abort();
        close(fd);
        free(bytes);
    }
}

static void clear(const char *where) {
    char path[1000];
    DIR *dir = opendir(where);
    struct dirent *e;
    while (dir && (e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        snprintf(path, sizeof path, "%.700s/%.255s", where, e->d_name);
        if (unlink(path) != 0) clear(path);
    }
    if (dir) closedir(dir);
    (void)rmdir(where);
}

/* ---- the dataset afterwards */

static char why[600];

static int wrong(const char *what) {
    snprintf(why, sizeof why, "%s: %.500s", what, tutti_last_message());
    return 1;
}

static int values_wrong(tutti_dataset *d) {
    static double buf[POWERCUT_N];
    tutti_count lo, n;
    int bad = 0;
    if (tutti_dataset_verify(d, NULL)) return wrong("verify");
    if (tutti_dataset_segments(d) == 0) return 0;
    tutti_decomposition *p = powercut_mine(d, &lo, &n);
    for (tutti_count s = 0; s < tutti_dataset_segments(d) && !bad; s++) {
        tutti_segment g;
        bad = tutti_dataset_segment(d, s, &g) != TUTTI_OK;
        for (int k = 0; k < 2 && !bad; k++) {
            const tutti_get get = {k ? "w" : "u", p, TUTTI_FLOAT64, buf};
            if (tutti_dataset_get(d, s, 1, &get)) bad = wrong("get");
            for (tutti_count i = 0; i < n && !bad; i++)
                if (buf[i] != powercut_value(g.time, lo + i)) bad = wrong("a value");
        }
    }
    tutti_decomposition_free(&p);
    return bad;
}

/* "was" or "will": what it may be like. */
static int look(const char *path, const char *was, const char *will) {
    tutti_dataset *d = NULL;
    tutti_dataset_options opt;
    char state[2000];
    struct stat st;
    int bad = 0;
    tutti_dataset_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    opt.container = powercut_container();
    if (strcmp(was, "| -1") != 0 && stat(path, &st) != 0) return wrong("there is no dataset");
    if (tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &d))
        return wrong("open");
    if (!powercut_state(d, state, sizeof state)) bad = wrong("state");
    if (!bad && strcmp(state, was) != 0 && strcmp(state, will) != 0) {
        bad = 1;
        snprintf(why, sizeof why, "it is '%.180s', not '%.180s' nor '%.180s'", state, was, will);
    }
    if (!bad && !powercut_valid(path)) bad = wrong("a netCDF file is none");
    if (!bad) bad = values_wrong(d);
    if (!bad) {
        powercut_describe(d);
        if (powercut_put(d, 1000, 7)) bad = wrong("writing goes on");
    }
    if (!bad && tutti_dataset_verify(d, NULL)) bad = wrong("verify afterwards");
    if (tutti_dataset_close(&d) && !bad) bad = wrong("close");
    return bad;
}

/* ---- */

static char *log_bytes;
static int64_t log_size;

static void log_read(const char *name) {
    struct stat st;
    const int fd = open(name, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0) abort();
    log_bytes = must(malloc((size_t)st.st_size + 1));
    while (log_size < st.st_size) {
        const ssize_t n = read(fd, log_bytes + log_size, (size_t)(st.st_size - log_size));
        if (n <= 0) abort();
        log_size += n;
    }
    close(fd);
}

/* The state of the next mark from `at` on; "": there is none. */
static void next_mark(int64_t at, char *to, size_t room) {
    powercut_record r;
    to[0] = 0;
    for (; at < log_size; at += (int64_t)sizeof r + r.bytes) {
        memcpy(&r, log_bytes + at, sizeof r);
        if (r.what != POWERCUT_MARK) continue;
        snprintf(to, room, "%.*s", (int)r.bytes, log_bytes + at + sizeof r);
        return;
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    log_read(argv[1]);
    const char *where = argv[2];
    const int every = atoi(argv[3]);
    char was[2000] = "| -1", will[2000], path[800];
    long cuts = 0, harm = 0, records = 0;
    chance = strtoull(argv[4], NULL, 10);
    snprintf(path, sizeof path, "%s/d.tutti", where);
    object_new(0, 1);
    for (int64_t at = 0; at < log_size; records++) {
        powercut_record *r = must(malloc(sizeof *r)); /* what is told later points to it */
        memcpy(r, log_bytes + at, sizeof *r);
        const char *bytes = log_bytes + at + sizeof *r;
        at += (int64_t)sizeof *r + r->bytes;
        if (r->what == POWERCUT_MARK)
            snprintf(was, sizeof was, "%.*s", (int)r->bytes, bytes);
        else
            happens(r, bytes);
        if (luck(every) != 0) continue;
        next_mark(at, will, sizeof will);
        for (int w = 0; w < WAYS + 2; w++) { /* chance has three */
            const way kind = w < WAYS ? (way)w : CHANCE;
            clear(where);
            build(where, 0, kind, r);
            cuts++;
            if (!look(path, was, will)) continue;
            if (harm++ < 5)
                fprintf(stderr, "record %ld ('%c'), way %d: %s\n", records, r->what, w, why);
        }
    }
    clear(where);
    printf("%ld records, %ld cuts, %ld did harm\n", records, cuts, harm);
    fflush(NULL);
    MPI_Finalize();
    return harm != 0;
}
