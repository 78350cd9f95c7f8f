! Nonblocking MPI-IO with mpif.h: all completion calls, counts, and errors as required by the standard.
! SPDX-License-Identifier: BSD-3-Clause
program waits_mpif
    implicit none
    include 'mpif.h'
    integer, parameter :: n = 1000, ops = 3
    integer :: rank, ranks, ierr, f, i, k, bad, worst
    integer :: requests(ops), statuses(MPI_STATUS_SIZE, ops), status(MPI_STATUS_SIZE)
    integer :: count, outcount, indices(ops), left
    integer :: data(n, ops), back(n, ops)
    integer(kind=MPI_OFFSET_KIND) :: at(ops)
    logical :: flag
    character(len=512) :: path

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call get_command_argument(1, path)
    bad = 0
    do k = 1, ops
        at(k) = 4_MPI_OFFSET_KIND * n * (rank + ranks * (k - 1))
        data(:, k) = [(1000000 * k + 10000 * rank + i, i = 1, n)]
    end do

    call open_with('', '')
    call start_writes()
    call MPI_Waitall(ops, requests, statuses, ierr)
    call expect(ierr == MPI_SUCCESS, 'waitall')
    do k = 1, ops
        call MPI_Get_count(statuses(1, k), MPI_INTEGER, count, ierr)
        call expect(count == n, 'count of a write')
    end do

    back = 0
    do k = 1, ops
        call MPI_File_iread_at_all(f, at(k), back(1, k), n, MPI_INTEGER, requests(k), ierr)
    end do
    call MPI_Waitany(ops, requests, i, status, ierr)
    call expect(ierr == MPI_SUCCESS .and. i >= 1 .and. i <= ops, 'waitany')
    call MPI_Get_count(status, MPI_INTEGER, count, ierr)
    call expect(count == n, 'count of a read')
    left = ops - 1
    do while (left > 0)
        call MPI_Testsome(ops, requests, outcount, indices, statuses, ierr)
        call expect(ierr == MPI_SUCCESS, 'testsome')
        left = left - outcount
    end do
    call expect(all(back == data), 'what was read')
    call MPI_File_close(f, ierr)

    ! After an error, Open MPI's Fortran does not change handles and statuses.
    call open_with('tutti_fault', '0:write:1:ENOSPC')
    call start_writes()
    call MPI_Wait(requests(2), status, ierr)
    call expect(class(ierr) == MPI_ERR_NO_SPACE, 'wait tells the class')
    requests(2) = MPI_REQUEST_NULL
    flag = .false.
    ierr = MPI_SUCCESS
    do while (.not. flag .and. ierr == MPI_SUCCESS)
        call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, ierr)
    end do
    call expect(class(ierr) == MPI_ERR_NO_SPACE, 'test tells the class')
    requests(1) = MPI_REQUEST_NULL
    call MPI_Waitall(ops, requests, statuses, ierr)
    call expect(class(ierr) == MPI_ERR_IN_STATUS, 'waitall tells of statuses')
    if (requests(3) == MPI_REQUEST_NULL) then
        call expect(class(statuses(MPI_ERROR, 3)) == MPI_ERR_NO_SPACE, 'the status has the class')
        call expect(statuses(MPI_ERROR, 1) == MPI_SUCCESS, 'a null request has none')
    end if
    call start_writes()
    call MPI_Waitall(ops, requests, MPI_STATUSES_IGNORE, ierr)
    call expect(class(ierr) == MPI_ERR_IN_STATUS, 'waitall without statuses')
    call MPI_File_close(f, ierr)

    call MPI_Allreduce(bad, worst, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
    call MPI_Finalize(ierr)
    if (worst > 0) stop 1

contains

    subroutine open_with(key, value)
        character(len=*), intent(in) :: key, value
        integer :: info
        call MPI_Info_create(info, ierr)
        if (len(key) > 0) call MPI_Info_set(info, key, value, ierr)
        call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, info, f, ierr)
        call expect(ierr == MPI_SUCCESS, 'open')
        call MPI_Info_free(info, ierr)
    end subroutine

    subroutine start_writes()
        integer :: j
        do j = 1, ops
            call MPI_File_iwrite_at_all(f, at(j), data(1, j), n, MPI_INTEGER, requests(j), ierr)
            call expect(ierr == MPI_SUCCESS, 'iwrite_at_all')
        end do
    end subroutine

    integer function class(code)
        integer, intent(in) :: code
        integer :: e
        call MPI_Error_class(code, class, e)
    end function

    subroutine expect(condition, what)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: what
        if (condition) return
        bad = bad + 1
        print '(a,i0,2a)', 'waits_mpif, rank ', rank, ': ', what
    end subroutine
end program
