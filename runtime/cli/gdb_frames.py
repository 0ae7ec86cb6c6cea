# For the gdb that vpu run --gdb starts: backtrace ends at the kernel, whose code
# gdb knows through its JIT interface; below it the simulator calls, which is no
# business of the kernel's. `backtrace -no-filters` shows everything.
import gdb


class KernelFrames:
    def __init__(self):
        self.name, self.priority, self.enabled = "vpu", 100, True
        gdb.frame_filters[self.name] = self

    @staticmethod
    def is_kernel(decorator):
        function = decorator.inferior_frame().function()
        return function is not None and \
            function.symtab.objfile.filename.startswith("<in-memory")

    def filter(self, frames):
        stack = list(frames)
        kernel = [k for k, frame in enumerate(stack) if self.is_kernel(frame)]
        return iter(stack[:kernel[-1] + 1] if kernel else stack)


KernelFrames()
