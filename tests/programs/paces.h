// SPDX-License-Identifier: MIT
// What libpaces.c has.
#ifndef TEST_PACES_H
#define TEST_PACES_H

void steady(long ns);
void changed(long ns);

#endif
