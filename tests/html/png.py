"""PNG pictures of 8 bits a channel, no interlacing: what browsers and the tests' references are."""
import struct
import zlib


def chunks(data):
    at = 8
    while at < len(data):
        n, = struct.unpack(">I", data[at:at + 4])
        yield data[at + 4:at + 8], data[at + 8:at + 8 + n]
        at += 12 + n


def unfiltered(raw, stride, step):
    """Lines of pixels; the five filters of the PNG specification are undone."""
    above = bytes(stride)
    for at in range(0, len(raw), stride + 1):
        kind, line = raw[at], bytearray(raw[at + 1:at + 1 + stride])
        for i in range(stride if kind else 0):
            left, up, corner = (line[i - step], above[i], above[i - step]) if i >= step else (0, above[i], 0)
            guess = left + up - corner
            line[i] = (line[i] + (left if kind == 1 else up if kind == 2 else (left + up) // 2 if kind == 3 else
                                  min((left, up, corner), key=lambda v: abs(guess - v)))) & 255
        yield line
        above = line


def read(data):
    """Lines of pixels, each its red, green and blue; ValueError: another kind of picture."""
    parts = list(chunks(data))
    width, _, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    if depth != 8 or kind not in (2, 6) or interlaced:
        raise ValueError("expected 8 bits a channel, no interlacing")
    step = 3 if kind == 2 else 4
    raw = zlib.decompress(b"".join(d for name, d in parts if name == b"IDAT"))
    return [[tuple(line[i:i + 3]) for i in range(0, len(line), step)] for line in unfiltered(raw, width * step, step)]


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def write(width, lines, palette=None):
    """Lines are bytes: red, green and blue of each pixel, or its place in the palette."""
    head = struct.pack(">IIBBBBB", width, len(lines), 8, 3 if palette else 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + \
        (chunk(b"PLTE", b"".join(map(bytes, palette))) if palette else b"") + \
        chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(line) for line in lines), 9)) + chunk(b"IEND", b"")
