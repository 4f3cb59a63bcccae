// SPDX-License-Identifier: MIT
// What others ask is seen once, and answered with how things stand.
#include "shim/control.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <unistd.h>

#include "encoder/replay.h"
#include "shim/hot/self.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

static struct pft_control *control;

static void begin(void)
{
	pft_session = pft_fake_session(4096, 1);
	control = &pft_session->control;
}

TestSuite(control, .init = begin);

static void ask(enum pft_command command)
{
	control->command = command;
	control->request++;
}

static struct pft_replay *replay_with_losses(uint64_t events)
{
	pft_session->unseated = events;
	return pft_replay_open(pft_session, pft_reader_file(), (struct pft_clocks){1, 1, 1});
}

Test(control, sees_nothing_until_somebody_asks)
{
	cr_assert_not(pft_control_is_asked());
	cr_assert_eq(pft_control_asked().request, 0);
	ask(PFT_COMMAND_FLUSH);
	cr_assert(pft_control_is_asked());
	cr_assert_eq(pft_control_asked().command, PFT_COMMAND_FLUSH);
}

Test(control, is_asked_no_more_once_it_has_answered)
{
	struct pft_replay *replay = replay_with_losses(6);
	struct pft_asked asked;

	ask(PFT_COMMAND_STATUS);
	asked = pft_control_asked();
	pft_control_answer(&asked, replay, -ENOSPC);
	cr_assert_not(pft_control_is_asked());
	cr_assert_eq(control->answered, control->request);
	cr_assert_eq(control->result, -ENOSPC);
	cr_assert_eq(control->produced, 6);
	cr_assert_eq(control->dropped, 6);
}

Test(control, sees_what_is_asked_while_it_answers)
{
	struct pft_replay *replay = replay_with_losses(0);
	struct pft_asked asked;

	ask(PFT_COMMAND_STATUS);
	asked = pft_control_asked();
	ask(PFT_COMMAND_FLUSH);
	pft_control_answer(&asked, replay, 0);
	cr_assert(pft_control_is_asked());
	cr_assert_eq(pft_control_asked().command, PFT_COMMAND_FLUSH);
}
