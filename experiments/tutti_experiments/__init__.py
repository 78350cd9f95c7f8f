"""What `tutti bench` and `tutti-experiments` measured: statistics, tables, plots and pages, from their JSON.

SPDX-License-Identifier: BSD-3-Clause"""
