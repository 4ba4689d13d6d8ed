/* SPDX-License-Identifier: GPL-2.0-only */
/* The agent's programs, one object. Read contract.h (the maps) first, then paths.h, connection.h, then what is
 * attached: attend.h, wishes.h, and the congestion controls. */
#include "attend.h"
#include "wishes.h"
#include "cubic.h"
#include "bbr.h"
#include "session.h"
