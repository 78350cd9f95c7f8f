/* mpiio: a data call, converted to an access of Tutti.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPIIO_JOB_H
#define TUTTI_MPIIO_JOB_H

#include "mpiio.h"

typedef struct mpiio_repeat mpiio_repeat; /* a view with repeated bytes, see repeat.c */

typedef struct mpiio_job {
    mpiio_file *file;
    mpiio_call call;
    /* error class of this rank, or MPI_SUCCESS; after an error the access is NULL */
    int complaint;
    tutti_access *access;
    void *buf;                  /* buffer for Tutti: of the program, or `packed` */
    char *packed;               /* external32: data as in the file; NULL: not used */
    mpiio_converter *converter; /* external32: conversion of the data; NULL: not used */
    mpiio_repeat *repeat;       /* pieces of a view with repeated bytes; NULL: not used */
    MPI_Offset bytes;           /* requested bytes in the file */
    MPI_Offset at;              /* position in bytes of the view */
    MPI_Offset delivered;       /* after mpiio_job_end: transferred bytes of the view */
    MPI_Offset native;          /* size of an element in memory */
    MPI_Datatype own;           /* a datatype created for this job, or MPI_DATATYPE_NULL */
} mpiio_job;

/* Check the call, take its position from the file pointer, and describe it.  Collective calls with
 * MPIIO_ORDERED communicate.  The job is always valid: after an error (job->complaint) it can still
 * take part in a collective call. */
void mpiio_job_make(mpiio_file *f, const mpiio_call *call, mpiio_job *job);
/* Create a job that only has an error, to take part in a collective call. */
void mpiio_job_refuse(mpiio_file *f, const mpiio_call *call, int complaint, mpiio_job *job);
/* Set an error of this rank in an existing job. */
void mpiio_job_fail(mpiio_job *job, int complaint);
/* Complete a transfer: convert data that was read, and free the contents of the job.  Returns the
 * bytes for the status.  Calls no error handler, uses no files of Tutti, and does not
 * communicate. */
MPI_Offset mpiio_job_end(mpiio_job *job, tutti_err outcome, tutti_off moved);
/* Set the individual file pointer to the end of the transferred bytes, after a blocking or failed
 * call. */
void mpiio_job_settle_pointer(const mpiio_job *job);

/* ---- repeat.c */
/* Create the access of a job for a view with repeated bytes. */
int mpiio_repeat_make(mpiio_job *job, MPI_Count count, MPI_Datatype type);
/* Return the number of bytes that a read transferred without a gap from the start of the view. */
MPI_Offset mpiio_repeat_count(const mpiio_repeat *r, tutti_off moved);
void mpiio_repeat_free(mpiio_repeat **r);

#endif
