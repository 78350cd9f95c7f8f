/* Tutti: options.
 *
 * One table defines the struct, the environment variables, the MPI_Info keys, the command-line
 * flags and the manual page.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_OPTIONS_H
#define TUTTI_OPTIONS_H

#include <tutti/types.h>
#include <tutti/error.h>

TUTTI_BEGIN_DECLS

/* Values of the options of type CHOICE. */
#define TUTTI_CHOICES_method "auto|independent|list|sieve|root|two-phase"
enum {
    TUTTI_METHOD_AUTO,
    TUTTI_METHOD_INDEPENDENT,
    TUTTI_METHOD_LIST,
    TUTTI_METHOD_SIEVE,
    TUTTI_METHOD_ROOT,
    TUTTI_METHOD_TWO_PHASE
};
#define TUTTI_CHOICES_exchange "auto|shm|two-sided|fence|lock"
enum {
    TUTTI_EXCHANGE_AUTO,
    TUTTI_EXCHANGE_SHM,
    TUTTI_EXCHANGE_TWO_SIDED,
    TUTTI_EXCHANGE_FENCE,
    TUTTI_EXCHANGE_LOCK
};
#define TUTTI_CHOICES_pipeline "auto|none|comm|write|write-comm|write-comm-2"
enum {
    TUTTI_PIPELINE_AUTO,
    TUTTI_PIPELINE_NONE,
    TUTTI_PIPELINE_COMM,
    TUTTI_PIPELINE_WRITE,
    TUTTI_PIPELINE_WRITE_COMM,
    TUTTI_PIPELINE_WRITE_COMM_2
};
#define TUTTI_CHOICES_background "auto|none|all|io-only"
enum {
    TUTTI_BACKGROUND_AUTO,
    TUTTI_BACKGROUND_NONE,
    TUTTI_BACKGROUND_ALL,
    TUTTI_BACKGROUND_IO_ONLY
};
#define TUTTI_CHOICES_domains "auto|even|balanced|cyclic|array"
enum {
    TUTTI_DOMAINS_AUTO,
    TUTTI_DOMAINS_EVEN,
    TUTTI_DOMAINS_BALANCED,
    TUTTI_DOMAINS_CYCLIC,
    TUTTI_DOMAINS_ARRAY
};
#define TUTTI_CHOICES_store "auto|posix|uring|threads|aio|mem|null"
enum {
    TUTTI_STORE_AUTO,
    TUTTI_STORE_POSIX,
    TUTTI_STORE_URING,
    TUTTI_STORE_THREADS,
    TUTTI_STORE_AIO,
    TUTTI_STORE_MEM,
    TUTTI_STORE_NULL
};

/* X(type, name, default, alias, help)
 *   type   CHOICE: int, one of TUTTI_CHOICES_name; BOOL: int 0 or 1; INT: int >= 0;
 *          TEXT: char[128]; SIZE: tutti_off in bytes >= 0, text may end in k, m, g, t (powers of
 *          1024)

 *   alias  names that other MPI-IO libraries use for the same thing, separated by |, or "" */
#define TUTTI_OPTION_TABLE(X)                                                                      \
    X(CHOICE, method, TUTTI_METHOD_AUTO, "", "method of collective requests")                      \
    X(CHOICE, method_read, TUTTI_METHOD_AUTO, "",                                                  \
      "method of collective reads; auto: the same as method")                                      \
    X(CHOICE, exchange, TUTTI_EXCHANGE_AUTO, "",                                                   \
      "exchange between ranks: shm inside a node and messages between nodes; or from rank to "     \
      "rank by messages (two-sided), by puts and gets between fences, or under shared locks")      \
    X(INT, step, 0, "",                                                                            \
      "two-sided, cycle by cycle, in Dickens and Thakur's steps: 1 blocking, bytewise; 2 memcpy; " \
      "3 all sends, then receives; 4 receives first; 5 one send buffer; 0: as windows get ready")  \
    X(CHOICE, pipeline, TUTTI_PIPELINE_AUTO, "",                                                   \
      "overlap of exchange and file access: none, the next exchange (comm), file access (write), " \
      "or both")                                                                                   \
    X(CHOICE, domains, TUTTI_DOMAINS_AUTO, "",                                                     \
      "division of the file among the aggregators: the extent of a request in equal parts, by "    \
      "its bytes (balanced) or in cyclic blocks (cyclic), or, independent of the request, an "     \
      "array in blocks of its slowest dimension, such as columns (array; other files: even)")      \
    X(CHOICE, store, TUTTI_STORE_AUTO, "", "interface for file access")                            \
    X(INT, cb_nodes, 0, "", "number of aggregators; 0: every rank that shares its node's memory")  \
    X(SIZE, cb_buffer_size, 16 << 20, "", "staging memory of one operation on one node")           \
    X(SIZE, window_size, 0, "",                                                                    \
      "largest window of an aggregator; 0: 512k through the page cache, else as cb_buffer_size "   \
      "allows")                                                                                    \
    X(INT, sub_buffers, 2, "", "number of sub-buffers of the staging memory of an aggregator")     \
    X(INT, stagger, 0, "",                                                                         \
      "delay in microseconds between the first file accesses of consecutive aggregators")          \
    X(CHOICE, background, TUTTI_BACKGROUND_AUTO, "",                                               \
      "background work between begin and end: none, all (requires MPI_THREAD_MULTIPLE), or file "  \
      "access only; auto: io-only if file access takes time or a core is idle, else none")         \
    X(SIZE, background_bytes, 256 << 20, "",                                                       \
      "staging memory per node and file for operations in the background; memory of a split "      \
      "operation is kept for the next one")                                                        \
    X(SIZE, striping_unit, 0, "romio_cb_fr_alignment",                                             \
      "alignment of file domains; 0: as reported by the file system")                              \
    X(SIZE, domain_block, 0, "cb_block_size", "block size of cyclic domains; 0: a sub-buffer")     \
    X(BOOL, direct_io, 0, "direct_write|direct_read",                                              \
      "bypass the page cache (O_DIRECT) with whole blocks that are aligned in memory; the "        \
      "statistics report these bytes (direct_bytes)")                                              \
    X(SIZE, direct_align, 0, "",                                                                   \
      "alignment that O_DIRECT needs; 0: as reported by the file system")                          \
    X(BOOL, rmw, 0, "romio_ds_write",                                                              \
      "allow read-modify-write of bytes in small holes (by the single owner of the page)")         \
    X(BOOL, check, 0, "",                                                                          \
      "reject collective writes of overlapping ranks; otherwise the highest rank determines the "  \
      "data")                                                                                      \
    X(SIZE, sieve_size, 4 << 20, "ind_rd_buffer_size", "buffer of the sieve method")               \
    X(SIZE, direct_run, 0, "",                                                                     \
      "contiguous runs of at least this size are transferred directly from the user's memory to "  \
      "the file; 0: 1 MiB, except in writes that would wait for each other in the kernel")         \
    X(INT, queue_depth, 64, "", "requests in flight of the stores uring, threads and aio")         \
    X(INT, io_threads, 2, "", "threads of the store threads")                                      \
    X(TEXT, nodes, "", "",                                                                         \
      "simulate nodes on one machine: a number (even), a list 3,1,2 (uneven), rr:N "               \
      "(round-robin), "                                                                            \
      "single")                                                                                    \
    X(TEXT, profile, "", "",                                                                       \
      "profile of the machine written by 'tutti tune'; if empty or unreadable: the user's, the "   \
      "system's, or none")                                                                         \
    X(BOOL, explain, 0, "", "report the chosen method and the reason on standard error")           \
    X(TEXT, trace, "", "",                                                                         \
      "write a Chrome/Perfetto trace of all operations to this file, if it does not exist, is "    \
      "empty or contains a trace; if that fails, no trace is written")                             \
    X(TEXT, fault, "", "",                                                                         \
      "for tests: make a file access fail, RANK:WHAT:N[:ERRNO], see tutti-options(7)")             \
    X(INT, plan_cache, 8, "",                                                                      \
      "cached plans per file (at most 32), for collective operations that repeat the same shape, " \
      "even at a different offset; 0: none")                                                       \
    X(SIZE, sieve_gap, 0, "",                                                                      \
      "aggregators also read holes of at most this size; with rmw they also overwrite them; 0: "   \
      "if that is faster than another request, writes: 32k")                                       \
    X(BOOL, sole_writer, 0, "",                                                                    \
      "no other handle, program or thread writes to the file during a collective write: "          \
      "aggregators may write small holes beyond its end as zeros")

#define TUTTI_OPTION_CTYPE_CHOICE(name) int name;
#define TUTTI_OPTION_CTYPE_BOOL(name) int name;
#define TUTTI_OPTION_CTYPE_INT(name) int name;
#define TUTTI_OPTION_CTYPE_SIZE(name) tutti_off name;
#define TUTTI_OPTION_CTYPE_TEXT(name) char name[128];

#define TUTTI_CHOICES_method_read TUTTI_CHOICES_method

/** All options.  Initialize them with tutti_options_init.  Later versions add fields at the end;
 *  struct_size determines which of them the program was compiled with. */
typedef struct tutti_options {
    size_t struct_size; /* bytes of the struct as the program knows it; 0: not initialized */
#define TUTTI_OPTION_FIELD(type, name, def, alias, help) TUTTI_OPTION_CTYPE_##type(name)
    TUTTI_OPTION_TABLE(TUTTI_OPTION_FIELD)
#undef TUTTI_OPTION_FIELD
} tutti_options;

/** Variants of tutti_options_init and tutti_options_defaults for bindings of other languages,
 *  with the size of their struct.
 *  Not collective.
 *  @param[in] struct_size  the size of an older version: only its fields are set; of a newer
 *      version: the rest is 0.
 *  @return TUTTI_ERR_ARG if no version of the struct has that size. */
TUTTI_API tutti_err tutti_options_init_sized(tutti_options *opt, size_t struct_size);
TUTTI_API void tutti_options_defaults_sized(tutti_options *opt, size_t struct_size);

/** Set every option to its default, then to the value of its environment variable
 *  (TUTTI_METHOD, ...).
 *  Not collective.
 *  In set-user-id programs the environment is ignored.
 *  @param[out] opt  filled in, even after an error; the option of an invalid variable has its
 *      default.
 *  @return TUTTI_ERR_OPTION if a variable that names an option has an invalid value; invalid
 *      values of explain, trace and profile are ignored. */
static inline tutti_err tutti_options_init(tutti_options *opt) {
    return tutti_options_init_sized(opt, sizeof *opt);
}

/** Set every option to its default and ignore the environment.
 *  Not collective. */
static inline void tutti_options_defaults(tutti_options *opt) {
    tutti_options_defaults_sized(opt, sizeof *opt);
}

/** Set one option from text.
 *  Not collective.
 *  @param[in] key  the name of the option, "tutti_" + name, the name with - for _, or an alias.
 *  @return TUTTI_ERR_OPTION for an unknown key or an invalid value, or if the option is newer
 *      than the struct of the program; `opt` is then unchanged. */
TUTTI_API tutti_err tutti_options_set(tutti_options *opt, const char *key,
                                      const char *value) TUTTI_MUST_USE;

/** Return the value of an option as text that tutti_options_set accepts.
 *  Not collective.
 *  @param[out] value  at most `size` bytes, always terminated. */
TUTTI_API tutti_err tutti_options_get(const tutti_options *opt, const char *key, char *value,
                                      size_t size) TUTTI_MUST_USE;

/** A row of the table, for programs that list the options. */
typedef struct tutti_option_info {
    const char *name, *type, *choices, *def, *alias, *help; /* choices: "" unless type is CHOICE */
} tutti_option_info;

/** Return row `i` of the table.
 *  Not collective.
 *  @return NULL after the last row. */
TUTTI_API const tutti_option_info *tutti_options_row(int i);

TUTTI_END_DECLS
#endif
