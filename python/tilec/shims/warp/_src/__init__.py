"""Names of Warp's insides that its tests ask."""
