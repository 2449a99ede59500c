# What programs read of the environment, and put into it, before they make kernels.
import os
from os import environ, getenv

print(getenv("TILE_TEST_UNSET"), getenv("TILE_TEST_UNSET", "7"), environ.get("TILE_TEST_UNSET", 3), "TILE_TEST_UNSET" in os.environ)
os.environ["TILE_TEST_OWN"] = "1"
print(os.environ["TILE_TEST_OWN"], os.environ.setdefault("TILE_TEST_OWN", "2"), os.getenv("TILE_TEST_OWN"), os.environ.pop("TILE_TEST_OWN"), "TILE_TEST_OWN" in environ)
try:
    os.environ["TILE_TEST_UNSET"]
except KeyError as error:
    print("KeyError", error)
