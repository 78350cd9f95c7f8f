/* The command `tutti`: functions used by all its modules.  The command uses only the public interface.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_H
#define TUTTI_CLI_H

#include <mpi.h>
#include <stdio.h>
#include <stdint.h>
#include <tutti/tutti.h>

/* Exit codes.  CLI_FAILED: there is a message.  CLI_DIFFERS: a difference or damage was found and reported;
 * the exit status is 1. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_DIFFERS = 256 };

/* The ranks that the command runs on. */
typedef struct cli_world {
    MPI_Comm comm;
    int rank, ranks;
    int one_node; /* all ranks share memory and a clock */
} cli_world;

void cli_world_init(cli_world *w);
/* Make a world of the first `ranks` ranks of `all`; out->comm is MPI_COMM_NULL on other ranks.
 * Collective. */
void cli_world_first(const cli_world *all, int ranks, cli_world *out);
void cli_world_free(cli_world *w);

/* ---- errors: the cli_error functions set the last message of this process, and return 1 */
int cli_error(const char *fmt, ...) TUTTI_PRINTF(1, 2);
int cli_error_errno(const char *what, const char *path);
int cli_error_tutti(void); /* report the library's last error */
const char *cli_message(void);

/* Return whether any rank failed.  All ranks then have the message of the lowest such rank.  Collective. */
int cli_agree(const cli_world *w, int failed);

/* ---- communication; waiting ranks sleep, so that they do not take the core from ranks that still work */
/* Gather the items of all ranks in rank order, on all ranks; n: number of items of this rank, of `size` bytes
 * each.  The result must be freed. */
void *cli_gather(const cli_world *w, const void *items, int n, size_t size, int *n_out);
void cli_barrier(const cli_world *w);
double cli_max(const cli_world *w, double value);
void cli_sums(const cli_world *w, int n, double *values);
double cli_now(void); /* seconds; the ranks of a node use the same clock */

/* ---- measuring */
/* Return the time from the first start to the last end of all ranks; without a common clock, the longest time
 * of a rank.  Collective. */
double cli_elapsed(const cli_world *w, double start, double end);
/* Determine the free bytes of a directory.  Returns 0, or 1 and a message if the directory is not
 * writable. */
int cli_directory_room(const char *dir, double *bytes_out);
/* Return the path of a scratch file in a private directory, the same on all ranks; further files
 * may be created there.  The directory is removed by the next call and, on any end of the command,
 * by the guard.  Collective. */
const char *cli_scratch(const cli_world *w, const char *dir, const char *command);
void cli_scratch_remove(const cli_world *w); /* rank 0 removes the directory */
/* Write the file to the device and drop it from the page cache of this machine.  Returns 0, or 1
 * and a message; fails if the file system exists only in the page cache. */
int cli_file_forget(const char *path);
void cli_catch_signals(void);
/* Set the effect of signals.  on = 1: only record the first SIGINT or SIGTERM; 0: signals end the
 * command. */
void cli_stop_softly(int on);
/* Return the signal that any rank received, 0: none.  Collective. */
int cli_stopped(const cli_world *w);
/* Return 1, with a message, if any rank received a signal; otherwise 0.  Collective. */
int cli_interrupted(const cli_world *w);

/* ---- memory: never NULL; the command ends if memory is exhausted */
void *cli_malloc(size_t bytes);
/* Allocate memory that is 0. */
void *cli_zeros(size_t bytes);
/* Allocate n items of `each` values of `size` bytes.  The command ends if the product overflows. */
void *cli_array(tutti_count n, tutti_count each, size_t size);
void *cli_realloc(void *p, size_t bytes);
char *cli_strdup(const char *s);
/* Allocate memory and append its address to *kept, a list of *keeps pointers, to free all of them
 * together. */
void *cli_keep(void ***kept, int *keeps, size_t bytes);

/* ---- text */
typedef struct cli_list {
    int n;
    char *copy, **item;
} cli_list;

void cli_list_split(cli_list *l, const char *text); /* split at commas; replaces the contents */
/* add the items of a text, which are separated by commas */
void cli_list_append(cli_list *l, const char *text);
void cli_list_free(cli_list *l);
int cli_list_has(const cli_list *l, const char *item);
/* parses 512, 64k, 32m, 1g; returns 0 if text is not a size */
int cli_parse_size(const char *text, tutti_off *out);
int cli_parse_count(const char *text, long max, long *out);
void cli_format_size(tutti_off bytes, char *out, size_t size); /* formats as "32 MiB" */
char *cli_format(const char *fmt, ...) TUTTI_PRINTF(1, 2);     /* the result must be freed */
void cli_env_name(const char *option, char *out, size_t size); /* "method" becomes TUTTI_METHOD */
int cli_is_utf8(void);
/* ---- colour of standard output (cli_colour.c) */
typedef enum cli_colour { CLI_PLAIN, CLI_GOOD, CLI_WARN, CLI_BAD, CLI_SOFT, CLI_STRONG } cli_colour;
void cli_color_set(int when); /* 0: never, 1: auto, 2: always */
/* Return the escape sequence of a colour, for CLI_PLAIN the reset sequence; "" if colours are
 * off. */
const char *cli_paint(cli_colour c);
int cli_width(void); /* columns of the terminal, 80 without a terminal */
/* Print a text in lines of the terminal's width that start at column `indent`; `column`: characters already
 * in the first line. */
void cli_print_wrapped(FILE *f, const char *text, int column, int indent);
/* Texts from files may contain any bytes.  JSON and XML get U+FFFD for bytes that are not UTF-8; XML also for
 * control characters.  Text output gets \xNN for both. */
void cli_json_string(FILE *f, const char *text); /* NULL: prints null */
/* prints a list of strings; NULL: an empty list */
void cli_json_strings(FILE *f, int n, char *const *texts);
/* Print a member of an object after the text `before`, such as "{" or ", ". */
void cli_json_pair(FILE *f, const char *before, const char *key, const char *text);
void cli_json_number_pair(FILE *f, const char *before, const char *key, double value);
/* like cli_json_string, for n bytes, zero bytes included */
void cli_json_bytes(FILE *f, const char *text, size_t n);
/* Return a text with control characters and invalid bytes escaped, for messages and tables.  The result is
 * valid until the 16th later call. */
const char *cli_shown(const char *text);
/* Return the number of bytes of the first character of text, which has n > 0 bytes. */
size_t cli_text_next(const char *text, size_t n, int *printable_out);
void cli_json_number(FILE *f, double value); /* prints null for values that are not finite */
/* Print a text in XML: special characters become entities. */
void cli_xml_text(FILE *f, const char *text);

/* ---- comparison of values (cli_compare.c) */

/* Compare two values, given as real and imaginary parts.  Return 1 if they differ, and the absolute and
 * relative difference.
 * |a - b| <= limit[0] + limit[1] * max(|a|, |b|) is not a difference.
 * An infinite part equals only the same infinity, and NaN equals only NaN, regardless of the limits;
 * otherwise both differences are infinite. */
int cli_numbers_differ(const long double a[2], const long double b[2], const double limit[2],
                       long double difference_out[2]);

/* ---- outputs (cli_output.c); "-" is standard output */

/* Record a file or directory that the command reads. */
void cli_input_add(const char *path);
void cli_inputs_forget(void);
/* Return 1 and a message if an output is, or is inside, an input, also under another name: a link, a hard
 * link to a file of an input directory, or the sidecar or series of an input file. */
int cli_output_refuse(const char *path);
/* Convert a text to a file name: '/', '%', control characters and a leading '.' become %XX.  The result must
 * be freed. */
char *cli_file_name(const char *text);
/* Open an output.  The file gets its name when it is closed.  Returns NULL and a message on
 * failure, also for an output that is refused. */
FILE *cli_output_open(const char *path);
/* Print the path of an output, or an item of a JSON list; before: number of items already printed. */
void cli_output_print(const char *path, int json, int before);
/* Check, before long work, that an output can be written; path may be NULL.  Returns 0, or 1 and a
 * message. */
int cli_output_check(const char *path);
/* Close an output; failed: remove the file.  Returns 1 if `failed`; 1 and a message if writing
 * fails */
int cli_output_close(FILE *f, const char *path, int failed);
/* remove unfinished outputs; can be called by signal handlers */
void cli_temporary_remove_all(void);
/* Return the exit status of a command; 1, with a message on standard error, if writing to standard output
 * failed. */
int cli_exit_code(int code);

enum { CLI_IS_LITTLE_ENDIAN = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

/* ---- paths and entries (cli_entries.c) */
const char *cli_base_name(const char *path);
char *cli_directory_of(const char *path); /* directory of the entry `path`; must be freed */
/* Return whether path ends in, and is longer than, `ending`. */
int cli_ends_in(const char *path, const char *ending);
/* Return `path` relative to the directory of the entry `from`.  The result must be freed. */
char *cli_path_from(const char *path, const char *from);
/* Return whether `rest` is a suffix that files belonging to an Exodus file have: -s0002, -s.0002,
 * -s0002.tutti, .tutti. */
int cli_is_companion(const char *rest);
/* Action for an entry whose name begins with that of `path`; rest: the suffix.  Returns 0, or 1 and
 * a message. */
typedef int (*cli_entry_action)(const void *context, const char *entry, const char *rest);
int cli_for_entries(const char *path, cli_entry_action act, const void *context);
/* remove all entries of `path`, directories with their contents */
void cli_remove_entries(const char *path);

/* ---- the guard removes temporary files if the process is killed (cli_guard.c) */
/* Start the guard.  Call it before MPI_Init. */
void cli_guard_start(void);
/* Add (drop) a path: the entries of `path` (cli_remove_entries) are removed when this process has ended. */
void cli_guard_add(const char *path);
void cli_guard_drop(const char *path);

/* A staged output: an Exodus file with its sidecar and series, or a dataset, is written under a temporary
 * name in the same directory and renamed when it is complete.  A directory that is not empty is written in
 * place. */
typedef struct cli_staged {
    char *path, *temporary;
    const char *write_to; /* equal to `path` or `temporary` */
    int replace;
} cli_staged;
/* Begin a staged output.  Returns 0; 1 and a message if the output is refused, or exists and
 * `replace` is 0.  From now on the first signal is only recorded (cli_stopped).  Collective. */
int cli_stage_begin(const cli_world *w, const char *path, int replace, cli_staged *out);
/* End a staged output, which must be closed; failed: remove the written files.  Returns 1 if
 * `failed`; 1 and a message if renaming fails; otherwise 0.  Collective. */
int cli_stage_end(const cli_world *w, cli_staged *s, int failed);
void cli_stage_free(cli_staged *s);

/* ---- provenance of measurements (provenance.c) */
void cli_command_remember(const char *program, int argc, char **argv);
void cli_provenance_print(FILE *f, const cli_list *dirs); /* prints lines of text */
void cli_provenance_json(FILE *f, const cli_list *dirs);  /* prints "measured": {...} */

#endif
