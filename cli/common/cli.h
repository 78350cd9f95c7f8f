/* The command `tutti`: common functions of all parts.  It uses only the public interface.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_H
#define TUTTI_CLI_H

#include <mpi.h>
#include <stdio.h>
#include <stdint.h>
#include <tutti/tutti.h>

/* Exit codes.  CLI_DIFFERS becomes 1: a difference or damage was found and reported; CLI_FAILED has a message. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_DIFFERS = 256 };

/* The ranks that the command runs on. */
typedef struct cli_world {
    MPI_Comm comm;
    int rank, ranks;
    int one_node; /* all ranks share memory, and a clock */
} cli_world;

void cli_world_init(cli_world *w);
/* The first `ranks` ranks of `all`; the others get one without a communicator.  Collective. */
void cli_world_first(const cli_world *all, int ranks, cli_world *out);
void cli_world_free(cli_world *w);

/* ---- errors: the last message of this process.  Each of these returns 1. */
int cli_error(const char *fmt, ...) TUTTI_PRINTF(1, 2);
int cli_error_errno(const char *what, const char *path);
int cli_error_tutti(void); /* the library's last message */
const char *cli_message(void);

/* Return whether any rank failed.  Collective.  All ranks then have the message of the lowest such rank. */
int cli_agree(const cli_world *w, int failed);

/* ---- waiting that leaves the core to others: a rank that is done must not slow down the rest */
/* The items of all ranks, in the order of ranks: n of this one, of `size` bytes.  Free them. */
void *cli_gather(const cli_world *w, const void *items, int n, size_t size, int *n_out);
void cli_barrier(const cli_world *w);
double cli_max(const cli_world *w, double value);
void cli_sums(const cli_world *w, int n, double *values);
double cli_now(void); /* seconds; on one node the same clock for all ranks */

/* ---- measuring */
/* The time from the first start to the last end of all ranks; without a common clock, the longest time of a
 * rank.  Collective. */
double cli_elapsed(const cli_world *w, double start, double end);
/* Free bytes of a directory.  0, or 1 and a message if it is not writable. */
int cli_directory_room(const char *dir, double *bytes_out);
/* The path of the one scratch file, the same on all ranks, in a private directory, whose other
 * files belong to it.  The
 * directory is removed by the next call and, on any end of the command, by the guard.   Collective */
const char *cli_scratch(const cli_world *w, const char *dir, const char *command);
void cli_scratch_remove(const cli_world *w); /* rank 0 does */
/* Drop the file from the page cache of this machine, after writing it to the device.  0, or 1 and a
 * message: some file systems exist only in the page cache. */
int cli_file_forget(const char *path);
void cli_catch_signals(void);
/* 1: the first SIGINT or SIGTERM is only recorded; 0: signals end the command again. */
void cli_stop_softly(int on);
/* Return the signal that a rank received; 0: none.  Collective. */
int cli_stopped(const cli_world *w);
int cli_interrupted(
    const cli_world *w); /* 1 and a message if a rank received a signal; else 0.  Collective. */

/* ---- memory: never NULL; the command ends if memory is exhausted */
void *cli_malloc(size_t bytes);
/* n items of `each` values of `size` bytes.  More than memory can have counts as no memory. */
void *cli_array(tutti_count n, tutti_count each, size_t size);
void *cli_realloc(void *p, size_t bytes);
char *cli_strdup(const char *s);
/* Memory recorded in a list of *keeps pointers, to free all of it together. */
void *cli_keep(void ***kept, int *keeps, size_t bytes);

/* ---- text */
typedef struct cli_list {
    int n;
    char *copy, **item;
} cli_list;

void cli_list_split(cli_list *l, const char *text);  /* at commas; replaces the contents */
void cli_list_append(cli_list *l, const char *text); /* further items */
void cli_list_free(cli_list *l);
int cli_list_has(const cli_list *l, const char *item);
int cli_parse_size(const char *text, tutti_off *out); /* 512, 64k, 32m, 1g; 0: not a size */
int cli_parse_count(const char *text, long max, long *out);
void cli_format_size(tutti_off bytes, char *out, size_t size); /* "32 MiB" */
char *cli_format(const char *fmt, ...) TUTTI_PRINTF(1, 2);     /* free it */
void cli_env_name(const char *option, char *out, size_t size); /* TUTTI_METHOD for method */
int cli_is_utf8(void);
/* ---- colour of standard output (cli_colour.c) */
typedef enum cli_colour { CLI_PLAIN, CLI_GOOD, CLI_WARN, CLI_BAD, CLI_SOFT, CLI_STRONG } cli_colour;
void cli_color_set(int when); /* 0: never, 1: auto, 2: always */
const char *cli_paint(
    cli_colour c);   /* the escape sequence of a colour, CLI_PLAIN: reset; "" without colour */
int cli_width(void); /* columns of the terminal, 80 without a terminal */
/* Print a text in lines that are as wide as the terminal and start at `indent`; the first one has `column` characters. */
void cli_print_wrapped(FILE *f, const char *text, int column, int indent);
/* Texts of files may have any bytes.  In JSON and XML, bytes that are not UTF-8 become U+FFFD; XML also has it for
 * control characters.  For people, control characters and bytes that are not UTF-8 become \xNN. */
void cli_json_string(FILE *f, const char *text);           /* NULL: null */
void cli_json_strings(FILE *f, int n, char *const *texts); /* a list of them; NULL: an empty one */
/* A member of an object, after what comes before it: "{", ", " ... */
void cli_json_pair(FILE *f, const char *before, const char *key, const char *text);
void cli_json_number_pair(FILE *f, const char *before, const char *key, double value);
void cli_json_bytes(FILE *f, const char *text, size_t n); /* also zero bytes */
/* A text for output; valid until the 16th later call. */
const char *cli_shown(const char *text);
/* The bytes of the next character of n > 0 bytes. */
size_t cli_text_next(const char *text, size_t n, int *printable_out);
void cli_json_number(FILE *f, double value); /* null for values that are not finite */
/* A text in XML: special characters are written as entities. */
void cli_xml_text(FILE *f, const char *text);

/* ---- comparing numbers (cli_compare.c) */

/* Two numbers, real and imaginary parts: 1 if they differ, with the absolute and relative difference.
 *   |a - b| <= limit[0] + limit[1] * max(|a|, |b|)    is not a difference.
 * A part that is infinite equals only the same infinity, and NaN equals only NaN, regardless of
 * the limits; otherwise both differences are infinite. */
int cli_numbers_differ(const long double a[2], const long double b[2], const double limit[2],
                       long double difference_out[2]);

/* ---- outputs (cli_output.c); "-" is standard output */

/* A file or directory that the command reads. */
void cli_input_add(const char *path);
void cli_inputs_forget(void);
/* 1 and a message if an output is, or lies inside, an input, also by another name: a link, a hard link to a file of
 * a directory, the sidecar or series of a file. */
int cli_output_refuse(const char *path);
/* A text as the name of a file: '/', '%', control characters and a leading '.' become %XX.  Free it. */
char *cli_file_name(const char *text);
/* A file appears under its name when it is closed.  NULL and a message; also for an output that is refused. */
FILE *cli_output_open(const char *path);
/* Print the path of an output, or as an item of a JSON list; before: items printed. */
void cli_output_print(const char *path, int json, int before);
int cli_output_check(const char *path); /* before long work; NULL is allowed.  1 and a message */
/* failed: the file is removed.  1, and a message if not all was written. */
int cli_output_close(FILE *f, const char *path, int failed);
void cli_temporary_remove_all(void); /* for signal handlers */
/* The exit status of a command; 1, and a message on standard error, if standard output could not be written. */
int cli_exit_code(int code);

enum { CLI_IS_LITTLE_ENDIAN = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

/* ---- paths and entries (cli_entries.c) */
const char *cli_base_name(const char *path);
char *cli_directory_of(const char *path);              /* of the entry `path`; free it */
int cli_ends_in(const char *path, const char *ending); /* and is longer than `ending` */
/* A path as seen from the directory of the entry `from`; free it. */
char *cli_path_from(const char *path, const char *from);
/* -s0002, -s.0002, -s0002.tutti, .tutti: what follows the name of an Exodus file. */
int cli_is_companion(const char *rest);
/* An action for each entry whose name begins with that of `path`; rest: the suffix.  0, or 1 and a message */
typedef int (*cli_entry_action)(const void *context, const char *entry, const char *rest);
int cli_for_entries(const char *path, cli_entry_action act, const void *context);
void cli_remove_entries(const char *path); /* remove all of them, directories with their contents */

/* ---- temporary files of a process that is killed (cli_guard.c) */
/* Start the guard.  Call it before MPI_Init. */
void cli_guard_start(void);
/* From now on (drop: not any more) the entries of `path` (cli_remove_entries) are removed when this process has ended. */
void cli_guard_add(const char *path);
void cli_guard_drop(const char *path);

/* An Exodus file with its sidecar and series, or a dataset, written under a temporary name in the
 * same directory and renamed when it is complete.  A directory that is not empty is written in
 * place. */
typedef struct cli_staged {
    char *path, *temporary;
    const char *write_to; /* one of them */
    int replace;
} cli_staged;
/* 1 and a message: the output is refused, or exists and is not to be replaced.  From now on the first signal is only
 * remembered (cli_stopped).   Collective */
int cli_stage_begin(const cli_world *w, const char *path, int replace, cli_staged *out);
/* The output must be closed.  failed: remove the written files.  1, and a message if it cannot be renamed.
 * Collective */
int cli_stage_end(const cli_world *w, cli_staged *s, int failed);
void cli_stage_free(cli_staged *s);

/* ---- origin of measurements (provenance.c) */
void cli_command_remember(const char *program, int argc, char **argv);
void cli_provenance_print(FILE *f, const cli_list *dirs); /* some lines of text */
void cli_provenance_json(FILE *f, const cli_list *dirs);  /* "measured": {...} */

#endif
