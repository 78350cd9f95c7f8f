"""zstd and XXH3, loaded from system libraries with ctypes or from Python packages.

SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import ctypes
import functools
from typing import Callable

from ._errors import refused


def _load(*names: str):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@functools.lru_cache(maxsize=1)
def unzstd() -> Callable[[bytes, int], bytes]:
    """Return a function (frame, size) -> bytes that raises ValueError unless the frame has that content size."""
    lib = _load("libzstd.so.1", "libzstd.1.dylib")
    if lib is not None:
        lib.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
        lib.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        lib.ZSTD_findFrameCompressedSize.restype = ctypes.c_size_t
        lib.ZSTD_findFrameCompressedSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        lib.ZSTD_decompress.restype = ctypes.c_size_t
        lib.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]

        def by_library(frame: bytes, size: int) -> bytes:
            told = lib.ZSTD_getFrameContentSize(frame, len(frame))
            if told != size or lib.ZSTD_findFrameCompressedSize(frame, len(frame)) != len(frame):
                raise ValueError(f"{len(frame)} bytes are not a zstd frame of a chunk of {size} bytes")
            out = ctypes.create_string_buffer(max(size, 1))
            if lib.ZSTD_decompress(out, size, frame, len(frame)) != size:
                raise ValueError(f"zstd frame of {len(frame)} bytes is damaged")
            return out.raw[:size]

        return by_library
    try:
        import zstandard
    except ImportError:
        raise refused("UNSUPPORTED", "compressed variables need libzstd (Debian packages libzstd1 or "
                      "python3-zstandard)") from None

    def by_package(frame: bytes, size: int) -> bytes:
        try:
            if zstandard.get_frame_parameters(frame).content_size != size:
                raise ValueError(f"{len(frame)} bytes are not a zstd frame of a chunk of {size} bytes")
            return zstandard.ZstdDecompressor().decompress(frame, max_output_size=size)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error

    return by_package


@functools.lru_cache(maxsize=1)
def xxh3() -> Callable[[bytes], int]:
    """Return the function XXH3 (64 bits, seed 0) of bytes."""
    lib = _load("libxxhash.so.0", "libxxhash.0.dylib")
    if lib is not None and hasattr(lib, "XXH3_64bits"):
        lib.XXH3_64bits.restype = ctypes.c_uint64
        lib.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        return lambda data: lib.XXH3_64bits(bytes(data), len(data))
    try:
        import xxhash
    except ImportError:
        raise refused("UNSUPPORTED", "checksums need libxxhash (Debian packages libxxhash0 or python3-xxhash)") from None
    return lambda data: xxhash.xxh3_64_intdigest(bytes(data))
