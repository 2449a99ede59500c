"""Statements."""


class Stmt:
    pass


class InstStmt(Stmt):
    def __init__(self, inst):
        self.inst = inst


class SeqStmt(Stmt):
    def __init__(self, seq):
        self.seq = tuple(seq)


def instructions(stmt):
    if isinstance(stmt, InstStmt):
        return [stmt.inst]
    return [inst for one in stmt.seq for inst in instructions(one)]


def rewrite(stmt, change):
    """The statement with each instruction as change(instruction) gives it, without those that it gives None for; itself if all stay."""
    if isinstance(stmt, InstStmt):
        made = change(stmt.inst)
        return stmt if made is stmt.inst else made and InstStmt(made)
    seq = [rewrite(one, change) for one in stmt.seq]
    return stmt if all([a is b for a, b in zip(seq, stmt.seq)]) else SeqStmt([one for one in seq if one is not None])
