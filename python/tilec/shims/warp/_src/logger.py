"""Messages of Warp's: to standard error or output, or to who asks for them."""

import linecache
import sys
import warnings
from typing import Protocol

LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR = 10, 20, 30, 40
_warnings_seen = set()


class Logger(Protocol):
    """What takes messages."""

    def debug(self, message): ...

    def info(self, message): ...

    def warning(self, message, category=None, stacklevel=1): ...

    def error(self, message): ...


def _told(message, category, filename, lineno, line=None):
    from warp import config

    text = f"Warp {category.__name__}: {message}"
    if config.verbose_warnings:
        line = linecache.getline(filename, lineno) if line is None else line
        text += f" ({filename}:{lineno})" + (f"\n  {line.strip()}" if line else "")
    return text


def _show(message, category, filename, lineno, file=None, line=None):
    print(_told(message, category, filename, lineno, line), file=sys.stderr)


class LoggerBasic:
    def debug(self, message):
        print(message)

    def info(self, message):
        print(message)

    def warning(self, message, category=None, stacklevel=1):
        """By Python's warnings, which the program's filters are asked about."""
        with warnings.catch_warnings():
            warnings.showwarning = _show
            warnings.warn(message, category, stacklevel=stacklevel)

    def error(self, message):
        print(f"Warp Error: {message}", file=sys.stderr)


_logger = LoggerBasic()


def set_logger(logger):
    global _logger
    for name in ("debug", "info", "warning", "error"):
        if logger is not None and not callable(getattr(logger, name, None)):
            raise TypeError(f"a logger has the methods debug, info, warning and error; of {type(logger).__name__} {name} is missing")
    _logger = LoggerBasic() if logger is None else logger


def get_logger():
    return _logger


class ScopedLogger:
    def __init__(self, logger):
        self.logger = logger

    def __enter__(self):
        self.saved = _logger
        set_logger(self.logger)
        return self

    def __exit__(self, *ignored):
        global _logger
        _logger = self.saved


class ScopedLogLevel:
    def __init__(self, level):
        self.level = level

    def __enter__(self):
        from warp import config

        self.saved, config.log_level = config.log_level, self.level
        return self

    def __exit__(self, *ignored):
        from warp import config

        config.log_level = self.saved


def _shows(level):
    from warp import config

    return (config.log_level or LOG_INFO) <= level


def log_debug(message):
    from warp import config

    if _shows(LOG_DEBUG) or config.verbose:
        _logger.debug(message)


def log_info(message):
    if _shows(LOG_INFO):
        _logger.info(message)


def log_error(message):
    _logger.error(message)


def log_warning(message, category=None, stacklevel=1, once=False):
    if not _shows(LOG_WARNING):
        return
    is_once = once or category is DeprecationWarning
    if is_once and (category, message) in _warnings_seen:
        return
    _logger.warning(message, category=category, stacklevel=stacklevel + 2)
    if is_once:
        _warnings_seen.add((category, message))
