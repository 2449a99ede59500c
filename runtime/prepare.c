/* prepare.c: a kernel's code is brought to a device before the first call. */
#include "runtime.h"

/* cuKernelGetFunction brings the code into the current context, which the driver may otherwise put
 * off to the first launch. */
static tile_status settle(const tile_driver *driver, const tile_kernel *kernel, uint32_t launches,
                          const tile_loaded *loaded)
{
    for (uint32_t i = 0; i < launches; i++) {
        CUfunction function;
        const CUresult result = driver->kernel_function(&function, loaded->kernels[i].kernel);
        if (result != CUDA_SUCCESS)
            return tile_driver_error(driver, result, kernel->name, "cuKernelGetFunction");
    }
    return TILE_OK;
}

/* What is done with each variant of a kernel. */
typedef tile_status prepare_function(const tile_driver *driver, const tile_kernel *kernel,
                                     uint32_t specialisation, uint32_t variant, int device);

static tile_status prepare_loaded(const tile_driver *driver, const tile_kernel *kernel,
                                  uint32_t specialisation, uint32_t variant, int device)
{
    const tile_loaded *loaded = NULL;
    const tile_status status = tile_load(driver, kernel, specialisation, variant, device, &loaded);
    if (status) return status;
    return settle(driver, kernel, kernel->specialisations[specialisation].launch_count, loaded);
}

static tile_status prepare_emulated(const tile_driver *driver, const tile_kernel *kernel,
                                    uint32_t specialisation, uint32_t variant, int device)
{
    (void)driver;
    (void)device;
    const tile_image *image = NULL;
    return tile_need_emulated(kernel, &kernel->specialisations[specialisation].variants[variant],
                              &image);
}

static tile_status prepare_one(prepare_function *prepare, const tile_driver *driver,
                               const tile_kernel *kernel, uint32_t specialisation, int device)
{
    tile_status status = TILE_OK;
    const uint32_t count = kernel->specialisations[specialisation].variant_count;
    for (uint32_t i = 0; !status && i < count; i++)
        status = prepare(driver, kernel, specialisation, i, device);
    return status;
}

/* Of configurations one has to be fit for the device. */
static tile_status prepare_all(prepare_function *prepare, const tile_driver *driver,
                               const tile_kernel *kernel, int device)
{
    for (uint32_t i = 0; i < kernel->specialisation_count;) {
        const uint32_t row = kernel->specialisations[i].configuration_count;
        const uint32_t end = i + (row ? row : 1);
        tile_status status = TILE_OK;
        int any = 0;
        for (; i < end; i++) {
            const tile_status one = prepare_one(prepare, driver, kernel, i, device);
            any |= !one;
            if (one) status = one;
        }
        if (!any) return status;
    }
    return TILE_OK;
}

static tile_status prepare_on_gpu(const tile_kernel *kernel, int device)
{
    tile_driver *driver = NULL;
    tile_scope scope;
    tile_status status = tile_driver_get(&driver);
    if (!status) status = tile_scope_enter_device(driver, device, kernel->name, &scope);
    if (status) return status;
    status = prepare_all(prepare_loaded, driver, kernel, device);
    return tile_scope_leave(&scope, kernel->name, status);
}

tile_status tile_prepare(const tile_kernel *kernel, int device)
{
    static const void *const no_arguments[1];
    int chosen;
    tile_status status = tile_check_call(kernel, no_arguments);
    if (!status) status = tile_chosen_device(&chosen);
    if (status) return status;
    return chosen == TILE_DEVICE_EMULATOR ? prepare_all(prepare_emulated, NULL, kernel, device)
                                          : prepare_on_gpu(kernel, device);
}
