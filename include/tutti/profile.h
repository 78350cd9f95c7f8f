/* Tutti: profiles: measured properties of a machine and its file systems.
 *
 * `tutti tune` measures a machine and its file systems.  Where an option is auto, the library
 * predicts the time of each method from the profile.  A profile is a text file with one section for
 * the machine and one for each file system.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_PROFILE_H
#define TUTTI_PROFILE_H

#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/options.h>

TUTTI_BEGIN_DECLS

/* X(section, name, unit, local, remote, help).  Values of the machine (MACHINE) and of a file
 * system (FILES).  Rates are bytes per second, times are seconds, overlaps are shares from 0
 * to 1; put_bandwidth, fence and lock are 0 if they have not been measured.  local and remote
 * are the defaults for file systems of this machine and for others. */
#define TUTTI_PROFILE_TABLE(X)                                                                 \
    X(MACHINE, ranks, COUNT, 2, 2, "ranks per node during the measurement")                    \
    X(MACHINE, nodes, COUNT, 1, 1, "nodes during the measurement")                             \
    X(MACHINE, cores, COUNT, 2, 2, "cores per node")                                           \
    X(MACHINE, copy_64, RATE, 4e9, 4e9, "one rank copies pieces of 64 bytes")                  \
    X(MACHINE, copy_512, RATE, 7e9, 7e9, "pieces of 512 bytes")                                \
    X(MACHINE, copy_4k, RATE, 8e9, 8e9, "pieces of 4 KiB and more")                            \
    X(MACHINE, message_latency, SECONDS, 2e-6, 2e-6, "a short message inside a node")          \
    X(MACHINE, message_bandwidth, RATE, 2e9, 2e9, "between two ranks on a node")               \
    X(MACHINE, net_latency, SECONDS, 3e-5, 3e-5, "a short message between nodes")              \
    X(MACHINE, net_bandwidth, RATE, 1e9, 1e9, "from one node while all nodes send")            \
    X(MACHINE, vote, SECONDS, 2e-5, 2e-5, "agreement of all ranks on a few values")            \
    X(MACHINE, put_bandwidth, MAYBE, 0, 0, "one pair of ranks, by puts into a window")         \
    X(MACHINE, fence, MAYBE, 0, 0, "a fence of all ranks")                                     \
    X(MACHINE, lock, MAYBE, 0, 0, "a lock, a flush and a barrier of all ranks")                \
    X(FILES, remote, FLAG, 0, 1, "1: its data is transferred over the network")                \
    X(FILES, write_one_64, RATE, 1.1e8, 2.5e5, "one rank writes pieces of 64 bytes")           \
    X(FILES, write_one_512, RATE, 6.5e8, 2e6, "512 bytes")                                     \
    X(FILES, write_one_4k, RATE, 1.4e9, 1.2e7, "4 KiB")                                        \
    X(FILES, write_one_64k, RATE, 1.9e9, 1e8, "64 KiB")                                        \
    X(FILES, write_one_1m, RATE, 2e9, 2.5e8, "1 MiB")                                          \
    X(FILES, write_all_64, RATE, 1.8e8, 4e5, "all ranks, interleaved pieces of 64 bytes")      \
    X(FILES, write_all_512, RATE, 5.4e8, 3e6, "512 bytes")                                     \
    X(FILES, write_all_4k, RATE, 1.3e9, 2e7, "4 KiB")                                          \
    X(FILES, write_all_64k, RATE, 2.4e9, 1.5e8, "64 KiB")                                      \
    X(FILES, write_all_1m, RATE, 3.2e9, 4e8, "1 MiB")                                          \
    X(FILES, write_own_512, RATE, 8e8, 4e6, "all ranks, 512 bytes, separate parts")            \
    X(FILES, read_one_64, RATE, 1.7e8, 3e5, "one rank reads pieces of 64 bytes")               \
    X(FILES, read_one_512, RATE, 1.3e9, 2.4e6, "512 bytes")                                    \
    X(FILES, read_one_4k, RATE, 3.8e9, 1.6e7, "4 KiB")                                         \
    X(FILES, read_one_64k, RATE, 5.2e9, 1.2e8, "64 KiB")                                       \
    X(FILES, read_one_1m, RATE, 5.5e9, 3e8, "1 MiB")                                           \
    X(FILES, read_all_64, RATE, 3.6e8, 5e5, "all ranks, interleaved pieces of 64 bytes")       \
    X(FILES, read_all_512, RATE, 2.7e9, 4e6, "512 bytes")                                      \
    X(FILES, read_all_4k, RATE, 6.5e9, 2.5e7, "4 KiB")                                         \
    X(FILES, read_all_64k, RATE, 9e9, 1.8e8, "64 KiB")                                         \
    X(FILES, read_all_1m, RATE, 1e10, 4.5e8, "1 MiB")                                          \
    X(FILES, staged_write_512k, RATE, 3.3e9, 3e8,                                              \
      "all ranks copy 4 KiB pieces to 512 KiB, write it")                                      \
    X(FILES, staged_write_4m, RATE, 2.8e9, 4e8, "into 4 MiB")                                  \
    X(FILES, staged_read_512k, RATE, 6e9, 3.4e8,                                               \
      "all ranks read 512 KiB, copy 4 KiB pieces from it")                                     \
    X(FILES, staged_read_4m, RATE, 4.8e9, 4.4e8, "4 MiB")                                      \
    X(FILES, overlap_uring, SHARE, 0, 0, "hidden share of the shorter phase, uring")           \
    X(FILES, overlap_threads, SHARE, 0, 0, "the same by threads")                              \
    X(FILES, async_uring, SECONDS, 2e-5, 2e-5, "additional time of a request by uring")        \
    X(FILES, async_threads, SECONDS, 4e-5, 4e-5, "by threads")                                 \
    X(FILES, direct_write_one_4k, RATE, 4e7, 1e7, "direct_io: one rank writes 4 KiB")          \
    X(FILES, direct_write_one_64k, RATE, 5e8, 9e7, "64 KiB")                                   \
    X(FILES, direct_write_one_1m, RATE, 1.9e9, 2.4e8, "1 MiB")                                 \
    X(FILES, direct_write_all_4k, RATE, 8e7, 1.8e7, "all ranks, interleaved pieces of 4 KiB")  \
    X(FILES, direct_write_all_64k, RATE, 9e8, 1.4e8, "64 KiB")                                 \
    X(FILES, direct_write_all_1m, RATE, 2.2e9, 4e8, "1 MiB")                                   \
    X(FILES, direct_read_one_4k, RATE, 5.7e7, 1.4e7, "direct_io: one rank reads 4 KiB")        \
    X(FILES, direct_read_one_64k, RATE, 6e8, 1.1e8, "64 KiB")                                  \
    X(FILES, direct_read_one_1m, RATE, 2.2e9, 2.8e8, "1 MiB")                                  \
    X(FILES, direct_read_all_4k, RATE, 1.1e8, 2.2e7, "all ranks, interleaved pieces of 4 KiB") \
    X(FILES, direct_read_all_64k, RATE, 1.1e9, 1.6e8, "64 KiB")                                \
    X(FILES, direct_read_all_1m, RATE, 2.5e9, 4.4e8, "1 MiB")                                  \
    X(FILES, direct_staged_write_512k, RATE, 1.2e9, 2.5e8, "as staged_write_512k")             \
    X(FILES, direct_staged_write_4m, RATE, 1.9e9, 3.8e8, "4 MiB")                              \
    X(FILES, direct_staged_read_512k, RATE, 1.4e9, 2.8e8, "as staged_read_512k")               \
    X(FILES, direct_staged_read_4m, RATE, 2.1e9, 4.2e8, "4 MiB")                               \
    X(FILES, direct_overlap_uring, SHARE, 0.7, 0.5, "as overlap_uring")                        \
    X(FILES, direct_overlap_threads, SHARE, 0.7, 0.5, "as overlap_threads")

/** The values of a machine and of one file system.  Later versions add values at the end. */
typedef struct tutti_profile {
    double measured; /* 1: from a profile that contains the file system, 0: defaults */
#define TUTTI_PROFILE_FIELD(section, name, unit, local, remote, help) double name;
    TUTTI_PROFILE_TABLE(TUTTI_PROFILE_FIELD)
#undef TUTTI_PROFILE_FIELD
} tutti_profile;

/** The file system of a path. */
typedef struct tutti_filesystem {
    char mount[256];           /* mount point */
    char type[16];             /* "ext", "tmpfs", "fuse", ... or "other" */
    unsigned int major, minor; /* device numbers */
    int64_t reserved[4];       /* 0 */
} tutti_filesystem;

/** A row of the table, for programs that list the values. */
typedef struct tutti_profile_info {
    const char *section, *name, *unit, *help;
    size_t field; /* offset of the value in tutti_profile */
} tutti_profile_info;

/** Return row `i` of the table.
 *  Not collective.
 *  @return NULL after the last row. */
TUTTI_API const tutti_profile_info *tutti_profile_row(int i);

/** Variants of tutti_profile_defaults, tutti_profile_load and tutti_profile_save for bindings
 *  of other languages, with the size of their struct.
 *  Not collective.
 *  Values that the caller does not have are the defaults; additional ones are set to 0. */
TUTTI_API void tutti_profile_defaults_sized(tutti_profile *p, const char *type, size_t struct_size);
TUTTI_API tutti_err tutti_profile_load_sized(const char *file, const tutti_filesystem *place,
                                             tutti_profile *p_out,
                                             size_t struct_size) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_profile_save_sized(const char *file, const tutti_filesystem *place,
                                             const tutti_profile *p,
                                             size_t struct_size) TUTTI_MUST_USE;

/** Set the default values for a type of file system.
 *  Not collective.
 *  @param[in] type  as in tutti_filesystem; NULL: a local file system. */
static inline void tutti_profile_defaults(tutti_profile *p, const char *type) {
    tutti_profile_defaults_sized(p, type, sizeof *p);
}

/** Find the file system of a path.
 *  Not collective.
 *  @param[in] path  its last component need not exist. */
TUTTI_API tutti_err tutti_profile_filesystem(const char *path,
                                             tutti_filesystem *place_out) TUTTI_MUST_USE;

/** Return the path of the profile of the user: $XDG_CONFIG_HOME/tutti/profile or
 *  ~/.config/tutti/profile.
 *  Not collective.
 *  @return TUTTI_ERR_NOT_FOUND if neither variable nor home directory exists, or the path is
 *      too long. */
TUTTI_API tutti_err tutti_profile_path(char *path_out, size_t size) TUTTI_MUST_USE;

/** Load the values for a file system.
 *  Not collective.
 *  @param[in] file   a profile that must exist and be valid; NULL or "": that of the user,
 *      /etc/tutti/profile, or the defaults; invalid ones are skipped.
 *  @param[in] place  values that the profile does not have are the defaults of its type.
 *  @return TUTTI_ERR_FORMAT if a line of `file` is invalid; the message names it. */
TUTTI_MUST_USE static inline tutti_err tutti_profile_load(const char *file,
                                                          const tutti_filesystem *place,
                                                          tutti_profile *p_out) {
    return tutti_profile_load_sized(file, place, p_out, sizeof *p_out);
}

/** Save the values of the machine and of one file system; those of other file systems stay.
 *  Not collective.
 *  Missing directories are created; the file is replaced atomically. */
TUTTI_MUST_USE static inline tutti_err tutti_profile_save(const char *file,
                                                          const tutti_filesystem *place,
                                                          const tutti_profile *p) {
    return tutti_profile_save_sized(file, place, p, sizeof *p);
}

/** A collective request, as the cost model sees it. */
typedef struct tutti_forecast {
    int is_write;
    int ranks;           /* ranks that take part */
    int nodes;           /* nodes that they run on, evenly; 1 ... ranks */
    tutti_off bytes;     /* bytes of all ranks, which together are contiguous */
    tutti_count pieces;  /* contiguous runs of all ranks */
    int64_t reserved[8]; /* 0: for later versions */
} tutti_forecast;

/** Variant of tutti_profile_predict for bindings of other languages, with the size of their
 *  struct.
 *  Not collective. */
TUTTI_API tutti_err tutti_profile_predict_sized(const tutti_profile *p, size_t struct_size,
                                                const tutti_options *opt, const tutti_forecast *f,
                                                int *method_out,
                                                double *seconds_out) TUTTI_MUST_USE;

/** Predict the method and the time of a request with the model of `method` = auto.
 *  Not collective; needs no MPI.
 *  @param[in] opt           options that are set are not varied: method, cb_nodes, windows,
 *      stores.
 *  @param[out] method_out   TUTTI_METHOD_*, never auto.
 *  @param[out] seconds_out  the predicted time.
 *  @return TUTTI_ERR_ARG if the forecast is invalid. */
TUTTI_MUST_USE static inline tutti_err tutti_profile_predict(const tutti_profile *p,
                                                             const tutti_options *opt,
                                                             const tutti_forecast *f,
                                                             int *method_out, double *seconds_out) {
    return tutti_profile_predict_sized(p, sizeof *p, opt, f, method_out, seconds_out);
}

TUTTI_END_DECLS
#endif
