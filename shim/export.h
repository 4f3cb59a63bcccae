// SPDX-License-Identifier: MIT
// The mark of a function that takes the place of one of the C library's. Everything else is hidden. The list
// of names is in exports.map; the checks hold the two together.
#ifndef PFT_EXPORT_H
#define PFT_EXPORT_H

#define PFT_EXPORT __attribute__((visibility("default")))

#endif
