/* tutti archive of an Exodus file: copy the file, its sidecar and all files of its series to a directory or a
 * tar archive.  The checksums of the file are verified first; the copy is synced, read back and compared with
 * the original.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20, TAR_BLOCK = 512 };

typedef struct {
    const data_config *config;
    char **path; /* [paths] files to archive */
    int paths;
    tutti_off bytes, checked; /* bytes copied; bytes compared with checksums */
    char *chunk[2];
} job;

/* ---- files to archive */

static void path_add(job *j, char *path) {
    j->path = cli_realloc(j->path, ((size_t)j->paths + 1) * sizeof *j->path);
    j->path[j->paths++] = path;
}

/* List the files of the series and their sidecars, and verify each file. */
static int files_verify(job *j) {
    tutti_exodus *x = NULL;
    if (tutti_exodus_open(MPI_COMM_SELF, j->config->path[0], TUTTI_READ, NULL, &x) != TUTTI_OK)
        return cli_error_open(j->config->path[0], "Exodus file");
    int failed = 0;
    for (tutti_err err = TUTTI_OK; err == TUTTI_OK && !failed;) {
        struct stat st;
        tutti_off bytes = 0;
        char *sidecar = cli_format("%s.tutti", tutti_exodus_path(x));
        path_add(j, cli_strdup(tutti_exodus_path(x)));
        if (stat(sidecar, &st) == 0)
            path_add(j, sidecar);
        else
            free(sidecar);
        failed = tutti_exodus_verify(x, &bytes) != TUTTI_OK && cli_error_tutti();
        j->checked += bytes;
        if (failed) break;
        err = tutti_exodus_next_file(x);
        if (err != TUTTI_OK && err != TUTTI_ERR_NOT_FOUND) failed = cli_error_tutti();
    }
    (void)tutti_exodus_close(&x);
    return failed;
}

/* ---- bytes */

static int write_fully(int fd, const void *bytes, size_t n, const char *path) {
    for (size_t done = 0; done < n;) {
        const ssize_t put = write(fd, (const char *)bytes + done, n - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return cli_error_errno("cannot write", path);
        done += (size_t)put;
    }
    return 0;
}

/* Read up to n bytes, fewer only at the end of the file.  Returns their number, or -1 and a
 * message. */
static ssize_t read_some(int fd, void *bytes, size_t n, const char *path) {
    size_t done = 0;
    while (done < n) {
        const ssize_t got = read(fd, (char *)bytes + done, n - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cli_error_errno("cannot read", path), -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

/* Check that the n bytes of a file equal the next n bytes of file descriptor `other`. */
static int same_bytes(job *j, const char *path, int other, const char *other_path, tutti_off n) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    int failed = fd < 0 && cli_error_errno("cannot read", path);
    for (tutti_off done = 0; done < n && !failed;) {
        const size_t want = n - done < CHUNK ? (size_t)(n - done) : CHUNK;
        const ssize_t a = read_some(fd, j->chunk[0], want, path);
        const ssize_t b = read_some(other, j->chunk[1], want, other_path);
        if (a < 0 || b < 0)
            failed = 1;
        else if (a != (ssize_t)want || b != a || memcmp(j->chunk[0], j->chunk[1], want) != 0)
            failed = cli_error("'%s' differs from its source '%s'", other_path, path);
        done += (tutti_off)want;
    }
    if (fd >= 0) close(fd);
    return failed;
}

/* Append n bytes of a file to fd. */
static int append_file(job *j, int fd, const char *to, const char *path, tutti_off n) {
    const int from = open(path, O_RDONLY | O_CLOEXEC);
    int failed = from < 0 && cli_error_errno("cannot read", path);
    for (tutti_off done = 0; done < n && !failed;) {
        const size_t want = n - done < CHUNK ? (size_t)(n - done) : CHUNK;
        const ssize_t got = read_some(from, j->chunk[0], want, path);
        failed = got != (ssize_t)want &&
                 (got < 0 || cli_error("'%s' was truncated while it was read", path));
        if (!failed) failed = write_fully(fd, j->chunk[0], want, to);
        done += (tutti_off)want;
    }
    if (from >= 0) close(from);
    j->bytes += n;
    return failed;
}

static int sync_close(int fd, const char *path) {
    const int failed = fsync(fd) != 0 && errno != EINVAL;
    if (failed) cli_error_errno("cannot sync", path);
    if (close(fd) != 0 && !failed) return cli_error_errno("cannot write", path);
    return failed;
}

/* ---- a directory */

/* Verify the copy with the checksums in its own sidecar. */
static int copies_verify(job *j) {
    const char *from = j->config->path[0];
    char *path = cli_format("%s/%s", j->config->place, cli_base_name(from));
    tutti_exodus *x = NULL;
    tutti_off all = 0;
    tutti_err err = tutti_exodus_open(MPI_COMM_SELF, path, TUTTI_READ, NULL, &x);
    while (err == TUTTI_OK) {
        tutti_off bytes = 0;
        err = tutti_exodus_verify(x, &bytes);
        all += bytes;
        if (err == TUTTI_OK) err = tutti_exodus_next_file(x);
    }
    int failed = err != TUTTI_ERR_NOT_FOUND && cli_error_tutti();
    if (!failed && all != j->checked)
        failed = cli_error("checksums of '%s' cover %lld bytes: expected %lld, as in '%s'", path,
                           (long long)all, (long long)j->checked, from);
    if (x) (void)tutti_exodus_close(&x);
    free(path);
    return failed;
}

static int to_directory(job *j) {
    if (mkdir(j->config->place, 0777) != 0 && errno != EEXIST)
        return cli_error_errno("cannot create", j->config->place);
    for (int i = 0; i < j->paths; i++) {
        const char *path = j->path[i];
        struct stat st;
        char *to = cli_format("%s/%s", j->config->place, cli_base_name(path));
        int failed = stat(path, &st) != 0 && cli_error_errno("cannot read", path);
        const int fd = failed ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (!failed && fd < 0) failed = cli_error_errno("cannot create", to);
        if (fd >= 0) {
            failed = append_file(j, fd, to, path, st.st_size);
            if (sync_close(fd, to)) failed = 1;
            const int again = failed ? -1 : open(to, O_RDONLY | O_CLOEXEC);
            if (!failed)
                failed = again < 0 ? cli_error_errno("cannot read", to)
                                   : same_bytes(j, path, again, to, st.st_size);
            if (again >= 0) close(again);
            if (failed) (void)unlink(to);
        }
        free(to);
        if (failed) return 1;
    }
    const char *path = j->config->place;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return cli_error_errno("cannot open", path);
    if (sync_close(fd, path)) return 1;
    return copies_verify(j);
}

/* ---- tar: format ustar, sizes of 8 GiB and more in base 256 */

static void put_octal(char *field, size_t size, uint64_t v) {
    if (v >> (3 * (size - 1)) == 0) {
        snprintf(field, size, "%0*llo", (int)size - 1, (unsigned long long)v);
        return;
    }
    for (size_t i = size; i-- > 0; v >>= 8) field[i] = (char)v;
    field[0] |= (char)0x80;
}

static int header_make(const char *path, const struct stat *st, char *block) {
    unsigned sum = 0;
    memset(block, 0, TAR_BLOCK);
    if (strlen(cli_base_name(path)) > 99)
        return cli_error("'%s': name has %zu bytes: tar supports at most 99", path,
                         strlen(cli_base_name(path)));
    snprintf(block, 100, "%s", cli_base_name(path));
    put_octal(block + 100, 8, st->st_mode & 07777);
    put_octal(block + 108, 8, 0);
    put_octal(block + 116, 8, 0);
    put_octal(block + 124, 12, (uint64_t)st->st_size);
    put_octal(block + 136, 12, (uint64_t)st->st_mtime);
    memset(block + 148, ' ', 8);
    block[156] = '0';
    memcpy(block + 257, (const char[8]){'u', 's', 't', 'a', 'r', 0, '0', '0'}, 8);
    for (int i = 0; i < TAR_BLOCK; i++) sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
    return 0;
}

/* Write the archive, or, if `compares`, compare it with the files. */
static int tar_walk(job *j, int fd, int compares) {
    const char *to = j->config->tar;
    char block[TAR_BLOCK], end[2 * TAR_BLOCK] = {0};
    for (int i = 0; i < j->paths; i++) {
        struct stat st;
        if (stat(j->path[i], &st) != 0) return cli_error_errno("cannot read", j->path[i]);
        if (header_make(j->path[i], &st, block)) return 1;
        const size_t pad = (size_t)((TAR_BLOCK - st.st_size % TAR_BLOCK) % TAR_BLOCK);
        if (compares) {
            if (read_some(fd, j->chunk[1], TAR_BLOCK, to) != TAR_BLOCK ||
                memcmp(j->chunk[1], block, TAR_BLOCK) != 0)
                return cli_error("'%s' differs from the data written", to);
            if (same_bytes(j, j->path[i], fd, to, st.st_size)) return 1;
            if (read_some(fd, j->chunk[1], pad, to) != (ssize_t)pad)
                return cli_error("'%s' differs from the data written", to);
        } else if (write_fully(fd, block, TAR_BLOCK, to) ||
                   append_file(j, fd, to, j->path[i], st.st_size) ||
                   write_fully(fd, end, pad, to)) {
            return 1;
        }
    }
    return compares ? 0 : write_fully(fd, end, sizeof end, to);
}

static int to_tar(job *j) {
    const char *to = j->config->tar;
    int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return cli_error_errno("cannot create", to);
    int failed = tar_walk(j, fd, 0);
    if (sync_close(fd, to)) failed = 1;
    fd = failed ? -1 : open(to, O_RDONLY | O_CLOEXEC);
    if (!failed) failed = fd < 0 ? cli_error_errno("cannot read", to) : tar_walk(j, fd, 1);
    if (fd >= 0) close(fd);
    if (failed) (void)unlink(to);
    return failed;
}

int exodus_archive(const cli_world *w, const data_config *config) {
    (void)w;
    job j = {.config = config};
    for (int i = 0; i < 2; i++) j.chunk[i] = cli_malloc(CHUNK);
    int failed = files_verify(&j);
    if (!failed) failed = (config->place ? to_directory : to_tar)(&j);
    const char *place = config->place ? config->place : config->tar;
    if (!failed && config->json) {
        cli_json_pair(stdout, "{", "path", config->path[0]);
        printf(", \"files\": %d, \"bytes\": %lld, \"checked\": %lld, \"place\": ", j.paths,
               (long long)j.bytes, (long long)j.checked);
        cli_json_string(stdout, place);
        printf("}\n");
    } else if (!failed) {
        char size[32];
        cli_format_size(j.bytes, size, sizeof size);
        printf("%d file%s copied to %s, %s; %s\n", j.paths, j.paths == 1 ? "" : "s", place, size,
               j.checked ? "checksums agree" : "there are no checksums: bytes were compared");
    }
    for (int i = 0; i < j.paths; i++) free(j.path[i]);
    for (int i = 0; i < 2; i++) free(j.chunk[i]);
    free(j.path);
    return failed;
}
