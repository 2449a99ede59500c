"""Whether there is one."""


def check_hip_availability():
    return False
