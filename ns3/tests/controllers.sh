#!/usr/bin/env bash
# Every controller of the library fills a link in ns-3, whose host keeps the contract, and mistakes on the
# command line are named.
#   tests/controllers.sh RUNNER NAME...
set -euo pipefail
runner="$1"
shift
export NS_ATTRIBUTE_DEFAULT="ns3::LowtideTcp::Checked=true"
for name in "$@"; do
  json="$("$runner" --rate 10mbit --rtt 20ms --buffer 2bdp --duration 10s --cc "$name")"
  rate="$(sed -n 's/^      "throughput_mbps": \(.*\),$/\1/p' <<<"$json")"
  awk -v rate="$rate" 'BEGIN { exit !(rate > 8.5 && rate <= 10.01) }' ||
    { echo "$name: $rate Mbit/s over a link of 10" >&2; exit 1; }
done
for wrong in "--rate 10" "--rate 10mbit --buffer 2" "--rtt 20ms" "--rate 10mbit --flow 2"; do
  # shellcheck disable=SC2086
  "$runner" $wrong >/dev/null 2>&1 && { echo "accepted: $wrong" >&2; exit 1; }
done
exit 0
