"""Chromium without a screen, driven by its debugging protocol over a WebSocket (RFC 6455)."""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

PATIENCE_S = 60


def find():
    """The program's path; None: there is none."""
    for name in (os.environ.get("VPU_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name) if name else None
        if path:
            return path
    return None


class Socket:
    """One end of a WebSocket: whole texts."""

    def __init__(self, url):
        host, path = url.split("://")[1].split("/", 1)
        name, port = host.split(":")
        self.s = socket.create_connection((name, int(port)), timeout=PATIENCE_S)
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall(("GET /%s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n\r\n"
                        % (path, host, key)).encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.take(1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise OSError("no WebSocket: %r" % head[:80])

    def take(self, n):
        data = b""
        while len(data) < n:
            part = self.s.recv(min(n - len(data), 1 << 20))
            if not part:
                raise OSError("the browser hung up")
            data += part
        return data

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        n = len(data)
        size = (struct.pack("!B", 128 | n) if n < 126 else struct.pack("!BH", 254, n) if n < 65536
                else struct.pack("!BQ", 255, n))
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
        self.s.sendall(b"\x81" + size + mask + masked)

    def receive(self):
        whole = b""
        while True:
            first, n = self.take(2)
            n &= 127
            n = struct.unpack("!H", self.take(2))[0] if n == 126 else \
                struct.unpack("!Q", self.take(8))[0] if n == 127 else n
            data = self.take(n)
            if first & 15 > 2:  # pings and the like
                continue
            whole += data
            if first & 128:
                return whole.decode()


class Failed(Exception):
    """The page threw, or the protocol refused."""


class Browser:
    """A page: opens files, gets events, is asked."""

    def __init__(self, program):
        self.dir = tempfile.mkdtemp(prefix="vpu-html-")
        words = [program, "--headless", "--remote-debugging-port=0", "--disable-gpu",
                 "--no-first-run", "--hide-scrollbars", "--user-data-dir=" + self.dir, "about:blank"]
        if os.geteuid() == 0:
            words.insert(1, "--no-sandbox")
        with open(os.path.join(self.dir, "log"), "wb") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, env=dict(os.environ, HOME=self.dir))
        self.next, self.problems, self.requests = 0, [], []
        try:
            self.socket = Socket(self.page_address())
        except BaseException:
            self.close()
            raise
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def page_address(self):
        name, until = os.path.join(self.dir, "DevToolsActivePort"), time.monotonic() + PATIENCE_S
        while time.monotonic() < until and self.process.poll() is None:
            try:
                with open(name, encoding="ascii") as f:
                    port = int(f.readline())
                with urllib.request.urlopen("http://127.0.0.1:%d/json/list" % port, timeout=5) as f:
                    return [t for t in json.load(f) if t["type"] == "page"][0]["webSocketDebuggerUrl"]
            except (OSError, ValueError, IndexError):
                time.sleep(0.1)
        raise Failed("the browser does not start; %s/log" % self.dir)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def heard(self, message):
        """Events: what the console and the network say is kept."""
        method, of = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(of["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and of["type"] in ("error", "warning", "assert") and \
                "willReadFrequently" not in json.dumps(of["args"]):
            self.problems.append(json.dumps(of["args"])[:500])
        elif method == "Log.entryAdded" and of["entry"]["level"] in ("error", "warning") and \
                "willReadFrequently" not in of["entry"]["text"]:  # the tests themselves read pixels
            self.problems.append(of["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(of["request"]["url"])
        return method

    def call(self, method, **params):
        self.next += 1
        self.socket.send(json.dumps({"id": self.next, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.next:
                if "error" in message:
                    raise Failed("%s: %s" % (method, message["error"]))
                return message["result"]
            self.heard(message)

    def ask(self, expression):
        """The value of an expression in the page, as JSON has it."""
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise Failed("%s: %s" % (expression, json.dumps(got["exceptionDetails"])[:500]))
        return got["result"].get("value")

    def open(self, path):
        self.problems, self.requests = [], []
        self.call("Page.navigate", url="file://" + path)
        while self.heard(json.loads(self.socket.receive())) != "Page.loadEventFired":
            pass
        self.settle()

    def settle(self):
        """Until what events asked for is drawn."""
        self.ask("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => f(1))))")

    def size(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.settle()

    def mouse(self, kind, x, y, shift=False, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, modifiers=8 if shift else 0, **more)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.settle()

    def drag(self, x0, y0, x1, y1, shift=False):
        self.mouse("mousePressed", x0, y0, shift, button="left", buttons=1, clickCount=1)
        for i in range(1, 5):
            self.mouse("mouseMoved", x0 + (x1 - x0) * i / 4, y0 + (y1 - y0) * i / 4, shift,
                       button="left", buttons=1)
        self.mouse("mouseReleased", x1, y1, shift, button="left", clickCount=1)
        self.settle()

    def wheel(self, x, y, by):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=by)
        self.settle()

    def key(self, name):
        codes = {"Enter": 13, "Escape": 27, "Home": 36, "Tab": 9}
        text = {"text": name} if len(name) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name,
                  windowsVirtualKeyCode=codes.get(name, ord(name[0].upper())), **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def screenshot(self):
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
