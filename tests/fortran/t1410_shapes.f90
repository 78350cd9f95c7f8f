! TEST ranks=1,3 timeout=60 builds=openmpi,mpich,asan
! An array must have the shape of the slice, whether or not it is contiguous.  Calls of arrays, datasets, replicas
! and Exodus files, blocking and non-blocking, reads and writes, refuse an array of another shape on all ranks,
! even if only one rank passes such an array and its size is correct.
! SPDX-License-Identifier: BSD-3-Clause
program shapes
  use mpi_f08
  use tutti
  use checks
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 8, m = 4
  real(real64), target, asynchronous :: good(n, m), wide(n + 2, m + 2), vectors(3, n, m)
  logical :: odd   ! this rank has the array under test, the others have a correct one
  integer :: entry = 0
  type(tutti_array) :: array
  type(tutti_slice) :: slice
  type(tutti_dataset) :: d
  type(tutti_decomposition) :: block, list
  type(tutti_file) :: file
  type(tutti_replicas) :: triples
  type(tutti_exodus) :: x
  type(tutti_decomposition) :: nodes
  integer, parameter :: array_calls = 6, slice_calls = 7, replica_calls = 3

  call begin()
  odd = rank == ranks - 1
  good = reshape([(100d0 * rank + entry, entry=1, n * m)], [n, m])
  vectors = 1
  call arrays(TUTTI_COL_MAJOR)
  call arrays(TUTTI_ROW_MAJOR)
  call datasets()
  call replicas()
  call exodus()
  call finish()
contains

  ! ---------------------------------------------------------------- arrays of correct and of wrong shapes

  ! Call `which` with `buf` on one rank and `right`, a correct array, on the others; `fits`: `buf` is correct too.
  subroutine try(which, buf, right, fits, what)
    interface
      subroutine which(buf, ierr)
        import :: real64
        real(real64), intent(inout), target, asynchronous :: buf(..)
        integer, intent(out) :: ierr
      end subroutine
    end interface
    real(real64), intent(inout), target, asynchronous :: buf(..), right(..)
    logical, intent(in) :: fits
    character(*), intent(in) :: what
    character(16) :: number
    integer :: ierr
    write (number, "(a, i0, a)") "call ", entry, ": "
    if (odd) then
      call which(buf, ierr)
    else
      call which(right, ierr)
    end if
    call code_is(ierr, merge(TUTTI_OK, TUTTI_ERR_ARG, fits), trim(number) // " " // what)
    if (fits) return
    call which(right, ierr)
    call fine(ierr, trim(number) // " after " // what)
  end subroutine try

  ! Try arrays for a slice of n x m elements; `strided`: the call accepts arrays that are not contiguous.
  subroutine slices(which, strided)
    interface
      subroutine which(buf, ierr)
        import :: real64
        real(real64), intent(inout), target, asynchronous :: buf(..)
        integer, intent(out) :: ierr
      end subroutine
    end interface
    logical, intent(in) :: strided
    real(real64), asynchronous :: flat(n * m), more(n * m + 1), less(n * m - 1), turned(m, n), halves(n / 2, 2, m), &
        twice(n, m, 2), thin(n, 1, m), other(n / 2, 2 * m)
    flat = 1; more = 1; less = 1; turned = 1; halves = 1; twice = 1; thin = 1; other = 1
    wide = 7
    call try(which, good, good, .true., "its shape")
    call try(which, flat, good, .true., "a list of its elements")
    call try(which, thin, good, .true., "a dimension of one element")
    call try(which, wide(2:n + 1, 2:m + 1), good, strided, "an inner part")
    call try(which, wide, good, .false., "with ghost cells")
    call try(which, wide(1:n + 1, 1:m), good, .false., "a part with one row of ghost cells")
    call try(which, wide(1:n, 1:m + 1), good, .false., "a part with one column of ghost cells")
    call try(which, turned, good, .false., "transposed")
    call try(which, other, good, .false., "right size, other shape")
    call try(which, halves, good, .false., "right size, another dimension")
    call try(which, twice, good, .false., "two of it")
    call try(which, more, good, .false., "too long a list")
    call try(which, less, good, .false., "too short a list")
    call try(which, good(1:n - 1, :), good, .false., "one row too few")
    call try(which, wide(1:2 * (n / 2):2, 1:m), good, .false., "strided, too small")
  end subroutine slices

  ! ---------------------------------------------------------------- arrays in files

  subroutine array_call(buf, ierr)
    real(real64), intent(inout), target, asynchronous :: buf(..)
    integer, intent(out) :: ierr
    type(tutti_request) :: r
    select case (entry)
    case (1)
      call tutti_array_write(array, slice, buf, ierr=ierr)
    case (2)
      call tutti_array_read(array, slice, buf, ierr=ierr)
    case (3)
      call tutti_array_write_start(array, slice, buf, r, ierr=ierr)
      if (ierr == 0) call tutti_request_wait(r, ierr=ierr)
    case (4)
      call tutti_array_read_start(array, slice, buf, r, ierr=ierr)
      if (ierr == 0) call tutti_request_wait(r, ierr=ierr)
    case (5)
      call tutti_array_write_independent(array, slice, buf, ierr=ierr)
      ierr = most(ierr)
    case (6)
      call tutti_array_read_independent(array, slice, buf, ierr=ierr)
      ierr = most(ierr)
    end select
  end subroutine array_call

  ! Return the largest ierr of all ranks, since independent calls fail on one rank only.
  integer function most(ierr)
    integer, intent(in) :: ierr
    call MPI_Allreduce(ierr, most, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  end function most

  subroutine arrays(order)
    integer, intent(in) :: order
    type(tutti_array_spec) :: spec
    integer :: ierr
    spec%ndims = 2
    spec%shape(1:2) = [n, m * ranks]
    spec%type = TUTTI_FLOAT64
    spec%order = order
    call tutti_array_create(MPI_COMM_WORLD, path(merge("r.tta", "c.tta", order == TUTTI_ROW_MAJOR)), spec, array, ierr=ierr)
    call fine(ierr, "create an array")
    call tutti_slice_fortran([1, m * rank + 1], [n, m * (rank + 1)], slice)
    do entry = 1, array_calls
      call slices(array_call, .true.)
    end do
    call tutti_array_close(array)
  end subroutine arrays

  ! ---------------------------------------------------------------- datasets

  subroutine slice_call(buf, ierr)
    real(real64), intent(inout), target, asynchronous :: buf(..)
    integer, intent(out) :: ierr
    type(tutti_request) :: r
    type(tutti_put) :: puts(2)
    type(tutti_get) :: gets(2)
    integer(int64) :: count
    select case (entry)
    case (1)
      call tutti_dataset_put(d, "u", block, buf, ierr=ierr)
    case (2)
      call tutti_put_make(puts(1), "v", block, good)
      call tutti_put_make(puts(2), "u", block, buf)
      call tutti_dataset_put(d, puts, ierr)
    case (3)
      call tutti_dataset_put_start(d, "u", block, buf, r, ierr=ierr)
      if (ierr == 0) call tutti_request_wait(r, ierr=ierr)
    case (4)
      call tutti_dataset_get(d, 0_int64, "u", block, buf, ierr=ierr)
    case (5)
      call tutti_get_make(gets(1), "v", block, good)
      call tutti_get_make(gets(2), "u", block, buf)
      call tutti_dataset_get(d, 0_int64, gets, ierr)
    case (6)
      call tutti_dataset_get_start(d, 0_int64, "u", block, buf, r, ierr=ierr)
      if (ierr == 0) call tutti_request_wait(r, ierr=ierr)
    case (7)
      call tutti_dataset_follow(d, 0_int64, 0_int64, "u", block, buf, count, ierr=ierr)
    end select
  end subroutine slice_call

  subroutine vector_call(buf, ierr)
    real(real64), intent(inout), target, asynchronous :: buf(..)
    integer, intent(out) :: ierr
    type(tutti_request) :: r
    select case (entry)
    case (1)
      call tutti_dataset_put(d, "w", block, buf, ierr=ierr)
    case (2)
      call tutti_dataset_put_start(d, "w", block, buf, r, ierr=ierr)
      if (ierr == 0) call tutti_request_wait(r, ierr=ierr)
    case (3)
      call tutti_dataset_get(d, 0_int64, "w", block, buf, ierr=ierr)
    case (4)
      call tutti_dataset_get_start(d, 0_int64, "w", block, buf, r, ierr=ierr)
      if (ierr == 0) call tutti_request_wait(r, ierr=ierr)
    end select
  end subroutine vector_call

  ! Make call `entry` for vectors on the n * m entries of a list.
  subroutine list_call(buf, ierr)
    real(real64), intent(inout), target, asynchronous :: buf(..)
    integer, intent(out) :: ierr
    type(tutti_request) :: r
    select case (entry)
    case (1)
      call tutti_dataset_put(d, "w", list, buf, ierr=ierr)
    case (2)
      call tutti_dataset_put_start(d, "w", list, buf, r, ierr=ierr)
      if (ierr == 0) call tutti_request_wait(r, ierr=ierr)
    case (3)
      call tutti_dataset_get(d, 0_int64, "w", list, buf, ierr=ierr)
    case (4)
      call tutti_dataset_get_start(d, 0_int64, "w", list, buf, r, ierr=ierr)
      if (ierr == 0) call tutti_request_wait(r, ierr=ierr)
    end select
  end subroutine list_call

  ! Try arrays for n x m items of three values; `exact`: for a slice, otherwise for a list, whose arrays may be larger.
  subroutine threes(which, exact)
    interface
      subroutine which(buf, ierr)
        import :: real64
        real(real64), intent(inout), target, asynchronous :: buf(..)
        integer, intent(out) :: ierr
      end subroutine
    end interface
    logical, intent(in) :: exact
    real(real64), asynchronous :: last(n, m, 3), flat(3 * n * m), columns(3, n * m), more(3, n * m + 1), rows(n * m, 3), &
        four(4, n, m)
    last = 1; flat = 1; columns = 1; more = 1; rows = 1; four = 1
    call try(which, flat, vectors, .true., "a list of numbers")
    call try(which, vectors, vectors, .true., "vectors of a block")
    call try(which, columns, vectors, .not. exact, "vectors of a list")
    call try(which, more, vectors, .not. exact, "vectors of a longer list")
    call try(which, rows, vectors, .false., "vectors as rows")
    call try(which, last, vectors, .false., "components last")
    call try(which, four, vectors, .false., "four components")
    call try(which, columns(:, 2:), vectors, .false., "one vector too few")
    call try(which, flat(2:), vectors, .false., "one number too few")
  end subroutine threes

  subroutine datasets()
    type(tutti_dataset_options) :: opt
    type(tutti_decomposition) :: unset
    integer(int64) :: count
    real(real64) :: through(n, m, 2), through_turned(m, n, 2), through_more(n, m, 3)
    integer :: ierr, j
    call tutti_dataset_options_init(opt)
    opt%level = TUTTI_VISIBLE
    call tutti_dataset_open(MPI_COMM_WORLD, path("d.tutti"), ior(ior(TUTTI_READ, TUTTI_WRITE), &
                            ior(TUTTI_CREATE, TUTTI_TRUNCATE)), d, opt=opt, ierr=ierr)
    call fine(ierr, "open")
    call tutti_dataset_grid(d, "grid", [n, m * ranks])
    call tutti_dataset_variable(d, "u", "grid", TUTTI_FLOAT64)
    call tutti_dataset_variable(d, "v", "grid", TUTTI_FLOAT64)
    call tutti_dataset_variable(d, "w", "grid", TUTTI_FLOAT64, item=TUTTI_VECTOR, components=3, ierr=ierr)
    call fine(ierr, "a vector")
    call tutti_slice_fortran([1, m * rank + 1], [n, m * (rank + 1)], slice)
    call tutti_decomposition_create(d, "grid", unset, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a decomposition without entries of any kind")
    call tutti_decomposition_create(d, "grid", unset, slice=slice, n=3_int64, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a decomposition by slice and by number")
    call tutti_decomposition_create(d, "grid", block, slice=slice, ierr=ierr)
    call fine(ierr, "a block")
    call tutti_decomposition_create(d, "grid", list, index=[(int(rank * n * m + j, int64), j=0, n * m - 1)], ierr=ierr)
    call fine(ierr, "a list")
    call tutti_dataset_begin(d, TUTTI_STATE, 1_int64, 0d0)
    call tutti_dataset_put(d, "v", block, good, ierr=ierr)
    do entry = 1, 3
      call slices(slice_call, entry /= 3)
    end do
    do entry = 1, 2
      call threes(vector_call, .true.)
      call threes(list_call, .false.)
    end do
    call tutti_dataset_commit(d, ierr)
    call fine(ierr, "commit")
    do entry = 4, slice_calls
      call slices(slice_call, entry /= 6)
    end do
    do entry = 3, 4
      call threes(vector_call, .true.)
      call threes(list_call, .false.)
    end do
    ! Read time series over two segments.
    call tutti_dataset_begin(d, TUTTI_STATE, 2_int64, 1d0)
    call tutti_dataset_put(d, "u", block, good)
    call tutti_dataset_commit(d)
    call tutti_dataset_follow(d, 0_int64, 1_int64, "u", block, through, count, ierr=ierr)
    call fine(ierr, "follow")
    call check(count == 2 .and. all(through(:, :, 2) == good), "what was followed")
    call tutti_dataset_follow(d, 0_int64, 1_int64, "u", block, through_more, count, ierr=ierr)
    call fine(ierr, "follow, with room for more")
    call tutti_dataset_follow(d, 0_int64, 1_int64, "u", block, through_turned, count, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "follow, transposed")
    call check(index(tutti_last_message(), "shape (4, 8, 2): must be (8, 4, 2)") > 0, tutti_last_message())
    call tutti_decomposition_free(block)
    call tutti_decomposition_free(list)
    call tutti_dataset_close(d)
  end subroutine datasets

  ! ---------------------------------------------------------------- replicas

  subroutine replica_call(buf, ierr)
    real(real64), intent(inout), target, asynchronous :: buf(..)
    integer, intent(out) :: ierr
    select case (entry)
    case (1)
      call tutti_replicas_write(file, 0_tutti_off, triples, buf, ierr=ierr)
    case (2)
      call tutti_replicas_read(file, 0_tutti_off, triples, buf, ierr=ierr)
    case (3)
      call tutti_replicas_check(triples, buf, ierr)
    end select
  end subroutine replica_call

  subroutine replicas()
    integer :: ierr, j
    call tutti_replicas_create(MPI_COMM_WORLD, [(int(rank * n * m + j, int64), j=0, n * m - 1)], 8_tutti_off, triples, &
                               load=3_int64, ierr=ierr)
    call fine(ierr, "an inspector")
    call tutti_file_open(MPI_COMM_WORLD, path("r.dat"), ior(ior(TUTTI_READ, TUTTI_WRITE), TUTTI_CREATE), file)
    do entry = 1, replica_calls
      call threes(replica_call, .false.)
    end do
    call tutti_replicas_free(triples)
    call tutti_file_close(file)
  end subroutine replicas

  ! ---------------------------------------------------------------- Exodus files

  subroutine exodus_call(buf, ierr)
    real(real64), intent(inout), target, asynchronous :: buf(..)
    integer, intent(out) :: ierr
    type(tutti_request) :: r
    type(tutti_exodus_field) :: fields(1)
    select case (entry)
    case (1)
      call tutti_exodus_put(x, TUTTI_EXODUS_NODAL, "t", buf, entries=nodes, ierr=ierr)
    case (2)
      call tutti_exodus_field_make(fields(1), TUTTI_EXODUS_NODAL, "t", buf, entries=nodes)
      call tutti_exodus_put(x, fields, ierr)
    case (3)
      call tutti_exodus_put_start(x, TUTTI_EXODUS_NODAL, "t", buf, r, entries=nodes, ierr=ierr)
      if (ierr == 0) call tutti_request_wait(r, ierr=ierr)
    case (4)
      call tutti_exodus_get(x, 1_int64, TUTTI_EXODUS_NODAL, "t", buf, entries=nodes, ierr=ierr)
    case (5)
      call tutti_exodus_field_make(fields(1), TUTTI_EXODUS_NODAL, "t", buf, entries=nodes)
      call tutti_exodus_get(x, 1_int64, fields, ierr)
    case (6)
      call tutti_exodus_get_start(x, 1_int64, TUTTI_EXODUS_NODAL, "t", buf, r, entries=nodes, ierr=ierr)
      if (ierr == 0) call tutti_request_wait(r, ierr=ierr)
    case (7)
      call tutti_exodus_follow(x, 1_int64, 1_int64, TUTTI_EXODUS_NODAL, "t", buf, entries=nodes, ierr=ierr)
    end select
  end subroutine exodus_call

  ! Try arrays for n entries, selected by a slice (`exact`) or by positions.
  subroutine lists(exact)
    logical, intent(in) :: exact
    real(real64), asynchronous :: right(n), more(n + 2), less(n - 1), block(n / 2, 2), larger(n, 2), column(1, n), every(2 * n)
    right = 1; more = 1; less = 1; block = 1; larger = 1; column = 1; every = 1
    call try(exodus_call, column, right, .true., "a row")
    call try(exodus_call, every(::2), right, entry /= 3 .and. entry /= 6, "every second")
    call try(exodus_call, more, right, .not. exact, "a longer list")
    call try(exodus_call, block, right, .not. exact, "right size, two dimensions")
    call try(exodus_call, larger, right, .false., "two columns")
    call try(exodus_call, less, right, .false., "too short a list")
    call try(exodus_call, every(1:2 * n - 2:2), right, .false., "too short a list, strided")
  end subroutine lists

  subroutine connectivity()
    type(tutti_exodus_array) :: a(1)
    integer(int64) :: right(4, 2), turned(2, 4), flat(8)
    integer :: ierr
    right = reshape([1, 2, 3, 4, 3, 4, 5, 6], [4, 2])
    turned = 1
    flat = [right]
    call tutti_exodus_array_make(a(1), TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_ELEMENT_BLOCK, turned, id=1_int64, &
                                 first=2_int64 * rank)
    call tutti_exodus_put_arrays(x, a, ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "connectivity, transposed")
    call tutti_exodus_array_make(a(1), TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_ELEMENT_BLOCK, flat, id=1_int64, &
                                 first=2_int64 * rank)
    call tutti_exodus_put_arrays(x, a, ierr)
    call fine(ierr, "connectivity as a list")
    call tutti_exodus_array_make(a(1), TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_ELEMENT_BLOCK, right, id=1_int64, &
                                 first=2_int64 * rank)
    call tutti_exodus_put_arrays(x, a, ierr)
    call fine(ierr, "connectivity")
    call tutti_exodus_array_make(a(1), TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_ELEMENT_BLOCK, turned, id=1_int64, &
                                 first=2_int64 * rank)
    call tutti_exodus_get_arrays(x, a, ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "connectivity, read transposed")
  end subroutine connectivity

  subroutine exodus()
    type(tutti_exodus_options) :: opt
    integer :: ierr, kind
    call tutti_exodus_options_init(opt)
    opt%level = TUTTI_VISIBLE
    call tutti_exodus_create(MPI_COMM_WORLD, path("a.e"), x, opt=opt, ierr=ierr)
    call fine(ierr, "create")
    call tutti_exodus_init(x, tutti_exodus_parameters(title="shapes", dims=2, nodes=int(n * ranks, int64), &
                                                      elements=2_int64 * ranks), ierr)
    call fine(ierr, "init")
    call tutti_exodus_define(x, [tutti_exodus_entity(kind=TUTTI_EXODUS_ELEMENT_BLOCK, id=1_int64, topology="QUAD4", &
                                                     entries=2_int64 * ranks, nodes=4)], ierr)
    call fine(ierr, "define")
    call tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, ["t"], ierr)
    call tutti_exodus_end_definitions(x, ierr)
    call fine(ierr, "end of definitions")
    call connectivity()
    call tutti_exodus_begin(x, 0d0, ierr)
    call fine(ierr, "begin")
    do kind = 1, 2
      call hold(kind)
      do entry = 1, 3
        call lists(kind == 1)
      end do
      call tutti_decomposition_free(nodes)
    end do
    call tutti_exodus_commit(x, ierr)
    call fine(ierr, "commit")
    do kind = 1, 2
      call hold(kind)
      do entry = 4, 7
        call lists(kind == 1)
      end do
      call tutti_decomposition_free(nodes)
    end do
    call tutti_exodus_close(x, ierr)
    call fine(ierr, "close")
  end subroutine exodus

  subroutine hold(kind)
    integer, intent(in) :: kind
    type(tutti_slice) :: s
    integer :: ierr, j
    if (kind == 1) then
      call tutti_slice_fortran([n * rank + 1], [n * (rank + 1)], s)
      call tutti_exodus_decomposition(x, TUTTI_EXODUS_NODAL, nodes, slice=s, ierr=ierr)
    else
      call tutti_exodus_decomposition(x, TUTTI_EXODUS_NODAL, nodes, index=[(int(n * rank + j, int64), j=0, n - 1)], ierr=ierr)
    end if
    call fine(ierr, "a decomposition of nodes")
  end subroutine hold
end program shapes
