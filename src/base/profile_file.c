/* base: profile files: the file system of a path, the default paths of profiles, reading and
 * replacing a profile.
 *
 * The mount point is found by following the path upwards until the device changes, which needs few
 * calls and no list of all mounts.  A profile is replaced by renaming a new file to its path, so
 * that readers never see a partial file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/machine.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/size_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SYSTEM_PROFILE "/etc/tutti/profile"

/* Paths longer than PATH_MAX are invalid. */
typedef char path_text[PATH_MAX];

static tutti_err add_file_context(const char *path, tutti_err err) {
    if (err != TUTTI_OK) tutti__error_context("profile", path, -1);
    return err;
}

/* ---- file systems ---------------------------------------------------------------------------- */

static const char *type_name(unsigned long magic) {
    static const struct {
        unsigned long magic;
        const char *name;
    } known[] = {{0x01021994, "tmpfs"},  {0xef53, "ext"},         {0x58465342, "xfs"},
                 {0x9123683e, "btrfs"},  {0x794c7630, "overlay"}, {0x6969, "nfs"},
                 {0x0bd00bd0, "lustre"}, {0x65735546, "fuse"},    {0x2fc12fc1, "zfs"},
                 {0x858458f6, "ramfs"},  {0x01021997, "9p"},      {0x00c36400, "ceph"},
                 {0x47504653, "gpfs"},   {0x19830326, "beegfs"},  {0xff534d42, "smb"},
                 {0xfe534d42, "smb"},    {0x517b, "smb"},         {0x20030528, "orangefs"},
                 {0x5346414f, "afs"},    {0xf2f52010, "f2fs"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].magic == magic) return known[i].name;
    return "other";
}

/* Remove the last component of a path; "/" is unchanged. */
static void path_up(char *path) {
    char *slash = strrchr(path, '/');
    if (!slash)
        memcpy(path, ".", 2);
    else
        slash[slash == path] = '\0';
}

/* Return the absolute path if the file exists, else that of its directory. */
static tutti_err path_resolve(const char *path, path_text out) {
    path_text copy;
    TUTTI_CHECK(path && path[0], TUTTI_ERR_ARG, "argument path is %s", path ? "empty" : "NULL");
    TUTTI_CHECK(strlen(path) < sizeof copy, TUTTI_ERR_ARG,
                "path has %zu bytes: at most %zu are allowed", strlen(path), sizeof copy - 1);
    if (realpath(path, out)) return TUTTI_OK;
    snprintf(copy, sizeof copy, "%s", path);
    path_up(copy);
    if (realpath(copy, out)) return TUTTI_OK;
    return add_file_context(path,
                            tutti__error_sys(errno, -1, "cannot find the file or its directory"));
}

tutti_err tutti_profile_filesystem(const char *path, tutti_filesystem *place_out) {
    path_text full;
    struct stat st;
    struct statfs fs;
    TUTTI_CHECK(place_out, TUTTI_ERR_ARG, "argument place_out is NULL");
    TUTTI_TRY(path_resolve(path, full));
    if (stat(full, &st) != 0 || statfs(full, &fs) != 0)
        return add_file_context(path,
                                tutti__error_sys(errno, -1, "cannot determine the file system"));
    for (;;) { /* the mount point is the highest parent directory on the same device */
        path_text above;
        struct stat there;
        memcpy(above, full, strlen(full) + 1);
        path_up(above);
        if (strcmp(above, full) == 0 || stat(above, &there) != 0 || there.st_dev != st.st_dev)
            break;
        memcpy(full, above, strlen(above) + 1);
    }
    tutti_filesystem place;
    memset(&place, 0, sizeof place);
    TUTTI_CHECK(strlen(full) < sizeof place.mount, TUTTI_ERR_UNSUPPORTED,
                "path of the mount point has %zu bytes: at most %zu are supported", strlen(full),
                sizeof place.mount - 1);
    memcpy(place.mount, full, strlen(full) + 1);
    snprintf(place.type, sizeof place.type, "%s", type_name((unsigned long)fs.f_type));
    place.major = major(st.st_dev);
    place.minor = minor(st.st_dev);
    *place_out = place;
    return TUTTI_OK;
}

/* ---- path of the profile --------------------------------------------------------------------- */

tutti_err tutti_profile_path(char *path_out, size_t size) {
    const char *config = secure_getenv("XDG_CONFIG_HOME");
    const char *home = secure_getenv("HOME");
    int n = -1;
    TUTTI_CHECK(path_out, TUTTI_ERR_ARG, "argument path_out is NULL");
    TUTTI_CHECK(size > 0, TUTTI_ERR_ARG, "size is 0: must be >= 1");
    path_out[0] = '\0';
    if (config && config[0] == '/')
        n = snprintf(path_out, size, "%s/tutti/profile", config);
    else if (home && home[0] == '/')
        n = snprintf(path_out, size, "%s/.config/tutti/profile", home);
    TUTTI_CHECK(n >= 0, TUTTI_ERR_NOT_FOUND,
                "cannot determine the directory of the profile: set XDG_CONFIG_HOME or HOME");
    if ((size_t)n >= size) path_out[0] = '\0';
    TUTTI_CHECK(path_out[0], TUTTI_ERR_NOT_FOUND,
                "path of the profile needs %d bytes: buffer has %zu", n + 1, size);
    return TUTTI_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Read an open file up to one byte more than a profile may have. */
static tutti_err read_text(int fd, char **text_out, size_t *n_out) {
    const size_t capacity = TUTTI__PROFILE_BYTES + 1;
    size_t n = 0;
    char *text = tutti__malloc(capacity);
    if (!text) return TUTTI_ERR_NOMEM;
    for (;;) {
        const ssize_t got = read(fd, text + n, capacity - n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            const tutti_err err = tutti__error_sys(errno, -1, "read");
            tutti__free(text);
            return err;
        }
        n += (size_t)got;
        if (got == 0 || n == capacity) break;
    }
    *text_out = text;
    *n_out = n;
    return TUTTI_OK;
}

/* Open a regular file; other types are refused, since pipes and terminals could block. */
static int open_regular(const char *path) {
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

/* Read a profile; *found_out is 0 if the file cannot be opened, which is an error only if
 * `must`. */
static tutti_err load_set(const char *path, int must, int *found_out, tutti__profile_set *set_out) {
    const int fd = open_regular(path);
    *found_out = fd >= 0;
    if (fd < 0)
        return must ? add_file_context(path, tutti__error_sys(errno, -1, "open")) : TUTTI_OK;
    char *text = NULL;
    size_t n = 0;
    tutti_err err = read_text(fd, &text, &n);
    close(fd);
    if (err == TUTTI_OK) err = tutti__profile_parse(text, n, set_out);
    tutti__free(text);
    return add_file_context(path, err);
}

/* Read a profile at a default path; an invalid file, possibly of another version, is ignored. */
static tutti_err load_unnamed(const char *path, int *found_out, tutti__profile_set *set_out,
                              tutti_error_info *ignored_out) {
    const tutti_err err = load_set(path, 0, found_out, set_out);
    if (err == TUTTI_OK || err == TUTTI_ERR_NOMEM) return err;
    *found_out = 0;
    *ignored_out = *tutti_last_error();
    tutti__error_clear();
    return TUTTI_OK;
}

static tutti_err find_set(const char *file, int *found_out, tutti__profile_set *set_out,
                          tutti_error_info *ignored_out) {
    path_text user;
    *found_out = 0;
    if (file && file[0]) return load_set(file, 1, found_out, set_out);
    if (tutti_profile_path(user, sizeof user) == TUTTI_OK)
        TUTTI_TRY(load_unnamed(user, found_out, set_out, ignored_out));
    else
        tutti__error_clear();
    return *found_out ? TUTTI_OK : load_unnamed(SYSTEM_PROFILE, found_out, set_out, ignored_out);
}

tutti_err tutti_profile_load_sized(const char *file, const tutti_filesystem *place,
                                   tutti_profile *p_out, size_t struct_size) {
    tutti_error_info ignored;
    tutti_profile full;
    TUTTI_CHECK(place && p_out, TUTTI_ERR_ARG, "argument %s is NULL", place ? "p_out" : "place");
    TUTTI_TRY(tutti__profile_load(file, place, &full, &ignored));
    tutti__struct_copy(p_out, struct_size, &full, sizeof full);
    return TUTTI_OK;
}

tutti_err tutti__profile_load(const char *file, const tutti_filesystem *place, tutti_profile *p_out,
                              tutti_error_info *ignored_out) {
    tutti__profile_set set = {.n = 0};
    int found = 0;
    ignored_out->code = TUTTI_OK;
    TUTTI_TRY(find_set(file, &found, &set, ignored_out));
    if (found) {
        tutti__profile_pick(&set, place, p_out);
        tutti__profile_set_free(&set);
    } else {
        tutti_profile_defaults(p_out, place->type);
        p_out->cores = tutti__cores();
    }
    return TUTTI_OK;
}

/* ---- replacing ------------------------------------------------------------------------------- */

static tutti_err make_directories(const char *file) {
    path_text dir;
    snprintf(dir, sizeof dir, "%s", file);
    for (char *s = dir + 1; *s; s++) {
        if (*s != '/') continue;
        *s = '\0';
        if (mkdir(dir, 0777) != 0 && errno != EEXIST)
            return tutti__error_sys(errno, -1, "cannot create the directory of the profile");
        *s = '/';
    }
    return TUTTI_OK;
}

static tutti_err replace_file(const char *file, const char *text) {
    path_text fresh;
    const mode_t mask = umask(077);
    umask(mask);
    snprintf(fresh, sizeof fresh, "%s.XXXXXX", file);
    const int fd = mkostemp(fresh, O_CLOEXEC);
    if (fd < 0)
        return tutti__error_sys(errno, -1,
                                "cannot create a temporary file in the directory of the profile");
    const int good =
        tutti__limited_pwrite(fd, text, strlen(text), 0) == 0 && fchmod(fd, 0666 & ~mask) == 0;
    int failed = good ? 0 : errno;
    if (close(fd) != 0 && !failed) failed = errno;
    if (!failed && rename(fresh, file) != 0) failed = errno;
    if (!failed) return TUTTI_OK;
    unlink(fresh);
    return tutti__error_sys(failed, -1, "cannot write the profile");
}

tutti_err tutti_profile_save_sized(const char *file, const tutti_filesystem *place,
                                   const tutti_profile *p, size_t struct_size) {
    tutti__profile_set set = {.n = 0};
    tutti_profile full;
    int found = 0;
    TUTTI_CHECK(file && file[0], TUTTI_ERR_ARG, "argument file is %s", file ? "empty" : "NULL");
    TUTTI_CHECK(strlen(file) < PATH_MAX - 8, TUTTI_ERR_ARG,
                "path of the profile has %zu bytes: at most %d are allowed", strlen(file),
                PATH_MAX - 9);
    TUTTI_CHECK(place && p, TUTTI_ERR_ARG, "argument %s is NULL", place ? "p" : "place");
    const int there = access(file, F_OK) == 0;
    TUTTI_TRY(load_set(file, there, &found, &set));
    tutti_profile_defaults(&full, place->type);
    memcpy(&full, p, struct_size < sizeof full ? struct_size : sizeof full);
    tutti_err err = tutti__profile_put(&set, place, &full);
    char *text = err == TUTTI_OK ? tutti__profile_print(&set) : NULL;
    if (err == TUTTI_OK) err = text ? make_directories(file) : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) err = replace_file(file, text);
    tutti__free(text);
    tutti__profile_set_free(&set);
    return add_file_context(file, err);
}
