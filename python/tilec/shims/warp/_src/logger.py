"""Messages of Warp's: to standard error, or to who asks for them."""

import sys

LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR = 10, 20, 30, 40
_warnings_seen = set()


class LoggerBasic:
    def debug(self, message):
        pass

    def info(self, message):
        print(message)

    def warning(self, message, category=None, stacklevel=1):
        print(f"Warp {(category or UserWarning).__name__}: {message}", file=sys.stderr)

    def error(self, message):
        print(f"Warp Error: {message}", file=sys.stderr)


_logger = LoggerBasic()


def set_logger(logger):
    global _logger
    _logger = LoggerBasic() if logger is None else logger


def get_logger():
    return _logger


def log_debug(message):
    _logger.debug(message)


def log_info(message):
    _logger.info(message)


def log_error(message):
    _logger.error(message)


def log_warning(message, category=None, stacklevel=1, once=False):
    if once:
        if (category, message) in _warnings_seen:
            return
        _warnings_seen.add((category, message))
    _logger.warning(message, category, stacklevel)
