"""What a compiled blob says of its inputs, outputs and stages: enough to test with."""
import struct
from collections import namedtuple

MAGIC = b"\x7felf"
TYPES = {0: "f2", 1: "u1", 2: "i4", 3: "f4", 4: "i1"}
DEFAULT_ORDERS = {1: 0x3, 2: 0x43, 3: 0x321, 4: 0x4321, 5: 0x43521}

Tensor = namedtuple("Tensor", "name type shape order offset")


class Blob:
    """A graph blob, without the header a plug-in's cache puts in front of it."""

    def __init__(self, data):
        start = data.find(MAGIC)
        if start < 0:
            raise ValueError("no blob: the magic is missing")
        self.raw = data[start:]
        (self.size, _, _, inputs, outputs, self.stage_count, self.input_bytes, self.output_bytes,
         self.batch) = struct.unpack_from("<9I", self.raw, 56)
        (self.shaves, ) = struct.unpack_from("<I", self.raw, 100)
        sections = struct.unpack_from("<4I", self.raw, 116)
        self.constants = sections[3]
        self.inputs = self._tensors(sections[0], inputs)
        self.outputs = self._tensors(sections[1], outputs)
        self.stages = self._stages(sections[2])

    def _tensors(self, at, count):
        found = []
        for _ in range(count):
            _, offset, length = struct.unpack_from("<3I", self.raw, at)
            name = self.raw[at + 12:at + 12 + length].split(b"\0")[0].decode()
            kind, order, n, _, dims = struct.unpack_from("<5I", self.raw, at + 12 + length)
            shape = struct.unpack_from("<%dI" % n, self.raw, self.constants + dims)
            # In memory from major to minor.
            found.append(Tensor(name, TYPES[kind], tuple(reversed(shape)), order, offset))
            at += 12 + length + 28
        return found

    def _stages(self, at):
        found = []
        for _ in range(self.stage_count):
            length, kind = struct.unpack_from("<2I", self.raw, at)
            found.append(kind)
            at += length
        return found


def memory_order(tensor, data):
    """An array in the network's order as the tensor has it in memory."""
    n = len(tensor.shape)
    digits = []
    order = tensor.order
    while order:
        digits.append(order & 15)
        order >>= 4
    default = []
    order = DEFAULT_ORDERS.get(n, 0)
    while order:
        default.append(order & 15)
        order >>= 4
    if not default or digits == default or len(digits) != data.ndim:
        return data
    # Major to minor in both; the place of each dimension in the default order.
    default.reverse()
    digits.reverse()
    return data.transpose([default.index(d) for d in digits])
