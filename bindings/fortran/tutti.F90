! The module tutti: collective file access for MPI programs, in Fortran 2018.
!
! Procedures, types and constants have their names of C, and what the headers of C say of them holds
! (include/tutti, man 3 tutti_file).  docs/reference/fortran.md tells what is different.  declarations.inc and procedures.inc are
! written by scripts/gen_fortran.py from these headers; here is what has another shape in Fortran.
! SPDX-License-Identifier: BSD-3-Clause
module tutti
  use, intrinsic :: iso_c_binding
#ifdef TUTTI_MPI_F08
  use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_Info
#endif
  implicit none
  private

  ! Kinds of integers: positions and lengths in bytes, numbers of elements.
  integer, parameter, public :: tutti_off = c_int64_t, tutti_count = c_int64_t
  public :: c_ptr, c_funptr, c_null_ptr, c_null_funptr, c_loc, c_funloc, c_f_pointer, c_associated
  public :: c_int, c_int8_t, c_int16_t, c_int32_t, c_int64_t, c_double

#include "declarations.inc"

  ! ---------------------------------------------------------------- types of Fortran's own

  ! A part of an operation (tutti_part_make).  The array that it names must stay until the operation is over.
  type, bind(c), public :: tutti_part
    integer(c_int64_t), private :: words(64) = 0
  end type tutti_part

  ! One variable to put, or to get (tutti_put_make, tutti_get_make).
  type, bind(c), public :: tutti_put
    integer(c_int64_t), private :: words(96) = 0
  end type tutti_put
  type, bind(c), public :: tutti_get
    integer(c_int64_t), private :: words(96) = 0
  end type tutti_get

  ! This rank's slice of a mesh.  What it points to is the mesh's, and good until that is renumbered or
  ! freed.  Numbers of nodes and elements, and places in `node`, count from 0, as in files.
  type, public :: tutti_mesh_view
    integer(c_int64_t) :: nodes = 0, first_node = 0
    real(c_double), pointer :: coordinates(:, :) => null()    ! (3, nodes)
    integer(c_int64_t), pointer :: tag(:) => null()
    integer(c_int64_t) :: elements = 0, first_element = 0
    integer(c_int8_t), pointer :: type(:) => null()
    integer(c_int32_t), pointer :: physical(:) => null(), entity(:) => null()
    integer(c_int64_t), pointer :: start(:) => null()         ! (elements + 1)
    integer(c_int64_t), pointer :: node(:) => null()
    integer(c_int64_t) :: all_nodes = 0, all_elements = 0
    type(tutti_mesh_membership), pointer :: membership(:) => null()
  end type tutti_mesh_view

  ! What this rank computes on.  What it points to is the part's, and good until that is freed.
  type, public :: tutti_mesh_part_view
    integer(c_int64_t) :: nodes = 0, own_nodes = 0
    integer(c_int64_t), pointer :: number(:) => null()
    integer(c_int8_t), pointer :: own(:) => null()
    integer(c_int), pointer :: owner(:) => null()
    real(c_double), pointer :: coordinates(:, :) => null()    ! (3, nodes)
    integer(c_int64_t), pointer :: tag(:) => null()
    integer(c_int64_t), pointer :: holder_start(:) => null()  ! (nodes + 1)
    integer(c_int), pointer :: holder(:) => null()
    integer(c_int64_t) :: elements = 0, own_elements = 0
    integer(c_int64_t), pointer :: element(:) => null()
    integer(c_int8_t), pointer :: element_own(:) => null(), type(:) => null()
    integer(c_int32_t), pointer :: physical(:) => null(), entity(:) => null()
    integer(c_int64_t), pointer :: start(:) => null()         ! (elements + 1)
    integer(c_int), pointer :: node(:) => null()
    integer :: peers = 0
    integer(c_int), pointer :: peer(:) => null()
    integer(c_int64_t), pointer :: send_start(:) => null()    ! (peers + 1)
    integer(c_int), pointer :: send(:) => null()
    integer(c_int64_t), pointer :: get_start(:) => null()     ! (peers + 1)
    integer(c_int), pointer :: get(:) => null()
    integer(c_int64_t) :: all_nodes = 0, all_elements = 0
  end type tutti_mesh_part_view

  ! Fortran's own: tutti_text
  ! A text of C, where a type has one: an address, or characters up to a null.
  interface tutti_text
    module procedure text_at, text_in
  end interface
  public :: tutti_text

  ! ---------------------------------------------------------------- accesses, plans

  ! by hand: tutti_access_for
  ! Fortran's own: tutti_access_for
  ! The access whose memory is the elements of an array in their order, as one that knows where these
  ! are: for plans and parts of arrays that are not contiguous.  Its memory offsets count from the first element.
  interface
    subroutine tutti_access_for(a, array, out, ierr) bind(c, name="tutti_f_access_for")
      import
      type(tutti_access), intent(in) :: a
      type(*), intent(in) :: array(..)
      type(tutti_access), intent(out) :: out
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  public :: tutti_access_for

  ! by hand: tutti_access_pack
  ! by hand: tutti_access_unpack
  interface
    subroutine tutti_access_pack(a, user, from, to, packed, ierr) bind(c, name="tutti_f_access_pack")
      import
      type(tutti_access), intent(in) :: a
      type(*), intent(in) :: user(..)
      integer(c_int64_t), value :: from, to
      type(*), intent(inout) :: packed(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine tutti_access_unpack(a, user, from, to, packed, ierr) &
        bind(c, name="tutti_f_access_unpack")
      import
      type(tutti_access), intent(in) :: a
      type(*), intent(inout) :: user(..)
      integer(c_int64_t), value :: from, to
      type(*), intent(in) :: packed(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  public :: tutti_access_pack, tutti_access_unpack

  ! A plan is for contiguous arrays, or for those that have the shape and strides of `like`.
  ! by hand: tutti_plan_write
  ! by hand: tutti_plan_read
  ! by hand: tutti_plan_run
  ! by hand: tutti_plan_start
  interface
    subroutine tutti_plan_write(f, a, p, ierr, like) bind(c, name="tutti_f_plan_write")
      import
      type(tutti_file), intent(in) :: f
      type(tutti_access), intent(in) :: a
      type(tutti_plan), intent(out) :: p
      integer(c_int), intent(out), optional :: ierr
      type(*), intent(in), optional :: like(..)
    end subroutine
    subroutine tutti_plan_read(f, a, p, ierr, like) bind(c, name="tutti_f_plan_read")
      import
      type(tutti_file), intent(in) :: f
      type(tutti_access), intent(in) :: a
      type(tutti_plan), intent(out) :: p
      integer(c_int), intent(out), optional :: ierr
      type(*), intent(in), optional :: like(..)
    end subroutine
    subroutine tutti_plan_run(p, buf, ierr, displacement, count) bind(c, name="tutti_f_plan_run")
      import
      type(tutti_plan), intent(in) :: p
      type(*), intent(inout) :: buf(..)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int64_t), intent(in), optional :: displacement
      integer(c_int64_t), intent(out), optional :: count
    end subroutine
    subroutine tutti_plan_start(p, buf, ierr, displacement) bind(c, name="tutti_f_plan_start")
      import
      type(tutti_plan), intent(in) :: p
      type(*), intent(inout), asynchronous :: buf(..)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int64_t), intent(in), optional :: displacement
    end subroutine
  end interface
  public :: tutti_plan_write, tutti_plan_read, tutti_plan_run, tutti_plan_start

  ! ---------------------------------------------------------------- parts

  ! by hand: tutti_part_make
  ! Fortran's own: tutti_part_make
  ! A part: an access, an array, and if file_type is said, what its numbers become in the file.
  interface
    subroutine tutti_part_make(part, a, buf, ierr, file_type, file_order, ieee) &
        bind(c, name="tutti_f_part_make")
      import
      type(tutti_part), intent(out) :: part
      type(tutti_access), intent(in) :: a
      type(*), asynchronous :: buf(..)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int), intent(in), optional :: file_type, file_order, ieee
    end subroutine
  end interface
  public :: tutti_part_make

  ! by hand: tutti_file_write_parts
  ! by hand: tutti_file_read_parts
  ! by hand: tutti_file_write_parts_independent
  ! by hand: tutti_file_read_parts_independent
  interface
    subroutine tutti_file_write_parts(f, parts, ierr, count) &
        bind(c, name="tutti_f_file_write_parts")
      import
      type(tutti_file), intent(in) :: f
      type(tutti_part), intent(in), contiguous :: parts(:)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int64_t), intent(out), optional :: count
    end subroutine
    subroutine tutti_file_read_parts(f, parts, ierr, count) &
        bind(c, name="tutti_f_file_read_parts")
      import
      type(tutti_file), intent(in) :: f
      type(tutti_part), intent(in), contiguous :: parts(:)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int64_t), intent(out), optional :: count
    end subroutine
    subroutine tutti_file_write_parts_independent(f, parts, ierr, count) &
        bind(c, name="tutti_f_file_write_parts_independent")
      import
      type(tutti_file), intent(in) :: f
      type(tutti_part), intent(in), contiguous :: parts(:)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int64_t), intent(out), optional :: count
    end subroutine
    subroutine tutti_file_read_parts_independent(f, parts, ierr, count) &
        bind(c, name="tutti_f_file_read_parts_independent")
      import
      type(tutti_file), intent(in) :: f
      type(tutti_part), intent(in), contiguous :: parts(:)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int64_t), intent(out), optional :: count
    end subroutine
  end interface
  public :: tutti_file_write_parts, tutti_file_read_parts
  public :: tutti_file_write_parts_independent, tutti_file_read_parts_independent

  ! by hand: tutti_file_write_parts_begin
  ! by hand: tutti_file_read_parts_begin
  ! by hand: tutti_file_write_parts_start
  ! by hand: tutti_file_read_parts_start
  interface
    subroutine tutti_file_write_parts_begin(f, parts, ierr) &
        bind(c, name="tutti_f_file_write_parts_begin")
      import
      type(tutti_file), intent(in) :: f
      type(tutti_part), intent(in), contiguous :: parts(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine tutti_file_read_parts_begin(f, parts, ierr) &
        bind(c, name="tutti_f_file_read_parts_begin")
      import
      type(tutti_file), intent(in) :: f
      type(tutti_part), intent(in), contiguous :: parts(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine tutti_file_write_parts_start(f, parts, r, ierr) &
        bind(c, name="tutti_f_file_write_parts_start")
      import
      type(tutti_file), intent(in) :: f
      type(tutti_part), intent(in), contiguous :: parts(:)
      type(tutti_request), intent(out) :: r
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine tutti_file_read_parts_start(f, parts, r, ierr) &
        bind(c, name="tutti_f_file_read_parts_start")
      import
      type(tutti_file), intent(in) :: f
      type(tutti_part), intent(in), contiguous :: parts(:)
      type(tutti_request), intent(out) :: r
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  public :: tutti_file_write_parts_begin, tutti_file_read_parts_begin
  public :: tutti_file_write_parts_start, tutti_file_read_parts_start

  ! A plan of parts is run with parts whose arrays have the same shapes, strides and types.
  ! by hand: tutti_plan_write_parts
  ! by hand: tutti_plan_read_parts
  ! by hand: tutti_plan_run_parts
  ! by hand: tutti_plan_start_parts
  interface
    subroutine tutti_plan_write_parts(f, parts, p, ierr) bind(c, name="tutti_f_plan_write_parts")
      import
      type(tutti_file), intent(in) :: f
      type(tutti_part), intent(in), contiguous :: parts(:)
      type(tutti_plan), intent(out) :: p
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine tutti_plan_read_parts(f, parts, p, ierr) bind(c, name="tutti_f_plan_read_parts")
      import
      type(tutti_file), intent(in) :: f
      type(tutti_part), intent(in), contiguous :: parts(:)
      type(tutti_plan), intent(out) :: p
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine tutti_plan_run_parts(p, parts, ierr, displacement, count) &
        bind(c, name="tutti_f_plan_run_parts")
      import
      type(tutti_plan), intent(in) :: p
      type(tutti_part), intent(in), contiguous :: parts(:)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int64_t), intent(in), optional :: displacement
      integer(c_int64_t), intent(out), optional :: count
    end subroutine
    subroutine tutti_plan_start_parts(p, parts, ierr, displacement) &
        bind(c, name="tutti_f_plan_start_parts")
      import
      type(tutti_plan), intent(in) :: p
      type(tutti_part), intent(in), contiguous :: parts(:)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int64_t), intent(in), optional :: displacement
    end subroutine
  end interface
  public :: tutti_plan_write_parts, tutti_plan_read_parts, tutti_plan_run_parts, tutti_plan_start_parts

  ! ---------------------------------------------------------------- tiles

  ! The fields of tutti_tiles_spec are arguments.  Tiles follow each other in the array's own order
  ! unless another is said; tile%in and tile%out become arrays by c_f_pointer.
  ! by hand: tutti_tiles_begin
  interface
    subroutine tutti_tiles_begin(t, budget, ierr, from, to, of, tile, halo, order, sequential) &
        bind(c, name="tutti_f_tiles_begin")
      import
      type(tutti_tiles), intent(out) :: t
      integer(c_int64_t), value :: budget
      integer(c_int), intent(out), optional :: ierr
      type(tutti_array), intent(in), optional :: from, to
      type(tutti_slice), intent(in), optional :: of
      type(*), intent(in), optional :: tile(..), halo(..)
      integer(c_int), intent(in), optional :: order, sequential
    end subroutine
  end interface
  public :: tutti_tiles_begin

  ! ---------------------------------------------------------------- replicas

  ! The fields of tutti_replicas_spec are arguments; the load is 1 if nothing is said.
  ! by hand: tutti_replicas_create
  interface tutti_replicas_create
#ifdef TUTTI_MPI_F08
    subroutine tutti_replicas_create_f08(comm, numbers, value_bytes, r, ierr, own, loads, load, &
        memory_offsets, choice, items, positions) bind(c, name="tutti_f_replicas_create_f08")
      import
      type(MPI_Comm), intent(in) :: comm
      integer(c_int64_t), intent(in), contiguous :: numbers(:)
      integer(c_int64_t), value :: value_bytes
      type(tutti_replicas), intent(out) :: r
      integer(c_int), intent(out), optional :: ierr
      integer(c_int8_t), intent(in), optional, contiguous :: own(:)
      integer(c_int64_t), intent(in), optional, contiguous :: loads(:)
      integer(c_int64_t), intent(in), optional :: load
      integer(c_int64_t), intent(in), optional, contiguous :: memory_offsets(:)
      type(tutti_replicas_choice), intent(in), optional :: choice
      integer(c_int64_t), intent(in), optional :: items
      integer(c_int64_t), intent(in), optional, contiguous :: positions(:)
    end subroutine
#endif
    subroutine tutti_replicas_create_int(comm, numbers, value_bytes, r, ierr, own, loads, load, &
        memory_offsets, choice, items, positions) bind(c, name="tutti_f_replicas_create")
      import
      integer(c_int), intent(in) :: comm
      integer(c_int64_t), intent(in), contiguous :: numbers(:)
      integer(c_int64_t), value :: value_bytes
      type(tutti_replicas), intent(out) :: r
      integer(c_int), intent(out), optional :: ierr
      integer(c_int8_t), intent(in), optional, contiguous :: own(:)
      integer(c_int64_t), intent(in), optional, contiguous :: loads(:)
      integer(c_int64_t), intent(in), optional :: load
      integer(c_int64_t), intent(in), optional, contiguous :: memory_offsets(:)
      type(tutti_replicas_choice), intent(in), optional :: choice
      integer(c_int64_t), intent(in), optional :: items
      integer(c_int64_t), intent(in), optional, contiguous :: positions(:)
    end subroutine
  end interface
  public :: tutti_replicas_create

  ! check: 1, copies are compared first, and nothing is written if they differ.
  ! by hand: tutti_replicas_check
  ! by hand: tutti_replicas_write
  ! by hand: tutti_replicas_read
  ! by hand: tutti_replicas_positions
  ! by hand: tutti_replicas_writers
  interface
    subroutine tutti_replicas_check(r, buf, ierr) bind(c, name="tutti_f_replicas_check")
      import
      type(tutti_replicas), intent(in) :: r
      type(*), intent(in) :: buf(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine tutti_replicas_write(f, offset, r, buf, ierr, check) &
        bind(c, name="tutti_f_replicas_write")
      import
      type(tutti_file), intent(in) :: f
      integer(c_int64_t), value :: offset
      type(tutti_replicas), intent(in) :: r
      type(*), intent(in) :: buf(..)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int), intent(in), optional :: check
    end subroutine
    subroutine tutti_replicas_read(f, offset, r, buf, ierr) bind(c, name="tutti_f_replicas_read")
      import
      type(tutti_file), intent(in) :: f
      integer(c_int64_t), value :: offset
      type(tutti_replicas), intent(in) :: r
      type(*), intent(inout) :: buf(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    function c_replicas_positions(r) bind(c, name="tutti_f_replicas_positions") result(got)
      import
      type(tutti_replicas), intent(in) :: r
      type(c_ptr) :: got
    end function
    function c_replicas_writers(r) bind(c, name="tutti_f_replicas_writers") result(got)
      import
      type(tutti_replicas), intent(in) :: r
      type(c_ptr) :: got
    end function
  end interface
  public :: tutti_replicas_check, tutti_replicas_write, tutti_replicas_read
  public :: tutti_replicas_positions, tutti_replicas_writers

  ! ---------------------------------------------------------------- meshes

  ! coordinates(3, nodes), type(elements), start(elements + 1), node(start(elements + 1)).
  ! by hand: tutti_mesh_make
  interface tutti_mesh_make
#ifdef TUTTI_MPI_F08
    subroutine tutti_mesh_make_f08(comm, coordinates, type, start, node, m, ierr, tag, physical, &
        entity) bind(c, name="tutti_f_mesh_make_f08")
      import
      type(MPI_Comm), intent(in) :: comm
      real(c_double), intent(in), contiguous :: coordinates(:, :)
      integer(c_int8_t), intent(in), contiguous :: type(:)
      integer(c_int64_t), intent(in), contiguous :: start(:), node(:)
      type(tutti_mesh), intent(out) :: m
      integer(c_int), intent(out), optional :: ierr
      integer(c_int64_t), intent(in), optional, contiguous :: tag(:)
      integer(c_int32_t), intent(in), optional, contiguous :: physical(:), entity(:)
    end subroutine
#endif
    subroutine tutti_mesh_make_int(comm, coordinates, type, start, node, m, ierr, tag, physical, &
        entity) bind(c, name="tutti_f_mesh_make")
      import
      integer(c_int), intent(in) :: comm
      real(c_double), intent(in), contiguous :: coordinates(:, :)
      integer(c_int8_t), intent(in), contiguous :: type(:)
      integer(c_int64_t), intent(in), contiguous :: start(:), node(:)
      type(tutti_mesh), intent(out) :: m
      integer(c_int), intent(out), optional :: ierr
      integer(c_int64_t), intent(in), optional, contiguous :: tag(:)
      integer(c_int32_t), intent(in), optional, contiguous :: physical(:), entity(:)
    end subroutine
  end interface
  public :: tutti_mesh_make

  ! by hand: tutti_mesh_view_get
  ! by hand: tutti_mesh_part_get
  ! by hand: tutti_mesh_groups
  ! by hand: tutti_mesh_classify
  ! by hand: tutti_mesh_lists_free
  interface
    subroutine c_mesh_view_get(m, view, ierr) bind(c, name="tutti_f_mesh_view_get")
      import
      type(tutti_mesh), intent(in) :: m
      type(c_tutti_mesh_view), intent(out) :: view
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_mesh_part_get(p, view, ierr) bind(c, name="tutti_f_mesh_part_get")
      import
      type(tutti_mesh_part), intent(in) :: p
      type(c_tutti_mesh_part_view), intent(out) :: view
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    function c_mesh_groups(m, groups) bind(c, name="tutti_f_mesh_groups") result(n)
      import
      type(tutti_mesh), intent(in) :: m
      type(c_ptr), intent(out) :: groups
      integer(c_int) :: n
    end function
    subroutine c_mesh_classify(m, of, start, holder, ierr) bind(c, name="tutti_f_mesh_classify")
      import
      type(tutti_mesh), intent(in) :: m
      integer(c_int), intent(in), contiguous :: of(:)
      type(c_ptr), intent(out) :: start, holder
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_mesh_lists_free(start, holder) bind(c, name="tutti_f_mesh_lists_free")
      import
      type(c_ptr), intent(inout) :: start, holder
    end subroutine
  end interface
  public :: tutti_mesh_view_get, tutti_mesh_part_get, tutti_mesh_groups
  public :: tutti_mesh_classify, tutti_mesh_lists_free

  ! ---------------------------------------------------------------- datasets

  ! io: options of the data files.
  ! by hand: tutti_dataset_open
  interface tutti_dataset_open
#ifdef TUTTI_MPI_F08
    subroutine tutti_dataset_open_f08(comm, path, mode, d, ierr, opt, io) &
        bind(c, name="tutti_f_dataset_open_f08")
      import
      type(MPI_Comm), intent(in) :: comm
      character(*), intent(in) :: path
      integer(c_int), value :: mode
      type(tutti_dataset), intent(out) :: d
      integer(c_int), intent(out), optional :: ierr
      type(tutti_dataset_options), intent(in), optional :: opt
      type(tutti_options), intent(in), optional :: io
    end subroutine
#endif
    subroutine tutti_dataset_open_int(comm, path, mode, d, ierr, opt, io) &
        bind(c, name="tutti_f_dataset_open")
      import
      integer(c_int), intent(in) :: comm
      character(*), intent(in) :: path
      integer(c_int), value :: mode
      type(tutti_dataset), intent(out) :: d
      integer(c_int), intent(out), optional :: ierr
      type(tutti_dataset_options), intent(in), optional :: opt
      type(tutti_options), intent(in), optional :: io
    end subroutine
  end interface
  public :: tutti_dataset_open

  ! Shapes are those of arrays in memory, first dimension first; the file's, and C's, go the other way.
  ! by hand: tutti_dataset_grid
  ! by hand: tutti_dataset_resize
  ! by hand: tutti_dataset_shape
  ! by hand: tutti_dataset_space_row
  ! by hand: tutti_dataset_chunks
  interface
    subroutine tutti_dataset_grid(d, name, shape, ierr) bind(c, name="tutti_f_dataset_grid")
      import
      type(tutti_dataset), intent(in) :: d
      character(*), intent(in) :: name
      type(*), intent(in) :: shape(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine tutti_dataset_resize(d, space, shape, ierr) bind(c, name="tutti_f_dataset_resize")
      import
      type(tutti_dataset), intent(in) :: d
      character(*), intent(in) :: space
      type(*), intent(in) :: shape(..)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_dataset_shape(d, space, segment, ndims, shape, ierr) &
        bind(c, name="tutti_f_dataset_shape")
      import
      type(tutti_dataset), intent(in) :: d
      character(*), intent(in) :: space
      integer(c_int64_t), value :: segment
      integer(c_int), intent(out) :: ndims
      integer(c_int64_t), intent(out) :: shape(*)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine tutti_dataset_space_row(d, number, row, ierr) bind(c, name="tutti_f_dataset_space_row")
      import
      type(tutti_dataset), intent(in) :: d
      integer(c_int64_t), value :: number
      type(tutti_space_row), intent(out) :: row
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine tutti_dataset_chunks(d, segment, variable, out, ierr) &
        bind(c, name="tutti_f_dataset_chunks")
      import
      type(tutti_dataset), intent(in) :: d
      integer(c_int64_t), value :: segment
      character(*), intent(in) :: variable
      type(tutti_chunks), intent(out) :: out
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  public :: tutti_dataset_grid, tutti_dataset_resize, tutti_dataset_shape, tutti_dataset_space_row
  public :: tutti_dataset_chunks

  ! The fields of tutti_variable_spec are arguments.
  ! by hand: tutti_dataset_variable
  interface
    subroutine tutti_dataset_variable(d, name, space, type, ierr, item, components, layout, &
        order, units, long_name, fill, compress) bind(c, name="tutti_f_dataset_variable")
      import
      type(tutti_dataset), intent(in) :: d
      character(*), intent(in) :: name, space
      integer(c_int), value :: type
      integer(c_int), intent(out), optional :: ierr
      integer(c_int), intent(in), optional :: item, components, layout, order
      character(*), intent(in), optional :: units, long_name
      real(c_double), intent(in), optional :: fill
      integer(c_int), intent(in), optional :: compress
    end subroutine
  end interface
  public :: tutti_dataset_variable

  ! by hand: tutti_put_make
  ! Fortran's own: tutti_put_make
  ! by hand: tutti_get_make
  ! Fortran's own: tutti_get_make
  ! A variable, its entries and an array, for the calls below.  type: that of the numbers in memory
  ! if the array's does not say it (unsigned ones).
  interface
    subroutine tutti_put_make(put, variable, entries, buf, ierr, type) &
        bind(c, name="tutti_f_item_make")
      import
      type(tutti_put), intent(out) :: put
      character(*), intent(in) :: variable
      type(tutti_decomposition), intent(in) :: entries
      type(*), intent(in), asynchronous :: buf(..)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int), intent(in), optional :: type
    end subroutine
    subroutine tutti_get_make(get, variable, entries, buf, ierr, type) &
        bind(c, name="tutti_f_item_make_get")
      import
      type(tutti_get), intent(out) :: get
      character(*), intent(in) :: variable
      type(tutti_decomposition), intent(in) :: entries
      type(*), asynchronous :: buf(..)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int), intent(in), optional :: type
    end subroutine
  end interface
  public :: tutti_put_make, tutti_get_make

  ! One variable, or several at once.
  ! by hand: tutti_dataset_put
  interface tutti_dataset_put
    subroutine tutti_dataset_put_one(d, variable, entries, buf, ierr, type) &
        bind(c, name="tutti_f_dataset_put")
      import
      type(tutti_dataset), intent(in) :: d
      character(*), intent(in) :: variable
      type(tutti_decomposition), intent(in) :: entries
      type(*), intent(in) :: buf(..)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int), intent(in), optional :: type
    end subroutine
    subroutine tutti_dataset_put_all(d, puts, ierr) bind(c, name="tutti_f_dataset_put_all")
      import
      type(tutti_dataset), intent(in) :: d
      type(tutti_put), intent(in), contiguous :: puts(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  ! by hand: tutti_dataset_put_start
  interface tutti_dataset_put_start
    subroutine tutti_dataset_put_start_one(d, variable, entries, buf, r, ierr, type) &
        bind(c, name="tutti_f_dataset_put_start")
      import
      type(tutti_dataset), intent(in) :: d
      character(*), intent(in) :: variable
      type(tutti_decomposition), intent(in) :: entries
      type(*), intent(in), asynchronous :: buf(..)
      type(tutti_request), intent(out) :: r
      integer(c_int), intent(out), optional :: ierr
      integer(c_int), intent(in), optional :: type
    end subroutine
    subroutine tutti_dataset_put_start_all(d, puts, r, ierr) &
        bind(c, name="tutti_f_dataset_put_start_all")
      import
      type(tutti_dataset), intent(in) :: d
      type(tutti_put), intent(in), contiguous :: puts(:)
      type(tutti_request), intent(out) :: r
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  ! by hand: tutti_dataset_get
  interface tutti_dataset_get
    subroutine tutti_dataset_get_one(d, segment, variable, entries, buf, ierr, type) &
        bind(c, name="tutti_f_dataset_get")
      import
      type(tutti_dataset), intent(in) :: d
      integer(c_int64_t), value :: segment
      character(*), intent(in) :: variable
      type(tutti_decomposition), intent(in) :: entries
      type(*), intent(inout) :: buf(..)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int), intent(in), optional :: type
    end subroutine
    subroutine tutti_dataset_get_all(d, segment, gets, ierr) bind(c, name="tutti_f_dataset_get_all")
      import
      type(tutti_dataset), intent(in) :: d
      integer(c_int64_t), value :: segment
      type(tutti_get), intent(in), contiguous :: gets(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  ! by hand: tutti_dataset_get_start
  interface tutti_dataset_get_start
    subroutine tutti_dataset_get_start_one(d, segment, variable, entries, buf, r, ierr, type) &
        bind(c, name="tutti_f_dataset_get_start")
      import
      type(tutti_dataset), intent(in) :: d
      integer(c_int64_t), value :: segment
      character(*), intent(in) :: variable
      type(tutti_decomposition), intent(in) :: entries
      type(*), intent(inout), asynchronous :: buf(..)
      type(tutti_request), intent(out) :: r
      integer(c_int), intent(out), optional :: ierr
      integer(c_int), intent(in), optional :: type
    end subroutine
    subroutine tutti_dataset_get_start_all(d, segment, gets, r, ierr) &
        bind(c, name="tutti_f_dataset_get_start_all")
      import
      type(tutti_dataset), intent(in) :: d
      integer(c_int64_t), value :: segment
      type(tutti_get), intent(in), contiguous :: gets(:)
      type(tutti_request), intent(out) :: r
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  public :: tutti_dataset_put, tutti_dataset_put_start, tutti_dataset_get, tutti_dataset_get_start

  ! There must be room for the variable in each of the segments.
  ! by hand: tutti_dataset_follow
  interface
    subroutine tutti_dataset_follow(d, first, last, variable, entries, buf, count, ierr, type) &
        bind(c, name="tutti_f_dataset_follow")
      import
      type(tutti_dataset), intent(in) :: d
      integer(c_int64_t), value :: first, last
      character(*), intent(in) :: variable
      type(tutti_decomposition), intent(in) :: entries
      type(*), intent(inout) :: buf(..)
      integer(c_int64_t), intent(out) :: count
      integer(c_int), intent(out), optional :: ierr
      integer(c_int), intent(in), optional :: type
    end subroutine
  end interface
  public :: tutti_dataset_follow

  ! An info belongs to a variable, a segment, both, or if neither is said to the dataset.  A value is a number, an
  ! array of them, or text.  tutti_dataset_info_size returns type and number of elements.
  ! by hand: tutti_dataset_info_set
  ! by hand: tutti_dataset_info_remove
  ! Fortran's own: tutti_dataset_info_remove
  ! by hand: tutti_dataset_info_get
  ! by hand: tutti_dataset_info_size
  ! Fortran's own: tutti_dataset_info_size
  ! by hand: tutti_dataset_info_name
  interface
    subroutine tutti_dataset_info_set(d, name, value, ierr, variable, segment) &
        bind(c, name="tutti_f_dataset_info_set")
      import
      type(tutti_dataset), intent(in) :: d
      character(*), intent(in) :: name
      type(*), intent(in) :: value(..)
      integer(c_int), intent(out), optional :: ierr
      character(*), intent(in), optional :: variable
      integer(c_int64_t), intent(in), optional :: segment
    end subroutine
    subroutine tutti_dataset_info_remove(d, name, ierr, variable, segment) &
        bind(c, name="tutti_f_dataset_info_remove")
      import
      type(tutti_dataset), intent(in) :: d
      character(*), intent(in) :: name
      integer(c_int), intent(out), optional :: ierr
      character(*), intent(in), optional :: variable
      integer(c_int64_t), intent(in), optional :: segment
    end subroutine
    subroutine tutti_dataset_info_get(d, name, value, ierr, type, count, variable, segment) &
        bind(c, name="tutti_f_dataset_info_get")
      import
      type(tutti_dataset), intent(in) :: d
      character(*), intent(in) :: name
      type(*), intent(inout) :: value(..)
      integer(c_int), intent(out), optional :: ierr
      integer(c_int), intent(out), optional :: type
      integer(c_int64_t), intent(out), optional :: count
      character(*), intent(in), optional :: variable
      integer(c_int64_t), intent(in), optional :: segment
    end subroutine
    subroutine tutti_dataset_info_size(d, name, type, count, ierr, variable, segment) &
        bind(c, name="tutti_f_dataset_info_size")
      import
      type(tutti_dataset), intent(in) :: d
      character(*), intent(in) :: name
      integer(c_int), intent(out) :: type
      integer(c_int64_t), intent(out) :: count
      integer(c_int), intent(out), optional :: ierr
      character(*), intent(in), optional :: variable
      integer(c_int64_t), intent(in), optional :: segment
    end subroutine
    subroutine tutti_dataset_info_name(d, number, name, ierr, variable, segment) &
        bind(c, name="tutti_f_dataset_info_name")
      import
      type(tutti_dataset), intent(in) :: d
      integer(c_int64_t), value :: number
      character(*), intent(out) :: name
      integer(c_int), intent(out), optional :: ierr
      character(*), intent(in), optional :: variable
      integer(c_int64_t), intent(in), optional :: segment
    end subroutine
  end interface
  public :: tutti_dataset_info_set, tutti_dataset_info_remove, tutti_dataset_info_get
  public :: tutti_dataset_info_size, tutti_dataset_info_name

  ! The fields of tutti_decomposition_spec are arguments; which of slice, index, ids and n are there
  ! says how entries are named.  A slice is one of the array in memory.
  ! by hand: tutti_decomposition_create
  interface
    subroutine tutti_decomposition_create(d, space, out, ierr, slice, index, ids, n, own, memory, &
        whole, choice, segment) bind(c, name="tutti_f_decomposition_create")
      import
      type(tutti_dataset), intent(in) :: d
      character(*), intent(in) :: space
      type(tutti_decomposition), intent(out) :: out
      integer(c_int), intent(out), optional :: ierr
      type(tutti_slice), intent(in), optional :: slice
      integer(c_int64_t), intent(in), optional, contiguous :: index(:), ids(:)
      integer(c_int64_t), intent(in), optional :: n
      integer(c_int8_t), intent(in), optional, contiguous :: own(:)
      integer(c_int64_t), intent(in), optional, contiguous :: memory(:)
      integer(c_int), intent(in), optional :: whole
      type(tutti_replicas_choice), intent(in), optional :: choice
      integer(c_int64_t), intent(in), optional :: segment
    end subroutine
  end interface
  public :: tutti_decomposition_create

#include "exodus.inc"

  interface
    function c_strlen(s) bind(c, name="strlen") result(n)
      import
      type(c_ptr), value :: s
      integer(c_size_t) :: n
    end function
  end interface

contains

#include "procedures.inc"
#include "exodus_procedures.inc"

  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: chars(:)
    if (.not. c_associated(address)) then
      text = ""
      return
    end if
    call c_f_pointer(address, chars, [c_strlen(address)])
    text = text_in(chars)
  end function text_at

  function text_in(chars) result(text)
    character(kind=c_char), intent(in) :: chars(:)
    character(:), allocatable :: text
    integer :: i, n
    n = size(chars)
    do i = 1, size(chars)
      if (chars(i) == c_null_char) then
        n = i - 1
        exit
      end if
    end do
    allocate (character(n) :: text)
    do i = 1, n
      text(i:i) = chars(i)
    end do
  end function text_in

  ! Where each of this rank's items begins in the file.
  function tutti_replicas_positions(r) result(positions)
    type(tutti_replicas), intent(in) :: r
    integer(c_int64_t), pointer :: positions(:)
    type(c_ptr) :: at
    positions => null()
    at = c_replicas_positions(r)
    if (c_associated(at)) call c_f_pointer(at, positions, [r%n])
  end function tutti_replicas_positions

  ! The rank that writes each of them.
  function tutti_replicas_writers(r) result(writers)
    type(tutti_replicas), intent(in) :: r
    integer(c_int), pointer :: writers(:)
    type(c_ptr) :: at
    writers => null()
    at = c_replicas_writers(r)
    if (c_associated(at)) call c_f_pointer(at, writers, [r%n])
  end function tutti_replicas_writers

  ! The current size of a space, or as of a segment (-1: now).
  subroutine tutti_dataset_shape(d, space, segment, shape, ierr)
    type(tutti_dataset), intent(in) :: d
    character(*), intent(in) :: space
    integer(c_int64_t), intent(in) :: segment
    integer(c_int64_t), allocatable, intent(out) :: shape(:)
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: all(TUTTI_MAX_DIMS)
    integer(c_int) :: ndims
    call c_dataset_shape(d, space, segment, ndims, all, ierr)
    shape = all(1:ndims)
  end subroutine tutti_dataset_shape

  ! This rank's slice.
  subroutine tutti_mesh_view_get(m, view, ierr)
    type(tutti_mesh), intent(in) :: m
    type(tutti_mesh_view), intent(out) :: view
    integer, intent(out), optional :: ierr
    type(c_tutti_mesh_view) :: c
    integer(c_int64_t) :: last
    call c_mesh_view_get(m, c, ierr)
    view%nodes = c%nodes
    view%first_node = c%first_node
    view%elements = c%elements
    view%first_element = c%first_element
    view%all_nodes = c%all_nodes
    view%all_elements = c%all_elements
    call take_doubles(c%coordinates, c%nodes, view%coordinates)
    call take_longs(c%tag, c%nodes, view%tag)
    call take_bytes(c%type, c%elements, view%type)
    call take_ints(c%physical, c%elements, view%physical)
    call take_ints(c%entity, c%elements, view%entity)
    call take_longs(c%start, c%elements + 1, view%start)
    last = 0
    if (associated(view%start)) last = view%start(c%elements + 1)
    call take_longs(c%node, last, view%node)
    if (c_associated(c%membership)) call c_f_pointer(c%membership, view%membership, [c%memberships])
  end subroutine tutti_mesh_view_get

  ! What this rank holds.
  subroutine tutti_mesh_part_get(p, view, ierr)
    type(tutti_mesh_part), intent(in) :: p
    type(tutti_mesh_part_view), intent(out) :: view
    integer, intent(out), optional :: ierr
    type(c_tutti_mesh_part_view) :: c
    call c_mesh_part_get(p, c, ierr)
    view%nodes = c%nodes
    view%own_nodes = c%own_nodes
    view%elements = c%elements
    view%own_elements = c%own_elements
    view%peers = c%peers
    view%all_nodes = c%all_nodes
    view%all_elements = c%all_elements
    call take_longs(c%number, c%nodes, view%number)
    call take_bytes(c%own, c%nodes, view%own)
    call take_ints(c%owner, c%nodes, view%owner)
    call take_doubles(c%coordinates, c%nodes, view%coordinates)
    call take_longs(c%tag, c%nodes, view%tag)
    call take_longs(c%holder_start, c%nodes + 1, view%holder_start)
    call take_ints(c%holder, last_of(view%holder_start), view%holder)
    call take_longs(c%element, c%elements, view%element)
    call take_bytes(c%element_own, c%elements, view%element_own)
    call take_bytes(c%type, c%elements, view%type)
    call take_ints(c%physical, c%elements, view%physical)
    call take_ints(c%entity, c%elements, view%entity)
    call take_longs(c%start, c%elements + 1, view%start)
    call take_ints(c%node, last_of(view%start), view%node)
    call take_ints(c%peer, int(c%peers, c_int64_t), view%peer)
    call take_longs(c%send_start, int(c%peers, c_int64_t) + 1, view%send_start)
    call take_ints(c%send, last_of(view%send_start), view%send)
    call take_longs(c%get_start, int(c%peers, c_int64_t) + 1, view%get_start)
    call take_ints(c%get, last_of(view%get_start), view%get)
  end subroutine tutti_mesh_part_get

  integer(c_int64_t) function last_of(starts)
    integer(c_int64_t), pointer, intent(in) :: starts(:)
    last_of = 0
    if (associated(starts)) last_of = starts(size(starts))
  end function last_of

  subroutine take_doubles(at, n, list)
    type(c_ptr), intent(in) :: at
    integer(c_int64_t), intent(in) :: n
    real(c_double), pointer, intent(out) :: list(:, :)
    list => null()
    if (c_associated(at)) call c_f_pointer(at, list, [3_c_int64_t, n])
  end subroutine take_doubles

  subroutine take_longs(at, n, list)
    type(c_ptr), intent(in) :: at
    integer(c_int64_t), intent(in) :: n
    integer(c_int64_t), pointer, intent(out) :: list(:)
    list => null()
    if (c_associated(at)) call c_f_pointer(at, list, [n])
  end subroutine take_longs

  subroutine take_ints(at, n, list)
    type(c_ptr), intent(in) :: at
    integer(c_int64_t), intent(in) :: n
    integer(c_int), pointer, intent(out) :: list(:)
    list => null()
    if (c_associated(at)) call c_f_pointer(at, list, [n])
  end subroutine take_ints

  subroutine take_bytes(at, n, list)
    type(c_ptr), intent(in) :: at
    integer(c_int64_t), intent(in) :: n
    integer(c_int8_t), pointer, intent(out) :: list(:)
    list => null()
    if (c_associated(at)) call c_f_pointer(at, list, [n])
  end subroutine take_bytes

  ! The named physical groups.
  subroutine tutti_mesh_groups(m, groups)
    type(tutti_mesh), intent(in) :: m
    type(tutti_mesh_group), allocatable, intent(out) :: groups(:)
    type(tutti_mesh_group), pointer :: all(:)
    type(c_ptr) :: at
    integer(c_int) :: n
    n = c_mesh_groups(m, at)
    allocate (groups(n))
    if (n > 0) then
      call c_f_pointer(at, all, [n])
      groups = all
    end if
  end subroutine tutti_mesh_groups

  ! Which partitions hold each node: those of node i are holder(start(i) + 1 : start(i + 1)).
  subroutine tutti_mesh_classify(m, of, start, holder, ierr)
    type(tutti_mesh), intent(in) :: m
    integer(c_int), intent(in), contiguous :: of(:)
    integer(c_int64_t), pointer, intent(out) :: start(:)
    integer(c_int), pointer, intent(out) :: holder(:)
    integer, intent(out), optional :: ierr
    type(tutti_mesh_view) :: view
    type(c_ptr) :: c_start, c_holder
    integer :: ignored
    start => null()
    holder => null()
    call c_mesh_classify(m, of, c_start, c_holder, ierr)
    if (.not. c_associated(c_start)) return
    call tutti_mesh_view_get(m, view, ignored)
    call take_longs(c_start, view%nodes + 1, start)
    call take_ints(c_holder, last_of(start), holder)
  end subroutine tutti_mesh_classify

  ! Free what classify gave.
  subroutine tutti_mesh_lists_free(start, holder)
    integer(c_int64_t), pointer, intent(inout) :: start(:)
    integer(c_int), pointer, intent(inout) :: holder(:)
    type(c_ptr) :: c_start, c_holder
    c_start = c_null_ptr
    c_holder = c_null_ptr
    if (associated(start)) c_start = c_loc(start)
    if (associated(holder)) c_holder = c_loc(holder)
    call c_mesh_lists_free(c_start, c_holder)
    start => null()
    holder => null()
  end subroutine tutti_mesh_lists_free

end module tutti
