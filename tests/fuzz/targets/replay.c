/* replay.c: main() of a target without libFuzzer: gives it each of the files, and those of the
 * folders, so that what was found once is tested everywhere. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *count, char ***words);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return perror(path), 1;
    uint8_t *bytes = malloc(1 << 20);
    const size_t size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    printf("%s\n", path); /* the last one, should it crash */
    fflush(stdout);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return 0;
}

static int replay_folder(DIR *folder, const char *name)
{
    int failed = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
        failed |= replay(path);
    }
    closedir(folder);
    return failed;
}

int main(int count, char **paths)
{
    int failed = LLVMFuzzerInitialize(&count, &paths);
    for (int i = 1; i < count; i++) {
        DIR *folder = opendir(paths[i]);
        failed |= folder ? replay_folder(folder, paths[i]) : replay(paths[i]);
    }
    return failed;
}
