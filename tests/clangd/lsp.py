"""clangd as an editor has it: a process, and messages of the Language Server Protocol."""
import json
import os
import queue
import subprocess
import threading

SECONDS = 60


class Failed(Exception):
    """The server ended, said nothing for too long, or refused a request."""


class Server:
    """One clangd. `with Server("clangd-19", folder) as s:`"""

    def __init__(self, program, folder):
        self.folder = folder
        self.next = 0
        self.opened = 0  # versions of texts: what comes for an older one is not meant
        self.found = {}  # diagnostics by uri and version
        self.messages = queue.Queue()
        # Nothing of the person's own: no configuration, no index on disk.
        env = dict(os.environ, HOME=folder, XDG_CONFIG_HOME=folder, XDG_CACHE_HOME=folder)
        self.process = subprocess.Popen(
            [program, "--log=error", "--background-index=false", "-j=2"], cwd=folder, env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", {
            "processId": os.getpid(), "rootUri": "file://" + folder,
            "capabilities": {"textDocument": {"hover": {"contentFormat": ["plaintext"]}}}})
        self.tell("initialized", {})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.ask("shutdown", None)
            self.tell("exit", None)
            self.process.wait(SECONDS)
        except (Failed, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()

    def _read(self):
        """Every message, and None at the end."""
        while True:
            length = None
            for line in iter(self.process.stdout.readline, b"\r\n"):
                if not line:
                    self.messages.put(None)
                    return
                name, _, value = line.decode("ascii").partition(":")
                if name.lower() == "content-length":
                    length = int(value)
            self.messages.put(json.loads(self.process.stdout.read(length)))

    def _send(self, message):
        body = json.dumps(dict(message, jsonrpc="2.0")).encode("utf-8")
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _take(self):
        try:
            message = self.messages.get(timeout=SECONDS)
        except queue.Empty:
            raise Failed("clangd says nothing for %d s" % SECONDS) from None
        if message is None:
            raise Failed("clangd has ended")
        if message.get("method") == "textDocument/publishDiagnostics":
            told = message["params"]
            self.found[told["uri"], told.get("version")] = told["diagnostics"]
        elif "method" in message and "id" in message:  # it asks us: nothing
            self._send({"id": message["id"], "result": None})
        return message

    def tell(self, method, params):
        """A notification."""
        self._send({"method": method, "params": params})

    def ask(self, method, params):
        """A request; its result."""
        self.next += 1
        mine = self.next
        self._send({"id": mine, "method": method, "params": params})
        while True:
            message = self._take()
            if message.get("id") == mine and "method" not in message:
                if "error" in message:
                    raise Failed("%s: %s" % (method, message["error"].get("message")))
                return message.get("result")

    def diagnostics(self, path, text=None, language="opencl"):
        """Opens a file, and gives what is found in it; text, language: what the editor has."""
        self.opened += 1
        key = "file://" + path, self.opened
        if text is None:
            with open(path, encoding="utf-8") as f:
                text = f.read()
        self.tell("textDocument/didOpen", {"textDocument": {
            "uri": key[0], "languageId": language, "version": key[1], "text": text}})
        while key not in self.found:
            self._take()
        return self.found[key]

    def close(self, path):
        """The editor closes it."""
        self.tell("textDocument/didClose", {"textDocument": {"uri": "file://" + path}})

    def hover(self, path, line, column):
        """What it shows at a place, from 0; "" for nothing."""
        shown = self.ask("textDocument/hover", {
            "textDocument": {"uri": "file://" + path},
            "position": {"line": line, "character": column}})
        return shown["contents"]["value"] if shown else ""
