/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "rtt_gain.h"
#define FLOWS rtt_gain_flows
#include "program.h"

PROGRAM(rtt_gain, "rtt_gain");
