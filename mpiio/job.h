/* mpiio: a data call in Tutti's terms.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPIIO_JOB_H
#define TUTTI_MPIIO_JOB_H

#include "mpiio.h"

typedef struct mpiio_repeat mpiio_repeat; /* a view that names bytes twice, see repeat.c */

typedef struct mpiio_job {
    mpiio_file *file;
    mpiio_call call;
    int complaint; /* what this rank has against it; the access is NULL then */
    tutti_access *access;
    void *buf;                  /* for Tutti: the program's, or `packed` */
    char *packed;               /* external32: as in the file ... */
    mpiio_converter *converter; /* ... and how it gets there */
    mpiio_repeat *repeat;       /* or NULL */
    MPI_Offset bytes;           /* in the file */
    MPI_Offset at;              /* in bytes of the view */
    MPI_Offset delivered;       /* at the end: of the view's bytes */
    MPI_Offset native;          /* size of an element in memory */
    MPI_Datatype own;           /* a type made for this job, or MPI_DATATYPE_NULL */
} mpiio_job;

/* Check the call, take its place from the file pointer, and describe it.  Collective calls with
 * MPIIO_ORDERED communicate.  The job is always sound: with a complaint it can still join a
 * collective. */
void mpiio_job_make(mpiio_file *f, const mpiio_call *call, mpiio_job *job);
/* One that has nothing but a complaint, to join a collective with. */
void mpiio_job_refuse(mpiio_file *f, const mpiio_call *call, int complaint, mpiio_job *job);
/* After it was made: this rank has a complaint after all. */
void mpiio_job_fail(mpiio_job *job, int complaint);
/* Complete a transfer: convert data that was read, and free.  Returns the bytes for the status.
 * Calls no handler, and uses neither Tutti's files nor communication. */
MPI_Offset mpiio_job_end(mpiio_job *job, tutti_err outcome, tutti_off moved);
/* After the end of a blocking call, or of one that failed: the individual pointer stands where the
 * bytes ended. */
void mpiio_job_settle_pointer(const mpiio_job *job);

/* ---- repeat.c */
/* The job's access for such a view. */
int mpiio_repeat_make(mpiio_job *job, MPI_Count count, MPI_Datatype type);
/* Of the bytes that a read has moved, how many are there from the view's beginning on, without a
 * gap? */
MPI_Offset mpiio_repeat_count(const mpiio_repeat *r, tutti_off moved);
void mpiio_repeat_free(mpiio_repeat **r);

#endif
