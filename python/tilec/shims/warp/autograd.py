"""warp.autograd: Jacobians by gradients and by differences, and what the two disagree about."""

import sys

import numpy

from warp import arrays as _arrays
from warp import launches as _launches
from warp import types as _types
from warp.tape import Tape as _Tape


class FunctionMetadata:
    """What the arguments and results of a function are called, and what they are."""

    def __init__(self, key=None, input_labels=None, output_labels=None, input_strides=None, output_strides=None, input_dtypes=None,
                 output_dtypes=None):
        self.key = key
        self.input_labels, self.output_labels = input_labels, output_labels
        self.input_strides, self.output_strides = input_strides, output_strides
        self.input_dtypes, self.output_dtypes = input_dtypes, output_dtypes

    @property
    def is_empty(self):
        return self.key is None

    def _describe(self, key, names, inputs, outputs):
        self.key = key
        self.input_labels, self.output_labels = names[: len(inputs)], names[len(inputs) :]
        for word, values in (("input", inputs), ("output", outputs)):
            setattr(self, f"{word}_strides", [one.strides if _types.is_array(one) else None for one in values])
            setattr(self, f"{word}_dtypes", [one.dtype if _types.is_array(one) else None for one in values])

    def update_from_kernel(self, kernel, inputs):
        names = kernel.parameters
        self._describe(kernel.key, names[: len(inputs)], list(inputs), [])
        self.output_labels = names[len(inputs) :]
        self.output_strides, self.output_dtypes = ([None] * len(self.output_labels) for _ in range(2))

    def update_from_function(self, function, inputs, outputs):
        import inspect

        try:
            names = list(inspect.signature(function).parameters)[: len(inputs)]
        except (TypeError, ValueError):
            names = []
        names += [f"input_{i}" for i in range(len(names), len(inputs))]
        self._describe(function.__name__, names + [f"output_{i}" for i in range(len(outputs))], list(inputs), list(outputs))


# ---- what is differentiated ----


def _has_gradient(value):
    return _types.is_array(value) and _is_real(value) and bool(value.requires_grad)


def _is_real(value):
    return not isinstance(value.dtype, _types.Struct) and _types.type_scalar_type(value.dtype) in _types.float_types


def is_kernel_backward_enabled(kernel):
    asked = kernel.enable_backward
    return bool(kernel.module.options.get("enable_backward", True) if asked is None else asked)


class _Problem:
    """A kernel, or a function that gives arrays, with its arguments; and what of it is asked for."""

    def __init__(self, function, dim, inputs, outputs, mask, device, max_blocks, block_dim, metadata, restore):
        if inputs is None:
            raise ValueError("The inputs argument must be provided")
        self.function, self.dim, self.inputs, self.mask, self.device = function, dim, list(inputs), mask, device
        self.block_dim = block_dim
        self.is_kernel = isinstance(function, _launches.Kernel)
        if self.is_kernel and outputs is None:
            raise ValueError("A list of output arguments must be provided to compute kernel Jacobians")
        self.outputs = list(outputs) if self.is_kernel else None
        self.metadata = FunctionMetadata() if metadata is None else metadata
        if self.is_kernel and self.metadata.is_empty:
            self.metadata._describe(function.key, function.parameters, self.inputs, self.outputs)
        self.kept = [(value.numpy().copy(), value.memory.is_read) if _types.is_array(value) else None for value in self.inputs] if restore else None

    def run(self):
        """The outputs, of the inputs as they are now; these are as they were, after it."""
        try:
            if self.is_kernel:
                options = {} if self.block_dim is None else {"block_dim": self.block_dim}
                _launches.launch(self.function, dim=self.dim, inputs=self.inputs, outputs=self.outputs, device=self._place(), **options)
                return self.outputs
            made = self.function(*self.inputs)
        except BaseException:
            self.restore()
            raise
        made = list(made) if isinstance(made, (tuple, list)) else [made]
        if self.metadata.is_empty:
            self.metadata.update_from_function(self.function, self.inputs, made)
        return made

    def _place(self):
        if self.device is not None:
            return self.device
        return next((value.device for value in [*self.inputs, *self.outputs] if _types.is_array(value)), None)

    def restore(self):
        for value, kept in zip(self.inputs, self.kept or []):
            if kept is not None:
                value._store(kept[0])
                value.memory.is_read = kept[1]

    def unread(self):
        """Its own launches begin where nothing was read."""
        for value, kept in zip(self.inputs, self.kept or []):
            if kept is not None:
                value.memory.is_read = False

    def _index(self, given, labels, what):
        if isinstance(given, str):
            if given not in labels:
                raise ValueError(f"the mask names {given!r}, which is no {what} of {self.metadata.key}")
            return labels.index(given)
        return given

    def pairs(self, outputs):
        ins = [i for i, value in enumerate(self.inputs) if _has_gradient(value)]
        outs = [j for j, value in enumerate(outputs) if _has_gradient(value)]
        wanted = None
        if self.mask is not None:
            wanted = {(self._index(i, self.metadata.input_labels, "input"), self._index(j, self.metadata.output_labels, "output"))
                      for i, j in self.mask}
        return [(i, j) for i in ins for j in outs if wanted is None or (i, j) in wanted]


def _flat(array):
    return array.numpy().reshape(-1)


def _result(matrix, like):
    """A row for each number of the output, of elements as the input has them."""
    return _arrays.array(matrix.reshape(len(matrix), like.size, *_types.inner_shape(like.dtype)), dtype=like.dtype, device=like.device)


def _matrix(jacobian):
    """A column for each number of the input."""
    values = jacobian.numpy()
    return values.reshape(len(values), -1)


def _shown(jacobians, problem, plot_jacobians):
    if plot_jacobians:
        jacobian_plot(jacobians, problem.metadata, problem.inputs)
    return jacobians


def jacobian(function, dim=None, inputs=None, outputs=None, input_output_mask=None, device=None, max_blocks=0, block_dim=None,
             max_outputs_per_var=-1, plot_jacobians=False, metadata=None, restore_inputs=True):
    """By the gradients of each number of the outputs; numbers beyond max_outputs_per_var have NaN."""
    if isinstance(function, _launches.Kernel) and not is_kernel_backward_enabled(function):
        raise ValueError("Kernel must have backward pass enabled to compute Jacobians")
    problem = _Problem(function, dim, inputs, outputs, input_output_mask, device, max_blocks, block_dim, metadata, restore_inputs)
    try:
        problem.unread()
        tape = _Tape()
        with tape:
            made = problem.run()
        for record in tape.launches:
            if len(record) > 2 and not is_kernel_backward_enabled(record[0]):
                raise ValueError("Kernel must have backward pass enabled to compute Jacobians")
        return _shown(_by_gradients(problem, tape, made, max_outputs_per_var), problem, plot_jacobians)
    finally:
        problem.restore()


def _by_gradients(problem, tape, made, most):
    pairs = problem.pairs(made)
    found = {}
    for j in sorted({j for _, j in pairs}):
        numbers = _flat(made[j]).size
        for row in range(numbers if most < 0 else min(most, numbers)):
            tape.zero()
            for value in problem.inputs:
                if _has_gradient(value):
                    value.grad.zero_()
            seed = made[j].grad.numpy().copy().reshape(-1)
            seed[...] = 0
            seed[row] = 1
            made[j].grad._store(seed.reshape(made[j].grad.numpy().shape))
            tape.backward()
            for i, other in pairs:
                if other == j:
                    gradient = _flat(problem.inputs[i].grad)
                    if (i, j) not in found:
                        found[i, j] = numpy.full((numbers, gradient.size), numpy.nan, gradient.dtype)
                    found[i, j][row] = gradient
    tape.zero()
    return {pair: _result(found[pair], problem.inputs[pair[0]]) for pair in pairs if pair in found}


def jacobian_fd(function, dim=None, inputs=None, outputs=None, input_output_mask=None, device=None, max_blocks=0, block_dim=None,
                max_inputs_per_var=-1, eps=1e-4, plot_jacobians=False, metadata=None, restore_inputs=True):
    """By differences of the outputs where each number of the inputs is a little less and a little more."""
    problem = _Problem(function, dim, inputs, outputs, input_output_mask, device, max_blocks, block_dim, metadata, restore_inputs)
    try:
        return _shown(_by_differences(problem, eps, max_inputs_per_var), problem, plot_jacobians)
    finally:
        problem.restore()


def _by_differences(problem, eps, most):
    made = problem.run()
    pairs = problem.pairs(made)
    found = {}
    for i in sorted({i for i, _ in pairs}):
        value = problem.inputs[i]
        start = value.numpy().copy() if problem.kept is None else problem.kept[i][0]
        numbers = start.size
        for column in range(numbers if most < 0 else min(most, numbers)):
            sides = []
            for step in (-eps, eps):
                problem.restore()
                problem.unread()
                moved = (value.numpy() if problem.kept is None else start).copy()
                moved.reshape(-1)[column] += step
                value._store(moved)
                sides.append([_flat(one).copy() if _types.is_array(one) else None for one in problem.run()])
                if problem.kept is None:
                    back = value.numpy().copy()
                    back.reshape(-1)[column] -= step
                    value._store(back)
            for one, j in pairs:
                if one == i:
                    if (i, j) not in found:
                        found[i, j] = numpy.full((sides[0][j].size, numbers), numpy.nan, start.dtype)
                    found[i, j][:, column] = (sides[1][j] - sides[0][j]) / (2 * eps)
    return {pair: _result(found[pair], problem.inputs[pair[0]]) for pair in pairs if pair in found}


# ---- the two compared ----


def gradcheck(function, dim=None, inputs=None, outputs=None, *, eps=1e-4, atol=1e-3, rtol=1e-2, raise_exception=True, input_output_mask=None,
              device=None, max_blocks=0, block_dim=None, max_inputs_per_var=-1, max_outputs_per_var=-1, plot_relative_error=False,
              plot_absolute_error=False, show_summary=True, restore_inputs=True):
    """Whether the gradients are what differences say."""
    if inputs is None:
        raise ValueError("The inputs argument must be provided")
    metadata = FunctionMetadata()
    shared = dict(dim=dim, inputs=inputs, outputs=outputs, input_output_mask=input_output_mask, device=device, max_blocks=max_blocks,
                  block_dim=block_dim, metadata=metadata, restore_inputs=restore_inputs)
    by_gradients = jacobian(function, max_outputs_per_var=max_outputs_per_var, **shared)
    by_differences = jacobian_fd(function, max_inputs_per_var=max_inputs_per_var, eps=eps, **shared)
    relative, absolute, wrong, rows = {}, {}, None, []
    for (i, j), found in by_gradients.items():
        a, b = _matrix(found).astype(float), _matrix(by_differences[i, j]).astype(float)
        known = (~numpy.isnan(a).all(axis=1))[:, None] & (~numpy.isnan(b).all(axis=0))[None, :]
        difference = numpy.where(known, numpy.abs(a - b), 0)
        share = difference / numpy.maximum(numpy.abs(b), 1e-30)
        absolute[i, j], relative[i, j] = _arrays.array(difference, device=found.device), _arrays.array(share, device=found.device)
        label = f"{metadata.input_labels[i]} -> {metadata.output_labels[j]}"
        is_nan = bool(numpy.isnan(difference).any())
        passed = not is_nan and bool((difference <= atol + rtol * numpy.abs(b))[known].all())
        rows.append((label, numpy.nanmax(difference, initial=0), numpy.nanmax(numpy.where(b != 0, share, 0), initial=0), passed))
        if not passed and wrong is None:
            wrong = f"Gradient check failed for {metadata.key}, {label}: " + (
                "NaN is in a Jacobian" if is_nan else f"the Jacobians differ by up to {difference.max():g}")
    if show_summary:
        _print_table(metadata.key, rows)
    if plot_relative_error:
        jacobian_plot(relative, metadata, inputs, title=f"{metadata.key} kernel Jacobian relative error")
    if plot_absolute_error:
        jacobian_plot(absolute, metadata, inputs, title=f"{metadata.key} kernel Jacobian absolute error")
    if wrong is not None and raise_exception:
        raise ValueError(wrong)
    return wrong is None


def _print_table(key, rows):
    print(f"Gradient check of {key}", file=sys.stdout)
    for label, absolute, relative, passed in rows:
        print(f"  {label}: absolute error {absolute:.3e}, relative {relative:.3e}: {'passed' if passed else 'FAILED'}")


def gradcheck_tape(tape, *, eps=1e-4, atol=1e-3, rtol=1e-2, raise_exception=True, input_output_masks=None, blacklist_kernels=None,
                   whitelist_kernels=None, max_inputs_per_var=-1, max_outputs_per_var=-1, plot_relative_error=False,
                   plot_absolute_error=False, show_summary=True, reverse_launches=False, skip_to_launch_index=0):
    """gradcheck() of the launches of kernels that a tape has."""
    masks, passed = input_output_masks or {}, True
    launches = tape.launches[skip_to_launch_index:]
    for record in reversed(launches) if reverse_launches else launches:
        if len(record) == 2:
            continue
        kernel, dim, _, inputs, outputs, device, block_dim, _ = record
        if not is_kernel_backward_enabled(kernel) or kernel.key in (blacklist_kernels or []):
            continue
        if whitelist_kernels and kernel.key not in whitelist_kernels:
            continue
        passed = gradcheck(kernel, dim, inputs, outputs, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
                           input_output_mask=masks.get(kernel.key), device=device, block_dim=block_dim, max_inputs_per_var=max_inputs_per_var,
                           max_outputs_per_var=max_outputs_per_var, plot_relative_error=plot_relative_error,
                           plot_absolute_error=plot_absolute_error, show_summary=show_summary) and passed
    return passed


# ---- pictures ----


def _component_count(dtype):
    if not isinstance(dtype, _types._Type):
        raise ValueError(f"Invalid plotting metadata: {dtype} has no component count")
    return _types.type_length(dtype)


def _check_plotted(jacobians, metadata):
    for i, j in jacobians:
        for word, index, labels in (("input", i, metadata.input_labels), ("output", j, metadata.output_labels)):
            if not 0 <= index < len(labels or []):
                raise ValueError(f"Invalid Jacobian {word} index {index}: the metadata describes {len(labels or [])}")
            if labels[index] is None:
                raise ValueError(f"Invalid plotting metadata for Jacobian {word} index {index}: missing label")
        if metadata.input_dtypes is None or i >= len(metadata.input_dtypes) or metadata.input_dtypes[i] is None:
            raise ValueError(f"Invalid plotting metadata for Jacobian input index {i}: missing array dtype")
        _component_count(metadata.input_dtypes[i])


def jacobian_plot(jacobians, kernel, inputs=None, show_plot=True, show_colorbar=True, scale_colors_per_submatrix=False, title=None,
                  colormap="coolwarm", log_scale=False):
    """A figure of the matrices, by matplotlib: a row for each output, a column for each input."""
    if isinstance(kernel, _launches.Kernel):
        if inputs is None:
            raise ValueError("inputs must be provided when kernel is a Warp kernel")
        metadata = FunctionMetadata()
        metadata.update_from_kernel(kernel, inputs)
    elif isinstance(kernel, FunctionMetadata):
        metadata = kernel
    else:
        raise ValueError("Invalid kernel argument: must be a Warp kernel or a FunctionMetadata object")
    _check_plotted(jacobians, metadata)
    if not jacobians:
        return None
    import matplotlib.pyplot as plt

    ins, outs = sorted({i for i, _ in jacobians}), sorted({j for _, j in jacobians})
    shown = {pair: _matrix(one) for pair, one in jacobians.items()}
    if log_scale:
        shown = {pair: numpy.log10(numpy.abs(matrix) + 1e-8) for pair, matrix in shown.items()}
    widths = [next(matrix.shape[1] for (one, _), matrix in shown.items() if one == i) for i in ins]
    heights = [next(matrix.shape[0] for (_, one), matrix in shown.items() if one == j) for j in outs]
    figure, axes = plt.subplots(len(outs), len(ins), squeeze=False, layout="constrained",
                                gridspec_kw={"width_ratios": widths, "height_ratios": heights})
    figure.suptitle(title or f"{metadata.key or 'unknown'} kernel Jacobian")
    low, high = min([numpy.nanmin(matrix) for matrix in shown.values()]), max([numpy.nanmax(matrix) for matrix in shown.values()])
    image = None
    for y, j in enumerate(outs):
        for x, i in enumerate(ins):
            one = axes[y][x]
            if (i, j) not in shown:
                one.axis("off")
                continue
            limits = {} if scale_colors_per_submatrix else {"vmin": low, "vmax": high}
            image = one.imshow(shown[i, j], cmap=colormap, aspect="auto", interpolation="nearest", **limits)
            one.set_xlabel(metadata.input_labels[i])
            one.set_ylabel(metadata.output_labels[j])
    if show_colorbar and image is not None:
        figure.colorbar(image, ax=axes.ravel().tolist())
    if show_plot:
        plt.show()
    return figure


__all__ = ["gradcheck", "gradcheck_tape", "jacobian", "jacobian_fd", "jacobian_plot"]
