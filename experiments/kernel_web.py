#!/usr/bin/env python3
"""A web server behind a slow link, with one controller of the kernel after the other.

    experiments/kernel_web.py [--link "FLAGS"] [--runs N] CONTROLLER...

nginx serves files to h2load over 'lowtide link', through 1, 10 and 200 connections; the server's route
names the controller. Prints, in Markdown, the time until all is there, the mean time of a request, and
the queueing delay of the server's packets at the link. Needs root, Linux, nginx, h2load (Debian:
nghttp2-client), and controllers that are loaded ('lowtide kernel load NAME --pin'). docs/kernel.md says what
came of it.
"""

import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

from program import BUILT

# Connections, bytes of a file, files.
LOADS = [(1, 20_000_000, 1), (10, 1_000_000, 40), (200, 100_000, 400)]
NGINX = """
daemon off; master_process off; pid {folder}/pid; error_log /dev/null;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{ listen 8080 backlog=4096; root {folder}; }}
}}
"""
# The route to the link's other end: its prefix and its device.
SERVER = "set -- $(ip -o route show scope link); ip route replace $1 dev $3 congctl {controller}; " \
    "exec nginx -c {folder}/nginx.conf"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("controllers", nargs="+", metavar="CONTROLLER", help="name in the kernel")
    parser.add_argument("--link", default="--rate 50mbit --rtt 40ms --buffer 2bdp", help="of lowtide link")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--lowtide", default=os.path.join(BUILT, "lowtide"))
    return parser.parse_args()


def in_seconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|min)", text).groups()
    return float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60}[unit]


def run(args, folder, controller, connections, size, files):
    """Seconds until all is there, seconds of a mean request, mean and 95th percentile of the queueing delay in ms."""
    summary = os.path.join(folder, "link.json")
    server = SERVER.format(controller=controller, folder=folder)
    client = f"h2load --h1 -n {files} -c {connections} http://$LOWTIDE_LINK_PEER:8080/{size}"
    done = subprocess.run(
        [args.lowtide, "link", "--quiet", *shlex.split(args.link), f"--json={summary}",
         "--peer", server, "--", "sh", "-c", client],
        capture_output=True, text=True, check=False)
    if f"{files} succeeded" not in done.stdout:
        sys.exit(f"{controller}: {done.stderr}{done.stdout}")
    total = in_seconds(re.search(r"finished in (\S+),", done.stdout).group(1))
    request = in_seconds(re.search(r"time for request:\s+\S+\s+\S+\s+(\S+)", done.stdout).group(1))
    with open(summary, encoding="utf-8") as file:
        delay = json.load(file)["down"]["queue_delay_ms"]
    return total, request, delay["mean"], delay["p95"]


def main():
    args = arguments()
    print("| connections × file | controller | all there, s | a request, s | queueing delay, ms: mean | p95 |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        with open(os.path.join(folder, "nginx.conf"), "w", encoding="ascii") as file:
            file.write(NGINX.format(folder=folder))
        for connections, size, files in LOADS:
            with open(os.path.join(folder, str(size)), "wb") as file:
                file.write(os.urandom(size))
            all_runs = {controller: [] for controller in args.controllers}
            for _ in range(args.runs):
                for controller in args.controllers:
                    all_runs[controller].append(run(args, folder, controller, connections, size, files))
            for controller, runs in all_runs.items():
                total, request, mean, p95 = (statistics.mean(values) for values in zip(*runs))
                print(f"| {connections} × {size / 1e6:g} MB, {files} | {controller} | {total:.2f} | "
                      f"{request:.3f} | {mean:.1f} | {p95:.1f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
