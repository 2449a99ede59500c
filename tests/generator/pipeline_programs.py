"""Programs of Tilus Script whose author orders everything: rings of stages, groups of copies, mbarriers with phases and bytes,
thread groups beside each other, the tensor unit both ways, blocks of a cluster that copy for each other. Each has a second
kernel that computes the same from plain loads and with no barrier at all; the program asserts that both leave the same, so
that nothing else need compute it.

Numbers are small and whole: no sum is rounded, whatever its order."""
import copy
import random

from choices import Choices, Within, architecture
from rings import BITS, PRODUCTS, SHARED_BYTES, filled, some_rounds

HEAD = """import tilus
from tilus import bfloat16, float16, float32, int16, int32, int8, uint8, uint32
from tile.host import allclose, arange, zeros

"""


class Stream:
    """What comes a tile a round: rows of the tile that the block works on, columns of the round."""

    def __init__(self, program, dtype, rows, columns, common=False):
        number = program.fresh("")
        self.dtype, self.rows, self.columns, self.common = dtype, rows, columns, common
        self.view, self.ring, self.pointer = f"g{number}", f"s{number}", f"a{number}"
        self.extents = [rows if common else rows * program.tiles, columns * program.most_rounds]
        self.extents = [max(1, e - program.pick([0, 0, 0, 1, 3, 8])) for e in self.extents]
        self.halves = False  # of the rows, each copied by one block of the cluster
        self.changed = None  # the ring in which a group between leaves twice of it and one more

    def offsets(self, tile, step, row=0, column=0):
        rows = str(row) if self.common else f"{tile} * {self.rows} + {row}"
        return f"[{rows}, ({step}) * {self.columns} + {column}]"

    def nbytes(self):
        return self.rows * self.columns * BITS[self.dtype] // 8


class Part:
    """A part of the stream's tile, as both kernels read it."""

    def __init__(self, stream, row=0, column=0, rows=None, columns=None):
        self.stream, self.row, self.column = stream, row, column
        self.rows, self.columns = rows or stream.rows, columns or stream.columns

    def whole(self):
        return (self.rows, self.columns) == (self.stream.rows, self.stream.columns)

    def source(self, stage):
        return self.stream.changed(stage) if self.stream.changed else f"{self.stream.ring}[{stage}]"

    def ordered(self, stage):
        source = self.source(stage)
        if self.stream.halves:
            return f"self.reshape(self.load_shared({source}), [{self.rows}, {self.columns}])"
        if self.whole():
            return f"self.load_shared({source})"
        return f"self.load_shared({source}, offsets=[{self.row}, {self.column}], shape=[{self.rows}, {self.columns}])"

    def plain(self, tile, step):
        s = self.stream
        text = f"self.load_global({s.view}, offsets={s.offsets(tile, step, self.row, self.column)}, shape=[{self.rows}, {self.columns}])"
        return f"({text} * 2 + 1)" if s.changed else text


class Job:
    """What a group makes of the tiles of a round. `form` has {x}, {acc}, {step} and, of products, {y}; `way`: how its result
    goes out, once or each round; `product`: "dot" or "wgmma"; `mixed`: in which rounds it is wgmma, where it is a dot in the
    others; `begun`: of its sum, dots half as deep as wgmma's least have begun; `exchange`: the tile goes through shared memory,
    turned."""

    def __init__(self, program, form, parts, dtype, shape, each_round=False):
        number = program.fresh("")
        self.acc, self.form, self.parts, self.dtype, self.shape, self.each_round = f"c{number}", form, parts, dtype, shape, each_round
        self.pointer, self.view, self.held = f"r{number}", f"o{number}", f"h{number}"
        self.way, self.product, self.mixed, self.begun, self.exchange = "threads", None, None, 0, False
        self.guard = program.pick(["k % 2 == 0", "k > 1", "rounds > 3"]) if program.chance(0.15) else None

    def but(self, **changes):
        job = copy.copy(self)
        vars(job).update(changes)
        return job

    def rows(self, program):
        if self.way in ("added", "in turn"):
            return 1
        return program.tiles * (program.most_rounds if self.each_round else 1)


class Act:
    """A pipeline, with names of its own for its barriers; a kernel has one or two, one after the other."""

    def __init__(self, program, number):
        self.program, self.number = program, number
        p = program
        self.scheme = p.pick(["copies", "unit" if p.has_unit else "copies"] + ["groups"] * 4)
        if p.cluster > 1 and number == 0:
            self.scheme = "unit"
        self.stages = p.pick([1, 2, 2, 3, 4])
        self.matrices, self.streams = [], []
        self.make_streams()
        count = p.pick([1, 1, 2, 3]) if self.scheme == "groups" else 1
        self.sizes = [128 if p.by_warpgroups else p.pick([32, 64, 128, 128, 128]) for _ in range(count)]
        self.producer = (128 if p.by_warpgroups else p.pick([32, 32, 128])) if self.scheme == "groups" else 0
        self.between = (128 if p.by_warpgroups else p.pick([64, 128])) if self.scheme == "groups" and p.chance(0.3) else 0
        if self.between:
            stream, self.turns = p.pick(self.streams), p.pick([1, 2, 3])
            stream.changed = lambda stage, name=stream.ring: f"m{name}[{self.place('n', self.turns)}]"
            self.changes = stream
        self.jobs = [[self.new_job() for _ in range(p.pick([1, 1, 2]))] for _ in self.sizes]
        while self.nbytes() > SHARED_BYTES and self.stages > 1:
            self.stages -= 1

    def nbytes(self):
        return sum(s.nbytes() for s in self.streams) * (self.stages + (3 if self.between else 0))

    def make_streams(self):
        p = self.program
        if p.by_warpgroups or p.chance(0.5):
            dtype = p.pick(list(PRODUCTS))
            least = PRODUCTS[dtype][1]
            m, n, k = p.pick([64, 64, 128] if p.by_warpgroups else [16, 64, 64, 128]), p.pick([8, 16, 32, 64]), p.pick([least, 2 * least, 64])
            self.matrices = [Stream(p, dtype, m, k), Stream(p, dtype, n, k, common=p.chance(0.7))]
            self.streams += self.matrices
        for _ in range(p.pick([0, 1, 1, 2]) if self.matrices else p.pick([1, 1, 2])):
            self.streams.append(Stream(p, p.pick(list(BITS)), p.pick([1, 8, 16, 32, 33, 64]), p.pick([8, 16, 32, 64]), p.chance(0.2)))
        for s in self.streams:
            known = s.extents[1] * BITS[s.dtype] % 128 == 0 and s.columns * BITS[s.dtype] // 8 in (32, 64, 128, 256)
            s.halves = p.cluster == 2 and self.number == 0 and s.common and s.rows % 2 == 0 and known

    # ---- what is computed ----

    def new_job(self):
        p = self.program
        if self.matrices and p.chance(0.8 if p.by_warpgroups else 0.6):
            left, right = self.matrices
            dtype = PRODUCTS[left.dtype][0]
            job = Job(p, "self.dot({x}, self.transpose({y}), {acc})", [Part(left), Part(right)], dtype, (left.rows, right.rows))
            job.product = "wgmma" if left.rows % 64 == 0 and not right.halves and p.chance(0.9 if p.by_warpgroups else 0.6) else "dot"
            job.mixed = p.pick(["k % 2 == 0", "k > 1", "rounds > 3"]) if p.chance(0.2) else None
            job.begun = PRODUCTS[left.dtype][1] // 2 if p.chance(0.2) else 0
        else:
            job = self.tile_job()
        kinds = ["threads", "threads"] + ["unit"] * p.has_unit
        if job.dtype == "int32" and not job.each_round:  # any order will do
            kinds += ["added", "in turn"]
        job.way = p.pick(kinds)
        return job

    def part(self):
        p = self.program
        stream = p.pick(self.streams)
        if stream.halves or p.chance(0.7):
            return Part(stream)
        rows, columns = p.pick([r for r in (1, 4, 8, 16, 32, 64) if r <= stream.rows]), p.pick([c for c in (1, 8, 16, 32) if c <= stream.columns])
        return Part(stream, p.random.randrange(stream.rows - rows + 1), p.random.randrange(stream.columns - columns + 1), rows, columns)

    def tile_job(self):
        p = self.program
        part = self.part()
        rows, columns, dtype = part.rows, part.columns, part.stream.dtype
        wide = p.pick(["int32", "float32"])
        x = "self.cast({x}, dtype=" + wide + ")"
        scale = p.pick(["", f" * {p.pick([2, 3])}", " * ({step} + 1)" if wide == "int32" else ""])
        if p.chance(0.2):  # no sum: it goes out as it is
            return Job(p, x + scale, [part], wide, (rows, columns), True)
        if p.chance(0.2):
            job = Job(p, "{acc} + " + x, [part], wide, (columns, rows))
            job.exchange = True
            return job
        forms = [("{acc} + " + x + scale, wide, (rows, columns)),
                 ("self.maximum({acc}, {x})", dtype, (rows, columns)),
                 ("self.minimum({acc}, {x})", dtype, (rows, columns)),
                 ("{acc} + self.sum(" + x + ", dim=1)" + scale, wide, (rows,)),
                 ("{acc} + self.sum(" + x + ", dim=0)", wide, (columns,)),
                 ("self.maximum({acc}, self.max({x}, dim=0))", dtype, (columns,)),
                 ("{acc} + self.transpose(" + x + ")", wide, (columns, rows)),
                 ("{acc} + self.reshape(" + x + f", [{rows * columns}])", wide, (rows * columns,)),
                 ("{acc} + self.cumsum(self.cast({x}, dtype=int32), dim=" + str(p.pick([0, 1])) + ")", "int32", (rows, columns)),
                 ("self.where({step} % 2 == 0, {acc} + " + x + ", {acc} - " + x + ")", wide, (rows, columns))]
        form, kind, shape = p.pick(forms)
        return Job(p, form, [part], kind, shape)

    def all_jobs(self):
        return [job for jobs in self.jobs for job in jobs]

    def threads(self):
        return sum(self.sizes) + self.producer + self.between

    @staticmethod
    def choose_products(jobs, threads, begin=0):
        """wgmma is of a warpgroup: four warps from a multiple of four on."""
        for job in jobs:
            if job.product and (threads != 128 or begin % 128):
                job.product = "dot"

    # ---- text ----

    def line(self, text):
        self.program.line(text)

    def within(self, *heads):
        return self.program.within(*heads)

    def place(self, count, stages=None):
        return f"{count} % {stages or self.stages}"

    def phase(self, count, stages=None, first=False):
        stages = stages or self.stages
        return f"({count} // {stages} + 1) % 2" if first else f"{count} // {stages} % 2"

    def rings(self):
        for s in self.streams:
            shape = [self.stages, 2, s.rows // 2, s.columns] if s.halves else [self.stages, s.rows, s.columns]
            self.line(f"{s.ring} = self.shared_tensor(dtype={s.dtype}, shape={shape})")
            if s.changed:
                self.line(f"m{s.ring} = self.shared_tensor(dtype={s.dtype}, shape={[self.turns, s.rows, s.columns]})")
        for job in self.all_jobs():
            if job.way == "unit":
                self.line(f"{job.held} = self.shared_tensor(dtype={job.dtype}, shape={[1] + list(job.shape)})")
            if job.exchange:
                self.line(f"x{job.held} = self.shared_tensor(dtype={job.parts[0].stream.dtype}, shape={[job.parts[0].rows, job.parts[0].columns]})")

    def products_left(self, jobs):
        """How many products of a round may be under way in the next one; 0 where that is another number each round, too."""
        products = [job for job in jobs if job.product == "wgmma"]
        alike = not any(job.guard or job.mixed for job in products)
        return len(products) if alike and self.stages > 1 and self.program.chance(0.5) else 0

    def use(self, jobs, tile, step, stage, left=0):
        """A round's work on the tiles of a stage; products may be begun and waited for one by one, all at once, or, `left` of
        them, in the next round."""
        p, opened = self.program, 0
        for job in jobs:
            if job.guard:
                with self.within(f"if {job.guard}:"):
                    self.use([job.but(guard=None)], tile, step, stage)
            elif job.product == "wgmma" and job.mixed:
                with self.within(f"if {job.mixed}:"):
                    self.use([job.but(mixed=None)], tile, step, stage)
                with self.within("else:"):
                    self.use([job.but(product="dot")], tile, step, stage)
            elif job.product == "wgmma":
                rows, columns = job.parts
                a = rows.source(stage) if p.chance(0.8) and not rows.stream.halves else rows.ordered(stage)
                self.line("self.wgmma.fence()")
                self.line(f"self.wgmma.mma({a}, {columns.source(stage)}.transpose(), {job.acc})")
                self.line("self.wgmma.commit_group()")
                opened += 1
                if p.chance(0.3):
                    self.line("self.wgmma.wait_group(0)")
                    opened = 0
            elif job.exchange:
                early = p.chance(0.5)
                if early:
                    self.line("self.sync()")
                self.line(f"self.store_shared(x{job.held}, {job.parts[0].ordered(stage)})")
                self.line("self.sync()")
                turned = p.pick([f"self.load_shared(x{job.held}.transpose())", f"self.transpose(self.load_shared(x{job.held}))"])
                self.line(f"{job.acc} = {job.form.format(acc=job.acc, step=step, x=turned)}")
                if not early:
                    self.line("self.sync()")
            else:
                p.work([job], tile, step, lambda part: part.ordered(stage))
        if opened:
            self.line(f"self.wgmma.wait_group({left})")

    def write(self, threads):
        self.rings()
        {"copies": self.by_copies, "unit": self.by_unit, "groups": self.by_groups}[self.scheme](threads)

    def copy_all(self, tile, step, stage):
        for s in self.streams:
            self.line(f"self.copy_async({s.view}, {s.ring}[{stage}], offsets={s.offsets(tile, step)})")

    def by_copies(self, threads):
        """Groups of copies by all threads, stages - 1 rounds ahead."""
        p, jobs, ahead = self.program, self.jobs[0], self.stages - 1
        self.choose_products(jobs, threads)
        left = self.products_left(jobs)
        with p.each_tile() as tile:
            p.begin(jobs, tile)
            guarded = p.chance(0.5)
            for stage in range(ahead):
                self.copy_all(tile, stage, stage)
                self.line("self.copy_async_commit_group()")
            with self.within("for k in range(rounds):"):
                if ahead == 0:
                    self.copy_all(tile, "k", 0)
                    if p.chance(0.5):
                        self.line("self.copy_async_wait_all()")
                    else:
                        self.line("self.copy_async_commit_group()")
                        self.line("self.copy_async_wait_group(0)")
                    self.line("self.sync()")
                    self.use(jobs, tile, "k", "0")
                    self.line("self.sync()")
                else:
                    self.line(f"self.copy_async_wait_group({ahead - 1})")
                    self.line("self.sync()")
                    later = left > 0 or p.chance(0.5)
                    if later:
                        self.use(jobs, tile, "k", self.place("k"), left)
                    if left:
                        self.line("self.sync()")
                    with self.within(*[f"if k + {ahead} < rounds:"] * guarded):
                        self.copy_all(tile, f"k + {ahead}", self.place(f"(k + {ahead})"))
                    self.line("self.copy_async_commit_group()")
                    if not later:
                        self.use(jobs, tile, "k", self.place("k"))
            if left:
                self.line("self.wgmma.wait_group(0)")
            if p.persistent:
                self.line("self.copy_async_wait_all()")
                self.line("self.sync()")
            p.end(jobs, tile)

    def fetch(self, tile, step, stage, full):
        """By the tensor unit: a thread says how many bytes will come, of all at once or of each. The arrivals."""
        p = self.program
        each = self.streams if p.chance(0.3) else []
        if not each:
            self.expect(full, " + ".join(f"{s.ring}[0].nbytes" for s in self.streams))
        for s in self.streams:
            if each:
                self.expect(full, f"{s.ring}[0].nbytes")
            self.copy_by_unit(s, tile, step, stage, full)
        return len(each) or 1

    def expect(self, full, nbytes):
        with self.within("with self.single_thread():"):
            self.line(f"self.mbarrier.arrive_and_expect_tx({full}, transaction_bytes={nbytes})")

    def copy_by_unit(self, s, tile, step, stage, full):
        target, row, mask = f"{s.ring}[{stage}]", 0, ""
        if s.halves:
            target, row, mask = f"{s.ring}[{stage}, rank]", f"rank * {s.rows // 2}", ", multicast_mask=3"
        self.line(f"self.tma.global_to_shared(src={s.view}, dst={target}, offsets={s.offsets(tile, step, row)}, mbarrier={full}{mask})")

    def by_unit(self, threads):
        """A warp begins the copies, all threads wait for their bytes."""
        p, jobs = self.program, self.jobs[0]
        self.choose_products(jobs, threads)
        shared = any(s.halves for s in self.streams)
        full, meet = f"full{self.number}", "self.cluster.sync()" if shared else "self.sync()"
        mark = len(p.body)
        if shared:
            self.line("rank = self.cluster.blockRank")
            self.line("self.cluster.sync()")
        self.line("n: int32 = 0")
        warp = p.random.randrange(threads // 32)
        with p.each_tile() as tile:
            p.begin(jobs, tile)
            with self.within(f"with self.single_warp({warp}):", f"for k in range({self.stages}):", "if k < rounds:"):
                state = p.random.getstate()
                arrivals = self.fetch(tile, "k", self.place("(n + k)"), f"{full}[{self.place('(n + k)')}]")
            with p.each_round():
                self.line(f"self.mbarrier.wait({full}[{self.place('n')}], phase={self.phase('n')})")
                self.use(jobs, tile, "k", self.place("n"))
                self.line(meet)
                with self.within(f"if k + {self.stages} < rounds:", f"with self.single_warp({warp}):"):
                    kept = p.random.getstate()
                    p.random.setstate(state)  # as many arrivals
                    self.fetch(tile, f"k + {self.stages}", self.place("n"), f"{full}[{self.place('n')}]")
                    p.random.setstate(kept)
                self.line("n = n + 1")
            p.end(jobs, tile)
        if shared:
            self.line("self.cluster.sync()")
        p.insert(mark, f"{full} = self.mbarrier.alloc([{arrivals}] * {self.stages})")

    def by_groups(self, threads):
        """A group brings the tiles, others work on them, and one between may change some of them first; which stands first in
        the text is chance, and which threads they are."""
        p = self.program
        mark, number = len(p.body), self.number
        full, empty, ready, done = f"full{number}", f"empty{number}", f"ready{number}", f"done{number}"
        by_one = p.chance(0.4)  # one thread of each group gives a stage back, behind its sync
        how = p.pick(["registers", "copies"] + ["unit", "unit"] * p.has_unit)
        kinds = [("consumer", i) for i in range(len(self.sizes))]
        order = kinds + [("between", 0)] * bool(self.between) + [("producer", 0)]
        if p.chance(0.4):
            p.random.shuffle(order)
        begins, at = {}, 0
        for kind in order:
            begins[kind] = at
            at += {"producer": self.producer, "between": self.between}.get(kind[0]) or self.sizes[kind[1]]
        for i, jobs in enumerate(self.jobs):
            self.choose_products(jobs, self.sizes[i], begins[("consumer", i)])
        by_unit = any(job.product == "wgmma" for job in self.all_jobs())
        arrivals = [0]

        def hand_over(barrier, size):
            """The arrivals that say that a group has written."""
            if by_unit:
                self.line("self.fence.proxy_async()")
            if p.chance(0.4):
                self.line("self.sync()")
                with self.within("with self.single_thread():"):
                    self.line(f"self.mbarrier.arrive({barrier})")
                return 1
            self.line(f"self.mbarrier.arrive({barrier})")
            return size

        def give_back(barrier, size):
            if not by_one:
                return self.line(f"self.mbarrier.arrive({barrier})")
            self.line("self.sync()")
            with self.within(f"with self.single_thread({p.pick(['', str(p.random.randrange(size))])}):"):
                self.line(f"self.mbarrier.arrive({barrier})")

        def produce():
            with self.within(f"with self.thread_group({begins[('producer', 0)]}, {self.producer}):"):
                self.line("n: int32 = 0")
                with p.each_tile() as tile, p.each_round():
                    stage = self.place("n")
                    self.line(f"self.mbarrier.wait({empty}[{stage}], phase={self.phase('n', first=True)})")
                    if how == "unit":
                        with self.within(*["with self.single_warp():"] * (self.producer > 32)):
                            arrivals[0] = self.fetch(tile, "k", stage, f"{full}[{stage}]")
                    elif how == "copies":
                        self.copy_all(tile, "k", stage)
                        self.line("self.copy_async_wait_all()")
                        arrivals[0] = hand_over(f"{full}[{stage}]", self.producer)
                    else:
                        for s in self.streams:
                            self.line(f"self.store_shared({s.ring}[{stage}], self.load_global({s.view}, offsets={s.offsets(tile, 'k')}, shape=[{s.rows}, {s.columns}]))")
                        arrivals[0] = hand_over(f"{full}[{stage}]", self.producer)
                    self.line("n = n + 1")

        changed = [0]

        def change():
            s = self.changes
            with self.within(f"with self.thread_group({begins[('between', 0)]}, {self.between}):"):
                self.line("n: int32 = 0")
                with p.each_tile(), p.each_round():
                    stage, turn = self.place("n"), self.place("n", self.turns)
                    self.line(f"self.mbarrier.wait({full}[{stage}], phase={self.phase('n')})")
                    self.line(f"self.mbarrier.wait({done}[{turn}], phase={self.phase('n', self.turns, True)})")
                    self.line(f"self.store_shared(m{s.ring}[{turn}], self.load_shared({s.ring}[{stage}]) * 2 + 1)")
                    give_back(f"{empty}[{stage}]", self.between)
                    changed[0] = hand_over(f"{ready}[{turn}]", self.between)
                    self.line("n = n + 1")

        def consume(i):
            size, jobs = self.sizes[i], self.jobs[i]
            with self.within(f"with self.thread_group({begins[('consumer', i)]}, {size}):"):
                counted = p.chance(0.4)  # the stage and its phase as variables
                left = self.products_left(jobs) if not self.between or self.turns > 1 else 0

                def give_stages_back(count):
                    give_back(f"{empty}[{self.place(count)}]", size)
                    if self.between:
                        give_back(f"{done}[{self.place(count, self.turns)}]", size)
                self.line("n: int32 = 0")
                if counted:
                    self.line("stage: int32 = 0")
                    self.line("phase: uint32 = 0")
                with p.each_tile() as tile:
                    p.begin(jobs, tile)
                    with p.each_round():
                        stage = "stage" if counted else self.place("n")
                        self.line(f"self.mbarrier.wait({full}[{stage}], phase={'phase' if counted else self.phase('n')})")
                        if self.between:
                            self.line(f"self.mbarrier.wait({ready}[{self.place('n', self.turns)}], phase={self.phase('n', self.turns)})")
                        self.use(jobs, tile, "k", stage, left)
                        with self.within(*["if k > 0:"] * (left > 0)):
                            give_stages_back("(n - 1)" if left else "n")
                        if counted:
                            self.line(f"stage = (stage + 1) % {self.stages}")
                            self.line("phase = phase ^ (stage == 0)")
                        self.line("n = n + 1")
                    if left:
                        self.line("self.wgmma.wait_group(0)")
                        with self.within("if rounds > 0:"):
                            give_stages_back("(n - 1)")
                    p.end(jobs, tile)

        groups = [lambda i=i: consume(i) for i in range(len(self.sizes))] + [change] * bool(self.between) + [produce]
        p.random.shuffle(groups)
        for group in groups:
            group()
        users = len(self.sizes) if by_one else sum(self.sizes)
        between = 0 if not self.between else 1 if by_one else self.between
        p.insert(mark, f"{full} = self.mbarrier.alloc([{arrivals[0]}] * {self.stages})")
        p.insert(mark, f"{empty} = self.mbarrier.alloc([{users + between}] * {self.stages})")
        if self.between:
            p.insert(mark, f"{ready} = self.mbarrier.alloc([{changed[0]}] * {self.turns})")
            p.insert(mark, f"{done} = self.mbarrier.alloc([{users}] * {self.turns})")


class Program(Choices):
    def __init__(self, seed):
        self.random, self.seed, self.body, self.depth, self.counter = random.Random(seed), seed, [], 0, 0
        self.has_unit = architecture(seed) != "sm_80"
        self.cluster = 2 if self.has_unit and self.chance(0.12) else 1
        self.blocks = self.pick([1, 2, 2, 3, 4]) * self.cluster
        self.persistent = self.cluster == 1 and self.chance(0.3)  # a block works on several tiles
        self.tiles = self.blocks * self.pick([2, 3]) - self.pick([0, 1]) if self.persistent else self.blocks
        self.most_rounds = self.pick([3, 5, 7])
        self.by_warpgroups = self.has_unit and self.chance(0.5)  # groups are such as may use wgmma
        self.acts = [Act(self, i) for i in range(self.pick([1, 1, 1, 2]))]

    def fresh(self, letter):
        self.counter += 1
        return letter + str(self.counter)

    def each_tile(self):
        if self.persistent:
            return Within(self, ["for t in range(self.blockIdx.x, tiles, self.gridDim.x):"], "t")
        return Within(self, [], "self.blockIdx.x")

    def each_round(self):
        if self.chance(0.2):
            self.line("k: int32 = 0")
            return Within(self, ["while k < rounds:"], tail="k = k + 1")
        return Within(self, ["for k in range(rounds):"])

    def streams(self):
        return [s for act in self.acts for s in act.streams]

    def jobs(self):
        return [job for act in self.acts for job in act.all_jobs()]

    # ---- text that both kernels have ----

    def header(self, name, blocks, warps):
        types = {p: d for p, d in [(s.pointer, s.dtype) for s in self.streams()] + [(j.pointer, j.dtype) for j in self.jobs()]}
        types.update({"q" + job.pointer: "int32" for job in self.jobs() if job.way == "in turn"})
        arguments = ", ".join(["tiles: int32", "rounds: int32"] + [f"{pointer}: ~{dtype}" for pointer, dtype in types.items()])
        self.depth = 0
        self.line(f"class {name}(tilus.Script):")
        self.depth = 1
        self.line(f"def __call__(self, {arguments}):")
        self.depth = 2
        self.line(f"self.attrs.blocks = {blocks}")
        self.line(f"self.attrs.warps = {warps}")
        for s in self.streams():
            self.line(f"{s.view} = self.global_view({s.pointer}, dtype={s.dtype}, shape={s.extents})")
        for job in self.jobs():
            self.line(f"{job.view} = self.global_view({job.pointer}, dtype={job.dtype}, shape={[job.rows(self)] + list(job.shape)})")

    def begin(self, jobs, tile):
        for job in jobs:
            if not job.each_round:
                self.line(f"{job.acc} = self.register_tensor(dtype={job.dtype}, shape={list(job.shape)}, init=0)")
            if job.begun:
                parts = [Part(part.stream, 0, f"b * {job.begun}", part.rows, job.begun) for part in job.parts]
                with self.within("for b in range(2):"):
                    self.work([job.but(parts=parts, guard=None)], tile, 0, lambda part: part.plain(tile, 0))

    def end(self, jobs, tile):
        for job in jobs:
            if not job.each_round:
                self.put(job, job.acc, tile)
        self.drain(jobs)

    def drain(self, jobs):
        if any(self.goes_by_unit(job) for job in jobs):
            with self.within("with self.single_thread(0):"):
                self.line("self.tma.wait_group(0)")

    def goes_by_unit(self, job):
        return job.way == "unit" and not self.is_plain

    def put(self, job, tile, row):
        zeros = ["0"] * len(job.shape)
        value = f"self.unsqueeze({tile}, dim=0)"
        if job.way == "in turn" and not self.is_plain:
            self.line(f"self.lock_semaphore(q{job.pointer}, {row})")
            place = f"offsets=[{', '.join(['0'] + zeros)}]"
            self.line(f"self.store_global({job.view}, self.load_global({job.view}, {place}, shape={[1] + list(job.shape)}) + {value}, {place})")
            self.line(f"self.release_semaphore(q{job.pointer}, {row} + 1)")
        elif job.way in ("added", "in turn"):
            self.line(f"self.atomic.global_add({job.view}, {value})")
        elif self.goes_by_unit(job):
            with self.within("with self.single_thread(0):"):
                self.line("self.tma.wait_group(0, read=True)")
            self.line("self.sync()")
            self.line(f"self.store_shared({job.held}, {value})")
            self.line("self.fence.proxy_async()")
            self.line("self.sync()")
            with self.within("with self.single_thread(0):"):
                self.line(f"self.tma.shared_to_global({job.held}, {job.view}, [{', '.join([row] + zeros)}])")
                self.line("self.tma.commit_group()")
        else:
            self.line(f"self.store_global({job.view}, {value}, offsets=[{', '.join([row] + zeros)}])")

    def work(self, jobs, tile, step, read):
        """`read` gives the text of a part's tile."""
        for job in jobs:
            if job.guard:
                with self.within(f"if {job.guard}:"):
                    self.work([job.but(guard=None)], tile, step, read)
                continue
            x = read(job.parts[0])
            value = job.form.format(acc=job.acc, step=step, x=f"self.transpose({x})" if job.exchange else x, y=read(job.parts[-1]))
            if job.each_round:
                self.put(job, f"({value})", f"{tile} * {self.most_rounds} + {step}")
            else:
                self.line(f"{job.acc} = {value}")

    # ---- the two ----

    def plain(self):
        self.is_plain = True
        self.header(f"Plain{self.seed}", "tiles", self.pick([1, 2, 4]))
        self.begin(self.jobs(), "self.blockIdx.x")
        loop = self.pick(["for k in range(rounds):", "for k in range(rounds - 1, -1, -1):", "for k in self.range(0, rounds, 1, unroll=2):"])
        with self.within(loop):
            self.work(self.jobs(), "self.blockIdx.x", "k", lambda part: part.plain("self.blockIdx.x", "k"))
        self.end(self.jobs(), "self.blockIdx.x")
        self.body.append("")

    def ordered(self):
        self.is_plain = False
        threads = max(act.threads() for act in self.acts)
        self.header(f"Ordered{self.seed}", self.blocks, threads // 32)
        if self.cluster > 1:
            self.line(f"self.attrs.cluster_blocks = {self.cluster}")
        for act in self.acts:
            if act is not self.acts[0]:
                self.line("self.sync()")
            act.write(threads)
        self.body.append("")

    def calls(self):
        for s in self.streams():
            yield from filled(self.random, s.pointer, s.extents, s.dtype)
        given = ", ".join(s.pointer for s in self.streams())
        yield f"for rounds in {some_rounds(self.random, self.most_rounds)}:"
        for kind in "pq":
            for job in self.jobs():
                yield f"    {job.pointer}{kind} = zeros({tuple([job.rows(self)] + list(job.shape))}, {job.dtype})"
                if job.way == "in turn":
                    yield f"    q{job.pointer}{kind} = zeros((1,), int32)"
        for kind, name in zip("pq", ["Plain", "Ordered"]):
            results = [job.pointer + kind for job in self.jobs()] + [f"q{job.pointer}{kind}" for job in self.jobs() if job.way == "in turn"]
            yield f"    {name}{self.seed}()({self.tiles}, rounds, {given}, {', '.join(results)})"
        for job in self.jobs():
            yield f"    assert allclose({job.pointer}p, {job.pointer}q, 0, 0), (rounds, '{job.pointer}')"

    def text(self):
        self.ordered()
        self.plain()
        return HEAD + "\n".join(self.body) + "\n" + "\n".join(self.calls()) + "\n"


def program(seed):
    return Program(seed).text()


def expected(seed):
    """Of the kernel without barriers, called last: by the name of each array its type and what numpy says it holds. The program
    asserts that the other kernel leaves the same."""
    from numpy_script import names_left
    made = Program(seed)
    names = names_left(made.text(), ("Ordered",))
    return {job.pointer + "p": (job.dtype, names[job.pointer + "p"]) for job in made.jobs()}
