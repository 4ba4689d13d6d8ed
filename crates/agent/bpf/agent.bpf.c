/* SPDX-License-Identifier: GPL-2.0-only */
/* The agent's programs: this file and the headers that it includes are ONE translation unit.
 * Function bodies lie in headers for three reasons. clang makes one object of one file, and the
 * loader takes one object. Most functions are inlined into the operations that the kernel calls for
 * each ACK: a call costs there, and the verifier follows a global function without knowing that its
 * argument is a socket. And tests compile the headers that are arithmetic alone for this machine.
 *
 * Each header includes what it needs. Read them in this order: contract.h (the maps; checked
 * against src/contract/layout.rs at build time), paths.h (the memory), reserve.h (who gets how much
 * of it), connection.h (one connection and its phases), opening.h, progress.h and ending.h (how it
 * goes), starts.h and pauses.h (what becomes of it later), and then what is attached: attend.h,
 * receive.h, hints.h, the congestion controls, in the place of these window.h, and report.h. A dry
 * run loads the program of window.h alone. */
#include "attend.h"
#include "receive.h"
#include "hints.h"
#include "cubic.h"
#include "bbr.h"
#include "session.h"
#include "window.h"
#include "report.h"
