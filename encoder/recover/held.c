// SPDX-License-Identifier: MIT
// Asks for a lease: see held.h. An ordinary program's context.
#include "encoder/recover/held.h"

#include <errno.h>
#include <fcntl.h>

enum pft_held pft_held(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
		return errno == EAGAIN ? PFT_HELD_BY_WRITER : PFT_HELD_UNKNOWN;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return PFT_HELD_BY_NOBODY;
}
