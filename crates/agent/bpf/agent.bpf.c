/* SPDX-License-Identifier: GPL-2.0-only */
/* The agent's programs, one object. Read contract.h (the maps) first, then paths.h, connection.h, then what is
 * attached: attend.h, receive.h, hints.h, the congestion controls, and, in the place of these, window.h. */
#include "attend.h"
#include "receive.h"
#include "hints.h"
#include "cubic.h"
#include "bbr.h"
#include "session.h"
#include "window.h"
