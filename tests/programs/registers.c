// SPDX-License-Identifier: MIT
// Every way of passing arguments and results goes through a hook unharmed.
// build: -lregisters -lm -Wno-psabi
#include "tests/programs/common.h"
#include "tests/programs/registers.h"

static void scalars(double x)
{
	printf("%.17g\n", reg_doubles(x, 1.5, 2.25, 3.125, 4.5, 5.75, 6.875, 7.0625));
	printf("%ld\n", reg_twenty(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20));
	printf("%.20Lg\n", reg_long_double(1.0L / 3, 7, 1e-10L));
	printf("%.17g\n", reg_variadic(9, 1, 2.5, 3, 4.5, 5, 6.5, 7, 8.5, 9));
	printf("%f %d %Lf %s %e %ld %g\n", 1.5, 2, 3.5L, "four", 5.5, 6L, 7.25);
	printf("%ld\n", reg_writes_its_arguments(1, 2, 3, 4, 5, 6, 700, 8000));
	printf("%d\n", reg_needs_alignment(x));
}

static void aggregates(void)
{
	__int128 wide = reg_int128((__int128)0x0123456789abcdefL << 32, 0x1000003);
	struct big big = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
	struct pair pair = reg_pair((struct pair){1.25, 7});
	struct two two = reg_two((struct two){1, 2});
	double complex product = reg_complex(1.5 + 2.5 * I, 3.5 - 4.5 * I);
	long double complex square = reg_long_complex(1.5L + 2.5L * I);

	big = reg_big(big, 3);
	printf("%016lx%016lx\n", (long)(wide >> 64), (long)wide);
	for (int i = 0; i < 12; i++)
		printf("%ld%c", big.at[i], i < 11 ? ' ' : '\n');
	printf("%g %ld %ld %ld\n", pair.real, pair.whole, two.low, two.high);
	printf("%g %g %Lg %Lg\n", creal(product), cimag(product), creall(square), cimagl(square));
}

__attribute__((target("avx"))) static void vectors_32(void)
{
	pft_float8 a = {1, 2, 3, 4, 5, 6, 7, 8}, b = {8, 7, 6, 5, 4, 3, 2, 1};

	a = reg_float8(a, b);
	for (int i = 0; i < 8; i++)
		printf("%g ", a[i]);
	puts("");
}

__attribute__((target("avx512f"))) static void vectors_64(void)
{
	pft_float16 a = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, b = a + 1;

	a = reg_float16(a, b);
	for (int i = 0; i < 16; i++)
		printf("%g ", a[i]);
	puts("");
}

int main(int argc, char **argv)
{
	// Enough rounds to meet a full buffer and its slow path with every kind of argument in flight.
	for (long round = argument(argc, argv, 1, 500); round > 0; round--) {
		scalars(round);
		aggregates();
		if (__builtin_cpu_supports("avx"))
			vectors_32();
		if (__builtin_cpu_supports("avx512f"))
			vectors_64();
	}
	return 0;
}
