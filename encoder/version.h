// SPDX-License-Identifier: MIT
// The library's version, as traces and `pft` show it. Any context.
#ifndef PFT_VERSION_H
#define PFT_VERSION_H

#define PFT_VERSION "0.1.0"

#endif
