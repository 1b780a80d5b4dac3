/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "ebcc.h"
#define FLOWS ebcc_flows
#include "program.h"

PROGRAM(ebcc, "ebcc");
