"""Results of `tutti bench` and `tutti-experiments`: statistics, tables, plots and pages, from their JSON.

SPDX-License-Identifier: BSD-3-Clause"""
