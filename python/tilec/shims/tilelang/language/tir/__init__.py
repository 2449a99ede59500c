"""tilelang.language.tir: what tilelang.language has, too."""
