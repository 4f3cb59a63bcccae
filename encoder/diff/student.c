// SPDX-License-Identifier: MIT
// The tails of Student's t: see student.h. Both together are the regularised incomplete beta function
// I(x; freedom / 2, 1 / 2) at x = freedom / (freedom + t^2) (NIST DLMF 8.17), whose continued fraction is
// evaluated from its front, numerators and denominators kept as ratios to the ones before (Lentz's method).
#include "encoder/diff/student.h"

#include <math.h>

#define STEPS_MAX 400
#define ENOUGH 1e-12

static double not_zero(double value)
{
	return fabs(value) < 1e-300 ? 1e-300 : value;
}

// The coefficient of step `n`: 8.17.23.
static double coefficient(double a, double b, double x, int n)
{
	int half = n / 2;
	double m = half;

	if (n % 2 == 0)
		return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
	return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
}

static double fraction(double a, double b, double x)
{
	double value = 1, above = 1, below = 0;

	for (int n = 1; n <= STEPS_MAX; n++) {
		double d = coefficient(a, b, x, n);

		below = 1 / not_zero(1 + d * below);
		above = not_zero(1 + d / above);
		value *= above * below;
		if (fabs(above * below - 1) < ENOUGH)
			break;
	}
	return 1 / value;
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	// It converges where x is small.
	if (x > (a + 1) / (a + b + 2))
		return 1 - incomplete_beta(b, a, 1 - x);
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return front / a * fraction(a, b, x);
}

double pft_student_chance(double t, double freedom)
{
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}
