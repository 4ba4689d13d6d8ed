/* SPDX-License-Identifier: GPL-2.0-only */
/* The agent's programs: this file and the headers that it includes are ONE translation unit.
 * Function bodies lie in headers for three reasons. clang makes one object of one file, and the
 * loader takes one object. Most functions are inlined into the operations that the kernel calls for
 * each ACK: a call costs there. The verifier also follows a global function without knowing that
 * its argument is a socket. And tests compile the headers that are arithmetic alone for this
 * machine.
 *
 * Each header includes what it needs. Read them in this order. The maps are in contract.h, which
 * the build compares with src/contract/layout.rs. The memory is in paths.h, and reserve.h divides a
 * remembered window among connections. One connection and its phases are in connection.h;
 * opening.h, progress.h and ending.h follow it from its handshake to its close. The headers
 * starts.h and pauses.h handle restarts after idle times. The attached programs come last:
 * `hook.h`, receive.h, hints.h, the congestion controls (or window.h instead of them), and
 * report.h. A dry run loads the program of window.h alone. */
#include "hook.h"
#include "receive.h"
#include "hints.h"
#include "cubic.h"
#include "bbr.h"
#include "session.h"
#include "window.h"
#include "report.h"
