// SPDX-License-Identifier: MIT
// The attributes of a trace out of the message TraceAttributes. Called by reader.c and encoder/merge/.
#ifndef PFT_READ_ATTRIBUTES_H
#define PFT_READ_ATTRIBUTES_H

#include <stdbool.h>

#include "encoder/arg.h"
#include "encoder/read/wire.h"

// Called for each attribute, a text or a signed number; valid during the call.
typedef void pft_attribute_function(void *user, const struct pft_arg *attribute);

// False when the message is malformed.
bool pft_read_attributes(const struct pft_wire_field *message, pft_attribute_function *function, void *user);

#endif
