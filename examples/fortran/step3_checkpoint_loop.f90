! TEST ranks=4 timeout=60
! Step 3.  A checkpoint loop: the access pattern is the same in every time step, so the write is planned once and run for every step at
! another offset.  At the end the statistics are printed.
! SPDX-License-Identifier: BSD-3-Clause
program step3
  use mpi_f08
  use tutti
  implicit none
  integer, parameter :: steps = 10, items = 4096, item = 64
  integer :: rank, ranks, step, i
  integer(tutti_count) :: index(items)
  character(item) :: state(items)
  type(tutti_access) :: access
  type(tutti_file) :: f
  type(tutti_plan) :: plan
  type(tutti_stats) :: all
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  ! Items are distributed cyclically; any list of indices is possible.
  index = [(int(i, tutti_count) * ranks + rank, i=0, items - 1)]
  call tutti_access_indices(0_tutti_off, int(item, tutti_off), index, access)
  call tutti_file_open(MPI_COMM_WORLD, "step3.dat", ior(ior(TUTTI_WRITE, TUTTI_CREATE), TUTTI_TRUNCATE), f)
  call tutti_plan_write(f, access, plan)
  do step = 0, steps - 1
    state = repeat(achar(iachar("a") + step), item)
    call tutti_plan_run(plan, state, displacement=int(step, tutti_off) * items * item * ranks)
  end do
  if (rank == 0) then
    call tutti_file_stats(f, all=all)
    print "(i0, a, i0, a, 3(f0.1, a), /, 2x, a)", all%bytes, " bytes in ", all%operations, " operations: plan ", &
      1d3 * all%seconds_plan, " ms, exchange ", 1d3 * all%seconds_exchange, " ms, file ", 1d3 * all%seconds_file, &
      " ms", tutti_plan_explain(plan)
  end if
  call tutti_plan_free(plan)
  call tutti_file_close(f)
  call tutti_access_free(access)
  call MPI_Finalize()
end program step3
