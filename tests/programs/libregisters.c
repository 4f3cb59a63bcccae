// SPDX-License-Identifier: MIT
// The functions of registers.h, each simple enough that a wrong register shows in its result.
// build: -Wno-psabi
#include <stdarg.h>
#include <stdint.h>

#include "tests/programs/registers.h"

double reg_doubles(double a, double b, double c, double d, double e, double f, double g, double h)
{
	return a + 2 * b + 4 * c + 8 * d + 16 * e + 32 * f + 64 * g + 128 * h;
}

long reg_twenty(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k,
	long l, long m, long n, long o, long p, long q, long r, long s, long t)
{
	return a - b + 2 * c - 3 * d + 4 * e - 5 * f + 6 * g - 7 * h + 8 * i - 9 * j + 10 * k - 11 * l +
	       12 * m - 13 * n + 14 * o - 15 * p + 16 * q - 17 * r + 18 * s - 19 * t;
}

long double reg_long_double(long double a, int b, long double c)
{
	return a * b - c;
}

__int128 reg_int128(__int128 a, __int128 b)
{
	return a * b;
}

struct big reg_big(struct big by_value, int add)
{
	for (int i = 0; i < 12; i++)
		by_value.at[i] += add * i;
	return by_value;
}

struct pair reg_pair(struct pair by_value)
{
	return (struct pair){by_value.real * 2, by_value.whole * 3};
}

struct two reg_two(struct two by_value)
{
	return (struct two){by_value.high, by_value.low};
}

double complex reg_complex(double complex a, double complex b)
{
	return a * b;
}

long double complex reg_long_complex(long double complex a)
{
	return a * a;
}

double reg_variadic(int count, ...)
{
	va_list list;
	double sum = 0;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		sum += i % 2 ? va_arg(list, double) : va_arg(list, int);
	va_end(list);
	return sum;
}

// The stack arguments are the callee's to change (System V ABI, 3.2.3).
long reg_writes_its_arguments(
	long a, long b, long c, long d, long e, long f, long on_stack, long on_stack_too)
{
	volatile long *first = &on_stack, *second = &on_stack_too;

	*first += a + b + c;
	*second -= d + e + f;
	return *first * *second;
}

int reg_needs_alignment(float a)
{
	float local[4] __attribute__((aligned(16))) = {a, a, a, a};
	float *volatile kept = local;

	return ((uintptr_t)kept & 15) == 0 && kept[3] == a;
}

pft_float8 reg_float8(pft_float8 a, pft_float8 b)
{
	return a * b + a;
}

pft_float16 reg_float16(pft_float16 a, pft_float16 b)
{
	return a * b + a;
}
