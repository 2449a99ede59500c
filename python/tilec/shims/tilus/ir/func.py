"""Functions: kernels, as nodes."""

import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class Metadata:
    grid_blocks: tuple
    cluster_blocks: tuple
    block_indices: tuple
    num_warps: int
    param2divisibility: typing.Mapping = dataclasses.field(default_factory=dict)

    @staticmethod
    def create(grid_blocks, cluster_blocks, block_indices, num_warps, divisibility=None):
        if not len(grid_blocks) == len(cluster_blocks) == len(block_indices) == 3:
            raise ValueError("a grid, its clusters and a block's place in it have three dimensions")
        return Metadata(tuple(grid_blocks), tuple(cluster_blocks), tuple(block_indices), num_warps, dict(divisibility or {}))


@dataclasses.dataclass(frozen=True, eq=False)
class Function:
    name: str
    params: tuple
    body: object
    metadata: Metadata

    @staticmethod
    def create(name, params, body, metadata):
        return Function(name, tuple(params), body, metadata)

    def with_body(self, body):
        return dataclasses.replace(self, body=body)
