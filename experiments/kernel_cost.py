#!/usr/bin/env python3
"""What a controller of the kernel costs: processor time per gigabyte, and sockets by the thousand.

    experiments/kernel_cost.py [--path loopback|veth] [--gigabytes N] [--rounds N] [--max-rate N] [--sockets N]
        CONTROLLER...

Each round sends so many gigabytes with each controller in turn, from one process to another, and adds up
the processor time of both. What the kernel does for them outside of their own time (timers, softirqs on
another processor) is not in it; --bpf shows besides what the BPF programs themselves have taken. Where
nothing else limits the flow, its window decides how much is sent at a time, and that the cost;
--max-rate paces all alike.
With --sockets, so many connections are opened instead and each carries 100 kB.

Needs root, Linux, and controllers that are loaded ('lowtide kernel load NAME --pin'). docs/kernel.md says
what came of it.
"""

import argparse
import ctypes
import json
import multiprocessing
import resource
import selectors
import socket
import statistics
import struct
import subprocess
import sys
import time

TCP_CONGESTION = 13
SO_MAX_PACING_RATE = 47
CLONE_NEWNET = 0x40000000
FAR = "10.203.0.1"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("controllers", nargs="+", metavar="CONTROLLER", help="name in the kernel")
    parser.add_argument("--path", choices=["loopback", "veth"], default="loopback")
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--max-rate", type=float, help="Gbit/s at which all are paced alike")
    parser.add_argument("--sockets", type=int, help="open so many connections instead")
    parser.add_argument("--bpf", action="store_true", help="time of the BPF programs (needs bpftool)")
    return parser.parse_args()


def receive(listener, ready):
    """Takes what comes on one connection."""
    ready.set()
    connection, _ = listener.accept()
    buffer = bytearray(1 << 20)
    while connection.recv_into(buffer):
        pass


def cpu(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def in_namespace(name):
    with open(f"/run/netns/{name}", encoding="ascii") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter the namespace {name}")


def far_listener(path, backlog=1):
    if path == "veth":
        in_namespace("lowtide-far")
    listener = socket.create_server((FAR if path == "veth" else "127.0.0.1", 0), backlog=backlog)
    return listener


def transfer(path, controller, size, max_rate):
    """Processor seconds of both ends."""

    def far(to_near):
        listener = far_listener(path)
        to_near.send(listener.getsockname())
        receive(listener, multiprocessing.Event())
        to_near.send(cpu(resource.RUSAGE_SELF))

    def near(to_parent, address):
        if path == "veth":
            in_namespace("lowtide-near")
        sender = socket.socket()
        sender.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, controller.encode())
        if max_rate:
            rate = struct.pack("=Q", int(max_rate * 1e9 / 8))
            sender.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, rate)
        sender.connect(address)
        data = bytes(1 << 20)
        left = size
        began = cpu(resource.RUSAGE_SELF)
        while left > 0:
            left -= sender.send(data)
        sender.close()
        to_parent.send(cpu(resource.RUSAGE_SELF) - began)

    ours, theirs = multiprocessing.Pipe()
    receiver = multiprocessing.Process(target=far, args=(theirs,))
    receiver.start()
    # So that the end of the process is the end of what it says.
    theirs.close()
    address = ours.recv()
    ours2, theirs2 = multiprocessing.Pipe()
    sender = multiprocessing.Process(target=near, args=(theirs2, address))
    sender.start()
    theirs2.close()
    spent = ours2.recv() + ours.recv()
    sender.join()
    receiver.join()
    return spent


def programs():
    """Nanoseconds and calls of all BPF congestion control programs so far."""
    shown = subprocess.run(["bpftool", "-j", "prog"], capture_output=True, text=True, check=True)
    ours = [p for p in json.loads(shown.stdout) if p.get("name", "").startswith("lowtide_")]
    return sum(p.get("run_time_ns", 0) for p in ours), sum(p.get("run_cnt", 0) for p in ours)


def many(path, controller, count):
    """Opens connections, sends on each, and says how long that took."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * count + 1000, 2 * count + 1000))

    def far(to_near):
        listener = far_listener(path, backlog=4096)
        to_near.send(listener.getsockname())
        selector = selectors.DefaultSelector()
        listener.setblocking(False)
        selector.register(listener, selectors.EVENT_READ)
        open_ones, received, accepted = 0, 0, 0
        buffer = bytearray(1 << 20)
        while accepted < count or open_ones > 0:
            for key, _ in selector.select():
                if key.fileobj is listener:
                    connection, _ = listener.accept()
                    connection.setblocking(False)
                    selector.register(connection, selectors.EVENT_READ)
                    open_ones += 1
                    accepted += 1
                    continue
                got = key.fileobj.recv_into(buffer)
                received += got
                if not got:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
                    open_ones -= 1
        to_near.send(received)

    ours, theirs = multiprocessing.Pipe()
    receiver = multiprocessing.Process(target=far, args=(theirs,))
    receiver.start()
    # So that the end of the process is the end of what it says.
    theirs.close()
    address = ours.recv()
    if path == "veth":
        in_namespace("lowtide-near")
    began = time.monotonic()
    senders = []
    for _ in range(count):
        sender = socket.socket()
        sender.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, controller.encode())
        sender.connect(address)
        senders.append(sender)
    connected = time.monotonic() - began
    for sender in senders:
        sender.sendall(bytes(100_000))
    kept = {sender.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16).rstrip(b"\0") for sender in senders}
    with open("/proc/meminfo", encoding="ascii") as info:
        slab = next(line for line in info if line.startswith("Slab"))
    for sender in senders:
        sender.close()
    received = ours.recv()
    receiver.join()
    print(f"{controller}: {count} connections in {connected:.1f} s, {received / 1e6:.0f} MB in "
          f"{time.monotonic() - began:.1f} s, all with {b', '.join(kept).decode()}; {slab.strip()}")


def veth():
    """Two namespaces joined by a pair of devices; returns what removes them."""
    for command in [
        "ip netns add lowtide-near",
        "ip netns add lowtide-far",
        "ip -n lowtide-near link add veth0 type veth peer name veth0 netns lowtide-far",
        "ip -n lowtide-near address add 10.203.0.2/24 dev veth0",
        f"ip -n lowtide-far address add {FAR}/24 dev veth0",
        "ip -n lowtide-near link set veth0 up",
        "ip -n lowtide-far link set veth0 up",
    ]:
        subprocess.run(command.split(), check=True)


def main():
    args = arguments()
    multiprocessing.set_start_method("fork")
    try:
        if args.path == "veth":
            veth()
        if args.sockets:
            for controller in args.controllers:
                run = multiprocessing.get_context("fork").Process
                child = run(target=many, args=(args.path, controller, args.sockets))
                child.start()
                child.join()
                if child.exitcode:
                    return child.exitcode
            return 0
        if args.bpf:
            subprocess.run(["sysctl", "-qw", "kernel.bpf_stats_enabled=1"], check=True)
        size = int(args.gigabytes * 1e9)
        spent = {controller: [] for controller in args.controllers}
        bpf = {controller: [0, 0] for controller in args.controllers}
        for _ in range(args.rounds):
            for controller in args.controllers:
                before = programs() if args.bpf else (0, 0)
                spent[controller].append(transfer(args.path, controller, size, args.max_rate) / args.gigabytes)
                after = programs() if args.bpf else (0, 0)
                for n in range(2):
                    bpf[controller][n] += after[n] - before[n]
        first = args.controllers[0]
        for controller, all_of_it in spent.items():
            ratios = [a / b for a, b in zip(all_of_it, spent[first])]
            ns, calls = bpf[controller]
            programs_say = f", BPF {ns / args.rounds / args.gigabytes / 1e6:.2f} ms/GB, " \
                f"{ns / calls:.0f} ns a call" if calls else ""
            print(f"{controller}: {statistics.median(all_of_it) * 1e3:.0f} ms/GB "
                  f"({min(all_of_it) * 1e3:.0f} to {max(all_of_it) * 1e3:.0f}), "
                  f"{statistics.median(ratios):.3f} of {first}{programs_say}")
        return 0
    finally:
        if args.bpf:
            subprocess.run(["sysctl", "-qw", "kernel.bpf_stats_enabled=0"], check=True)
        if args.path == "veth":
            for name in ["near", "far"]:
                subprocess.run(["ip", "netns", "del", f"lowtide-{name}"], check=False)


if __name__ == "__main__":
    sys.exit(main())
