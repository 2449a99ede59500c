"""What Warp's tests ask of captures for files."""
