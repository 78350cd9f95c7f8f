! TEST ranks=1,3 timeout=60
! Arrays that are not contiguous, for datasets and replicas: random sections of random arrays, ascending and
! descending, are written and read like contiguous copies, and memory between their elements is unchanged.
! SPDX-License-Identifier: BSD-3-Clause
program strided
  use mpi_f08
  use tutti
  use checks
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  type :: particle
    real(real64) :: mass
    integer(int32) :: kind
  end type
  integer :: i
  call begin()
  do i = 1, 8
    call other_seed(i)
    call datasets()
    call items()
  end do
  call components()
  call finish()
contains

  ! Choose random bounds and a stride of a section of n elements in 1:most.
  subroutine some_of(n, most, first, last, step)
    integer, intent(in) :: n, most
    integer, intent(out) :: first, last, step
    step = chance(1, (most - 1) / max(n - 1, 1))
    first = chance(1, most - step * (n - 1))
    last = first + step * (n - 1)
    if (chance(0, 1) == 1) then
      step = -step
      call swap(first, last)
    end if
  end subroutine some_of

  subroutine swap(a, b)
    integer, intent(inout) :: a, b
    integer :: c
    c = a
    a = b
    b = c
  end subroutine swap

  subroutine datasets()
    type(tutti_dataset) :: d
    type(tutti_decomposition) :: mine
    type(tutti_dataset_options) :: opt
    type(tutti_put) :: puts(2)
    integer, parameter :: most = 9
    real(real64), target :: a(most, most), b(most, most), was(most, most)
    integer(int32), target :: k(most, most)
    integer(int64) :: count
    real(real64) :: through(2, most * most)
    integer :: n, m, f(2), l(2), s(2), g(2), h(2), t(2), ierr, j, ignored
    n = chance(1, 4)
    m = chance(1, 4)
    do j = 1, 2
      call some_of(merge(n, m, j == 1), most, f(j), l(j), s(j))
      call some_of(merge(n, m, j == 1), most, g(j), h(j), t(j))
    end do
    a = reshape([(1000d0 * rank + j, j=1, most * most)], [most, most])
    k = int(a)
    call tutti_dataset_options_init(opt)
    opt%level = TUTTI_VISIBLE
    call tutti_dataset_open(MPI_COMM_WORLD, path("d.tutti"), ior(ior(TUTTI_READ, TUTTI_WRITE), &
                            ior(TUTTI_CREATE, TUTTI_TRUNCATE)), d, ierr, opt=opt)
    call fine(ierr, "open")
    call tutti_dataset_grid(d, "grid", [n, m * ranks])
    call tutti_dataset_variable(d, "x", "grid", TUTTI_FLOAT64)
    call tutti_dataset_variable(d, "k", "grid", TUTTI_INT32)
    call tutti_decomposition_create(d, "grid", mine, index=[(int(rank * n * m + j, int64), j=0, n * m - 1)], ierr=ierr)
    call fine(ierr, "decomposition")
    call tutti_dataset_begin(d, TUTTI_STATE, 1_int64, 0d0)
    call tutti_dataset_put(d, "x", mine, a(f(1):l(1):s(1), f(2):l(2):s(2)), ierr=ierr)
    call fine(ierr, "put")
    call tutti_dataset_put(d, "k", mine, k(f(1):l(1):s(1), f(2):l(2):s(2)), ierr=ierr)
    call tutti_dataset_commit(d)
    call tutti_dataset_begin(d, TUTTI_STATE, 2_int64, 1d0)
    call tutti_put_make(puts(1), "x", mine, a(f(1):l(1):s(1), f(2):l(2):s(2)))
    call tutti_put_make(puts(2), "k", mine, k(f(1):l(1):s(1), f(2):l(2):s(2)))
    call tutti_dataset_put(d, puts, ierr)
    call fine(ierr, "put of two")
    call tutti_dataset_commit(d)
    b = -1
    was = b
    was(g(1):h(1):t(1), g(2):h(2):t(2)) = a(f(1):l(1):s(1), f(2):l(2):s(2))
    call tutti_dataset_get(d, 0_int64, "x", mine, b(g(1):h(1):t(1), g(2):h(2):t(2)), ierr=ierr)
    call fine(ierr, "get")
    call check(all(b == was), "what was got")
    b = -1
    call tutti_dataset_get(d, 1_int64, "k", mine, b(g(1):h(1):t(1), g(2):h(2):t(2)), ierr=ierr)   ! converted
    call check(ierr == 0 .and. all(b == was), "what was got as other numbers")
    through = -1
    call tutti_dataset_follow(d, 0_int64, 1_int64, "x", mine, through(1, :2 * n * m), count, ierr=ierr)
    call check(ierr == 0 .and. count == 2 .and. all(through(2, :) == -1), "follow")
    call check(all(through(1, n * m + 1:2 * n * m) == [a(f(1):l(1):s(1), f(2):l(2):s(2))]), "what was followed")
    call tutti_dataset_info_set(d, "list", [(j, j=1, 2 * most)], ierr=ierr)
    k = reshape([(j, j=1, most * most)], [most, most])
    call tutti_dataset_info_set(d, "other", k(f(1):l(1):s(1), 1), ierr=ierr)
    call fine(ierr, "an info")
    call tutti_dataset_info_get(d, "other", k(:n, 2), ierr=ierr)
    call check(ierr == 0 .and. all(k(:n, 2) == k(f(1):l(1):s(1), 1)), "the info")
    call tutti_decomposition_free(mine)
    call tutti_dataset_close(d, ignored)
  end subroutine datasets

  subroutine items()
    type(tutti_replicas) :: r
    type(tutti_file) :: f
    real(real32), target :: a(40), b(40), was(40)
    integer :: n, first, last, step, ierr, j
    n = chance(1, 12)
    call some_of(n, 40, first, last, step)
    call tutti_replicas_create(MPI_COMM_WORLD, [(int(n * rank + j, int64), j=0, n - 1)], 4_tutti_off, r, ierr=ierr)
    call fine(ierr, "replicas")
    call tutti_file_open(MPI_COMM_WORLD, path("r.dat"), ior(ior(TUTTI_READ, TUTTI_WRITE), TUTTI_CREATE), f)
    a = [(100. * rank + j, j=1, 40)]
    call tutti_replicas_check(r, a(first:last:step), ierr)
    call fine(ierr, "check")
    call tutti_replicas_write(f, 8_tutti_off, r, a(first:last:step), check=1, ierr=ierr)
    call fine(ierr, "write")
    b = -1
    was = b
    was(last:first:-step) = a(first:last:step)
    call tutti_replicas_read(f, 8_tutti_off, r, b(last:first:-step), ierr)
    call check(ierr == 0 .and. all(b == was), "what was read")
    call tutti_replicas_free(r)
    call tutti_file_close(f)
  end subroutine items

  ! Test components of derived types, whose distance is not a multiple of the element size.
  subroutine components()
    type(tutti_replicas) :: r
    type(tutti_file) :: f
    type(particle) :: p(5)
    integer :: ierr, j
    p%mass = [(10d0 * rank + j, j=1, 5)]
    p%kind = 7
    call tutti_replicas_create(MPI_COMM_WORLD, [(int(5 * rank + j, int64), j=0, 4)], 8_tutti_off, r)
    call tutti_file_open(MPI_COMM_WORLD, path("p.dat"), ior(ior(TUTTI_READ, TUTTI_WRITE), TUTTI_CREATE), f)
    call tutti_replicas_write(f, 0_tutti_off, r, p%mass, ierr=ierr)
    call fine(ierr, "write of components")
    p%mass = 0
    call tutti_replicas_read(f, 0_tutti_off, r, p%mass, ierr)
    call check(ierr == 0 .and. all(p%mass == [(10d0 * rank + j, j=1, 5)]) .and. all(p%kind == 7), "components")
    call tutti_replicas_free(r)
    call tutti_file_close(f)
  end subroutine components
end program strided
