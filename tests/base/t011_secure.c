/* TEST ranks=0 timeout=60 builds=openmpi,mpich */
/* A setuid or setgid program ignores environment variables: a setgid copy of this program is run.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tutti/options.h>
#include <tutti/profile.h>
#include <unistd.h>
#include "check.h"

enum { SKIPPED = 77 };

static const char *const variables[][2] = {
    {"TUTTI_TRACE", "/tmp/never"}, {"TUTTI_METHOD", "sieve"},   {"TUTTI_PROFILE", "/etc/shadow"},
    {"TUTTI_NODES", "single"},     {"TUTTI_BACKGROUND", "all"}, {"TUTTI_FAULT", "0:write:1"},
};
enum { VARIABLES = sizeof variables / sizeof *variables };

/* Run in a child process with all `variables` set: check that they are ignored if and only if `secure`. */
static int child(int secure) {
    tutti_options opt, defaults;
    char path[256];
    if (secure && !getauxval(AT_SECURE)) return SKIPPED;
    CHECK_OK(tutti_options_init(&opt));
    tutti_options_defaults(&defaults);
    CHECK((memcmp(&opt, &defaults, sizeof opt) == 0) == secure, "method %d, trace '%s'", opt.method,
          opt.trace);
    CHECK((tutti_profile_path(path, sizeof path) == TUTTI_OK) == !secure, "the profile is '%s'",
          path);
    return check_done();
}

static int run_case(const char *program, const char *word) {
    int status = 0;
    const pid_t pid = fork();
    if (pid == 0) {
        execl(program, program, word, (char *)NULL);
        _exit(126);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status), "%s", program);
    return WEXITSTATUS(status);
}

int main(int argc, char **argv) {
    char copy[512];
    struct stat st;
    if (argc > 1) return child(strcmp(argv[1], "secure") == 0);
    for (int i = 0; i < VARIABLES; i++) setenv(variables[i][0], variables[i][1], 1);
    setenv("XDG_CONFIG_HOME", "/tmp", 1);
    CHECK_EQ(run_case("/proc/self/exe", "plain"), 0);

    snprintf(copy, sizeof copy, "%s/secure", check_dir());
    const int from = open("/proc/self/exe", O_RDONLY), to = open(copy, O_WRONLY | O_CREAT, 0700);
    CHECK(from >= 0 && to >= 0 && fstat(from, &st) == 0, "no copy of the program");
    for (off_t left = st.st_size; left > 0;) {
        const ssize_t n = sendfile(to, from, NULL, (size_t)left);
        CHECK(n > 0, "no copy of the program");
        if (n <= 0) break;
        left -= n;
    }
    const int allowed = fchown(to, (uid_t)-1, 65534) == 0 && fchmod(to, 02755) == 0;
    close(from);
    close(to);
    const int code = allowed ? run_case(copy, "secure") : SKIPPED;
    unlink(copy);
    if (code != SKIPPED) CHECK_EQ(code, 0);
    return check_done() ? 1 : code == SKIPPED ? SKIPPED : 0;
}
