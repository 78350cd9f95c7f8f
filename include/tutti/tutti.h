/* Tutti: collective file access for MPI programs.  This header includes all of the public
 * interface.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TUTTI_H
#define TUTTI_TUTTI_H

#include <tutti/types.h>
#include <tutti/sizes.h>
#include <tutti/error.h>
#include <tutti/options.h>
#include <tutti/profile.h>
#include <tutti/stats.h>
#include <tutti/access.h>
#include <tutti/mpitype.h>
#include <tutti/fortran.h>
#include <tutti/file.h>
#include <tutti/element_types.h>
#include <tutti/parts.h>
#include <tutti/array.h>
#include <tutti/replicas.h>
#include <tutti/mesh.h>
#include <tutti/decomposition.h>
#include <tutti/dataset.h>
#include <tutti/exodus.h>

#endif
