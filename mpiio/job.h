/* mpiio: a data call in Tutti's terms.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPIIO_JOB_H
#define TUTTI_MPIIO_JOB_H

#include "mpiio.h"

typedef struct mpiio_repeat mpiio_repeat; /* a view with repeated bytes, see repeat.c */

typedef struct mpiio_job {
    mpiio_file *file;
    mpiio_call call;
    int complaint; /* the error class of this rank, or MPI_SUCCESS; with an error the access is NULL */
    tutti_access *access;
    void *buf;                  /* for Tutti: the program's, or `packed` */
    char *packed;               /* external32: as in the file ... */
    mpiio_converter *converter; /* the conversion of the data */
    mpiio_repeat *repeat;       /* or NULL */
    MPI_Offset bytes;           /* in the file */
    MPI_Offset at;              /* in bytes of the view */
    MPI_Offset delivered;       /* at the end: of the view's bytes */
    MPI_Offset native;          /* size of an element in memory */
    MPI_Datatype own;           /* a datatype created for this job, or MPI_DATATYPE_NULL */
} mpiio_job;

/* Check the call, take its position from the file pointer, and describe it.  Collective calls with
 * MPIIO_ORDERED communicate.  The job is always valid: with an error it can still take part in a
 * collective. */
void mpiio_job_make(mpiio_file *f, const mpiio_call *call, mpiio_job *job);
/* Create a job that only has an error, to take part in a collective. */
void mpiio_job_refuse(mpiio_file *f, const mpiio_call *call, int complaint, mpiio_job *job);
/* Set an error of this rank in an existing job. */
void mpiio_job_fail(mpiio_job *job, int complaint);
/* Complete a transfer: convert data that was read, and free.  Returns the bytes for the status.
 * Calls no handler, and uses neither Tutti's files nor communication. */
MPI_Offset mpiio_job_end(mpiio_job *job, tutti_err outcome, tutti_off moved);
/* After the end of a blocking call, or of one that failed: the individual pointer is set to the end of the
 * transferred bytes. */
void mpiio_job_settle_pointer(const mpiio_job *job);

/* ---- repeat.c */
/* Create the access of the job for such a view. */
int mpiio_repeat_make(mpiio_job *job, MPI_Count count, MPI_Datatype type);
/* Of the bytes that a read transferred, return the number from the start of the view without a gap. */
MPI_Offset mpiio_repeat_count(const mpiio_repeat *r, tutti_off moved);
void mpiio_repeat_free(mpiio_repeat **r);

#endif
