/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "ebb.h"
#define FLOWS ebb_flows
#include "program.h"

PROGRAM(ebb, "ebb");
