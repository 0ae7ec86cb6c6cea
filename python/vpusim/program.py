"""Programs and the kernels in them."""
from __future__ import annotations

import os
from typing import Any, Iterable, List, NamedTuple, Optional, Union

from . import _options
from ._cdef import Space
from ._handle import Guard, Handle, Object, call
from ._library import ffi, lib, text
from .context import Context


class Argument(NamedTuple):
    """An argument of a kernel."""

    name: str
    type: str  #: as in the source: "half*", "int"
    space: Space


class Program(Object):
    """OpenCL C as text, or a file (.cl, or a .bin that `vpu cc` has made).

    Kernels are attributes and items: `program.scale`, `program["scale"]`; `program.kernel()` is
    the only one. Nothing is compiled before a kernel is asked for. With `images` the source may
    use 2-D images, which are tensors then (docs/bindings.md, "Images in buffers").
    """

    def __init__(self, context: Context, source: Optional[str] = None, *,
                 name: Optional[str] = None,
                 file: Union[str, "os.PathLike[str]", None] = None,
                 build_options: Iterable[str] = (), images: bool = False) -> None:
        owner = context._use()
        options, keep = _options.fill("vpu_program_options", source=source, name=name, file=file,
                                      build_options=list(build_options) or None,
                                      images=images)
        out = ffi.new("vpu_program **")
        call(owner.guard, lib.vpu_program_create, out, owner.pointer, options)
        del keep
        self.context = context
        self._sink = context._sink
        self._handle = Handle(out[0], lib.vpu_program_free, Guard(), self._sink)
        self._sink.drain()

    def kernel(self, name: Optional[str] = None) -> "Kernel":
        """The kernel of that name, or the only one; compiled now."""
        handle = self._use()
        out = ffi.new("const vpu_kernel **")
        c_name = ffi.NULL if name is None else _options.encode(name, "name")
        call(handle.guard, lib.vpu_program_kernel, handle.pointer, c_name, out)
        self._sink.drain()
        return Kernel(self, out[0])

    def __getitem__(self, name: str) -> "Kernel":
        return self.kernel(name)

    def __getattr__(self, name: str) -> "Kernel":
        if name.startswith("_"):
            raise AttributeError(name)
        from ._errors import CompileError
        try:
            return self.kernel(name)
        except CompileError as error:
            raise AttributeError(str(error)) from error


class Kernel:
    """A kernel of a program."""

    def __init__(self, program: Program, pointer: Any) -> None:
        self.program = program
        self._pointer = pointer
        self.name = text(lib.vpu_kernel_name(pointer))
        #: Arguments in the order of the source.
        self.arguments: List[Argument] = [
            Argument(text(lib.vpu_kernel_argument_name(pointer, i)),
                     text(lib.vpu_kernel_argument_type(pointer, i)),
                     Space(lib.vpu_kernel_argument_space(pointer, i)))
            for i in range(lib.vpu_kernel_argument_count(pointer))]

    def _use(self) -> Any:
        self.program._use()
        return self._pointer

    @property
    def vector_factor(self) -> int:
        """Work-items of dimension 0 that run as one; 1: the kernel is not vectorized."""
        return int(lib.vpu_kernel_vector_factor(self._use()))

    @property
    def not_vectorized(self) -> Optional[str]:
        """Why it is not vectorized; None: it is."""
        return text(lib.vpu_kernel_not_vectorized(self._use())) or None

    @property
    def local_bytes(self) -> int:
        """Bytes of __local arrays in the source, without those of arguments."""
        return int(lib.vpu_kernel_local_bytes(self._use()))

    def __repr__(self) -> str:
        arguments = ", ".join(f"{a.type} {a.name}" for a in self.arguments)
        return f"<vpusim.Kernel {self.name}({arguments})>"
