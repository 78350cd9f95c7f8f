/* tutti exodus; and tutti ls, show, verify, diff, cp, export, archive where an Exodus file is named.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <string.h>
#include <sys/stat.h>

int exodus_format(const char *path) {
    unsigned char bytes[8] = {0};
    struct stat st;
    FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    if (!f) return 0;
    const size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    if (n >= 4 && memcmp(bytes, "CDF", 3) == 0 && (bytes[3] == 1 || bytes[3] == 2 || bytes[3] == 5))
        return bytes[3];
    return n == 8 && memcmp(bytes, "\211HDF\r\n\032\n", 8) == 0 ? 4 : 0;
}

int exodus_is_meant(int argc, char **argv) {
    static const char *const verbs[] = {"ls", "show", "verify", "diff", "cp", "export", "archive"};
    static const char *const alone[] = {"--json", "-q",     "--quiet", "--force", "--nemesis",
                                        "--xdmf", "--vtk",  "--sets",  "--all",   "--range",
                                        "--csv",  "--zarr", "--help",  "-h"};
    int known = 0;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        known |= strcmp(argv[0], verbs[i]) == 0;
    for (int i = 1; known && i < argc; i++) {
        int has_value = argv[i][0] == '-';
        if (!has_value) return exodus_format(argv[i]) != 0; /* the first name decides */
        for (size_t k = 0; k < sizeof alone / sizeof *alone; k++)
            has_value &= strcmp(argv[i], alone[k]) != 0;
        i += has_value;
    }
    return 0;
}

/* What is read, and outputs that are neither staged nor opened by cli_output_open. */
static int refuse_outputs(const exodus_config *c) {
    const int writes_last = c->command & (EXODUS_CP | EXODUS_IMPORT);
    for (int i = 0; i < c->paths - !!writes_last; i++) cli_input_add(c->path[i]);
    return (c->place && cli_output_refuse(c->place)) || (c->tar && cli_output_refuse(c->tar));
}

static int run(const cli_world *w, const exodus_config *c) {
    cli_catch_signals();
    if (refuse_outputs(c)) return EXODUS_TROUBLE;
    switch (c->command) {
    case EXODUS_DIFF:
        return exodus_diff(w, c);
    case EXODUS_JOIN:
        return exodus_join(w, c);
    case EXODUS_SPLIT:
        return exodus_split(w, c);
    case EXODUS_VERIFY:
        return exodus_verify(w, c);
    case EXODUS_CP:
        return exodus_cp(w, c);
    case EXODUS_IMPORT:
        return exodus_import(w, c);
    case EXODUS_EXPORT:
        if (c->vtk) return exodus_export_vtk(w, c);
        return w->rank == 0 ? exodus_export_xdmf(c) : CLI_OK;
    case EXODUS_ARCHIVE:
        return w->rank == 0 ? exodus_archive(c) : CLI_OK;
    default:
        return w->rank == 0 ? exodus_info(c) : CLI_OK;
    }
}

int exodus_start(const cli_world *w, int argc, char **argv) {
    exodus_config c;
    const int parsed = exodus_config_parse(argc, argv, &c);
    int code = CLI_OK;
    if (parsed == EXODUS_ARGS_HELP) {
        if (w->rank == 0) fputs(cli_help_text(c.help), stdout);
    } else if (parsed == EXODUS_ARGS_WRONG) {
        if (w->rank == 0)
            fprintf(stderr, "tutti %s: %s\ntry 'tutti help %s'\n", c.name, cli_message(), c.help);
        code = CLI_USAGE;
    } else if ((code = run(w, &c)) == EXODUS_TROUBLE) {
        if (w->rank == 0) fprintf(stderr, "tutti %s: %s\n", c.name, cli_message());
        code = c.command & (EXODUS_VERIFY | EXODUS_DIFF) ? 2 : CLI_FAILED;
    }
    exodus_config_free(&c);
    cli_inputs_forget();
    return code;
}

int cmd_exodus(int argc, char **argv) {
    cli_world w;
    cli_guard_start();
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS) return CLI_USAGE;
    cli_world_init(&w);
    const int code = exodus_start(&w, argc, argv);
    fflush(NULL);
    MPI_Finalize();
    return code;
}
