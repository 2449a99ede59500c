"""Messages of Warp's: to standard error or output, or to who asks for them."""

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


def _matches(pattern, text):
    return pattern is None or (pattern == text if isinstance(pattern, str) else pattern.match(text) is not None)


def _action(message, category):
    """What the program's filters say of a warning, as of one of its own file's."""
    for action, words, kind, module, line in warnings.filters:
        if issubclass(category, kind) and line == 0 and _matches(words, message) and _matches(module, "__main__"):
            return action
    return "default"


class LoggerBasic:
    def debug(self, message):
        print(message)

    def info(self, message):
        print(message)

    def warning(self, message, category=None, stacklevel=1):
        category = category or UserWarning
        action = _action(str(message), category)
        if action == "error":
            raise category(message)
        if action != "ignore":
            print(f"Warp {category.__name__}: {message}", file=sys.stderr)

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
    if _shows(LOG_DEBUG):
        _logger.debug(message)


def log_info(message):
    if _shows(LOG_INFO):
        _logger.info(message)


def log_error(message):
    _logger.error(message)


def log_warning(message, category=None, stacklevel=1, once=False):
    if not _shows(LOG_WARNING):
        return
    if once or category is DeprecationWarning:
        if (category, message) in _warnings_seen:
            return
        _warnings_seen.add((category, message))
    _logger.warning(message, category, stacklevel + 2)
