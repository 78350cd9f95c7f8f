! Nonblocking and split MPI-IO with mpi_f08: requests completed in a different order on each rank, and errors.
! SPDX-License-Identifier: BSD-3-Clause
program waits_f08
    use mpi_f08
    implicit none
    integer, parameter :: n = 1000, ops = 4
    type(MPI_File) :: f
    type(MPI_Request) :: requests(ops)
    type(MPI_Status) :: statuses(ops), status
    integer :: rank, ranks, ierr, i, k, count, bad, worst
    integer, asynchronous :: data(n, ops), back(n, ops)
    integer(kind=MPI_OFFSET_KIND) :: at(ops)
    logical :: flag
    character(len=512) :: path

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call get_command_argument(1, path)
    bad = 0
    do k = 1, ops
        at(k) = 4_MPI_OFFSET_KIND * n * (rank + ranks * (k - 1))
        data(:, k) = [(1000000 * k + 10000 * rank + i, i = 1, n)]
    end do

    call open_with('', '')
    do k = 1, ops
        call MPI_File_iwrite_at_all(f, at(k), data(:, k), n, MPI_INTEGER, requests(k))
    end do
    do k = 1, ops ! each rank begins with a different operation
        i = modulo(k + rank, ops) + 1
        flag = .false.
        do while (.not. flag)
            call MPI_Test(requests(i), flag, status, ierr)
            call expect(ierr == MPI_SUCCESS, 'test')
        end do
        call MPI_Get_count(status, MPI_INTEGER, count)
        call expect(count == n, 'count of a write')
    end do

    back = 0
    do k = 1, ops
        call MPI_File_iread_at(f, at(k), back(:, k), n, MPI_INTEGER, requests(k))
    end do
    call MPI_Waitall(ops, requests, statuses, ierr)
    call expect(ierr == MPI_SUCCESS .and. all(back == data), 'what was read')

    back = 0
    call MPI_File_read_at_all_begin(f, at(2), back(:, 1), n, MPI_INTEGER)
    call MPI_File_read_at_all_end(f, back(:, 1), status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call expect(count == n .and. all(back(:, 1) == data(:, 2)), 'split read')
    call MPI_File_close(f)

    call open_with('tutti_fault', '0:write:1:ENOSPC')
    call MPI_File_iwrite_at_all(f, at(1), data(:, 1), n, MPI_INTEGER, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
    call MPI_Error_class(ierr, k)
    call expect(k == MPI_ERR_NO_SPACE, 'wait tells the class')
    call MPI_File_iwrite_at_all(f, at(1), data(:, 1), n, MPI_INTEGER, requests(1))
    call MPI_Waitall(1, requests(1:1), statuses(1:1), ierr)
    call MPI_Error_class(ierr, k)
    call expect(k == MPI_ERR_IN_STATUS, 'waitall tells of statuses')
    if (requests(1) == MPI_REQUEST_NULL) then ! Open MPI's Fortran does not change handle and status after an error
        call MPI_Error_class(statuses(1)%MPI_ERROR, k)
        call expect(k == MPI_ERR_NO_SPACE, 'the status has the class')
    end if
    call MPI_File_close(f)

    call MPI_Allreduce(bad, worst, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call MPI_Finalize()
    if (worst > 0) stop 1

contains

    subroutine open_with(key, value)
        character(len=*), intent(in) :: key, value
        type(MPI_Info) :: info
        call MPI_Info_create(info)
        if (len(key) > 0) call MPI_Info_set(info, key, value)
        call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, info, f, ierr)
        call expect(ierr == MPI_SUCCESS, 'open')
        call MPI_Info_free(info)
    end subroutine

    subroutine expect(condition, what)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: what
        if (condition) return
        bad = bad + 1
        print '(a,i0,2a)', 'waits_f08, rank ', rank, ': ', what
    end subroutine
end program
