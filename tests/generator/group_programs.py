"""Programs of TileLang whose author divides the threads into groups and orders them: T.ws and branches by the thread's number,
mbarriers, barriers by number, the tensor unit, copies of threads, products under way, clusters. Each has a second kernel that computes
the same a block a tile, with none of that; the program asserts that both leave the same.

Numbers are small and whole: no sum is rounded, whatever its order."""
import random

from choices import Choices, architecture
from rings import BITS, PRODUCTS, SHARED_BYTES, filled, some_rounds

HEAD = """import tilelang
import tilelang.language as T
from tile.host import allclose, arange, zeros

"""


class Stream:
    """What comes a tile a round: the rounds follow each other along the rows, or `down` the columns; all tiles of what is
    `common` have the same rows. `changed`: a group between leaves twice of it and one more elsewhere."""

    def __init__(self, program, dtype, rows, columns, common=False, down=False):
        number = program.fresh("")
        self.dtype, self.rows, self.columns, self.common, self.down = dtype, rows, columns, common, down
        self.tensor, self.ring, self.alone = f"A{number}", f"s{number}", f"p{number}"
        tiles, rounds = 1 if common else program.tiles, program.most_rounds
        self.extents = [rows * (rounds if down else tiles), columns * (tiles if down else rounds)]
        self.ragged = program.chance(0.3)
        if self.ragged:
            self.extents = [max(1, e - program.pick([0, 1, 3, 8])) for e in self.extents]
        self.changed = False

    def start(self, tile, step):
        across = "0" if self.common else tile
        first, second = (step, across) if self.down else (across, step)
        return f"({first}) * {self.rows}", f"({second}) * {self.columns}"

    def place(self, program, tile, step):
        """Of the tensor: where the tile begins, or from where to where."""
        row, column = self.start(tile, step)
        if program.chance(0.7):
            return f"{self.tensor}[{row}, {column}]"
        return f"{self.tensor}[{row} : {row} + {self.rows}, {column} : {column} + {self.columns}]"

    def by_unit(self):
        """Whether the tensor unit can copy it to several blocks."""
        bits = BITS[self.dtype]
        return self.extents[1] * bits % 128 == 0 and self.columns * bits // 8 in (32, 64, 128, 256) and self.rows % 8 == 0

    def nbytes(self):
        return self.rows * self.columns * BITS[self.dtype] // 8


class Job:
    """What a group makes of a round's tiles, `write` says with which lines; they go out at the end, or each round."""

    def __init__(self, program, streams, dtype, shape, write, each_round=False):
        number = program.fresh("")
        self.streams, self.dtype, self.shape, self.write, self.each_round = streams, dtype, tuple(shape), write, each_round
        self.acc, self.out, self.held = f"c{number}", f"O{number}", f"h{number}"
        self.guard = program.pick(["k % 2 == 0", "k > 1", "rounds > 3"]) if program.chance(0.15) else None
        self.way, self.more = "elements", []  # what else is allocated for it: (name, how, dtype, shape)


class Group:
    def __init__(self, begin, size):
        self.begin, self.size, self.jobs = begin, size, []


class Program(Choices):
    def __init__(self, seed):
        self.random, self.seed, self.body, self.depth, self.counter = random.Random(seed), seed, [], 0, 0
        self.scheme = self.pick(["together", "numbered"] + ["groups"] * 4)
        self.cluster = 2 if self.scheme != "numbered" and architecture(seed) != "sm_80" and self.chance(0.2) else 1
        self.blocks = self.pick([1, 2, 2, 3, 4]) * self.cluster
        self.persistent = self.cluster == 1 and self.chance(0.3)  # a block works on several tiles
        self.turns = self.pick([2, 3]) if self.persistent else 1
        self.tiles = self.blocks * self.turns - (self.pick([0, 1]) if self.persistent else 0)
        self.most_rounds = self.pick([3, 5, 7])
        self.stages = 1 if self.scheme == "numbered" else self.pick([1, 2, 2, 3, 4])
        self.matrices, self.streams = [], []
        self.make_streams()
        self.make_groups()
        while self.nbytes() > SHARED_BYTES and self.stages > 1:
            self.stages -= 1

    def fresh(self, letter):
        self.counter += 1
        return letter + str(self.counter)

    def nbytes(self):
        return sum(s.nbytes() * (self.stages + (self.between_turns if s.changed else 0)) for s in self.streams)

    def make_streams(self):
        if self.chance(0.5):
            dtype = self.pick(list(PRODUCTS))
            least = PRODUCTS[dtype][1]
            m, n, k = self.pick([16, 64, 64, 128]), self.pick([8, 16, 32, 64]), self.pick([least, 2 * least, 64, 128])
            a_down, b_down = dtype != "int8" and self.chance(0.3), dtype != "int8" and self.chance(0.5)
            self.matrices = [Stream(self, dtype, k, m, down=True) if a_down else Stream(self, dtype, m, k),
                             Stream(self, dtype, k, n, self.chance(0.7), True) if b_down else Stream(self, dtype, n, k, self.chance(0.7))]
            self.streams += self.matrices
        for _ in range(self.pick([0, 1, 1, 2]) if self.matrices else self.pick([1, 1, 2])):
            self.streams.append(Stream(self, self.pick(list(BITS)), self.pick([1, 8, 16, 32, 33, 64]), self.pick([8, 16, 32, 64]),
                                       self.chance(0.2), self.chance(0.2)))

    def make_groups(self):
        self.between, self.between_turns, self.producer, self.style = None, 0, None, "ws"
        if self.scheme == "together":
            self.threads = self.pick([32, 64, 128, 128, 256])
            self.consumers = [Group(0, self.threads)]
        else:
            self.style = self.pick(["ws", "ws", "index"])
            sizes = [128] if self.style == "ws" else [32, 64, 96, 128]
            self.consumers = [Group(0, self.pick(sizes + [128, 256])) for _ in range(self.pick([1, 1, 2]))]
            self.producer = Group(0, self.pick(sizes))
            if self.scheme == "groups" and self.chance(0.3):
                self.between, self.between_turns = Group(0, self.pick(sizes)), self.pick([1, 2, 3])
                self.pick(self.streams).changed = True
            order = self.consumers + [self.between] * bool(self.between) + [self.producer]
            if self.chance(0.5):
                self.random.shuffle(order)
            self.threads = 0
            for group in order:
                group.begin = self.threads
                self.threads += group.size
        for group in self.consumers:
            group.jobs = [self.new_job(group) for _ in range(self.pick([1, 1, 2]))]

    # ---- what is computed ----

    def new_job(self, group):
        if self.matrices and self.chance(0.6):
            return self.product()
        stream = self.pick(self.streams)
        make = self.pick([self.elements, self.elements, self.extremes, self.reduction, self.reduction, self.rows_out, self.added, self.of_threads, self.turned])
        job = make(stream, group)
        if not job.each_round and job.way == "elements":
            job.way = self.pick(["elements", "copy", "shared"] + ["added"] * (job.dtype == "int32")
                                + ["later"] * (self.scheme != "together" and not self.persistent))
        return job

    def over(self, shape, text):
        names = ["i", "j"][:len(shape)]
        self.line(f"for {', '.join(names)} in T.Parallel({', '.join(map(str, shape))}):")
        self.line("    " + text)

    def wide(self):
        return self.pick(["int32", "float32"])

    def scale(self, wide):
        return self.pick(["", f" * {self.pick([2, 3])}", " * (k + 1)" if wide == "int32" else ""])

    def product(self):
        a, b = self.matrices
        m, n = a.columns if a.down else a.rows, b.columns if b.down else b.rows
        how, depth = self.pick(["gemm", "gemm", "wgmma_gemm", "open"]), a.rows if a.down else a.columns
        parts = self.pick([1, 1, 2]) if depth // 2 % PRODUCTS[a.dtype][1] == 0 else 1  # of the depth, a product each

        def write(job, at, tile, row):
            options = (", transpose_A=True" if a.down else "") + ("" if b.down else ", transpose_B=True")
            name = "wgmma_gemm" if how == "wgmma_gemm" and at.ordered else "gemm"
            if how == "open" and at.ordered:
                options += ", wg_wait=-1"
            for part in range(parts):
                span = f"{part * depth // parts}:{(part + 1) * depth // parts}" if parts > 1 else ":"
                left, right = (at.part(s, f"{span}, :" if s.down else f":, {span}") for s in (a, b))
                self.line(f"T.{name}({left}, {right}, {job.acc}{options})")
            if at.ordered and how != "gemm":
                self.line("T.wait_wgmma(0)")
        job = Job(self, [a, b], PRODUCTS[a.dtype][0], (m, n), write)
        job.way = self.pick(["elements", "copy", "shared"])
        return job

    def elements(self, s, group):
        wide = self.wide()
        scale = self.scale(wide)

        def write(job, at, tile, row):
            self.over(job.shape, f"{job.acc}[i, j] += T.cast({at.part(s, 'i, j')}, '{wide}'){scale}")
        return Job(self, [s], wide, (s.rows, s.columns), write)

    def extremes(self, s, group):
        name = self.pick(["max", "min"])

        def write(job, at, tile, row):
            self.over(job.shape, f"{job.acc}[i, j] = T.{name}({job.acc}[i, j], {at.part(s, 'i, j')})")
        return Job(self, [s], s.dtype, (s.rows, s.columns), write)

    def reduction(self, s, group):
        wide, dim, kind = self.wide(), self.pick([0, 1]), self.pick(["sum", "sum", "max"])
        shape, once = ((s.columns,), (s.rows,))[dim], self.chance(0.5)

        def write(job, at, tile, row):
            (whole, *_), (part, *_) = job.more
            self.over((s.rows, s.columns), f"{whole}[i, j] = T.cast({at.part(s, 'i, j')}, '{wide}')")
            if once:
                self.line(f"T.reduce_{kind}({whole}, {job.acc}, dim={dim}, clear=False)")
            else:
                self.line(f"T.reduce_{kind}({whole}, {part}, dim={dim})")
                self.over(shape, f"{job.acc}[i] = " + (f"{job.acc}[i] + {part}[i]" if kind == "sum" else f"T.max({job.acc}[i], {part}[i])"))
        job = Job(self, [s], wide, shape, write)
        job.more = [(f"w{job.acc}", "fragment", wide, (s.rows, s.columns)), (f"v{job.acc}", "fragment", wide, shape)]
        return job

    def rows_out(self, s, group):
        """No sum: it goes out as it is."""
        as_it_is = self.chance(0.4)
        wide = s.dtype if as_it_is else self.wide()

        def write(job, at, tile, row):
            if as_it_is and at.ordered:
                self.line(f"T.{self.pick(['copy', 'copy', 'tma_copy'])}({at.whole(s)}, {job.out}[{row}, :, :])")
            else:
                self.over(job.shape, f"{job.out}[{row}, i, j] = T.cast({at.part(s, 'i, j')}, '{wide}')" + ("" if as_it_is else " * 2 + k"))
        return Job(self, [s], wide, (s.rows, s.columns), write, True)

    def added(self, s, group):
        """To what all blocks add to, each round."""
        def write(job, at, tile, row):
            self.over((s.rows, s.columns), f"T.atomic_add({job.out}[0, j], T.cast({at.part(s, 'i, j')}, 'int32') * (k + 1))")
        job = Job(self, [s], "int32", (s.columns,), write, True)
        job.way = "added"
        return job

    def of_threads(self, s, group):
        """A variable of each thread."""
        size = group.size

        def write(job, at, tile, row):
            value = f"T.cast({at.part(s, f'{{t}} * 3 % {s.rows}, ({{t}} + k) % {s.columns}')}, 'int32')"
            if at.ordered:
                self.line(f"{job.acc} += {value.format(t=self.thread_of(group))}")
            else:
                self.over(job.shape, f"{job.acc}[i] += {value.format(t='i')}")
        job = Job(self, [s], "int32", (size,), write)
        job.way, job.group = "threads", group
        return job

    def turned(self, s, group):
        """Through shared memory, where another thread finds it."""
        wide, first, second = self.wide(), self.chance(0.5), self.chance(0.5)

        def write(job, at, tile, row):
            held = job.more[0][0]
            self.over((s.rows, s.columns), f"{held}[j, i] = {at.part(s, 'i, j')}")
            if first and at.ordered:
                self.line("T.sync_threads()")
            self.over(job.shape, f"{job.acc}[i, j] += T.cast({held}[i, j], '{wide}')")
            if second and at.ordered:
                self.line("T.sync_threads()")
        job = Job(self, [s], wide, (s.columns, s.rows), write)
        job.more = [(f"x{job.acc}", "shared", s.dtype, (s.columns, s.rows))]
        return job

    # ---- text that both kernels have ----

    def jobs(self):
        return [job for group in self.consumers for job in group.jobs]

    def rows(self, job):
        return 1 if job.way == "added" else self.tiles * (self.most_rounds if job.each_round else 1)

    def header(self, name):
        self.depth = 0
        tensors = [(s.tensor, s.extents, s.dtype) for s in self.streams] + [(j.out, [self.rows(j)] + list(j.shape), j.dtype) for j in self.jobs()]
        arguments = ", ".join([f"{name}: T.Tensor[{shape}, T.{dtype}]" for name, shape, dtype in tensors] + ["rounds: T.int32"])
        self.line("@tilelang.jit")
        self.line(f"def {name}{self.seed}({arguments}):")
        self.depth = 1

    def allocate(self, name, how, dtype, shape):
        self.line(f"{name} = T.alloc_{how}(({', '.join(map(str, shape))},), T.{dtype})")

    def allocate_for(self, job, ordered):
        if job.way == "threads" and ordered:
            self.line(f"{job.acc} = T.alloc_var(T.int32, 0)")
        elif not job.each_round:
            self.allocate(job.acc, "fragment", job.dtype, job.shape)
        if job.way in ("shared", "later") and ordered:
            self.allocate(job.held, "shared", job.dtype, job.shape)
        for more in job.more:
            self.allocate(*more)

    def begin(self, jobs, ordered):
        for job in jobs:
            if job.way == "threads" and ordered:
                self.line(f"{job.acc} = 0")
            elif not job.each_round:
                self.line(self.pick([f"T.clear({job.acc})", f"T.fill({job.acc}, 0)"]))

    def end(self, jobs, tile, ordered):
        for job in jobs:
            if not job.each_round:
                self.put(job, tile, job.way if ordered or job.way == "added" else "elements")

    def put(self, job, tile, way):
        names, all_of = ", ".join(["i", "j"][:len(job.shape)]), ", ".join([":"] * len(job.shape))
        if way == "threads":
            self.line(f"{job.out}[{tile}, {self.thread_of(job.group)}] = {job.acc}")
        elif way == "added":
            self.over(job.shape, f"T.atomic_add({job.out}[0, {names}], {job.acc}[{names}])")
        elif way == "copy":
            self.line(f"T.copy({job.acc}, {job.out}[{tile}, {all_of}])")
        elif way in ("shared", "later"):
            self.line(f"T.copy({job.acc}, {job.held})")
            if way == "shared":
                self.line(f"T.copy({job.held}, {job.out}[{tile}, {all_of}])")
        else:
            self.over(job.shape, f"{job.out}[{tile}, {names}] = {job.acc}[{names}]")

    def work(self, jobs, at, tile):
        for job in jobs:
            with self.within(*[f"if {job.guard}:"] * bool(job.guard)):
                job.write(job, at, tile, f"({tile}) * {self.most_rounds} + k")

    # ---- the kernel whose author orders all ----

    def stage(self):
        return f"({self.number}) % {self.stages}" if self.stages > 1 or self.chance(0.5) else "0"

    def parity(self, stages=None, first=False):
        """Of the phase that a use of this number waits for; `first`: of the one before, complete at the beginning."""
        turn = f"({self.number}) // {stages or self.stages}" if (stages or self.stages) > 1 else f"({self.number})"
        return self.pick([f"({turn} + 1) % 2", f"{turn} % 2 ^ 1", f"({turn} & 1) ^ 1"] if first else [f"{turn} % 2", f"{turn} & 1"])

    def wait(self, barrier, parity):
        self.line(self.pick([f"T.barrier_wait({barrier}, {parity})", f"T.mbarrier_wait_parity({barrier}, {parity})"]))

    def arrive(self, barrier):
        self.line(self.pick([f"T.barrier_arrive({barrier})", f"T.mbarrier_arrive({barrier})"]))

    def thread_of(self, group):
        return f"(tx - {group.begin})" if group.begin else "tx"

    def by_one(self, group):
        thread = group.begin + self.pick([0, 0, self.random.randrange(group.size)])
        return self.within(f"if tx == {thread}:")

    def within_group(self, group):
        if self.style == "ws":
            return self.within(f"with T.ws({', '.join(str(group.begin // 128 + i) for i in range(group.size // 128))}):")
        end = group.begin + group.size
        if group.size % 32 == 0 and group.begin % group.size == 0 and self.chance(0.2):
            return self.within(f"if {self.pick([f'tx // {group.size}', f'T.get_warp_idx() // {group.size // 32}'])} == {group.begin // group.size}:")
        tests = [f"tx >= {group.begin}"] * (group.begin > 0) + [f"tx < {end}"] * (end < self.threads)
        return self.within(f"if {' and '.join(tests)}:")

    def fetch(self, group, how, tile, step, stage, full):
        """The arrivals at `full` that say that the tiles are there."""
        landed = True
        for s in self.streams:
            ring = f"{s.ring}[{stage}, {self.pick([':, :', f'0:{s.rows}, 0:{s.columns}'])}]"
            if how == "threads" and not s.ragged:
                self.copy_by_threads(group, s, tile, step, stage)
            elif how == "unit":
                mask = ", cluster_mask=3" if self.cluster > 1 and s.common and s.by_unit() else ""
                self.line(f"T.tma_copy({s.place(self, tile, step)}, {ring}, barrier={full}{mask})")
            elif how == "async":
                self.line(f"T.async_copy({s.place(self, tile, step)}, {ring})")
                landed = False
            else:
                self.line(f"T.copy({s.place(self, tile, step)}, {ring})")
        if not landed:
            self.line(f"T.cp_async_barrier_noinc({full})")
            return group.size
        return self.hand_over(group, full, how != "unit")

    def hand_over(self, group, barrier, written):
        if written and self.matrices:
            self.line("T.fence_proxy_async()")
        if self.chance(0.5):
            self.arrive(barrier)
            return group.size
        if written:
            self.line("T.sync_threads()")
        with self.by_one(group):
            self.arrive(barrier)
        return 1

    def copy_by_threads(self, group, s, tile, step, stage):
        count, (row, column) = s.rows * s.columns, s.start(tile, step)
        with self.within(f"for e in T.serial({-(-count // group.size)}):"):
            at = f"e * {group.size} + {self.thread_of(group)}"
            with self.within(*[f"if {at} < {count}:"] * (count % group.size > 0)):
                self.line(f"{s.ring}[{stage}, ({at}) // {s.columns}, ({at}) % {s.columns}] = "
                          f"{s.tensor}[{row} + ({at}) // {s.columns}, {column} + ({at}) % {s.columns}]")

    def by_groups(self):
        """A group brings the tiles, others work on them, and one between may change some of them first. Each has loops of its
        own, or the loops are around them all."""
        how = "unit" if self.cluster > 1 else self.pick(["unit", "unit", "copy", "async", "threads"])
        one_gives_back = self.chance(0.4)
        arrivals, changed = [0], [0]
        mark = len(self.body)
        turn = lambda: f"({self.number}) % {self.between_turns}" if self.between_turns > 1 else "0"  # noqa: E731

        def give_back(group, barrier, far=False):
            """`far`: to all blocks of the cluster."""
            if one_gives_back:
                self.line("T.sync_threads()")
            with self.by_one(group) if one_gives_back else self.within():
                if far and self.cluster > 1:
                    for block in range(self.cluster):
                        self.line(f"T.mbarrier_arrive({barrier}, {block})")
                else:
                    self.arrive(barrier)

        def produce(tile):
            stage = self.stage()
            self.wait(f"empty[{stage}]", self.parity(first=True))
            arrivals[0] = self.fetch(self.producer, how, tile, "k", stage, f"full[{stage}]")

        def change(tile):
            stage, place = self.stage(), turn()
            self.wait(f"full[{stage}]", self.parity())
            self.wait(f"done[{place}]", self.parity(self.between_turns, True))
            for s in self.streams:
                if s.changed:
                    self.over((s.rows, s.columns), f"m{s.ring}[{place}, i, j] = {s.ring}[{stage}, i, j] * 2 + 1")
            give_back(self.between, f"empty[{stage}]", True)
            changed[0] = self.hand_over(self.between, f"ready[{place}]", True)

        def consume(group, tile):
            stage = self.stage()
            self.wait(f"full[{stage}]", self.parity())
            if self.between:
                self.wait(f"ready[{turn()}]", self.parity(self.between_turns))
            if how == "async" and self.matrices:
                self.line("T.fence_proxy_async()")
            self.work(group.jobs, Ordered(stage, turn() if self.between else None), tile)
            give_back(group, f"empty[{stage}]", True)
            if self.between:
                give_back(group, f"done[{turn()}]")

        parts = [(self.producer, produce)] + [(group, lambda tile, group=group: consume(group, tile)) for group in self.consumers]
        parts += [(self.between, change)] * bool(self.between)
        self.random.shuffle(parts)
        self.in_groups(parts)
        users = len(self.consumers) if one_gives_back else sum(group.size for group in self.consumers)
        between = 0 if not self.between else 1 if one_gives_back else self.between.size
        made = "alloc_cluster_barrier" if self.cluster > 1 else "alloc_barrier"
        self.insert(mark, f"full = T.{made}([{arrivals[0]}] * {self.stages})")
        self.insert(mark, f"empty = T.{made}([{(users + between) * self.cluster}] * {self.stages})")
        if self.between:
            self.insert(mark, f"ready = T.alloc_barrier([{changed[0]}] * {self.between_turns})")
            self.insert(mark, f"done = T.alloc_barrier([{users}] * {self.between_turns})")

    def in_groups(self, parts):
        """Each part's lines a round, within loops of its own, or all parts' within the same loops."""
        if self.chance(0.6):
            shares = self.registers([group for group, _ in parts])
            for group, lines in parts:
                with self.within_group(group):
                    if group in shares:
                        self.line(f"T.set_max_nreg({shares[group]}, {int(group in self.consumers)})")
                    self.rounds([(group, lines)], lambda group: self.within())
        else:
            self.rounds(parts, self.within_group)

    def registers(self, groups):
        """How many a thread of each group is to have: consumers take what others give away, or more than there are; {}: nothing is said."""
        chosen = random.Random(self.seed)
        if any(group.size % 128 for group in groups) or chosen.random() < 0.1:
            return {}
        first = min(65536 // self.threads // 8 * 8, 240)
        shares = {group: chosen.randrange(24, first + 1, 8) for group in groups if group not in self.consumers}
        free = sum((first - count) * group.size for group, count in shares.items())
        takers = sum(group.size for group in self.consumers)
        for group in self.consumers:
            shares[group] = min(first + free // takers // 8 * 8 + 8 * chosen.choice([0, 0, 0, -1, 1]), 240)
        return {group: max(count, 24) for group, count in shares.items()}

    def each_tile(self):
        """The loop over a block's tiles, if it has several: its lines, and what a tile's number is."""
        if not self.persistent:
            return [], "b"
        return [f"for w in T.serial(({self.tiles} - b + {self.blocks - 1}) // {self.blocks}):"], f"b + w * {self.blocks}"

    def rounds(self, parts, within):
        counter = self.fresh("n") if self.chance(0.3) else None
        self.number = counter or ("w * rounds + k" if self.persistent else "k")
        if counter:
            self.line(f"{counter} = T.alloc_var(T.int32, 0)")
        users = [group for group, _ in parts if any(not job.each_round for job in group.jobs)]
        heads, tile = self.each_tile()
        with self.within(*heads):
            for group in users:
                with within(group):
                    self.begin(group.jobs, True)
            with self.within(f"for k in {self.pick(['T.serial', 'range'])}(rounds):"):
                for group, lines in parts:
                    with within(group):
                        lines(tile)
                if counter:
                    self.line(f"{counter} += 1")
            for group in users:
                with within(group):
                    self.end(group.jobs, tile, True)

    def by_number(self):
        """Barriers of the hardware: some say that they have written, the others wait for that, and the other way round."""
        how, everyone = self.pick(["copy", "threads"]), self.threads
        quick = self.chance(0.5)  # who has read goes on at once

        def produce(tile):
            if quick:
                with self.within(f"if {self.number} > 0:"):
                    self.line(f"T.sync_threads(4, {everyone})")
            for s in self.streams:
                if how == "threads" and not s.ragged:
                    self.copy_by_threads(self.producer, s, tile, "k", "0")
                else:
                    self.line(f"T.copy({s.place(self, tile, 'k')}, {s.ring}[0, :, :])")
            if self.matrices:
                self.line("T.fence_proxy_async()")
            self.line(f"T.named_barrier_arrive(3, {everyone})" if quick or self.chance(0.5) else f"T.sync_threads(3, {everyone})")
            if not quick:
                self.line(f"T.sync_threads(4, {everyone})")

        def consume(group, tile):
            self.line(f"T.sync_threads(3, {everyone})")
            self.work(group.jobs, Ordered("0"), tile)
            if not quick:
                self.line(f"T.sync_threads(4, {everyone})")
                return
            last = f"({tile}) + {self.blocks} >= {self.tiles} and k + 1 == rounds" if self.persistent else "k + 1 == rounds"
            with self.within(f"if not ({last}):"):
                self.line(f"T.named_barrier_arrive(4, {everyone})")

        parts = [(self.producer, produce)] + [(group, lambda tile, group=group: consume(group, tile)) for group in self.consumers]
        self.random.shuffle(parts)
        self.in_groups(parts)

    def together(self):
        """All threads bring the tiles, stages - 1 rounds ahead, and use them."""
        group, mark = self.consumers[0], len(self.body)
        how = "unit" if self.cluster > 1 else self.pick(["unit", "unit", "async", "copy"])
        ahead, arrivals = self.stages - 1, 0
        first = "n + " if self.persistent else ""
        if self.persistent:
            self.line("n = T.alloc_var(T.int32, 0)")
        heads, tile = self.each_tile()
        with self.within(*heads):
            self.begin(group.jobs, True)
            kept = self.random.getstate()

            def bring(step, place):
                self.random.setstate(kept)  # as many arrivals
                return self.fetch(group, how, tile, step, place, f"full[{place}]")
            for step in range(ahead):
                with self.within(f"if {step} < rounds:"):
                    arrivals = bring(str(step), f"({first}{step}) % {self.stages}")
            with self.within("for k in T.serial(rounds):"):
                self.number = f"{first}k"
                with self.within(*[f"if k + {ahead} < rounds:"] * (ahead > 0)):
                    arrivals = bring(f"k + {ahead}", f"({first}k + {ahead}) % {self.stages}")
                stage = f"({self.number}) % {self.stages}"
                self.wait(f"full[{stage}]", self.parity())
                if how == "async" and self.matrices:
                    self.line("T.fence_proxy_async()")
                self.work(group.jobs, Ordered(stage), tile)
                if self.cluster > 1:
                    self.line("T.cluster_sync()")
                elif self.chance(0.5):
                    self.line("T.sync_threads()")
            self.end(group.jobs, tile, True)
            if self.persistent:
                self.line("n += rounds")
        self.insert(mark, f"full = T.alloc_{'cluster_' * (self.cluster > 1)}barrier([{arrivals}] * {self.stages})")

    def share_fragments(self):
        """Groups may have fragments of one name: each has its own in it."""
        for i, group in enumerate(self.consumers):
            for job in group.jobs:
                others = [one.acc for other in self.consumers[:i] for one in other.jobs
                          if (one.dtype, one.shape, one.way == "threads", one.each_round) == (job.dtype, job.shape, False, False)]
                free = [acc for acc in others if all(one.acc != acc for one in group.jobs)]
                if job.way != "threads" and not job.each_round and free and self.chance(0.5):
                    job.acc = self.pick(free)

    def ordered(self):
        self.header("ordered")
        if self.cluster > 1:
            self.line(f"with T.ClusterKernel({self.blocks}, cluster_dims={self.cluster}, threads={self.threads}) as b:")
        else:
            self.line(f"with T.Kernel({self.blocks}, threads={self.threads}) as b:")
        self.depth = 2
        self.line("tx = T.get_thread_binding()")
        for s in self.streams:
            self.allocate(s.ring, "shared", s.dtype, (self.stages, s.rows, s.columns))
            if s.changed:
                self.allocate("m" + s.ring, "shared", s.dtype, (self.between_turns, s.rows, s.columns))
        own = [job.acc for job in self.jobs()]
        if self.scheme != "together":
            self.share_fragments()
        for job in self.jobs():
            self.allocate_for(job, True)
        {"together": self.together, "groups": self.by_groups, "numbered": self.by_number}[self.scheme]()
        if self.cluster > 1 and self.scheme == "groups":
            self.line("T.cluster_sync()")  # a block is there as long as others arrive in it
        late = [job for job in self.jobs() if job.way == "later"]
        if late:
            self.line("T.sync_threads()")
        for job in late:
            names = ", ".join(["i", "j"][:len(job.shape)])
            self.over(job.shape, f"{job.out}[b, {names}] = {job.held}[{names}]")
        for job, acc in zip(self.jobs(), own):
            job.acc = acc
        self.body.append("")

    # ---- the other ----

    def plain(self):
        self.header("plain")
        self.line(f"with T.Kernel({self.tiles}, threads={self.pick([64, 128, 256])}) as b:")
        self.depth = 2
        for s in self.streams:
            self.allocate(s.alone, "shared", s.dtype, (s.rows, s.columns))
            if s.changed:
                self.allocate("m" + s.alone, "shared", s.dtype, (s.rows, s.columns))
        for job in self.jobs():
            self.allocate_for(job, False)
        self.begin(self.jobs(), False)
        with self.within("for k in T.serial(rounds):"):
            for s in self.streams:
                self.line(f"T.copy({s.place(self, 'b', 'k')}, {s.alone})")
                if s.changed:
                    self.over((s.rows, s.columns), f"m{s.alone}[i, j] = {s.alone}[i, j] * 2 + 1")
            self.work(self.jobs(), Plain(), "b")
        self.end(self.jobs(), "b", False)
        self.body.append("")

    # ---- calls ----

    def calls(self):
        for s in self.streams:
            yield from filled(self.random, s.tensor, s.extents, s.dtype, "T.")
        yield f"for rounds in {some_rounds(self.random, self.most_rounds)}:"
        for kind, name in zip("pq", ["plain", "ordered"]):
            for job in self.jobs():
                yield f"    {job.out}{kind} = zeros({tuple([self.rows(job)] + list(job.shape))}, T.{job.dtype})"
            given = [s.tensor for s in self.streams] + [job.out + kind for job in self.jobs()] + ["rounds"]
            yield f"    {name}{self.seed}({', '.join(given)})"
        for job in self.jobs():
            yield f"    assert allclose({job.out}p, {job.out}q, 0, 0), (rounds, '{job.out}')"

    def text(self):
        self.ordered()
        self.plain()
        return HEAD + "\n".join(self.body) + "\n" + "\n".join(self.calls()) + "\n"


class Ordered:
    """Where the tiles of a round are: in a stage of the ring, what was changed in that of another."""
    ordered = True

    def __init__(self, stage, turn=None):
        self.stage, self.turn = stage, turn

    def place(self, s):
        return f"m{s.ring}[{self.turn}" if s.changed else f"{s.ring}[{self.stage}"

    def part(self, s, index):
        return f"{self.place(s)}, {index}]"

    def whole(self, s):
        return self.part(s, ":, :")


class Plain:
    ordered = False

    def whole(self, s):
        return "m" * s.changed + s.alone

    def part(self, s, index):
        return f"{self.whole(s)}[{index}]"


def program(seed):
    return Program(seed).text()
