// SPDX-License-Identifier: MIT
// To be opened: calls a function of its own, of which its twin has another one of the same name.
// build: -Wl,-z,lazy
#include "tests/programs/opens.h"

int twin(int x)
{
	return x + 100;
}

int work(int x)
{
	return twin(x);
}
