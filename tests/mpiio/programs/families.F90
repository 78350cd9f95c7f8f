! All kinds of MPI-IO calls from Fortran: families FILE
!
! The source is compiled in three variants: mpif.h (DIALECT_mpif), use mpi (DIALECT_mpi), use mpi_f08
! (DIALECT_f08).  Ranks interleave blocks of integers; the counts of all calls, file pointers, sizes and the integers
! read are checked, and error handlers in Fortran are called.  With TUTTI_TEST_NATIVE some checks are omitted: error
! handlers in MPICH get no usable file handle, and Open MPI accepts negative offsets.
! SPDX-License-Identifier: BSD-3-Clause
#ifdef DIALECT_f08
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#define STATUS(name) type(MPI_Status) :: name
#define FILE_TYPE type(MPI_File)
#define INFO_TYPE type(MPI_Info)
#define TYPE_TYPE type(MPI_Datatype)
#define REQUEST_TYPE type(MPI_Request)
#define GROUP_TYPE type(MPI_Group)
#define HANDLER_TYPE type(MPI_Errhandler)
#else
#ifdef DIALECT_mpi
#define USE_MPI use mpi
#define INCLUDE_MPI
#else
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#endif
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define FILE_TYPE integer
#define INFO_TYPE integer
#define TYPE_TYPE integer
#define REQUEST_TYPE integer
#define GROUP_TYPE integer
#define HANDLER_TYPE integer
#endif

module counted
    implicit none
    integer :: failures = 0, me = 0, np = 1, calls = 0, last_class = 0, handler_amode = -1
    logical :: native = .false.
end module

subroutine expect(cond, what)
    use counted
    implicit none
    logical, intent(in) :: cond
    character(*), intent(in) :: what
    if (cond) return
    failures = failures + 1
    print *, 'rank', me, ': ', what
end subroutine

! Called for errors on a file.
subroutine on_error(fh, code)
    use counted
    USE_MPI
    implicit none
    INCLUDE_MPI
    FILE_TYPE :: fh
    integer :: code, ierr
    calls = calls + 1
    call MPI_Error_class(code, last_class, ierr)
    if (.not. native) call MPI_File_get_amode(fh, handler_amode, ierr)
end subroutine

program families
    use counted
    USE_MPI
    implicit none
    INCLUDE_MPI
    external :: expect
#ifdef DIALECT_f08
    interface
        subroutine on_error(fh, code)
            import
            type(MPI_File) :: fh
            integer :: code
        end subroutine
    end interface
#else
    external :: on_error
#endif
    integer, parameter :: block = 5, calls_each = 8, n = block * calls_each
    integer :: data(n), seen(n), ierr, i
    character(len=1000) :: path
    character(len=8) :: value
    FILE_TYPE :: fh
    TYPE_TYPE :: blocks
    STATUS(st)

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
    call get_command_argument(1, path)
    call get_environment_variable('TUTTI_TEST_NATIVE', value)
    native = len_trim(value) > 0
    data = [(me * 1000 + i, i = 1, n)]

    call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, fh, ierr)
    call expect(ierr == MPI_SUCCESS, 'open')
    call MPI_File_set_size(fh, 0_MPI_OFFSET_KIND, ierr)
    call make_view(fh)
    call write_all_ways(fh)
    call MPI_File_sync(fh, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_File_sync(fh, ierr)
    call read_all_ways(fh)
    call tell(fh)
    call shared_ways(fh)
    call handlers(fh)
    call MPI_File_close(fh, ierr)
    call expect(ierr == MPI_SUCCESS .and. fh == MPI_FILE_NULL, 'close')
    call absent()
    call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Finalize(ierr)
    if (failures > 0) stop 1

contains

    ! Set a view that distributes blocks of five integers cyclically over the ranks.
    subroutine make_view(fh)
        FILE_TYPE :: fh
        TYPE_TYPE :: some
        integer(MPI_ADDRESS_KIND) :: lb, extent
        integer(MPI_OFFSET_KIND) :: disp
        call MPI_Type_contiguous(block, MPI_INTEGER, some, ierr)
        lb = 0
        extent = 4 * block * np
        call MPI_Type_create_resized(some, lb, extent, blocks, ierr)
        call MPI_Type_commit(blocks, ierr)
        disp = 4 * block * me
        call MPI_File_set_view(fh, disp, MPI_INTEGER, blocks, 'native', MPI_INFO_NULL, ierr)
        call expect(ierr == MPI_SUCCESS, 'set_view')
        call MPI_Type_free(some, ierr)
    end subroutine

    subroutine counted_as(st, wanted, what)
        STATUS(st)
        integer, intent(in) :: wanted
        character(*), intent(in) :: what
        integer :: told
        call MPI_Get_count(st, MPI_INTEGER, told, ierr)
        call expect(told == wanted, 'count of '//what)
    end subroutine

    ! Write one block with each of eight calls; calls that use the individual file pointer write consecutive blocks.
    subroutine write_all_ways(fh)
        FILE_TYPE :: fh
        REQUEST_TYPE :: request(4)
        integer(MPI_OFFSET_KIND) :: at, position
#ifdef DIALECT_f08
        type(MPI_Status) :: several(4)
#else
        integer :: several(MPI_STATUS_SIZE, 4)
#endif
        at = 0
        call MPI_File_write_at(fh, at, data(1), block, MPI_INTEGER, st, ierr)
        call counted_as(st, block, 'write_at')
        at = block
        call MPI_File_write_at_all(fh, at, data(block + 1), block, MPI_INTEGER, st, ierr)
        call counted_as(st, block, 'write_at_all')
        position = 2 * block
        call MPI_File_seek(fh, position, MPI_SEEK_SET, ierr)
        call MPI_File_write(fh, data(2 * block + 1), block, MPI_INTEGER, st, ierr)
        call counted_as(st, block, 'write')
        call MPI_File_write_all(fh, data(3 * block + 1), block, MPI_INTEGER, st, ierr)
        call counted_as(st, block, 'write_all')
        call MPI_File_get_position(fh, position, ierr)
        call expect(position == 4 * block, 'position')
        at = 4 * block
        call MPI_File_iwrite_at(fh, at, data(4 * block + 1), block, MPI_INTEGER, request(1), ierr)
        at = 5 * block
        call MPI_File_iwrite_at_all(fh, at, data(5 * block + 1), 2, MPI_INTEGER, request(2), ierr)
        position = 5 * block + 2
        call MPI_File_seek(fh, position, MPI_SEEK_SET, ierr)
        call MPI_File_iwrite(fh, data(5 * block + 3), 1, MPI_INTEGER, request(3), ierr)
        call MPI_File_iwrite_all(fh, data(5 * block + 4), 2, MPI_INTEGER, request(4), ierr)
        call MPI_Waitall(4, request, several, ierr)
        call expect(ierr == MPI_SUCCESS, 'waitall')
        at = 6 * block
        call MPI_File_write_at_all_begin(fh, at, data(6 * block + 1), block, MPI_INTEGER, ierr)
        call MPI_File_write_at_all_end(fh, data(6 * block + 1), st, ierr)
        call counted_as(st, block, 'write_at_all_end')
        call MPI_File_seek(fh, at + block, MPI_SEEK_SET, ierr)
        call MPI_File_write_all_begin(fh, data(7 * block + 1), block, MPI_INTEGER, ierr)
        call MPI_File_write_all_end(fh, data(7 * block + 1), st, ierr)
        call counted_as(st, block, 'write_all_end')
    end subroutine

    subroutine same(what)
        character(*), intent(in) :: what
        call expect(all(seen == data), 'integers of '//what)
        seen = 0
    end subroutine

    subroutine read_all_ways(fh)
        FILE_TYPE :: fh
        REQUEST_TYPE :: request
        integer(MPI_OFFSET_KIND) :: zero
        logical :: done
        zero = 0
        seen = 0
        call MPI_File_read_at(fh, zero, seen, n, MPI_INTEGER, st, ierr)
        call counted_as(st, n, 'read_at')
        call same('read_at')
        call MPI_File_read_at_all(fh, zero, seen, n, MPI_INTEGER, st, ierr)
        call same('read_at_all')
        call MPI_File_seek(fh, zero, MPI_SEEK_SET, ierr)
        call MPI_File_read(fh, seen, n / 2, MPI_INTEGER, st, ierr)
        call MPI_File_read_all(fh, seen(n / 2 + 1), n / 2, MPI_INTEGER, st, ierr)
        call counted_as(st, n / 2, 'read_all')
        call same('read and read_all')
        call MPI_File_iread_at(fh, zero, seen, n, MPI_INTEGER, request, ierr)
        call MPI_Wait(request, st, ierr)
        call counted_as(st, n, 'iread_at')
        call same('iread_at')
        call MPI_File_iread_at_all(fh, zero, seen, n, MPI_INTEGER, request, ierr)
        done = .false.
        do while (.not. done)
            call MPI_Test(request, done, st, ierr)
        end do
        call counted_as(st, n, 'iread_at_all')
        call same('iread_at_all')
        call MPI_File_seek(fh, zero, MPI_SEEK_SET, ierr)
        call MPI_File_iread(fh, seen, n / 2, MPI_INTEGER, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call MPI_File_iread_all(fh, seen(n / 2 + 1), n / 2, MPI_INTEGER, request, ierr)
        call MPI_Wait(request, st, ierr)
        call same('iread and iread_all')
        call MPI_File_read_at_all_begin(fh, zero, seen, n, MPI_INTEGER, ierr)
        call MPI_File_read_at_all_end(fh, seen, st, ierr)
        call counted_as(st, n, 'read_at_all_end')
        call same('read_at_all_end')
        call MPI_File_seek(fh, zero, MPI_SEEK_SET, ierr)
        call MPI_File_read_all_begin(fh, seen, n, MPI_INTEGER, ierr)
        call MPI_File_read_all_end(fh, seen, MPI_STATUS_IGNORE, ierr)
        call same('read_all_end')
    end subroutine

    ! Check the query functions.
    subroutine tell(fh)
        FILE_TYPE :: fh
        GROUP_TYPE :: group
        INFO_TYPE :: info
        TYPE_TYPE :: etype, filetype
        integer(MPI_OFFSET_KIND) :: bytes, disp
        integer(MPI_ADDRESS_KIND) :: extent
        integer :: amode, members
        logical :: atomic
        character(len=MPI_MAX_DATAREP_STRING) :: rep
        call MPI_File_get_size(fh, bytes, ierr)
        call expect(bytes == 4 * n * np, 'size')
        call MPI_File_get_amode(fh, amode, ierr)
        call expect(amode == MPI_MODE_CREATE + MPI_MODE_RDWR, 'amode')
        call MPI_File_get_group(fh, group, ierr)
        call MPI_Group_size(group, members, ierr)
        call expect(members == np, 'group')
        call MPI_Group_free(group, ierr)
        call MPI_File_get_info(fh, info, ierr)
        call expect(ierr == MPI_SUCCESS .and. info /= MPI_INFO_NULL, 'info')
        call MPI_Info_free(info, ierr)
        call MPI_File_get_view(fh, disp, etype, filetype, rep, ierr)
        call expect(disp == 4 * block * me .and. etype == MPI_INTEGER .and. rep == 'native', 'view')
        call MPI_Type_free(filetype, ierr)
        disp = block + 1
        call MPI_File_get_byte_offset(fh, disp, bytes, ierr)
        call expect(bytes == 4 * block * (np + me) + 4, 'byte offset')
        call MPI_File_get_type_extent(fh, MPI_INTEGER, extent, ierr)
        call expect(extent == 4, 'type extent')
        call MPI_File_set_atomicity(fh, .true., ierr)
        call MPI_File_get_atomicity(fh, atomic, ierr)
        call expect(atomic, 'atomicity')
        call MPI_File_set_atomicity(fh, .false., ierr)
    end subroutine

    ! Check calls with the shared file pointer, in a default view that begins after the existing data.
    subroutine shared_ways(fh)
        FILE_TYPE :: fh
        REQUEST_TYPE :: request
        integer(MPI_OFFSET_KIND) :: disp, at
        integer :: mine(3), r
        disp = 4 * n * np
        mine = [me, me + 100, me + 200]
        call MPI_File_set_view(fh, disp, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
        call MPI_File_write_ordered(fh, mine, 3, MPI_INTEGER, st, ierr)
        call counted_as(st, 3, 'write_ordered')
        call MPI_File_write_ordered_begin(fh, mine, 3, MPI_INTEGER, ierr)
        call MPI_File_write_ordered_end(fh, mine, st, ierr)
        call counted_as(st, 3, 'write_ordered_end')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        do r = 0, np - 1
            if (r == me) then
                call MPI_File_write_shared(fh, mine, 1, MPI_INTEGER, st, ierr)
                call counted_as(st, 1, 'write_shared')
                call MPI_File_iwrite_shared(fh, mine(2), 2, MPI_INTEGER, request, ierr)
                call MPI_Wait(request, st, ierr)
                call counted_as(st, 2, 'iwrite_shared')
            end if
            call MPI_Barrier(MPI_COMM_WORLD, ierr)
        end do
        call MPI_File_get_position_shared(fh, at, ierr)
        call expect(at == 9 * np, 'shared position')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_File_sync(fh, ierr)
        at = 3 * np
        call MPI_File_seek_shared(fh, at, MPI_SEEK_SET, ierr)
        call MPI_File_read_ordered(fh, seen, 3, MPI_INTEGER, st, ierr)
        call expect(all(seen(1:3) == mine), 'read_ordered')
        call MPI_File_read_ordered_begin(fh, seen, 3, MPI_INTEGER, ierr)
        call MPI_File_read_ordered_end(fh, seen, st, ierr)
        call counted_as(st, 3, 'read_ordered_end')
        call expect(all(seen(1:3) == mine), 'read_ordered_end')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        at = 0
        call MPI_File_seek_shared(fh, at, MPI_SEEK_SET, ierr)
        call MPI_File_read_shared(fh, seen, 1, MPI_INTEGER, st, ierr)
        call counted_as(st, 1, 'read_shared')
        call MPI_File_iread_shared(fh, seen, 1, MPI_INTEGER, request, ierr)
        call MPI_Wait(request, st, ierr)
        call counted_as(st, 1, 'iread_shared')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine

    ! Check error handlers of the program: they are called once per error, and the call also returns the code.
    subroutine handlers(fh)
        FILE_TYPE :: fh
        HANDLER_TYPE :: mine, before
        integer(MPI_OFFSET_KIND) :: wrong
        integer :: code
        wrong = -5
        call MPI_File_get_errhandler(fh, before, ierr)
        call expect(before == MPI_ERRORS_RETURN, 'default handler')
        call MPI_File_create_errhandler(on_error, mine, ierr)
        call MPI_File_set_errhandler(fh, mine, ierr)
        call MPI_File_seek(fh, wrong, MPI_SEEK_SET, code)
        call expect(calls == 1 .and. code /= MPI_SUCCESS, 'handler is called')
        if (.not. native) call expect(handler_amode == MPI_MODE_CREATE + MPI_MODE_RDWR, 'handler has the file')
        if (native) calls = 2
        if (.not. native) call MPI_File_read_at(fh, wrong, seen, 1, MPI_INTEGER, st, code)
        call expect(calls == 2 .and. code /= MPI_SUCCESS, 'handler is called again')
        call MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN, ierr)
        call MPI_Errhandler_free(mine, ierr)
        call MPI_File_seek(fh, wrong, MPI_SEEK_SET, code)
        call expect(calls == 2 .and. code /= MPI_SUCCESS, 'handler is gone')
    end subroutine

    ! Open a missing file, with an error handler on MPI_FILE_NULL.
    subroutine absent()
        FILE_TYPE :: none
        HANDLER_TYPE :: mine
        integer :: code, class
        call MPI_File_open(MPI_COMM_WORLD, trim(path)//'.absent', MPI_MODE_RDONLY, MPI_INFO_NULL, none, code)
        call MPI_Error_class(code, class, ierr)
        call expect(class == MPI_ERR_NO_SUCH_FILE, 'class of an absent file')
        calls = 0
        native = .true. ! the handler cannot compare the file handle, because no file is open
        call MPI_File_create_errhandler(on_error, mine, ierr)
        call MPI_File_set_errhandler(MPI_FILE_NULL, mine, ierr)
        call MPI_File_open(MPI_COMM_WORLD, trim(path)//'.absent', MPI_MODE_RDONLY, MPI_INFO_NULL, none, code)
        call expect(calls == 1 .and. last_class == MPI_ERR_NO_SUCH_FILE, 'handler of MPI_FILE_NULL')
        call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, ierr)
        call MPI_Errhandler_free(mine, ierr)
        call MPI_File_delete(trim(path)//'.absent', MPI_INFO_NULL, code)
        call MPI_Error_class(code, class, ierr)
        call expect(class == MPI_ERR_NO_SUCH_FILE, 'class of deleting an absent file')
    end subroutine
end program
