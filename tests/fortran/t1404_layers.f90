! TEST ranks=1,3 timeout=120
! One test of every layer: values written from Fortran are read back, and inquiries return the right values.
! SPDX-License-Identifier: BSD-3-Clause
module watching
  use tutti
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: calls = 0
contains
  subroutine watch(context, done, total, phase) bind(c)
    type(c_ptr), value :: context, phase
    integer(c_int64_t), value :: done, total
    integer, pointer :: count
    call c_f_pointer(context, count)
    if (done <= total .and. len(tutti_text(phase)) > 0) count = count + 1
  end subroutine watch
end module watching

program layers
  use mpi_f08
  use tutti
  use checks
  use watching
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  implicit none
  call begin()
  call texts()
  call accesses()
  call files()
  call arrays()
  call tiles()
  call items()
  call meshes()
  call datasets()
  call finish()
contains

  integer function read_write()
    read_write = ior(ior(TUTTI_READ, TUTTI_WRITE), TUTTI_CREATE)
  end function read_write

  subroutine texts()
    type(tutti_options) :: opt
    type(tutti_option_info) :: row
    type(tutti_profile) :: profile
    type(tutti_profile_info) :: number
    type(tutti_filesystem) :: place
    type(tutti_forecast) :: forecast
    type(MPI_Info) :: info
    character(40) :: value
    character(400) :: where
    real(real64) :: seconds
    integer :: ierr, n, method, type
    call check(tutti_version() >= 100 * TUTTI_VERSION_MINOR, "version")
    call check(len(tutti_version_string()) >= 5, "version in words")
    call check(tutti_strerror(TUTTI_ERR_NO_SPACE) == "no space left on the device", "words of a code")
    call check(tutti_error_name(TUTTI_ERR_NO_SPACE) == "TUTTI_ERR_NO_SPACE", "name of a code")
    call tutti_options_defaults(opt)
    call check(opt%cb_buffer_size == 16 * 1024 * 1024, "default of an option")
    call tutti_options_init(opt, ierr)
    call tutti_options_set(opt, "sub_buffers", "3")
    call tutti_options_get(opt, "sub_buffers", value, ierr)
    call check(ierr == 0 .and. value == "3" .and. opt%sub_buffers == 3, "an option")
    call tutti_options_set(opt, "sub_buffers", "many", ierr)
    call code_is(ierr, TUTTI_ERR_OPTION, "an option that cannot be")
    call MPI_Info_create(info)
    call MPI_Info_set(info, "cb_nodes", "2")
    call tutti_options_from_info(opt, info, ierr)
    call check(ierr == 0 .and. opt%cb_nodes == 2, "an option from an info")
    call tutti_options_from_info(opt, info%MPI_VAL, ierr)
    call fine(ierr, "an option from an info by its integer")
    call MPI_Info_free(info)
    n = 0
    do
      row = tutti_options_row(n)
      if (.not. c_associated(row%name)) exit
      if (n == 0) call check(tutti_text(row%name) == "method", "first option")
      n = n + 1
    end do
    call check(n > 20, "rows of options")
    call check(tutti_type_name(TUTTI_FLOAT64) == "float64" .and. tutti_type_size(TUTTI_FLOAT64) == 8, "types")
    call tutti_type_parse("int16", type)
    call check(type == TUTTI_INT16, "a type by name")
    call tutti_profile_defaults(profile)
    number = tutti_profile_row(0)
    call check(profile%copy_4k > 0 .and. tutti_text(number%section) /= "", "a profile")
    call tutti_profile_filesystem(path("."), place, ierr)
    call check(ierr == 0 .and. len(tutti_text(place%mount)) > 0, "a place")
    call tutti_profile_load(place, profile, ierr=ierr)
    call fine(ierr, "load of a profile")
    call tutti_profile_save(path("profile"), place, profile, ierr)
    call fine(ierr, "save of a profile")
    call tutti_profile_path(where, ierr)
    call check(ierr == TUTTI_ERR_NOT_FOUND .or. index(where, "tutti/profile") > 0, "path of the profile")
    forecast%ranks = 4
    forecast%nodes = 1
    forecast%bytes = 1000000
    forecast%pieces = 100
    call tutti_profile_predict(profile, opt, forecast, method, seconds, ierr)
    call check(ierr == 0 .and. method > TUTTI_METHOD_AUTO .and. seconds > 0, "a forecast")
  end subroutine texts

  subroutine accesses()
    type(tutti_access) :: a, b, both, parsed
    type(tutti_access_iter) :: it
    type(tutti_piece) :: piece
    type(tutti_view) :: view
    type(MPI_Datatype) :: vector
    integer(int8), allocatable :: bytes(:)
    character(80) :: text
    integer(int64) :: lo, hi
    integer :: ierr, n
    call tutti_access_vector(100_tutti_off, 3_tutti_count, 8_tutti_off, 16_tutti_off, a)
    call tutti_access_bounds(a, lo, hi)
    call check(lo == 100 .and. hi == 140, "bounds")
    call tutti_access_memory_bounds(a, lo, hi)
    call check(lo == 0 .and. hi == 24, "bounds of memory")
    call check(tutti_access_runs_count(a) == 3 .and. tutti_access_bytes_in(a, 0_int64, 110_int64) == 8, "runs")
    call tutti_access_iter_start(a, 0_tutti_off, it)
    n = 0
    do while (tutti_access_iter_next(it, piece) == 1)
      call check(piece%file == 100 + 16 * n .and. piece%memory == 8 * n .and. piece%bytes == 8, "a piece")
      n = n + 1
    end do
    call check(n == 3, "pieces")
    call tutti_access_iter_free(it)
    call tutti_access_seek(a, 9_tutti_off, piece)
    call check(piece%file == 117 .and. piece%bytes == 7, "a place in an access")
    n = tutti_access_describe(a, text)
    call check(n > 0 .and. len_trim(text) == min(n, 80), "an access in words")
    allocate (bytes(tutti_access_serialise(a)))
    call check(tutti_access_serialise(a, bytes) == size(bytes), "an access as bytes")
    call tutti_access_parse(bytes, parsed, ierr)
    call fine(ierr, "an access from bytes")
    call check(tutti_access_equal(a, parsed) == 1 .and. tutti_access_hash(a) == tutti_access_hash(parsed), "equal")
    call tutti_access_parse(bytes(1:size(bytes) - 3), b, ierr)
    call code_is(ierr, TUTTI_ERR_FORMAT, "bytes that are no access")
    call tutti_access_shift(a, 1000_tutti_off, 24_tutti_off, b)
    call tutti_access_concat([a, b], both, memory_offsets=[0_int64, 0_int64], ierr=ierr)
    call fine(ierr, "concatenation")
    call check(tutti_access_bytes(both) == 48, "bytes of two")
    call tutti_access_free(parsed)
    call MPI_Type_vector(3, 1, 2, MPI_DOUBLE, vector)
    call tutti_access_from_view(100_tutti_off, vector, 0_tutti_off, 3_tutti_count, MPI_DOUBLE, parsed, ierr)
    call fine(ierr, "an access from a datatype")
    call check(tutti_access_equal(a, parsed) == 1, "a datatype")
    call tutti_view_make(100_tutti_off, vector%MPI_VAL, view, ierr)
    call fine(ierr, "a view")
    call tutti_view_bounds(view, lo, hi)
    call check(lo == 0 .and. hi == 40, "bounds of a view")
    call MPI_Type_free(vector)
    call tutti_view_free(view)
    call tutti_access_free(parsed)
    call tutti_access_free(both)
    call tutti_access_free(b)
    call tutti_access_free(a)
  end subroutine accesses

  subroutine files()
    type(tutti_file) :: f
    type(tutti_access) :: a
    type(tutti_plan) :: plan
    type(tutti_stats) :: last, all
    type(tutti_options) :: opt
    type(tutti_request) :: r
    real(real64), asynchronous :: x(50), y(50)
    integer(int64) :: size, count
    integer :: ierr, done
    integer, target :: seen
    x = rank + 1
    seen = 0
    call tutti_file_open_with(MPI_COMM_WORLD, path("f.dat"), read_write(), int(o"600"), f, ierr=ierr)
    call fine(ierr, "open")
    call tutti_file_on_progress(f, watch, c_loc(seen))
    call tutti_access_contiguous(int(400 * rank, tutti_off), 400_tutti_off, a)
    call tutti_file_write(f, a, x, count=count)
    call check(count == 400, "count")
    call check(seen > 0, "the progress callback was not called")
    call tutti_file_on_progress(f)
    call tutti_file_size(f, size)
    call check(size == 400 * ranks, "size")
    call tutti_file_stats(f, last=last, all=all)
    call check(last%bytes == 400 .and. all%operations == 1, "statistics")
    call check(tutti_file_explain(f) /= "", "an explanation")
    call tutti_file_options(f, opt)
    opt%method = TUTTI_METHOD_TWO_PHASE
    call tutti_file_change(f, opt, ierr)
    call fine(ierr, "change")
    y = 0
    call tutti_file_read_start(f, a, y, r)
    call tutti_request_wait(r, ierr, count=count)
    call check(ierr == 0 .and. count == 400 .and. y(50) == rank + 1, "a read that was started")
    call tutti_file_write_independent_start(f, a, x, r)
    call tutti_request_wait(r, ierr=ierr)
    call fine(ierr, "an independent write")
    call tutti_plan_read(f, a, plan)
    y = 0
    call tutti_plan_start(plan, y)
    done = 0
    do while (done == 0)
      call tutti_plan_test(plan, done, count=count)
    end do
    call check(count == 400 .and. y(1) == rank + 1, "a plan that was started")
    call check(tutti_plan_size(plan) > 0 .and. tutti_plan_explain(plan) /= "", "a plan")
    call tutti_plan_run(plan, y, displacement=400_tutti_off, count=count)
    call check(count == merge(0, 400, rank == ranks - 1), "a plan elsewhere")
    call tutti_plan_free(plan)
    call tutti_file_resize(f, 100_tutti_off)
    call tutti_file_preallocate(f, 200_tutti_off)
    call tutti_file_size_independent(f, size)
    call check(size >= 100, "size of one rank")
    call tutti_access_free(a)
    call tutti_file_close(f)
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) call tutti_file_delete(path("f.dat"))
  end subroutine files

  subroutine arrays()
    type(tutti_array_spec) :: spec, told
    type(tutti_array) :: a, b
    type(tutti_distribution) :: d, had
    type(tutti_slice) :: s
    type(tutti_dist_dim) :: dims(2)
    type(tutti_file) :: f
    complex(real64), allocatable :: z(:, :), part(:, :)
    integer(int64) :: shape(2), local(2), global(2), n
    integer(int64), target :: bounds(ranks + 1)
    integer :: ierr, owner, i, j
    spec%ndims = 2
    spec%shape(1:2) = [6, 4 * ranks]
    spec%type = TUTTI_COMPLEX128
    bounds = [(int(4 * i, int64), i=0, ranks)]
    dims(1) = tutti_dist_dim(TUTTI_DIST_NONE, 1)
    dims(2) = tutti_dist_dim(TUTTI_DIST_RAGGED, ranks)
    dims(2)%bounds = c_loc(bounds)
    call tutti_distribution_make([6, 4 * ranks], dims, d, ierr)
    call fine(ierr, "distribution")
    call check(tutti_distribution_ranks(d) == ranks .and. tutti_distribution_part(d, rank, shape) == 24, "a part")
    call check(all(shape == [6, 4]), "shape of a part")
    call tutti_distribution_local(d, [5, 4 * rank + 2], rank=owner, local=local)
    call check(owner == rank .and. all(local == [5, 2]), "a place in a part")
    call tutti_distribution_global(d, rank, [5, 2], global)
    call check(all(global == [5, 4 * rank + 2]), "a place in the array")
    call tutti_array_create_local(MPI_COMM_WORLD, path("local.tta"), spec, d, a, ierr=ierr)
    call fine(ierr, "local placement")
    allocate (z(7, 5), part(6, 4))
    z = (-1, 0)
    z(1:6, 1:4) = reshape([((cmplx(i, j + 4 * rank, real64), i=1, 6), j=1, 4)], [6, 4])
    call tutti_array_write_part(a, d, z(1:6, 1:4), ierr=ierr)
    call fine(ierr, "write of a part")
    call tutti_array_create(MPI_COMM_WORLD, path("global.tta"), spec, b)
    call tutti_array_copy(a, b, 100000_tutti_off, ierr=ierr)
    call fine(ierr, "copy")
    had = tutti_array_distribution(a)
    call check(tutti_distribution_ranks(had) == ranks, "the distribution of an array")
    call tutti_array_close(a)
    f = tutti_array_file(b)
    call check(c_associated(f%p), "the file of an array")
    call tutti_array_read_part(b, d, part, ierr=ierr)
    call fine(ierr, "read of a part")
    call check(all(part == z(1:6, 1:4)), "a part is wrong")
    call tutti_slice_fortran([2, 1], [2, 4 * ranks], s)
    n = tutti_slice_count(2, s, shape)
    call check(n == 4 * ranks .and. all(shape == [1, 4 * ranks]), "count of a slice")
    call tutti_array_prefetch(b, s)
    deallocate (z)
    allocate (z(1, 4 * ranks))
    call tutti_array_read(b, s, z(1, :))
    call check(all(z(1, :) == [(cmplx(2, j, real64), j=1, 4 * ranks)]), "a row is wrong")
    call tutti_array_prefetch_drop(b)
    n = tutti_array_partitions(b, ranks, 16 * 6 * 2_tutti_off)
    s = tutti_array_partition(b, n, 0_tutti_count)
    call check(n >= 1 .and. s%hi(1) == 6 .and. s%lo(2) == 0, "a partition")
    call tutti_array_resize(b, int(4 * ranks + 1, int64), ierr)
    call fine(ierr, "resize")
    call tutti_array_describe(b, told)
    call check(told%shape(2) == 4 * ranks + 1 .and. told%order == TUTTI_COL_MAJOR, "what an array is")
    call tutti_array_fill(b, (1d0, 2d0))
    deallocate (part)
    allocate (part(6, s%hi(2)))
    call tutti_array_read(b, s, part)
    call check(all(part == (1, 2)), "a fill")
    call tutti_array_sync(b)
    call tutti_array_close(b)
    call tutti_array_inspect(path("local.tta"), told, d=had, ierr=ierr)
    call check(ierr == 0 .and. c_associated(had%p) .and. told%type == TUTTI_COMPLEX128, "a look at an array")
    call tutti_distribution_free(had)
    call tutti_distribution_free(d)
  end subroutine arrays

  ! Double all values, tile by tile.
  subroutine tiles()
    integer, parameter :: n1 = 20, n2 = 30
    type(tutti_array_spec) :: spec
    type(tutti_array) :: from, to
    type(tutti_tiles) :: t
    type(tutti_tile) :: tile
    type(tutti_tiles_stats) :: stats
    type(tutti_slice) :: mine
    real(real32), pointer :: in(:, :), out(:, :)
    real(real32) :: all(n1, n2)
    integer :: ierr, i, j, n
    spec%ndims = 2
    spec%shape(1:2) = [n1, n2]
    spec%type = TUTTI_FLOAT32
    all = reshape([((real(i + 100 * j), i=1, n1), j=1, n2)], [n1, n2])
    call tutti_array_create(MPI_COMM_WORLD, path("from.tta"), spec, from)
    call tutti_array_create(MPI_COMM_WORLD, path("to.tta"), spec, to)
    call tutti_array_write(from, tutti_slice_all([n1, n2]), all)
    call tutti_slice_fortran([1, n2 * rank / ranks + 1], [n1, n2 * (rank + 1) / ranks], mine)
    call tutti_tiles_begin(t, 1000000_tutti_off, from=from, to=to, of=mine, tile=[7, 4], halo=[1, 0], ierr=ierr)
    call fine(ierr, "tiles")
    n = 0
    do
      call tutti_tiles_next(t, tile, ierr)
      call fine(ierr, "next")
      if (ierr /= 0 .or. tile%more == 0) exit
      if (tutti_slice_count(2, tile%core) == 0) cycle
      n = n + 1
      call c_f_pointer(tile%in, in, tile%in_shape(1:2))
      call c_f_pointer(tile%out, out, tile%out_shape(1:2))
      i = int(tile%core%lo(1) - tile%frame%lo(1))
      out = 2 * in(i + 1:i + size(out, 1), :)
    end do
    call tutti_tiles_stats_get(t, stats)
    call check(stats%tiles == n .and. n > 0, "tiles that were walked over")
    call tutti_tiles_end(t, ierr)
    call fine(ierr, "end")
    all = 0
    call tutti_array_read(to, tutti_slice_all([n1, n2]), all)
    call check(all(1, 1) == 202 .and. all(n1, n2) == 2 * (n1 + 100 * n2), "tiles are wrong")
    call tutti_array_close(from)
    call tutti_array_close(to)
  end subroutine tiles

  subroutine items()
    type(tutti_replicas) :: r
    type(tutti_replicas_stats) :: stats
    type(tutti_replicas_share) :: share
    type(tutti_replicas_choice) :: choice
    type(tutti_replicas_lists) :: lists
    type(tutti_access) :: writes
    type(tutti_file) :: f
    integer(int64), target :: numbers(12), start(3)
    integer(int64), pointer :: positions(:)
    integer, pointer :: writers(:)
    integer, target :: holders(3)
    integer :: ierr, i, rule, chosen(2)
    real(real64) :: v(12), back(12)
    numbers = [(int(10 * rank + i, int64), i=1, 12)]     ! the last two are shared with the next rank
    v = real(numbers, real64)
    call tutti_replicas_rule_parse("first", rule)
    choice%rule = rule
    call check(tutti_replicas_rule_name(rule) == "first", "a rule")
    call tutti_replicas_create(MPI_COMM_WORLD%MPI_VAL, numbers, 8_tutti_off, r, choice=choice, ierr=ierr, &
      items=10_int64 * ranks + 2)
    call fine(ierr, "replicas")
    positions => tutti_replicas_positions(r)
    writers => tutti_replicas_writers(r)
    call check(all(positions == [(80 * rank + 8 * (i - 1), i=1, 12)]), "positions")
    call check(writers(12) == rank .and. writers(1) == max(0, rank - 1), "writers")
    call check(tutti_replicas_bytes(r) == 8 * (10 * ranks + 2), "bytes of all items")
    call tutti_replicas_stats_get(r, stats)
    call check(stats%items == 10 * ranks + 2 .and. stats%shared == 2 * (ranks - 1), "statistics of replicas")
    call tutti_replicas_share_get(r, 0, share)
    call check(share%items == 12, "a share")
    writes = tutti_replicas_write_access(r)
    call check(tutti_access_bytes(writes) == 8 * merge(12, 10, rank == 0), "what a rank writes")
    call tutti_file_open(MPI_COMM_WORLD, path("items.dat"), read_write(), f)
    call tutti_replicas_write(f, 0_tutti_off, r, v, check=1)
    call tutti_replicas_read(f, 0_tutti_off, r, back)
    call check(all(back == v), "items")
    if (rank == 0) v(12) = -1
    call tutti_replicas_check(r, v, ierr)
    call code_is(ierr, merge(TUTTI_ERR_MISMATCH, TUTTI_OK, ranks > 1), "copies that differ")
    call tutti_replicas_free(r)
    ! Read a subset: only the last item.
    call tutti_replicas_create(MPI_COMM_WORLD%MPI_VAL, [10_int64 * ranks + 2], 8_tutti_off, r, &
      positions=[8 * (10_int64 * ranks + 1)])
    call tutti_replicas_read(f, 0_tutti_off, r, back(1:1), ierr)
    call check(ierr == 0 .and. back(1) == 10 * ranks + 2, "one item by its position")
    call tutti_replicas_free(r)
    call tutti_replicas_create(MPI_COMM_WORLD%MPI_VAL, [10_int64 * ranks + 2], 8_tutti_off, r, items=2_int64, &
      ierr=ierr)
    call code_is(ierr, TUTTI_ERR_MISMATCH, "one of two items")
    call tutti_file_close(f)
    start = [0, 1, 3]
    holders = [1, 1, 0]
    lists%n = 2
    lists%parts = 2
    lists%start = c_loc(start)
    lists%holders = c_loc(holders)
    lists%load = 1
    lists%value_bytes = 8
    call tutti_replicas_choose(lists, choice, chosen, stats=stats, ierr=ierr)
    call check(ierr == 0 .and. all(chosen == [1, 0]) .and. stats%copies == 3, "a choice")
  end subroutine items

  subroutine meshes()
    integer, parameter :: side = 5
    type(tutti_mesh) :: m, again
    type(tutti_mesh_view) :: view
    type(tutti_mesh_part) :: part
    type(tutti_mesh_part_view) :: p
    type(tutti_mesh_info) :: info
    type(tutti_mesh_cut) :: cut
    type(tutti_mesh_group), allocatable :: groups(:)
    real(real64) :: x(3, side**3)
    real(real64), allocatable :: u(:)
    integer(int64), pointer :: start(:)
    integer, pointer :: holder(:)
    integer(int8) :: type((side - 1)**3)
    integer(int64) :: begins((side - 1)**3 + 1), node(8 * (side - 1)**3), e, n
    integer, allocatable :: of(:)
    integer :: i, j, k, ierr
    integer, parameter :: around(8) = [0, 1, side + 1, side, side**2, side**2 + 1, side**2 + side + 1, side**2 + side]
    e = 0
    do k = 0, side - 1
      do j = 0, side - 1
        do i = 0, side - 1
          x(:, i + side * j + side**2 * k + 1) = [real(real64) :: i, j, k]
          if (max(i, j, k) == side - 1) cycle
          node(8 * e + 1:8 * e + 8) = i + side * j + side**2 * k + around
          e = e + 1
        end do
      end do
    end do
    type = TUTTI_MESH_HEX
    begins = [(8_int64 * i, i=0, int(e))]
    n = merge(side**3, 0, rank == 0)
    if (rank > 0) e = 0
    call tutti_mesh_make(MPI_COMM_WORLD, x(:, 1:n), type(1:e), begins, node, m, &
                         physical=[(7_int32, i=1, int(e))], ierr=ierr)
    call fine(ierr, "mesh")
    call tutti_mesh_renumber(m, TUTTI_MESH_CURVE)
    call tutti_mesh_describe(m, info)
    call check(info%nodes == side**3 .and. info%of_type(TUTTI_MESH_HEX + 1) == (side - 1)**3 .and. info%dim == 3, "a mesh")
    call check(tutti_mesh_type_name(TUTTI_MESH_HEX) == "hexahedron" .and. tutti_mesh_type_nodes(TUTTI_MESH_HEX) == 8, &
               "a hexahedron")
    allocate (groups(1))
    groups(1)%dim = 3
    groups(1)%tag = 7
    groups(1)%name(1:4) = ["b", "r", "i", "x"]
    call tutti_mesh_set_groups(m, groups, ierr)
    call fine(ierr, "groups")
    call tutti_mesh_groups(m, groups)
    call check(size(groups) == 1, "a group")
    call check(tutti_text(groups(1)%name) == "brix", "name of a group")
    call tutti_mesh_write(m, path("brick.msh"), TUTTI_MESH_NATIVE, ierr=ierr)
    call fine(ierr, "write of a mesh")
    call tutti_mesh_open(MPI_COMM_WORLD, path("brick.msh"), again, ierr=ierr)
    call fine(ierr, "open of a mesh")
    call tutti_mesh_view_get(again, view)
    call check(view%all_nodes == side**3 .and. size(view%coordinates, 2) == view%nodes, "the view of a mesh")
    if (view%elements > 0) call check(size(view%node) == 8 * view%elements .and. all(view%physical == 7), "elements")
    allocate (of(view%nodes))
    call tutti_mesh_partition(again, ranks, TUTTI_MESH_BY_CURVE, of)
    call check(tutti_mesh_partitioned_by(again) == TUTTI_MESH_BY_CURVE, "the partitioner that was used")
    call tutti_mesh_cut_get(again, ranks, of, cut)
    call check(cut%parts == ranks .and. cut%max_nodes >= cut%min_nodes .and. cut%empty == 0, "a cut")
    call tutti_mesh_classify(again, of, start, holder, ierr)
    call fine(ierr, "classify")
    call check(all([(holder(start(i) + 1) == of(i), i=1, size(of))]), "holders")
    call tutti_mesh_lists_free(start, holder)
    call tutti_mesh_part_make(again, of, part)
    call tutti_mesh_part_get(part, p)
    call check(count(p%own == 1) == p%own_nodes .and. size(p%send_start) == p%peers + 1, "a part of a mesh")
    call check(all(p%owner(1:p%own_nodes) == rank) .and. maxval(p%node) < p%nodes, "nodes of a part")
    allocate (u(p%nodes), source=-1d0)
    u(1:p%own_nodes) = real(p%number(1:p%own_nodes), real64)
    call tutti_mesh_part_exchange(part, u, 1)
    call check(all(u == real(p%number, real64)), "copies do not follow their owners")
    call tutti_mesh_part_free(part)
    call tutti_mesh_free(again)
    call tutti_mesh_free(m)
    call check(tutti_mesh_has_metis() >= 0, "METIS")
  end subroutine meshes

  subroutine datasets()
    type(tutti_dataset) :: d
    type(tutti_dataset_options) :: opt
    type(tutti_decomposition) :: cells, nodes
    type(tutti_put) :: puts(2)
    type(tutti_get) :: gets(2)
    type(tutti_request) :: r
    type(tutti_segment) :: segment
    type(tutti_space_row) :: space
    type(tutti_variable_row) :: variable
    type(tutti_section_row) :: section
    type(tutti_chunks) :: chunks
    type(tutti_repair_report) :: report
    type(tutti_slice) :: s
    real(real64), asynchronous :: t(4, 3), v(3, 5), back(4, 3), vback(3, 5), times(4, 3, 2)
    real(real32) :: small(4, 3)
    integer(int64) :: n, last, bounds(2), bytes, positions(5), count
    integer(int32) :: four(4)
    character(20) :: name, title
    integer :: ierr, i, type, changed
    call tutti_dataset_options_init(opt)
    opt%level = TUTTI_VISIBLE
    call tutti_dataset_open(MPI_COMM_WORLD, path("d.tutti"), ior(read_write(), TUTTI_TRUNCATE), d, opt=opt, ierr=ierr)
    call fine(ierr, "open")
    call tutti_dataset_grid(d, "cells", [4_int64, 3_int64 * ranks])
    call tutti_dataset_list(d, "nodes")
    call tutti_dataset_variable(d, "t", "cells", TUTTI_FLOAT32, units="K", long_name="temperature", compress=3)
    call tutti_dataset_variable(d, "v", "nodes", TUTTI_FLOAT64, item=TUTTI_VECTOR, components=3)
    call tutti_dataset_begin(d, TUTTI_TOPOLOGY, 0_int64, 0d0)
    call tutti_dataset_ids(d, "nodes", [(int(100 + 5 * rank + i, int64), i=1, 5)], ierr)
    call fine(ierr, "ids")
    call tutti_dataset_begin_also(d, TUTTI_STATE, 0_int64, 0d0, ierr)
    call fine(ierr, "begin of another")
    call tutti_slice_fortran([1, 3 * rank + 1], [4, 3 * rank + 3], s)
    call tutti_decomposition_create(d, "cells", cells, slice=s, whole=1, ierr=ierr)
    call fine(ierr, "cells")
    ! Give the nodes by id, in descending order.
    call tutti_decomposition_create(d, "nodes", nodes, ids=[(int(100 + 5 * rank + i, int64), i=5, 1, -1)], ierr=ierr)
    call fine(ierr, "nodes")
    call tutti_decomposition_positions(nodes, positions)
    call check(tutti_decomposition_entries(nodes) == 5 .and. all(positions == [(5 * rank + i, i=4, 0, -1)]), "positions")
    t = reshape([(real(12 * rank + i, real64), i=1, 12)], [4, 3])
    v = reshape([(real(100 * rank + i, real64), i=1, 15)], [3, 5])
    call tutti_put_make(puts(1), "t", cells, t)
    call tutti_put_make(puts(2), "v", nodes, v)
    call tutti_dataset_put(d, puts, ierr)
    call fine(ierr, "put of two")
    call tutti_dataset_info_set(d, "four", [1, 2, 3, 4], variable="t", ierr=ierr)
    call fine(ierr, "numbers of a variable")
    call tutti_dataset_info_set(d, "title", "hot and cold")
    call tutti_dataset_commit(d, ierr)
    call fine(ierr, "commit")
    call tutti_dataset_begin(d, TUTTI_STATE, 1_int64, 0.5d0)
    t = t + 1000
    v = v + 1000
    call tutti_dataset_put(d, "t", cells, t)
    call tutti_dataset_put_start(d, "v", nodes, v, r, ierr=ierr)
    call fine(ierr, "start of a put")
    call tutti_request_wait(r)
    call tutti_dataset_commit_start(d, r, ierr)
    call fine(ierr, "start of a commit")
    call tutti_request_wait(r, ierr=ierr)
    call fine(ierr, "the commit")
    ! Check inquiries.
    n = tutti_dataset_segments(d)
    call check(n == 3, "segments")
    call tutti_dataset_segment(d, 2_int64, segment)
    call check(segment%kind == TUTTI_STATE .and. segment%time == 0.5d0 .and. segment%topology == 0, "a segment")
    call tutti_dataset_latest(d, TUTTI_STATE, last)
    call check(last == 2, "the latest")
    call tutti_dataset_find_index(d, TUTTI_STATE, 0_int64, last)
    call check(last == 1, "a state by its index")
    call check(tutti_dataset_spaces(d) == 2 .and. tutti_dataset_variables(d) == 2, "spaces and variables")
    call tutti_dataset_space_row(d, 0_int64, space)
    call check(tutti_text(space%name) == "cells" .and. all(space%shape(1:2) == [4, 3 * ranks]), "a space")
    call tutti_dataset_variable_row(d, 0_int64, variable)
    call check(tutti_text(variable%spec%units) == "K" .and. variable%values_per_item == 1, "a variable")
    call tutti_dataset_section_row(d, 2_int64, "v", section)
    call check(section%type == TUTTI_FLOAT64 .and. section%raw_bytes == 8 * 15 * ranks, "a section")
    call tutti_dataset_chunks(d, 2_int64, "t", chunks, ierr)
    call fine(ierr, "chunks")
    call check(chunks%ndims == 2 .and. chunks%shape(1) >= 1, "chunks of a section")
    call tutti_dataset_chunk_bounds(d, 2_int64, "t", 0_int64, 1_int64, bounds)
    call check(bounds(2) > bounds(1), "bounds of a chunk")
    ! Read the values back.
    back = 0
    vback = 0
    call tutti_get_make(gets(1), "t", cells, back)
    call tutti_get_make(gets(2), "v", nodes, vback)
    call tutti_dataset_get(d, 2_int64, gets, ierr)
    call fine(ierr, "get of two")
    call check(all(back == t) .and. all(vback == v), "what was put")
    call tutti_dataset_get_start(d, 1_int64, "v", nodes, vback, r, ierr=ierr)
    call fine(ierr, "start of a get")
    call tutti_request_wait(r)
    call check(all(vback == v - 1000), "what was got")
    call tutti_dataset_get(d, 1_int64, "t", cells, small)
    call check(all(small == real(t - 1000, real32)), "what was put, in another type")
    call tutti_dataset_follow(d, 1_int64, 2_int64, "t", cells, times, count, ierr=ierr)
    call fine(ierr, "follow")
    call check(count == 2 .and. all(times(:, :, 2) - times(:, :, 1) == 1000), "a variable through time")
    call tutti_dataset_info_get(d, "four", four, type=type, count=count, variable="t")
    call check(all(four == [1, 2, 3, 4]) .and. type == TUTTI_INT32 .and. count == 4, "numbers")
    title = "xxxxxxxxxxxxxxxxxxxx"
    call tutti_dataset_info_get(d, "title", title)
    call check(title == "hot and cold", "a title")
    call tutti_dataset_info_name(d, 0_int64, name)
    call check(name == "title", "the name of an info")
    call tutti_dataset_info_remove(d, "title")
    call tutti_dataset_info_size(d, "title", type, count, ierr)
    call code_is(ierr, TUTTI_ERR_NOT_FOUND, "an info that was removed")
    call tutti_dataset_refresh(d, changed)
    call tutti_dataset_verify(d, bytes=bytes, ierr=ierr)
    call check(ierr == 0 .and. bytes > 0, "verify")
    call tutti_dataset_archive(d, 1_int64, 1_int64, path("archive"), ierr=ierr)
    call fine(ierr, "archive")
    call tutti_dataset_segment(d, 1_int64, segment)
    call check(index(tutti_text(segment%archived), "archive") > 0, "where a segment is")
    call tutti_dataset_restore(d, 1_int64, 1_int64, path("archive"), ierr)
    call fine(ierr, "restore")
    call tutti_dataset_erase_after(d, 1_int64)
    call check(tutti_dataset_segments(d) == 2, "erased")
    call tutti_decomposition_free(cells)
    call tutti_decomposition_free(nodes)
    call tutti_dataset_close(d)
    call tutti_dataset_repair(MPI_COMM_WORLD, path("d.tutti"), report=report, ierr=ierr)
    call fine(ierr, "repair")
    call check(report%segments == 2 .and. report%lost == 0, "a repair")
  end subroutine datasets
end program layers
