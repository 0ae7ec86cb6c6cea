"""vpu dap as an editor has it: a process, driven with dap-python's client.

dap-python builds the requests and checks what comes back against its types. Version 0.5.0
has four things otherwise than the protocol, which `Handler` below mends: responses
without a body of their own are checked as bodies, hitBreakpointIds are texts there, and the
disassemble request drops instructionOffset, and its rows their address (`Session.raw`).
"""
import os
import select
import subprocess
import time

import dap
import dap.base
import dap.events
import dap.handler
import dap.responses

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GRN = os.path.join(ROOT, "kernels", "grn", "layer.xml")
GRN_CL = os.path.join(ROOT, "kernels", "grn", "grn.cl")
SECONDS = 20


class Handler(dap.handler.Handler):
    """What comes, as (message, its body checked by dap-python)."""

    def handle_event(self, event):
        body = event
        if event.event == "stopped":
            event = event.model_copy(deep=True)
            event.body["hitBreakpointIds"] = [
                str(int(i)) for i in event.body.get("hitBreakpointIds", [])]
        body = super().handle_event(event)
        return event, body

    def handle_response(self, response):
        if response.request_seq not in self.client._pending_requests:
            return response, response  # to bytes that were no request
        try:
            body = super().handle_response(response)
        except ValueError:
            if response.body:  # one that has a body must have the right one
                raise
            body = response
        self.client._pending_requests.pop(response.request_seq, None)
        return response, body


class Failed(Exception):
    """The adapter refused a request; its message."""


class Session:
    """One adapter process. Requests by name: `s.ask("next", 1)` calls the client's `next`."""

    def __init__(self, vpu, folder=ROOT, **client):
        self.client = dap.Client("vpu", **client)
        self.client.handler = Handler(self.client)
        self.process = subprocess.Popen(
            [vpu, "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder,
            env=dict(os.environ, XDG_CACHE_HOME=os.path.join(ROOT, "build", "dap", "cache")))
        self.events, self.answers = [], {}
        self.raw = None  # the last response's body, where dap-python drops what it has
        self.capabilities = self.response(1)

    def send(self):
        self.process.stdin.write(self.client.send())
        self.process.stdin.flush()

    def receive(self, seconds=SECONDS):
        """More of what comes; False: the adapter has ended."""
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        if not ready:
            raise AssertionError("the adapter is silent")
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        for message, body in self.client.receive(data):
            if message.type == "event":
                self.events.append((message.event, body))
            else:
                self.answers[message.request_seq] = (message, body)
        left = bytes(self.client._receive_buf[:16])
        assert not left or b"Content-Length: ".startswith(left[:16]), "stray bytes: %r" % left
        return bool(data)

    def response(self, seq):
        self.send()
        while seq not in self.answers:
            assert self.receive(), "the adapter has ended"
        message, body = self.answers.pop(seq)
        if not message.success:
            raise Failed(message.message)
        self.raw = message.body
        return body

    def ask(self, name, *words, **named):
        return self.response(getattr(self.client, name)(*words, **named))

    def request(self, command, arguments=None):
        return self.response(self.client.send_request(command, arguments))

    def event(self, name, seconds=SECONDS):
        until = time.monotonic() + seconds
        while True:
            for k, (this, body) in enumerate(self.events):
                if this == name:
                    del self.events[k]
                    return body
            assert time.monotonic() < until, "no event '%s'" % name
            assert self.receive(), "the adapter has ended"

    # --- what tests do again and again

    def launch(self, arguments, configure=None):
        """As an editor does it: breakpoints between launch and configurationDone."""
        self.event("initialized")
        seq = self.client.send_request("launch", arguments)
        if configure:
            configure(self)
        done = self.client.configuration_done()
        self.response(seq)
        self.response(done)
        return self

    def breakpoints(self, *list_of, path=GRN_CL):
        return self.ask("set_breakpoints", {"path": path}, list(list_of)).breakpoints

    def stop(self, reason):
        body = self.event("stopped")
        assert body.reason == reason, "stopped by %s (%s), not %s" % (
            body.reason, body.text, reason)
        return body

    def frames(self):
        return self.ask("stack_trace", 1).stackFrames

    def line(self):
        return self.frames()[0].line

    def scope(self, name, frame=0):
        """The variablesReference of a scope."""
        scopes = self.ask("scopes", self.frames()[frame].id).scopes
        return next(s for s in scopes if s.name == name)

    def variables(self, reference, **paging):
        return self.ask("variables", reference, **paging).variables

    def locals(self):
        return {v.name: v.value for v in self.variables(
            self.scope("Locals").variablesReference)}

    def value(self, expression):
        return self.ask("evaluate", expression, frame_id=self.frames()[0].id,
                        context="watch").result

    def children(self):
        """Processes below the adapter's."""
        done = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True,
                              text=True, check=False)
        return done.stdout.split()

    def ends(self, seconds):
        """Reads what is left until the adapter has ended; its exit status."""
        until = time.monotonic() + seconds
        while self.receive(max(0.0, until - time.monotonic())):
            pass
        return self.process.wait(max(0.01, until - time.monotonic()))

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def grn(**more):
    """A launch of the sample GRN, 1x16x4x8."""
    return dict({"program": GRN, "args": ["--layer", "GRN", "--shape", "in0=1x16x4x8",
                                          "--param", "bias=1.0"]}, **more)
