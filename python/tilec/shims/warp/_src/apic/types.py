"""What C has of the files of saved graphs."""

import ctypes

from warp._src import absent


class APICModuleBytes(ctypes.Structure):
    """A module's file: its name and its bytes."""

    _fields_ = [("filename", ctypes.c_char_p), ("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


__getattr__ = absent(__name__)
