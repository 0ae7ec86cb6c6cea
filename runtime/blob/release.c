/* The table of releases. */
#include "runtime/blob/release.h"

#include <stddef.h>

/* 2020.3 and 2021.2: the version is from a third party's table; 2021.2's
 * firmware and the release that began to share dims are inferred [?]. */
static const blob_release table[] = {
    {CONFIG_2019R3, 5, 0, 68, true, false, false, false, false, false, ""},
    {CONFIG_2020_1, 5, 0, 115, false, false, false, false, false, false,
     "942_R10.15"},
    {CONFIG_2020_2, 5, 0, 115, false, false, false, false, false, false,
     "1076"},
    {CONFIG_2020_3, 5, 0, 115, false, false, false, false, false, false, ""},
    {CONFIG_2020_4, 6, 0, 115, false, false, false, false, false, false,
     "1223"},
    {CONFIG_2021_1, 6, 0, 115, false, true, false, false, true, false, "1381"},
    {CONFIG_2021_2, 6, 0, 115, false, true, false, true, true, false, "1567"},
    {CONFIG_2021_3, 6, 0, 115, false, true, true, true, true, false, "1639"},
    {CONFIG_2021_4, 6, 0, 115, false, true, true, true, true, false, "1688"},
    {CONFIG_2022_1, 6, 0, 115, false, true, true, true, true, true, ""},
    {CONFIG_2022_2, 6, 0, 115, false, true, true, true, true, true, ""},
    {CONFIG_2022_3, 6, 0, 115, false, true, true, true, true, true,
     "20230117_37"},
};

const blob_release *blob_release_of(config_release r)
{
    return &table[r - CONFIG_2019R3];
}

const char *blob_version_releases(uint32_t major, uint32_t minor)
{
    if (minor)
        return NULL;
    switch (major) {
    case 4:
        return "2019 R1.1";
    case 5:
        return "2019 R2 to 2020.3";
    case 6:
        return "2020.4 to 2022.3";
    default:
        return NULL;
    }
}
