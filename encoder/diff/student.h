// SPDX-License-Identifier: MIT
// Student's t distribution. Called by compare.c. Pure.
#ifndef PFT_DIFF_STUDENT_H
#define PFT_DIFF_STUDENT_H

// The chance that a value of that many degrees of freedom is as far from 0 as `t`, or farther, on either
// side. `freedom` is above 0 and need not be whole.
double pft_student_chance(double t, double freedom);

#endif
