/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "bbr_acd.h"
#define FLOWS bbr_acd_flows
#include "program.h"

PROGRAM(bbr_acd, "bbr_acd");
