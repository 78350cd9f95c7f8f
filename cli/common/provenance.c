/* Provenance of a measurement: date, host, processor, kernel, load, command, and file systems of the
 * directories used.  Every report contains it, so that measurements can be reproduced.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static char *command_line;
static double load_before = -1; /* load of the machine before this command began; -1: unknown */

void cli_command_remember(const char *program, int argc, char **argv) {
    if (getloadavg(&load_before, 1) != 1) load_before = -1;
    free(command_line);
    command_line = cli_strdup(program);
    for (int i = 1; i < argc; i++) {
        char *longer =
            cli_format(strpbrk(argv[i], " \t'\"$*") ? "%s '%s'" : "%s %s", command_line, argv[i]);
        free(command_line);
        command_line = longer;
    }
}

/* Describe the mount of a directory: "ext4 on /dev/vda (rw,relatime)". */
static void mount_of(const char *dir, char *out, size_t size) {
    char path[PATH_MAX], line[4096];
    size_t longest = 0;
    FILE *f = fopen("/proc/self/mounts", "r");
    snprintf(out, size, "not known");
    while (f && realpath(dir, path) && fgets(line, sizeof line, f)) {
        char device[1024], at[PATH_MAX], type[64], options[1024];
        if (sscanf(line, "%1023s %4095s %63s %1023s", device, at, type, options) != 4) continue;
        const size_t n = strcmp(at, "/") == 0 ? 0 : strlen(at);
        if (strncmp(path, at, n) != 0 || (path[n] != '/' && path[n])) continue;
        if (n < longest) continue;
        longest = n;
        snprintf(out, size, "%s on %s (%s)", type, device, options);
    }
    if (f) fclose(f);
}

typedef struct {
    char date[32], host[65], processor[128], kernel[192];
    long processors;
    double load;
} facts;

static void facts_find(facts *x) {
    const time_t now = time(NULL);
    struct utsname system;
    struct tm utc;
    strftime(x->date, sizeof x->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    x->processors = sysconf(_SC_NPROCESSORS_ONLN);
    /* use the value of the first line "model name : VALUE"; "" if there is none */
    char *out = x->processor;
    const size_t size = sizeof x->processor;
    char line[512];
    FILE *f = fopen("/proc/cpuinfo", "r");
    *out = '\0';
    while (f && !*out && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", strlen("model name")) != 0 || !colon) continue;
        snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
        out[strcspn(out, "\n")] = '\0';
    }
    if (f) fclose(f);
    x->load = load_before;
    snprintf(x->host, sizeof x->host, "?");
    snprintf(x->kernel, sizeof x->kernel, "?");
    if (uname(&system) != 0) return;
    snprintf(x->host, sizeof x->host, "%s", system.nodename);
    snprintf(x->kernel, sizeof x->kernel, "%s %s", system.sysname, system.release);
}

void cli_provenance_print(FILE *f, const cli_list *dirs) {
    facts x;
    char text[1024];
    facts_find(&x);
    snprintf(text, sizeof text, "%s, host %s, %ld x %s, %s, load %.1f", x.date, x.host,
             x.processors, *x.processor ? x.processor : "processor", x.kernel, x.load);
    cli_print_wrapped(f, text, 0, 0);
    if (x.load > (double)x.processors)
        fprintf(f, "%swarning: the load of %.1f exceeds %ld cores; times are not reliable%s\n",
                cli_paint(CLI_WARN), x.load, x.processors, cli_paint(CLI_PLAIN));
    for (int i = 0; i < dirs->n; i++) {
        char mount[2200];
        mount_of(dirs->item[i], mount, sizeof mount);
        char *line = cli_format("%s: %s", dirs->item[i], mount);
        cli_print_wrapped(f, line, 0, 0);
        free(line);
    }
    cli_print_wrapped(f, command_line ? command_line : "", 0, 0);
}

void cli_provenance_json(FILE *f, const cli_list *dirs) {
    facts x;
    facts_find(&x);
    cli_json_pair(f, "\"measured\": {", "date", x.date);
    cli_json_pair(f, ", ", "host", x.host);
    cli_json_pair(f, ", ", "processor", x.processor);
    cli_json_pair(f, ", ", "kernel", x.kernel);
    cli_json_pair(f, ", ", "command", command_line ? command_line : "");
    fprintf(f, ", \"processors\": %ld, \"load\": %.2f, \"mounts\": {", x.processors, x.load);
    for (int i = 0; i < dirs->n; i++) {
        char mount[2200];
        mount_of(dirs->item[i], mount, sizeof mount);
        if (i) fputs(", ", f);
        cli_json_string(f, dirs->item[i]);
        fputs(": ", f);
        cli_json_string(f, mount);
    }
    fputs("}}", f);
}
