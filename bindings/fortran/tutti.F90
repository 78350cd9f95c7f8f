! The module tutti: collective file access for MPI programs, in Fortran 2018.
!
! Procedures, types and constants have the names of C, and the documentation in the C headers applies
! (include/tutti, man 3 tutti_file).  docs/reference/fortran.md describes the differences.
! scripts/gen_fortran.py writes declarations.inc and procedures.inc from these headers, and interfaces.inc
! from interfaces.txt; this file contains procedures that differ from C.
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

  ! ---------------------------------------------------------------- types that exist only in Fortran

  ! A part of an operation (tutti_part_make).  The array must not be freed until the operation is complete.
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

  ! The slice of this rank of a mesh.  Its pointers belong to the mesh and are valid until it is renumbered or
  ! freed.  Numbers of nodes and elements, and indices in `node`, count from 0, as in files.
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

  ! The part of this rank.  Its pointers belong to the part and are valid until it is freed.
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
    integer(c_int64_t), pointer :: receive_start(:) => null() ! (peers + 1)
    integer(c_int), pointer :: receive(:) => null()
    integer(c_int64_t) :: all_nodes = 0, all_elements = 0
  end type tutti_mesh_part_view

  ! Only in Fortran: tutti_text
  ! A text of C, where a type has one: an address, or characters up to a null.
  interface tutti_text
    module procedure text_at, text_in
  end interface
  public :: tutti_text

  ! ---------------------------------------------------------------- procedures below

  ! by hand: tutti_replicas_positions
  ! by hand: tutti_replicas_writers
  ! by hand: tutti_mesh_view_get
  ! by hand: tutti_mesh_part_get
  ! by hand: tutti_mesh_groups
  ! by hand: tutti_mesh_classify
  ! by hand: tutti_mesh_lists_free
  ! by hand: tutti_dataset_shape
  public :: tutti_replicas_positions, tutti_replicas_writers
  public :: tutti_mesh_view_get, tutti_mesh_part_get, tutti_mesh_groups
  public :: tutti_mesh_classify, tutti_mesh_lists_free
  public :: tutti_dataset_shape

#include "exodus.inc"
#include "interfaces.inc"

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

  ! The offset in the file of each item of this rank.
  function tutti_replicas_positions(r) result(positions)
    type(tutti_replicas), intent(in) :: r
    integer(c_int64_t), pointer :: positions(:)
    type(c_ptr) :: at
    positions => null()
    at = c_replicas_positions(r)
    if (c_associated(at)) call c_f_pointer(at, positions, [r%n])
  end function tutti_replicas_positions

  ! The rank that writes each item.
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

  ! The items of this rank.
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
    call take_longs(c%receive_start, int(c%peers, c_int64_t) + 1, view%receive_start)
    call take_ints(c%receive, last_of(view%receive_start), view%receive)
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

  ! The partitions that hold each node; those of node i are holder(start(i) + 1 : start(i + 1)).
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

  ! Free the lists of tutti_mesh_classify.
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
