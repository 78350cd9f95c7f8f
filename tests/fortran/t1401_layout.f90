! TEST ranks=0 timeout=60 builds=openmpi,mpich
! Derived types have the memory layout of the structs of C: sizes and offsets of all fields.
! SPDX-License-Identifier: BSD-3-Clause
program layout
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_sizeof
  use tutti
  implicit none
  interface
    function layout_in_c(i) bind(c) result(bytes)
      import
      integer(c_int), value :: i
      integer(c_int64_t) :: bytes
    end function
  end interface
  integer :: next = 0, wrong = 0
  call all_of_them()
  if (layout_in_c(next) /= -1 .or. next < 200) stop 2
  if (wrong > 0) stop 1
contains
  subroutine same(what, here)
    character(*), intent(in) :: what
    integer(c_int64_t), intent(in) :: here
    if (here /= layout_in_c(next)) then
      wrong = wrong + 1
      print "(2a, i0, a, i0)", what, ": ", here, " in Fortran, in C ", layout_in_c(next)
    end if
    next = next + 1
  end subroutine same
  include "layout.inc"
end program layout
