/* The style sheet of the HTML report.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_REPORT_STYLE_H
#define TUTTI_CLI_REPORT_STYLE_H

extern const char report_style[];

#endif
