/* Print the manual page tutti-options(7), from the table of options.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <tutti/options.h>
#include "base/options_impl.h"

/* Text for roff: - remains a hyphen-minus that can be searched and pasted, _ becomes `under`. */
static void man_text(FILE *out, const char *text, char under) {
    for (; *text; ++text) {
        if (*text == '-' || (*text == '_' && under == '-'))
            fputs("\\-", out);
        else if (*text == '\\')
            fputs("\\e", out);
        else
            fputc(*text, out);
    }
}

static void man_upper(FILE *out, const char *text) {
    for (; *text; ++text) fputc(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text, out);
}

/* Print "a|b|c" as "a, b, c", each word in bold. */
static void man_list(FILE *out, const char *list) {
    for (const char *at = list; *at;) {
        char item[128];
        const size_t n = strcspn(at, "|");
        snprintf(item, sizeof item, "%.*s", (int)n, at);
        fputs(at == list ? "\\fB" : ", \\fB", out);
        man_text(out, item, '_');
        fputs("\\fR", out);
        at += at[n] ? n + 1 : n;
    }
}

static void man_values(FILE *out, int i, const tutti_option_info *row) {
    char takes[160];
    tutti__options_takes(i, takes, sizeof takes);
    fputs("Values: ", out);
    if (*row->choices)
        man_list(out, row->choices);
    else
        man_text(out, takes, '_');
    fputs(".\n", out);
}

static void man_option(FILE *out, int i, const tutti_option_info *row) {
    fputs(".TP\n.B ", out);
    man_text(out, row->name, '_');
    fputc('\n', out);
    man_text(out, row->help, '_');
    fputs(".\n.br\n", out);
    man_values(out, i, row);
    fputs("Default: ", out);
    if (*row->def) fputs("\\fB", out);
    man_text(out, *row->def ? row->def : "empty", '_');
    fputs(*row->def ? "\\fR.\n.br\n" : ".\n.br\n", out);
    fputs("Environment: \\fBTUTTI_", out);
    man_upper(out, row->name);
    fputs("\\fR.\nFlag: \\fB\\-\\-", out);
    man_text(out, row->name, '-');
    fprintf(out, "\\fR.\n.br\nMPI_Info: \\fBtutti_%s\\fR, \\fB%s\\fR", row->name, row->name);
    if (*row->alias) fputs(", ", out);
    man_list(out, row->alias);
    fputs(".\n", out);
}

static const char man_head[] =
    ".\\\" Written by scripts/gen_options_man.c from include/tutti/options.h; do not edit.\n"
    ".TH TUTTI\\-OPTIONS 7 \"\" \"Tutti " TUTTI_VERSION_STRING "\" \"Tutti Manual\"\n"
    ".SH NAME\n"
    "tutti\\-options \\- options of the Tutti library\n"
    ".SH DESCRIPTION\n"
    "An option has one name.  Its value comes from these sources; later ones override earlier "
    "ones:\n"
    "its default, an environment variable, a key of an\n"
    ".B MPI_Info\n"
    "object, a flag of the command\n"
    ".BR tutti ,\n"
    "or a call of\n"
    ".B tutti_options_set\n"
    "in a program.\n"
    "All ranks use the options of rank 0.\n"
    ".PP\n"
    "Keys are the name of an option, the name after\n"
    ".BR tutti_ ,\n"
    "or a name that other MPI\\-IO libraries use for the same option; upper and lower case, and\n"
    ".B \\-\n"
    "and\n"
    ".BR _ ,\n"
    "are equal in keys and in values that are words.\n"
    "An unknown key is ignored in an\n"
    ".B MPI_Info\n"
    "object and an error everywhere else.\n"
    "An environment variable that is empty counts as not set; other variables that begin with\n"
    ".B TUTTI_\n"
    "are ignored.\n"
    ".SS Values\n"
    ".TP\n"
    ".B true, false\n"
    "also\n"
    ".BR 1 ,\n"
    ".BR yes ,\n"
    ".BR on ,\n"
    ".BR enable ,\n"
    "and\n"
    ".BR 0 ,\n"
    ".BR no ,\n"
    ".BR off ,\n"
    ".BR disable ;\n"
    ".B automatic\n"
    "selects the default.\n"
    ".TP\n"
    ".B size\n"
    "bytes, or a number with\n"
    ".BR k ,\n"
    ".BR m ,\n"
    ".B g\n"
    "or\n"
    ".B t\n"
    "at its end, each a power of 1024; 16m, 16MB and 16MiB are the same.\n"
    ".SH OPTIONS\n";

static const char man_tail[] =
    ".SS Switches of ROMIO\n"
    ".TP\n"
    ".BR romio_cb_write ,\\  romio_cb_read\n"
    "set\n"
    ".B method\n"
    "and\n"
    ".BR method_read :\n"
    ".B enable\n"
    "is two\\-phase,\n"
    ".B disable\n"
    "is independent,\n"
    ".B automatic\n"
    "is auto.\n"
    ".SH FAULTS\n"
    "The option\n"
    ".B fault\n"
    "makes file accesses fail, to test the error handling of a program.\n"
    "Its value is\n"
    ".PP\n"
    ".RS\n"
    ".IR RANK : WHAT : N [: ERRNO ]\n"
    ".RE\n"
    ".TP\n"
    ".I RANK\n"
    "the rank whose file access fails, or\n"
    ".B *\n"
    "for all ranks.\n"
    ".TP\n"
    ".I WHAT\n"
    ".BR open ,\n"
    ".BR write ,\n"
    ".BR read ,\n"
    ".BR sync ,\n"
    ".BR size ,\n"
    ".BR resize ,\n"
    ".BR close ,\n"
    ".B short\n"
    "or\n"
    ".BR slow .\n"
    ".TP\n"
    ".I N\n"
    "the N\\-th such call, counted from 1, and all later ones fail.\n"
    "With\n"
    ".B short\n"
    "nothing fails, but every system call transfers at most N bytes; with\n"
    ".B slow\n"
    "every transfer takes at least N milliseconds.\n"
    ".TP\n"
    ".I ERRNO\n"
    "name of the error:\n"
    ".BR EIO ,\n"
    ".BR ENOSPC ,\n"
    ".BR EDQUOT ,\n"
    ".BR EACCES\n"
    "and so on (default:\n"
    ".BR EIO ).\n"
    ".SH EXAMPLES\n"
    "Use messages only, simulate four nodes, and print the choices:\n"
    ".PP\n"
    ".RS\n"
    ".nf\n"
    "TUTTI_EXCHANGE=two\\-sided TUTTI_NODES=4 TUTTI_EXPLAIN=1 mpirun \\-n 8 ./program\n"
    ".fi\n"
    ".RE\n"
    ".PP\n"
    "Simulate a full disk of rank 3 at its second write:\n"
    ".PP\n"
    ".RS\n"
    ".nf\n"
    "TUTTI_FAULT=3:write:2:ENOSPC mpirun \\-n 8 ./program\n"
    ".fi\n"
    ".RE\n";

int main(void) {
    fputs(man_head, stdout);
    for (int i = 0; tutti_options_row(i); ++i) man_option(stdout, i, tutti_options_row(i));
    fputs(man_tail, stdout);
    return fflush(stdout) != 0 || ferror(stdout);
}
