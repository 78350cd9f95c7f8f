! TEST ranks=4 timeout=60
! Step 4.  Overlap of computation and file access.  Split collective: begin exchanges the data and returns, a thread or the kernel
! writes while the next step is computed, end waits for completion.  Non-blocking: start does not wait for other ranks; test lets
! the operation progress.  Arrays of pending operations are `asynchronous`, so that the compiler does not move accesses to them.
! SPDX-License-Identifier: BSD-3-Clause
program step4
  use mpi_f08
  use tutti
  implicit none
  integer, parameter :: n = 2**18, steps = 4
  integer :: rank, ranks, level, step, part, done, ierr
  real(8), allocatable, asynchronous :: now(:), next(:)
  type(tutti_access) :: place
  type(tutti_file) :: f
  type(tutti_options) :: opt
  type(tutti_request) :: request
  type(tutti_stats) :: all
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)   ! needed by background=all only
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  call tutti_options_init(opt, ierr)
  if (ierr /= TUTTI_OK) print "(a)", tutti_last_message()   ! an environment variable is invalid: it is ignored
  if (opt%background == TUTTI_BACKGROUND_AUTO) opt%background = TUTTI_BACKGROUND_IO_ONLY
  call tutti_file_open(MPI_COMM_WORLD, "step4.dat", ior(ior(TUTTI_WRITE, TUTTI_CREATE), TUTTI_TRUNCATE), f, opt=opt)

  ! Two arrays alternate, because an array must not be changed between begin and end of its write.
  allocate (now(n), next(n))
  now = [(real(part, 8), part=1, n)]
  do step = 0, steps - 1
    call place_of(step)
    call tutti_file_write_begin(f, place, now)
    call tutti_access_free(place)
    next = step + 1 + 0.5d0 * now
    call tutti_file_write_end(f)
    call swap(now, next)
  end do

  call place_of(steps)
  call tutti_file_write_start(f, place, now, request)
  done = 0
  do part = 1, 10
    next = part + 0.5d0 * now
    call tutti_request_test(request, done)
    if (done == 1) exit
  end do
  if (done == 0) call tutti_request_wait(request)
  call tutti_access_free(place)
  if (rank == 0) then
    call tutti_file_stats(f, all=all)
    print "(i0, a, i0, a)", all%background, " of ", all%operations, " operations went on in the background"
  end if
  call tutti_file_close(f)
  call MPI_Finalize()
contains

  ! Describe blocks of 1024 values, distributed cyclically, at the offset of a step.
  subroutine place_of(step)
    integer, intent(in) :: step
    integer(tutti_off), parameter :: piece = 1024 * 8
    call tutti_access_vector(int(step, tutti_off) * n * 8 * ranks + rank * piece, int(n / 1024, tutti_count), piece, &
                             piece * ranks, place)
  end subroutine place_of

  subroutine swap(a, b)
    real(8), allocatable, asynchronous, intent(inout) :: a(:), b(:)
    real(8), allocatable :: c(:)
    call move_alloc(a, c)
    call move_alloc(b, a)
    call move_alloc(c, b)
  end subroutine swap
end program step4
