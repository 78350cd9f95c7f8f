! TEST ranks=4 timeout=60
! Step 6.  A dataset: a heat equation that commits every tenth step.  If it is run again, it continues from the last committed step, on any
! number of ranks and after any crash.
!
!     step6_dataset [DIRECTORY [STEPS]]
!
! SPDX-License-Identifier: BSD-3-Clause
program step6
  use mpi_f08
  use tutti
  implicit none
  integer, parameter :: n = 96, every = 10
  integer :: rank, ranks, first, last, steps, j, ierr
  integer(tutti_count) :: segment
  integer(8) :: from, at
  real(8), allocatable :: now(:, :), next(:, :), middle(:)
  real(8) :: warm
  character(1000) :: folder, text
  type(tutti_dataset) :: d
  type(tutti_decomposition) :: columns
  type(tutti_slice) :: mine
  type(tutti_segment) :: state
  call get_command_argument(1, folder)
  if (folder == "") folder = "step6.tutti"
  call get_command_argument(2, text)
  steps = 100
  if (text /= "") read (text, *) steps
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  ! Initialize the columns of this rank, with one ghost column on each side.
  first = n * rank / ranks + 1
  last = n * (rank + 1) / ranks
  allocate (now(n, first - 1:last + 1), next(n, first - 1:last + 1))
  now = 20
  do j = first, last
    if (j > n / 3) now(n / 3 + 1:, j) = 100
  end do

  ! Define a grid and a variable on it; repeating an identical definition is allowed.
  call tutti_dataset_open(MPI_COMM_WORLD, folder, ior(ior(TUTTI_READ, TUTTI_WRITE), TUTTI_CREATE), d)
  call tutti_dataset_grid(d, "grid", [n, n])
  call tutti_dataset_variable(d, "temperature", "grid", TUTTI_FLOAT64, units="K", long_name="temperature")
  call tutti_slice_fortran([1, first], [n, last], mine)
  call tutti_decomposition_create(d, "grid", columns, slice=mine)

  ! Read the last state, if there is one.
  at = 0
  call tutti_dataset_latest(d, TUTTI_STATE, segment, ierr)
  if (ierr == TUTTI_OK) then
    call tutti_dataset_segment(d, segment, state)
    call tutti_dataset_get(d, segment, "temperature", columns, now(:, first:last))
    at = state%index
  end if
  from = at
  do while (at < from + steps)
    call step()
    at = at + 1
    if (mod(at, int(every, 8)) /= 0) cycle
    call tutti_dataset_begin(d, TUTTI_STATE, at, 0.1d0 * at)
    call tutti_dataset_put(d, "temperature", columns, now(:, first:last))
    call tutti_dataset_commit(d)   ! committed atomically
  end do
  allocate (middle(1), source=0d0)
  if (first <= n / 2 .and. n / 2 <= last) middle = now(n / 2, n / 2)
  call MPI_Reduce(middle(1), warm, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD)
  call tutti_decomposition_free(columns)
  call tutti_dataset_close(d)
  if (rank == 0) print "(a, i0, a, i0, 3a, f0.6, a)", "steps ", from, " to ", at, " in ", trim(folder), "; ", warm, &
    " K in the middle"
  call MPI_Finalize()
contains
  subroutine step()
    integer :: left, right, j
    left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    right = merge(rank + 1, MPI_PROC_NULL, rank + 1 < ranks)
    call MPI_Sendrecv(now(:, first), n, MPI_DOUBLE_PRECISION, left, 0, now(:, last + 1), n, MPI_DOUBLE_PRECISION, right, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(now(:, last), n, MPI_DOUBLE_PRECISION, right, 0, now(:, first - 1), n, MPI_DOUBLE_PRECISION, left, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    next = now
    do j = max(first, 2), min(last, n - 1)
      next(2:n - 1, j) = 0.25d0 * (now(1:n - 2, j) + now(3:n, j) + now(2:n - 1, j - 1) + now(2:n - 1, j + 1))
    end do
    now = next
  end subroutine step
end program step6
