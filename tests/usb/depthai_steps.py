"""Luxonis' depthai against a virtual stick: depthai_steps.py VPU PRELOAD

What depthai does before its own firmware has to answer: it lists the stick with the
serial number that it asks the boot ROM for, boots it with its firmware, finds it
again by that number, and opens the link and two streams (docs/usb.md, "depthai").
The last line counts.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time

HOST = """
import depthai
found = depthai.Device.getAllAvailableDevices()
for d in found:
    print(d, flush=True)
depthai.Device(depthai.OpenVINO.VERSION_2022_1, found[0])
"""

vpu, preload = sys.argv[1:]
passed = failed = 0


def read(path):
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def appears(path, pattern, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if re.search(pattern, read(path)):
            return True
        time.sleep(0.05)
    return False


def check(what, ok, *files):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
    print("  %s depthai: %s" % ("ok  " if ok else "FAIL", what))
    if not ok:
        for path in files:
            for line in read(path).splitlines()[-20:]:
                print("       " + line)


with tempfile.TemporaryDirectory() as work, socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    at = "127.0.0.1:%d" % free.getsockname()[1]
    free.close()
    packets, log, out = (os.path.join(work, n) for n in ("packets", "stick", "host"))
    with open(log, "w") as to:
        stick = subprocess.Popen(
            [vpu, "stick", "--usbip=" + at, "--xlink", "A", "--log=" + packets], stdout=to, stderr=to
        )
    host = None
    try:
        check("the stick listens", appears(log, "usbip attach"), log)
        with open(out, "w") as to:
            host = subprocess.Popen(
                [sys.executable, "-c", HOST],
                stdout=to,
                stderr=to,
                env=dict(os.environ, LD_PRELOAD=preload, VPU_USBIP=at, HOME=work),
            )
        check(
            "is listed, its serial number read from the boot ROM",
            appears(out, r"mxid=[0-9A-F]{18}, X_LINK_UNBOOTED, X_LINK_USB_VSC, X_LINK_MYRIAD_X, X_LINK_SUCCESS"),
            out,
            log,
        )
        check("is booted", appears(log, r"stick: booted"), out, log)
        check(
            "is found again, and opened",
            appears(packets, r"-> __rpc_main: CREATE_STREAM response"),
            out,
            log,
            packets,
        )
        check(
            "takes calls, and the packets of a watchdog",
            appears(packets, r"<- __rpc_main: data: WRITE request")
            and appears(packets, r"-> __watchdog: READ_REL request"),
            out,
            packets,
        )
    finally:
        if host:
            host.kill()
            host.wait()
        stick.terminate()  # as a shell does: it may have been started with SIGINT ignored
        try:
            stick.wait(20)
        except subprocess.TimeoutExpired:
            stick.kill()
            check("the stick ends", False, log)
print("%d passed, %d failed" % (passed, failed))
sys.exit(failed != 0)
