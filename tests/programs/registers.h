// SPDX-License-Identifier: MIT
// Functions whose arguments and results use every kind of register that the ABI knows.
#ifndef PFT_TESTS_REGISTERS_H
#define PFT_TESTS_REGISTERS_H

#include <complex.h>

struct big {
	long at[12];
};

struct pair {
	double real;
	long whole;
};

struct two {
	long low, high;
};

typedef float pft_float8 __attribute__((vector_size(32)));
typedef float pft_float16 __attribute__((vector_size(64)));

double reg_doubles(double a, double b, double c, double d, double e, double f, double g, double h);
long reg_twenty(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k,
	long l, long m, long n, long o, long p, long q, long r, long s, long t);
long double reg_long_double(long double a, int b, long double c);
__int128 reg_int128(__int128 a, __int128 b);
struct big reg_big(struct big by_value, int add);
struct pair reg_pair(struct pair by_value);
struct two reg_two(struct two by_value);
double complex reg_complex(double complex a, double complex b);
long double complex reg_long_complex(long double complex a);
double reg_variadic(int count, ...);
long reg_writes_its_arguments(
	long a, long b, long c, long d, long e, long f, long on_stack, long on_stack_too);
int reg_needs_alignment(float a);
pft_float8 reg_float8(pft_float8 a, pft_float8 b) __attribute__((target("avx")));
pft_float16 reg_float16(pft_float16 a, pft_float16 b) __attribute__((target("avx512f")));

#endif
