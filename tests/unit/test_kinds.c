// SPDX-License-Identifier: MIT
// Unit tests of encoder/report/kinds.c. Run by Criterion.
#include "encoder/report/kinds.h"

#include <criterion/criterion.h>

Test(kinds, are_told_by_name)
{
	cr_assert_eq(pft_kind_of("pthread_mutex_lock"), PFT_KIND_LOCK);
	cr_assert_eq(pft_kind_of("epoll_wait"), PFT_KIND_WAIT);
	cr_assert_eq(pft_kind_of("usleep"), PFT_KIND_SLEEP);
	cr_assert_eq(pft_kind_of("fsync"), PFT_KIND_IO);
	cr_assert_eq(pft_kind_of("pftshim: ring full"), PFT_KIND_RECORDER);
	cr_assert_eq(pft_kind_of("compress2"), PFT_KIND_OTHER);
	cr_assert_eq(pft_kind_of(""), PFT_KIND_OTHER);
}

Test(kinds, do_not_depend_on_the_object)
{
	cr_assert_eq(pft_kind_of("libc.so.6::read"), PFT_KIND_IO);
	cr_assert_eq(pft_kind_of("libstdc++.so.6::std::thread::join()"), PFT_KIND_WAIT);
}

Test(kinds, are_of_whole_names)
{
	cr_assert_eq(pft_kind_of("reader"), PFT_KIND_OTHER);
	cr_assert_eq(pft_kind_of("rea"), PFT_KIND_OTHER);
	cr_assert_eq(pft_kind_of("libc.so.6::readdir_r"), PFT_KIND_OTHER);
	cr_assert_eq(pft_kind_of("Reader::read(int)"), PFT_KIND_OTHER);
}
