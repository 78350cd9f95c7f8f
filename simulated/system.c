/* simulated: replacements of functions of the C library for the ranks of a simulated machine.  The
 * definitions are hidden symbols of the program, which SMPI loads once per rank, so that SimGrid
 * and other libraries use the original functions.
 *
 * The clock is that of the simulation, and waiting advances it; a rank that waits for messages
 * continues when one arrives (pending.h).  The host name is that of the simulated host, so that
 * ranks of one host form a node.  Creating a thread fails, since a thread would run outside of the
 * simulation; Tutti then continues without threads.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "pending.h"

static const double YIELD_SECONDS = 50e-9; /* simulated seconds of a yield */

int clock_gettime(clockid_t clock, struct timespec *out) {
    (void)clock;
    const double now = simgrid_get_clock();
    out->tv_sec = (time_t)now;
    out->tv_nsec = (long)(1e9 * (now - (double)out->tv_sec));
    return 0;
}

int sched_yield(void) {
    if (simulated_wait_any()) return 0;
    sg_actor_sleep_for(YIELD_SECONDS);
    return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left) {
    (void)left;
    if (simulated_wait_any()) return 0;
    sg_actor_sleep_for((double)wanted->tv_sec + 1e-9 * (double)wanted->tv_nsec);
    return 0;
}

int uname(struct utsname *out) {
    char host[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    memset(out, 0, sizeof *out);
    MPI_Get_processor_name(host, &length);
    snprintf(out->nodename, sizeof out->nodename, "%.*s", length, host);
    return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
    (void)thread, (void)attributes, (void)start, (void)argument;
    return EAGAIN;
}
