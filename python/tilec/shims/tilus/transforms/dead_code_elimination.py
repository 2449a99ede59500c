"""Instructions whose results nobody uses."""

from tilus.ir.stmt import instructions, rewrite


def eliminate(function):
    """The function without them, or itself; what changes memory stays, without a result that nobody uses."""
    found = instructions(function.body)
    live = {id(inst) for inst in found if not inst.is_pure}
    used, size = set(), -1
    while size != len(live):
        size = len(live)
        used = {id(tensor) for inst in found if id(inst) in live for tensor in inst.inputs}
        live |= {id(inst) for inst in found if id(inst.output) in used}

    def change(inst):
        if inst.is_pure:
            return inst if id(inst.output) in used else None
        return inst.with_output(None) if inst.may_drop_output and inst.output is not None and id(inst.output) not in used else inst

    body = rewrite(function.body, change)
    return function if body is function.body else function.with_body(body)


def dead_code_elimination_pass():
    def run(program):
        return type(program)({name: eliminate(function) for name, function in program.functions.items()})

    return run
