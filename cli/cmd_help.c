/* tutti help: the texts.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <string.h>

static const char help_overview[] =
    "tutti: collective file access for MPI programs\n"
    "\n"
    "usage: tutti COMMAND [ARGUMENTS]\n"
    "\n"
    "  run       start an MPI program so that it does its MPI-IO by Tutti\n"
    "  array     arrays in files: create, info, read, write, transpose, stat\n"
    "  mesh      unstructured meshes: info, partition, owners, tree, plot, convert\n"
    "  ls        what a dataset has: variables, segments\n"
    "  show      its header with all infos, in the manner of ncdump -h\n"
    "  verify    its metadata and every checksum\n"
    "  repair    metadata that are damaged or gone, made anew from the data\n"
    "  dump      numbers of a variable, as text, CSV or .npy\n"
    "  diff      two datasets, number by number\n"
    "  plot      a variable over time (SVG) or a field (PNG)\n"
    "  cp        a dataset anew: other types, layout, files\n"
    "  export    datasets for other programs: XDMF, Zarr, CSV; Exodus files: XDMF,\n"
    "            VTK\n"
    "  import    meshes of Gmsh and Exodus files, into Exodus files and datasets\n"
    "  exodus    Exodus files: info, diff, join, split; others take them, too\n"
    "  archive   states of a dataset to a directory, a tar archive or a command\n"
    "  restore   and back\n"
    "  bench     measure writing and reading on this machine; run it under mpirun\n"
    "  tune      measure machine and file system, so that the library chooses well\n"
    "  options   list the library's options\n"
    "  completion  a script for bash, zsh or fish\n"
    "  help      say more about a command: tutti help bench\n"
    "  version   print the version (also --version)\n"
    "\n"
    "  --color never|auto|always   auto: on a terminal, unless NO_COLOR is set\n"
    "\n"
    "The manual page tutti(1) has it all.\n";

static const char help_bench[] =
    "usage: mpirun -np N tutti bench [--quick] [ARGUMENTS]\n"
    "\n"
    "Writes and reads patterns by every chosen method, verifies every byte, and\n"
    "compares with the conforming limit: every rank writes (reads) one contiguous\n"
    "share in calls of 4 MiB.  All times are from the first rank's open to the last\n"
    "one's close, on a fresh file; the methods are interleaved in every round.\n"
    "The experiments of papers on collective I/O: see 'tutti-experiments --help'.\n"
    "\n"
    "  --quick           small sizes, two patterns, every method; JSON in\n"
    "                    tutti-bench.json\n"
    "  --pattern LIST    block2d, columns, block3d, cyclic4k, pieces512, irregular64,\n"
    "                    flash, strided, or all\n"
    "  --size BYTES      of one rank (32m; k, m, g are powers of 1024)\n"
    "  --op LIST         write, read (both)\n"
    "  --dir LIST        directories to measure in (.)\n"
    "  --rounds N        rounds of each (7)\n"
    "  --method LIST     auto, independent, list, sieve, root, two-phase, or all\n"
    "                    (auto,two-phase)\n"
    "  --exchange LIST   for auto and two-phase: auto, shm, two-sided, fence, lock\n"
    "  --store LIST      auto, posix, uring, threads, aio, mem, null\n"
    "  --plan LIST       fresh, reused (both): plan in the timed part, or made before\n"
    "                    it\n"
    "  --reference LIST  pieces, staging, mapping, all (default) or none; the limit\n"
    "                    is always there\n"
    "  --peers           measure the MPI library's own MPI_File_write_all and\n"
    "                    read_all too\n"
    "  --cold            reads find nothing of the file in the page cache\n"
    "  --fsync           writes end when the bytes are on the device\n"
    "  --slice BYTES     of one rank in the reference 'staging' (1m)\n"
    "  --budget SECONDS  fewer rounds once this much time has gone (0: never)\n"
    "  --seed N          of the bytes and of the irregular pattern\n"
    "  --json FILE       all that was measured ('-': standard output), from which\n"
    "                    'tutti-report FILE --html FILE' makes a page with figures\n"
    "  --NAME VALUE      any option of the library, see 'tutti options'\n"
    "\n"
    "Exit status: 0 all was verified, 1 something failed or a byte was wrong, 2 wrong\n"
    "usage.\n";

static const char help_run[] =
    "usage: tutti run [ARGUMENTS] [--] mpirun -np N PROGRAM ...\n"
    "       tutti run --compare [--rounds N] [ARGUMENTS] [--] mpirun -np N ...\n"
    "\n"
    "Preloads libtutti-mpiio.so for the ranks, so that MPI_File_ calls of an\n"
    "unchanged program go to Tutti.  Launchers: mpirun and mpiexec of this build's\n"
    "MPI, srun, also behind timeout, nice, env and the like; anything else is a\n"
    "program, which is started as it is.  At its end a line says for how many files\n"
    "the library was active.\n"
    "\n"
    "  --stats          a table for each file when it is closed\n"
    "  --explain        what was chosen for each request and why\n"
    "  --trace FILE     a Chrome/Perfetto trace of all operations\n"
    "  -o NAME=VALUE    any option of the library, see 'tutti options'\n"
    "  --compare        with and without, in turn: seconds in calls of MPI_File_, and\n"
    "                   of the program as a whole, and their ratios\n"
    "  --rounds N       of --compare (5)\n"
    "  --library PATH   the library; default: TUTTI_MPIIO_LIB, or the one beside this\n"
    "                   command\n"
    "  -q, --quiet      no line at the end\n"
    "  --dry-run        print the command only\n"
    "\n"
    "Exit status: the program's; 2 wrong usage, 126 and 127 if it cannot be started.\n";

static const char help_tune[] =
    "usage: [mpirun -np N] tutti tune [--quick] [--dry-run] [--out FILE] DIR...\n"
    "\n"
    "Measures this machine and the file systems of the directories in a minute or\n"
    "two, prints what it found, and writes a profile.  Where an option is auto the\n"
    "library then chooses by it.  Run it on as many ranks and nodes as the programs\n"
    "that matter.  One rank works too; it measures less.\n"
    "\n"
    "  --quick      in some seconds, with more noise\n"
    "  --dry-run    measure and print only\n"
    "  --out FILE   the profile; default: $XDG_CONFIG_HOME/tutti/profile or\n"
    "               ~/.config/tutti/profile.  File systems that it has already and\n"
    "               that are not measured now stay in it.\n"
    "\n"
    "A profile elsewhere is named by the option profile (TUTTI_PROFILE).\n";

static const char help_array[] =
    "usage: [mpirun -np N] tutti array create FILE --shape N,... --type TYPE\n"
    "                        [--order row|column] [--fill VALUE] [--force]\n"
    "       [mpirun -np N] tutti array info FILE [--json]\n"
    "       [mpirun -np N] tutti array read FILE [SECTION] [--csv] [--digits N]\n"
    "                              [--out FILE] [--npy FILE] [--png FILE\n"
    "                              [--range LO,HI] [--legend] [--zoom N]\n"
    "                              [--pixels N]]\n"
    "       [mpirun -np N] tutti array write FILE [SECTION] --from FILE\n"
    "                      [--create [--force]]\n"
    "       [mpirun -np N] tutti array transpose FILE NEW [--axes LIST]\n"
    "                        [--to-order row|column] [--to-raw] [--force]\n"
    "       [mpirun -np N] tutti array stat FILE [SECTION] [--json]\n"
    "\n"
    "FILE is an array that create or the library has made, a NumPy file (.npy), or\n"
    "any file (--raw).  Arrays may be larger than memory; with several ranks all of\n"
    "them share the work.\n"
    "\n"
    "  SECTION            LO:HI:STRIDE,... one part a dimension, from 0, HI left out;\n"
    "                     : is all, one number one index\n"
    "  --fortran          sections count from 1, HI included\n"
    "  --budget BYTES     memory for elements on each rank (64m)\n"
    "  --raw              FILE has no header: any file, described by\n"
    "  --shape N,...  --type TYPE  --order row|column  --offset BYTES\n"
    "                     without --raw, what FILE must be\n"
    "  TYPE               int8 ... int64, uint8 ... uint64, float16 ... float64,\n"
    "                     complex64, complex128, bytes:N\n"
    "  --fill VALUE       create: every element (0)\n"
    "  --force            replace a file that is there\n"
    "  --csv              read: every digit, commas between; otherwise columns to\n"
    "                     look at\n"
    "  --digits N         read: of these (6)\n"
    "  --out FILE         read: text goes there ('-': standard output)\n"
    "  --npy FILE         read: a NumPy file\n"
    "  --png FILE         read: a heat map; NaN is red\n"
    "  --range LO,HI      the values of its first and last colour (the least and the\n"
    "                     largest)\n"
    "  --legend           with a bar of all colours and the range\n"
    "  --zoom N           an element has N x N pixels (1)\n"
    "  --pixels N         larger sections are reduced to N pixels, by means (4096)\n"
    "  --from FILE        write: a NumPy file (.npy), or numbers as text ('-':\n"
    "                     standard input)\n"
    "  --create           write: make FILE, by the NumPy file, or by --shape and\n"
    "                     --type\n"
    "  --axes LIST        transpose: dimension d of NEW is the d-th of the list\n"
    "                     (reversed)\n"
    "  --to-order ORDER   transpose: of NEW in its file (that of FILE)\n"
    "  --to-raw           transpose: NEW has no header\n"
    "  --json             info, stat: for programs\n"
    "  --NAME VALUE       any option of the library, see 'tutti options'\n"
    "\n"
    "Exit status: 0 all is well, 1 something failed, 2 wrong usage.\n";

static const char help_mesh[] =
    "usage: tutti mesh info FILE [--order ORDER] [--json]\n"
    "       tutti mesh partition FILE [--parts N] [--by metis|curve|rcb]\n"
    "                              [--order ORDER] [--out FILE] [--json]\n"
    "       tutti mesh owners FILE [--parts N] [--by metis|curve|rcb] [--order ORDER]\n"
    "                              [--rule LIST] [--load N] [--value-bytes N]\n"
    "                              [--balance X] [--seed N] [--json]\n"
    "       tutti mesh tree FILE [--parts N] [--by metis|curve|rcb] [--order ORDER]\n"
    "                            [--rule RULE] [--dir DIR] [--hosts N]\n"
    "                            [--value-bytes N] [--json]\n"
    "       tutti mesh plot FILE [--parts N] [--by metis|curve|rcb] [--order ORDER]\n"
    "                            [--rule LIST] [--out FILE.svg|FILE.png]\n"
    "       tutti mesh convert FILE NEW [--order ORDER] [--format FORMAT] [--force]\n"
    "\n"
    "FILE is a mesh of Gmsh's (formats 4.1 and 2.2, text or binary) or of Tutti's own\n"
    "format.  One process does it all.\n"
    "\n"
    "  info               counts, extent, and how far apart in the order neighbours\n"
    "                     lie\n"
    "  partition          divide the nodes; --out has the partition of each node, one\n"
    "                     a line\n"
    "  owners             who writes which nodes, of those that hold them, by each\n"
    "                     rule: intervals in the file, their lengths, balance\n"
    "  tree               which way the library would write them, by network, nodes\n"
    "                     and load, as it follows from this machine's profile ('tutti\n"
    "                     tune')\n"
    "  plot               the mesh by partition, and who writes what along the file\n"
    "  convert            into another format\n"
    "\n"
    "  --parts N          partitions (8)\n"
    "  --by metis|curve|rcb\n"
    "                     METIS's k-way, pieces of Hilbert's curve, or recursive\n"
    "                     coordinate bisection (default: metis; rcb where METIS does\n"
    "                     not suit)\n"
    "  --order ORDER      of the nodes: file, curve (Hilbert's), rcm (reverse\n"
    "                     Cuthill-McKee) (file)\n"
    "  --rule LIST        own, random, first, idg, idg2 (all; tree: idg2)\n"
    "  --load N           values of a node (1)\n"
    "  --value-bytes N    bytes of a value (8)\n"
    "  --balance X        no partition should write more than X times the mean\n"
    "  --seed N           of the rule random\n"
    "  --dir DIR          tree: where files would be (.)\n"
    "  --hosts N          tree: machines, where there are several (8)\n"
    "  --out FILE         '-': standard output; plot: mesh.svg\n"
    "  --format FORMAT    native, gmsh41, gmsh41-binary, gmsh22, gmsh22-binary;\n"
    "                     default: native, or gmsh41-binary for names in .msh\n"
    "  --force            replace a file that is there\n"
    "  --json             for programs\n"
    "  --NAME VALUE       any option of the library, see 'tutti options'\n"
    "\n"
    "Exit status: 0 all is well, 1 something failed, 2 wrong usage.\n";

static const char help_ls[] =
    "usage: tutti ls DIR [--all] [--range] [--json]\n"
    "\n"
    "Lists variables (type, space, shape, in how many segments, bytes) and segments\n"
    "(kind, time index, time, sections, bytes) of a dataset.  Reads the metadata file\n"
    "alone, whatever state a writer is in or was killed in.\n"
    "\n"
    "  DIR      the dataset, or the file metadata.sqlite in it\n"
    "  --all    every segment, also if there are more than 40\n"
    "  --range  the least and the largest number of each variable in its last\n"
    "           segment; this reads data\n"
    "  --json   for programs: one object with \"segments\", \"variables\", \"spaces\"\n"
    "\n"
    "Exit status: 0 all is well, 1 something failed, 2 wrong usage.\n";

static const char help_show[] =
    "usage: tutti show DIR [--json]\n"
    "\n"
    "Prints spaces, variables with units and fill values, and the infos of dataset,\n"
    "variables and segments, in the manner of ncdump -h.  Reads the metadata file\n"
    "alone.\n"
    "\n"
    "Exit status: 0 all is well, 1 something failed, 2 wrong usage.\n";

static const char help_verify[] =
    "usage: [mpirun -np N] tutti verify DIR [-q] [--json]\n"
    "\n"
    "Checks the integrity of the metadata, reads all data and compares every\n"
    "checksum; goes on after the first damage and names the first places (variable,\n"
    "segment, block).  Several ranks share the reading.\n"
    "\n"
    "  -q, --quiet   say only what is wrong\n"
    "  --json        for programs\n"
    "\n"
    "Exit status: 0 nothing is wrong, 1 something is damaged, 2 it could not be\n"
    "looked at, or wrong usage.\n";

static const char help_repair[] =
    "usage: tutti repair DIR [--json]\n"
    "\n"
    "Brings a dataset back whose metadata are damaged or gone, or that has lost data\n"
    "files.  Metadata that agree with the data files stay, but for segments whose\n"
    "data are gone; others are made anew from the copies in the data files, and the\n"
    "old ones are kept beside them (metadata.sqlite.damaged).  No data file is\n"
    "changed.  Then try tutti verify.\n"
    "\n"
    "  --json        for programs\n"
    "\n"
    "Exit status: 0 there was nothing to do or all is back, 1 segments are lost, 2 it\n"
    "failed, or wrong usage.\n";

static const char help_dump[] =
    "usage: tutti dump DIR -v NAME [-s SEGMENT] [--slice SLICE] [--as text|csv|npy]\n"
    "                      [-o FILE]\n"
    "\n"
    "Prints the numbers of a variable.\n"
    "\n"
    "  -v, --variable NAME   which\n"
    "  -s, --segment WHICH   latest (default), all, a number as ls has it, index:N\n"
    "                        (the state of a time index), time:T (the last state not\n"
    "                        after T)\n"
    "  --slice SLICE         LO:HI:STRIDE,... one part a dimension, from 0, HI left\n"
    "                        out; : is all, one number one index.  Items of several\n"
    "                        numbers have one dimension more\n"
    "  --as text             rows of numbers (default)\n"
    "  --as csv              a line an entry: segment, time index, time, position,\n"
    "                        numbers\n"
    "  --as npy              a NumPy file; all segments: with one dimension more\n"
    "  -o, --out FILE        '-': standard output (default)\n"
    "\n"
    "Exit status: 0 all is well, 1 something failed, 2 wrong usage.\n";

static const char help_diff[] =
    "usage: tutti diff A B [-v NAME,...] [--abs X] [--rel X]\n"
    "                  [--tolerance NAME=ABS[/REL],...] [-q] [--json]\n"
    "\n"
    "Compares two datasets: segments by kind and time index, variables by name,\n"
    "numbers by position, whatever their types and layouts.  |a - b| <= abs + rel *\n"
    "max(|a|, |b|) is no difference, nor is NaN against NaN.\n"
    "Infinite values equal only the same infinity.\n"
    "\n"
    "  -v, --variable LIST   these variables only\n"
    "  --abs X, --rel X      tolerances of all variables (0)\n"
    "  --tolerance LIST      of some: NAME=ABS or NAME=ABS/REL\n"
    "  -q, --quiet           the exit status only\n"
    "  --json                for programs\n"
    "\n"
    "Exit status: 0 they are the same, 1 they differ, 2 trouble, or wrong usage.\n";

static const char help_plot[] =
    "usage: tutti plot DIR -v NAME [--slice SLICE] [-o FILE.svg]\n"
    "       tutti plot DIR -v NAME -s SEGMENT [--slice SLICE] [-o FILE.png]\n"
    "\n"
    "Draws the least, the mean and the largest number of a variable (or of a slice of\n"
    "it) over time, or a field of two dimensions, or such a slice of one with more,\n"
    "of one segment, as a heat map.  The name of the file decides which; the default\n"
    "is NAME.svg, with -s NAME.png.  Slices and segments: see 'tutti help dump'.\n"
    "\n"
    "Exit status: 0 all is well, 1 something failed, 2 wrong usage.\n";

static const char help_cp[] =
    "usage: tutti cp DIR NEW [-v NAME,...] [--type TYPE|NAME=TYPE,...]\n"
    "                [--layout global|ranked] [--compress LEVEL]\n"
    "                [--indices-per-file N] [--container native|netcdf]\n"
    "\n"
    "Writes a dataset anew, with all segments and infos.  Every segment is verified\n"
    "before it is copied, and appears in NEW whole or not at all.  NEW must not be\n"
    "there.\n"
    "\n"
    "  -v, --variable LIST      these variables only\n"
    "  --type TYPE              of all real floating-point variables in the file\n"
    "  --type NAME=TYPE,...     of these\n"
    "  --layout global|ranked   of all variables (as they are)\n"
    "  --compress LEVEL         of all variables of layout global: 1 to 19, 0: none\n"
    "                           (as they are)\n"
    "  --indices-per-file N     a new data file for every N time indices; 0: one file\n"
    "                           (default)\n"
    "  --container netcdf       data files that are netCDF (CDF-5), native: Tutti's\n"
    "                           (as they are)\n"
    "\n"
    "Exit status: 0 all is well, 1 something failed, 2 wrong usage.\n";

static const char help_export[] =
    "usage: tutti export DIR --xdmf [-v NAME,...] [-o FILE.xmf]\n"
    "       tutti export DIR --zarr [-v NAME,...] [-o FILE.json]\n"
    "       tutti export DIR --csv [-v NAME,...] [-o PREFIX]\n"
    "       tutti export FILE.e --xdmf [-v NAME,...] [--steps A:B] [-o FILE.xmf]\n"
    "       [mpirun -np N] tutti export FILE.e --vtk [--sets] [-v NAME,...]\n"
    "                      [--steps A:B] [-o PREFIX]\n"
    "\n"
    "--xdmf writes a small XML file (DIR.xmf), by which ParaView's \"XDMF Reader\"\n"
    "finds the numbers in the data files themselves: variables of layout global on\n"
    "grids of two or three dimensions, not compressed.  --zarr writes a file of\n"
    "references (DIR.json; kerchunk's), by which Zarr and xarray do the same:\n"
    "variables of layout global, compressed or not.  --csv writes a table of all\n"
    "segments for each variable: PREFIX-NAME.csv (DIR-NAME.csv).  Of an Exodus file\n"
    "--xdmf writes the mesh into a companion (FILE.xmf.bin) and finds results in the\n"
    "file itself; --vtk writes a file for each step (PREFIX-0001.vtu; with several\n"
    "ranks .pvtu and a piece a rank) and a collection, PREFIX.pvd; --sets: node and\n"
    "side sets in a file of their own.\n"
    "\n"
    "Exit status: 0 all is well, 1 something failed, 2 wrong usage.\n";

static const char help_archive[] =
    "usage: tutti archive DIR --to DIR2 [--segments A:B | --older-than INDEX]\n"
    "                      [--json]\n"
    "       tutti archive DIR --tar FILE|- ...\n"
    "       tutti archive DIR --command COMMAND ...\n"
    "\n"
    "States of a dataset go somewhere else: each is compared with its checksums,\n"
    "copied, read back and synced; then the metadata says where it is, and its bytes\n"
    "here are freed.  Topologies, and segments that others need, stay.  After a kill\n"
    "the same command goes on.\n"
    "\n"
    "  --to DIR2            a directory, made if it is not there: a file for each\n"
    "                       segment\n"
    "  --tar FILE|-         a tar archive; through a pipe (-) they are copied and\n"
    "                       stay here\n"
    "  --command COMMAND    a tar archive as its standard input; they are archived if\n"
    "                       it ends with 0\n"
    "  --segments A:B       from A to B, both included, as 'tutti ls' numbers them\n"
    "                       (all)\n"
    "  --older-than INDEX   with time indices below this\n"
    "  --json               what was done, for programs\n"
    "\n"
    "Exit status: 0 all is well, 1 something failed, 2 wrong usage.\n";

static const char help_restore[] =
    "usage: tutti restore DIR --from DIR2 [--segments A:B | --older-than INDEX]\n"
    "                      [--json]\n"
    "       tutti restore DIR --tar FILE|- ...\n"
    "       tutti restore DIR --command COMMAND ...\n"
    "\n"
    "Archived states come back, from a directory, a tar archive, or the standard\n"
    "output of a command; they are compared with what was archived.\n"
    "\n"
    "Exit status: 0 all is well, 1 something failed, 2 wrong usage.\n";

static const char help_exodus[] =
    "usage: tutti exodus info FILE [--json]\n"
    "       [mpirun -np N] tutti exodus diff A B [-v NAME,...] [--abs X] [--rel X]\n"
    "                      [--tolerance NAME=REL,ABS] [--steps A:B] [-q] [--json]\n"
    "       [mpirun -np N] tutti exodus join NAME.e.N.* -o OUT.e [--steps A:B]\n"
    "                      [--real 4|8] [--integers 4|8] [--steps-per-file N]\n"
    "                      [--nemesis] [--force] [--json]\n"
    "       [mpirun -np N] tutti exodus split FILE -n PIECES [-o NAME]\n"
    "                      [--by metis|curve|order] [--steps A:B] [--real 4|8]\n"
    "                      [--integers 4|8] [--force] [--json]\n"
    "       [mpirun -np N] tutti exodus cp FILE NEW [--steps A:B] [--real 4|8]\n"
    "                      [--integers 4|8] [--steps-per-file N] [--nemesis]\n"
    "                      [--force] [--json]\n"
    "       [mpirun -np N] tutti exodus verify FILE [-q] [--json]\n"
    "       tutti exodus archive FILE --to DIR | --tar FILE [--json]\n"
    "       [mpirun -np N] tutti exodus export FILE --vtk [--sets] [-v NAME,...]\n"
    "                      [--steps A:B] [-o PREFIX] [--json]\n"
    "       tutti exodus export FILE --xdmf [-v NAME,...] [--steps A:B] [-o FILE.xmf]\n"
    "                      [--json]\n"
    "\n"
    "FILE is an Exodus II file in netCDF's classic formats (CDF-1, CDF-2, CDF-5),\n"
    "whoever wrote it; 'nccopy -k cdf5' makes one of a netCDF-4 file.  Files that\n"
    "follow it (FILE-s0002 ...) belong to it.  'tutti ls', show, verify, diff, cp,\n"
    "archive and export do the same where they are given such a file.\n"
    "\n"
    "  info               title, counts, blocks, sets, maps, variables and who has\n"
    "                     them, steps, what Nemesis says of a partition, format,\n"
    "                     checksums; ls: shorter\n"
    "  diff               nodes, elements and members of sets are compared by id,\n"
    "                     whatever their order: coordinates, connectivity, factors,\n"
    "                     attributes, variables\n"
    "  join               the files of many processes become one: what has the same\n"
    "                     id is the same node or element; one piece stands for all\n"
    "  split              NAME.e.PIECES.0 ... with id maps, for programs that want a\n"
    "                     file a process\n"
    "  cp                 anew, in the order of ids; every rank copies its share\n"
    "  verify             compare every checksum of the sidecar, FILE.tutti\n"
    "  archive            a copy with the sidecar, compared with its checksums and\n"
    "                     with what was read\n"
    "  export             see 'tutti help export'\n"
    "\n"
    "  -v, --variable LIST   these variables only\n"
    "  --abs X, --rel X      no difference: |a - b| <= abs + rel * max(|a|, |b|) (0)\n"
    "  --tolerance LIST      of some: NAME=REL,ABS, NAME=ABS or NAME=ABS/REL; several\n"
    "                        times if need be; also of coordinates, time, factors,\n"
    "                        attributes\n"
    "  --steps A:B           steps from A to B, both included; A, last, none (all)\n"
    "  --real 4|8, --integers 4|8\n"
    "                        bytes of numbers in the new file (as they are;\n"
    "                        integers: as fit)\n"
    "  --steps-per-file N    a new file for every N steps, each with the mesh\n"
    "  --nemesis             the new file has the partition of the ranks, with their\n"
    "                        borders\n"
    "  --by metis|curve|order\n"
    "                        of split: METIS's k-way, Hilbert's curve, the file's\n"
    "                        order (metis)\n"
    "  --force               replace files that are there\n"
    "  -q, --quiet           the exit status only; verify: only what is wrong\n"
    "  --json                for programs\n"
    "\n"
    "Exit status: 0 all is well, 1 something failed, 2 wrong usage; diff, verify: 1\n"
    "they differ, it is damaged, 2 it could not be looked at.\n";

static const char help_import[] =
    "usage: [mpirun -np N] tutti import FILE NEW.e [--real 4|8] [--integers 4|8]\n"
    "                      [--nemesis] [--force] [--json]\n"
    "       [mpirun -np N] tutti import FILE DIR [--steps A:B] [--force] [--json]\n"
    "\n"
    "FILE is a mesh of Gmsh's (formats 4.1 and 2.2) or an Exodus file.  A name that\n"
    "ends in .e, .exo, .ex2, .g or .gen is a new Exodus file, any other one a new\n"
    "dataset.  Gmsh: physical groups of the highest dimension become element blocks,\n"
    "one for each type of elements; those of one dimension less side sets and node\n"
    "sets; all others node sets.  Names and, where they are free, tags are kept.\n"
    "Datasets: coordinates of the list nodes; block-ID.nodes and so on with the ids\n"
    "of what they refer to; a state for each step.\n"
    "\n"
    "Exit status: 0 all is well, 1 something failed, 2 wrong usage.\n";

static const char help_completion[] =
    "usage: tutti completion bash|zsh|fish\n"
    "\n"
    "Prints a script that completes commands, options and their values.  `make\n"
    "install` puts it where the shells look; by hand:\n"
    "\n"
    "  bash   source <(tutti completion bash)\n"
    "  zsh    tutti completion zsh > a folder of $fpath/_tutti\n"
    "  fish   tutti completion fish > ~/.config/fish/completions/tutti.fish\n";

static const char help_options[] =
    "usage: tutti options [NAME | --json]\n"
    "\n"
    "Lists one option or every option of the library: name, environment variable,\n"
    "default, values and meaning.  The same names are MPI_Info keys and arguments of\n"
    "'tutti bench'.\n";

static const char help_help[] = "usage: tutti help [COMMAND]\n";

static const struct {
    const char *name, *text;
} help_table[] = {{"", help_overview},
                  {"array", help_array},
                  {"mesh", help_mesh},
                  {"bench", help_bench},
                  {"run", help_run},
                  {"tune", help_tune},
                  {"completion", help_completion},
                  {"options", help_options},
                  {"help", help_help},
                  {"ls", help_ls},
                  {"show", help_show},
                  {"verify", help_verify},
                  {"repair", help_repair},
                  {"dump", help_dump},
                  {"diff", help_diff},
                  {"plot", help_plot},
                  {"cp", help_cp},
                  {"export", help_export},
                  {"archive", help_archive},
                  {"restore", help_restore},
                  {"exodus", help_exodus},
                  {"import", help_import}};

const char *cli_help_text(const char *command) {
    for (size_t i = 0; i < sizeof help_table / sizeof *help_table; i++)
        if (strcmp(command, help_table[i].name) == 0) return help_table[i].text;
    return NULL;
}

int cmd_help(int argc, char **argv) {
    const char *text = cli_help_text(argc > 1 ? argv[1] : "");
    if (!text) {
        fprintf(stderr, "tutti help: there is no command '%s'\n", argv[1]);
        return CLI_USAGE;
    }
    fputs(text, stdout);
    return CLI_OK;
}
