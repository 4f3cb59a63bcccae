// SPDX-License-Identifier: MIT
// A function that is chosen when it is bound, by a resolver that runs in the middle of relocation.
static int chosen(int x)
{
	return x + 100;
}

__attribute__((used)) static int (*resolve_picks(void))(int)
{
	__builtin_cpu_init();
	return chosen;
}

int picks(int x) __attribute__((ifunc("resolve_picks")));
