"""The declarations, the library that is found, versions, options."""
import os
import subprocess
import sys

import pytest

import vpusim
from vpusim import _cdef, _library, _options


def run_python(code, **environment):
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment},
                          capture_output=True, text=True)


def test_declarations_are_the_headers(root):
    subprocess.run([sys.executable, "scripts/python-cdef", "--check"], cwd=root, check=True)


def test_a_stale_file_is_found(root, tmp_path):
    for path in ("include/vpusim/vpu.h", "include/vpusim/status.h", "VERSION"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text((root / path).read_text())
    (tmp_path / "python/vpusim").mkdir(parents=True)
    script = [sys.executable, str(root / "scripts/python-cdef")]
    assert subprocess.run(script + ["--check"], cwd=tmp_path).returncode == 1
    subprocess.run(script, cwd=tmp_path, check=True)
    subprocess.run(script + ["--check"], cwd=tmp_path, check=True)
    header = tmp_path / "include/vpusim/vpu.h"
    header.write_text(header.read_text().replace("VPU_F16 = 1", "VPU_F16 = 9"))
    assert subprocess.run(script + ["--check"], cwd=tmp_path).returncode == 1
    (tmp_path / "VERSION").write_text("9.9.9\n")
    assert subprocess.run(script, cwd=tmp_path).returncode == 1


def test_every_declared_function_is_exported():
    import re
    names = set(re.findall(r"\b(vpu_\w+)\(", _cdef.DECLARATIONS))
    assert len(names) > 80
    for name in names:
        assert getattr(_library.lib, name)


def test_enums_are_the_headers():
    assert vpusim.Status.STOPPED == -14
    assert vpusim.Type.F16 == 1 and vpusim.Role.VIRTUAL == 4
    assert vpusim.Capability.TRACE | vpusim.Capability.CHECK == 10


def test_version_is_the_repositorys(root):
    assert vpusim.__version__ == (root / "VERSION").read_text().strip()
    assert os.path.basename(vpusim.library_path).startswith("libvpusim.so.0")


def test_other_releases_are_refused_with_both_numbers():
    major, minor, _ = vpusim.__version__.split(".")
    _library.check_version(f"{major}.{minor}.99", _cdef.API_VERSION + 1, "lib")
    with pytest.raises(ImportError, match=rf"{vpusim.__version__}.*7\.5\.0"):
        _library.check_version("7.5.0", _cdef.API_VERSION, "lib")
    with pytest.raises(ImportError, match="API version"):
        _library.check_version(vpusim.__version__, 0, "lib")


def test_a_missing_library_is_told(tmp_path):
    done = run_python("import vpusim", VPUSIM_LIBRARY=str(tmp_path / "none.so"))
    assert done.returncode == 1
    assert "VPUSIM_LIBRARY" in done.stderr and "none.so" in done.stderr


def test_the_library_is_found_by_its_soname():
    folder = os.path.dirname(vpusim.library_path)
    done = run_python("import vpusim; print(vpusim.library_path)", VPUSIM_LIBRARY="",
                      LD_LIBRARY_PATH=folder)
    assert done.stdout.strip() == os.path.realpath(vpusim.library_path), done.stderr


def test_another_library_is_refused():
    done = run_python("import vpusim", VPUSIM_LIBRARY="libm.so.6")
    assert done.returncode == 1 and "no libvpusim" in done.stderr


def test_options_are_the_structures_members():
    made, keep = _options.fill("vpu_context_options", backend="sim", shaves=3, engine="interpreted",
                               settings={"a": 1, "b": "x"}, build_options="-DN=4", timeout=2.5)
    ffi = _library.ffi
    assert made.struct_size == ffi.sizeof("vpu_context_options")
    assert made.shaves == 3 and made.engine == 2 and made.timeout == 2.5
    assert [ffi.string(made.settings[i]) for i in range(made.n_settings)] == [b"a=1", b"b=x"]
    assert ffi.string(made.build_options[0]) == b"-DN=4" and made.n_build_options == 1
    assert len(keep) >= 3


@pytest.mark.parametrize("options, error, words", [
    ({"shaevs": 1}, TypeError, "shaves"),
    ({"shaves": "many"}, TypeError, "shaves is 'many'"),
    ({"shaves": 2**40}, OverflowError, "shaves"),
    ({"engine": "fast"}, ValueError, "'interpreted'"),
    ({"machine": "a\0b"}, ValueError, "zero byte"),
    ({"machine": 5}, TypeError, "path"),
    ({"log": print}, TypeError, "logging"),
])
def test_wrong_options(options, error, words):
    with pytest.raises(error, match=words):
        vpusim.Context(**options)


def test_devices():
    found = {d.id: d for d in vpusim.devices()}
    assert found["sim"].usable
    assert not found["replay"].usable and found["replay"].why_not
