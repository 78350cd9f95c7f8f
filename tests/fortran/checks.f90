! Common part of tests in Fortran: failure reports, random numbers, paths of files.
! SPDX-License-Identifier: BSD-3-Clause
module checks
  use mpi_f08
  use tutti, only: tutti_last_message
  use, intrinsic :: iso_fortran_env, only: int64, error_unit
  implicit none
  private
  public :: begin, finish, check, fine, code_is, seed, chance, other_seed, path

  integer, public :: rank = 0, ranks = 1
  integer :: wrong = 0
  integer(int64) :: state = 1, first = 1

contains

  ! Initialize MPI and the random numbers; the seed is TUTTI_TEST_SEED or, if unset, the clock.
  subroutine begin()
    character(32) :: text
    integer :: status
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call get_environment_variable("TUTTI_TEST_SEED", text, status=status)
    if (status == 0) then
      read (text, *) first
    else
      call system_clock(first)
      first = modulo(first, 1000000_int64)
    end if
    call MPI_Bcast(first, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD)
    call other_seed(0)
  end subroutine begin

  integer(int64) function seed()
    seed = first
  end function seed

  ! Start another series of random numbers, the same on all ranks for the same n.
  subroutine other_seed(n)
    integer, intent(in) :: n
    integer :: i, ignored
    state = modulo(first * 69069 + n * 7919 + 12345, 2147483647_int64)
    if (state == 0) state = 1
    do i = 1, 5
      ignored = chance(0, 9)
    end do
  end subroutine other_seed

  ! Return a random integer from low to high (Lehmer's generator).
  integer function chance(low, high)
    integer, intent(in) :: low, high
    state = modulo(state * 48271_int64, 2147483647_int64)
    chance = low + int(modulo(state / 16, int(high - low + 1, int64)))
  end function chance

  subroutine check(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    wrong = wrong + 1
    if (wrong <= 10) write (error_unit, "(a, i0, a, i0, 2a)") "rank ", rank, ", seed ", first, ": ", what
  end subroutine check

  ! Check that a call succeeded.
  subroutine fine(ierr, what)
    integer, intent(in) :: ierr
    character(*), intent(in) :: what
    call check(ierr == 0, what // ": " // tutti_last_message())
  end subroutine fine

  ! Check that a call has failed with this code.
  subroutine code_is(ierr, code, what)
    integer, intent(in) :: ierr, code
    character(*), intent(in) :: what
    character(64) :: text
    write (text, "(a, i0, a, i0)") ": code ", ierr, ", not ", code
    call check(ierr == code, what // trim(text) // ": " // tutti_last_message())
  end subroutine code_is

  function path(name)
    character(*), intent(in) :: name
    character(:), allocatable :: path
    character(4096) :: folder
    integer :: n, status
    call get_environment_variable("TUTTI_TEST_DIR", folder, n, status)
    if (status /= 0) then
      folder = "."
      n = 1
    end if
    path = folder(1:n) // "/" // name
  end function path

  subroutine finish()
    integer :: all
    call MPI_Allreduce(wrong, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Finalize()
    if (all > 0) stop 1, quiet=.true.
  end subroutine finish
end module checks
