/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Prints each of its arguments, nanoseconds, in seconds as bpf/fixed.h has them: shares. */
#define LOWTIDE_NATIVE
#include "fixed.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	for (int n = 1; n < argc; n++)
		printf("%llu\n", seconds(strtoull(argv[n], NULL, 10)));
	return 0;
}
