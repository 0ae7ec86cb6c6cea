/* Descriptors, as a survey wants them. */
#include <stdlib.h>
#include <string.h>

#include "runtime/survey/survey_priv.h"
#include "runtime/usb/scan.h"

typedef struct {
    const char *speed;
    struct libusb_device_descriptor d;
    char strings[3][128]; /* manufacturer, product, serial */
    str rest;             /* configuration, interface, endpoints */
    str ends;             /* endpoints alone */
    unsigned attributes, units, packet_in, packet_out;
} facts;

static bool is_super(const facts *f)
{
    return !strcmp(f->speed, "5 Gb/s") || !strcmp(f->speed, "10 Gb/s");
}

static void read_strings(libusb_device *device, facts *f)
{
    const uint8_t which[] = {f->d.iManufacturer, f->d.iProduct,
                             f->d.iSerialNumber};
    libusb_device_handle *h;

    for (int i = 0; i < 3; i++)
        strcpy(f->strings[i], "(not readable)");
    if (libusb_open(device, &h))
        return;
    for (int i = 0; i < 3; i++)
        if (libusb_get_string_descriptor_ascii(h, which[i],
                                               (uint8_t *)f->strings[i],
                                               sizeof f->strings[i]) < 0)
            strcpy(f->strings[i], which[i] ? "(not readable)" : "(none)");
    libusb_close(h);
}

static void put_endpoint(const struct libusb_endpoint_descriptor *e, facts *f)
{
    static const char *const kinds[] = {"control", "isochronous", "bulk",
                                        "interrupt"};
    bool bulk = (e->bmAttributes & 3) == LIBUSB_ENDPOINT_TRANSFER_TYPE_BULK;

    str_printf(&f->ends, "%s%02x %s %u", f->ends.n ? ", " : "",
               e->bEndpointAddress, kinds[e->bmAttributes & 3],
               e->wMaxPacketSize);
    if (bulk && e->bEndpointAddress == USB_OUT)
        f->packet_out = e->wMaxPacketSize;
    if (bulk && e->bEndpointAddress == USB_IN)
        f->packet_in = e->wMaxPacketSize;
}

static void read_config(libusb_device *device, facts *f)
{
    struct libusb_config_descriptor *c;

    if (libusb_get_config_descriptor(device, 0, &c))
        return;
    f->attributes = c->bmAttributes;
    f->units = c->MaxPower;
    str_printf(&f->rest, "%u configuration%s, attributes %02x, %u mA",
               f->d.bNumConfigurations, f->d.bNumConfigurations == 1 ? "" : "s",
               c->bmAttributes, c->MaxPower * (is_super(f) ? 8 : 2));
    if (c->bNumInterfaces && c->interface[0].num_altsetting) {
        const struct libusb_interface_descriptor *i =
            c->interface[0].altsetting;

        str_printf(&f->rest, ", interface %02x/%02x/%02x", i->bInterfaceClass,
                   i->bInterfaceSubClass, i->bInterfaceProtocol);
        for (int k = 0; k < i->bNumEndpoints; k++)
            put_endpoint(&i->endpoint[k], f);
    }
    libusb_free_config_descriptor(c);
}

static void read_facts(libusb_device *device, facts *f)
{
    *f = (facts){.speed = usb_speed(device)};
    if (!f->speed)
        f->speed = "unknown speed";
    libusb_get_device_descriptor(device, &f->d);
    read_strings(device, f);
    read_config(device, f);
}

static void free_facts(facts *f)
{
    str_free(&f->rest);
    str_free(&f->ends);
}

static const survey_id of_usb[] = {
    SURVEY_usb_unbooted,      SURVEY_boot_upload,
    SURVEY_boot_return,       SURVEY_boot_last_bytes,
    SURVEY_usb_place,         SURVEY_usb_booted_strings,
    SURVEY_usb_booted_device, SURVEY_usb_booted_endpoints,
    SURVEY_usb_booted_power,  SURVEY_boot_zlp};

void survey_unbooted(survey_state *v)
{
    const usb_found *found = NULL;
    vpu_error err;
    usb_scan s;
    facts f;

    for (size_t i = 0;
         v->config->is_virtual && i < sizeof of_usb / sizeof *of_usb; i++)
        survey_miss(v, of_usb[i], SURVEY_NOT_APPLICABLE,
                    "behind a socket, a stick is booted and has no USB");
    if (v->config->is_virtual || usb_scan_start(&s, &err))
        return;
    for (size_t i = 0; i < s.n_found && !found; i++)
        if (*v->config->device ? !strcmp(s.found[i].name, v->config->device)
                               : v->config->take_booted || !s.found[i].booted)
            found = &s.found[i];
    if (found) /* the same one in all sessions */
        memcpy(v->survey->stick, found->name, sizeof found->name);
    if (found && found->booted) {
        survey_miss(v, SURVEY_usb_unbooted, SURVEY_NO_ANSWER,
                    "it was booted already");
    } else if (found) {
        char *text;

        read_facts(found->device, &f);
        text = arena_printf(
            v->arena,
            "%s, bcdUSB %04x, bcdDevice %04x, class %02x/%02x/%02x, '%s' '%s' "
            "'%s', %s, %s",
            f.speed, f.d.bcdUSB, f.d.bcdDevice, f.d.bDeviceClass,
            f.d.bDeviceSubClass, f.d.bDeviceProtocol, f.strings[0],
            f.strings[1], f.strings[2], str_text(&f.rest), str_text(&f.ends));
        survey_see(v, SURVEY_usb_unbooted,
                   survey_whether(!strcmp(
                       text, v->survey->entries[SURVEY_usb_unbooted].assumed)),
                   "%s", text);
        free_facts(&f);
    }
    usb_scan_end(&s);
}

static bool is_serial(const char *s)
{
    size_t n = strlen(s);

    return n >= 14 && n <= 18 && strspn(s, "0123456789abcdefABCDEF") == n;
}

static void tell_booted(survey_state *v, const facts *f)
{
    bool fast = is_super(f);
    unsigned packet = fast ? 1024 : 512;
    bool known = !strcmp(f->strings[0], "Movidius") ||
                 !strcmp(f->strings[0], "Intel Corporation");

    survey_see(v, SURVEY_usb_booted_strings,
               survey_whether(known &&
                              !strcmp(f->strings[1], "VSC Loopback Device") &&
                              is_serial(f->strings[2])),
               "'%s' '%s' '%s'", f->strings[0], f->strings[1], f->strings[2]);
    survey_see(
        v, SURVEY_usb_booted_device,
        survey_whether(fast ? f->d.bcdUSB >= 0x300 : f->d.bcdUSB == 0x210),
        "%s, bcdUSB %04x, bcdDevice %04x, class %02x/%02x/%02x, %s", f->speed,
        f->d.bcdUSB, f->d.bcdDevice, f->d.bDeviceClass, f->d.bDeviceSubClass,
        f->d.bDeviceProtocol, str_text(&f->rest));
    survey_see(
        v, SURVEY_usb_booted_endpoints,
        survey_whether(f->packet_in == packet && f->packet_out == packet), "%s",
        str_text(&f->ends));
    survey_see(v, SURVEY_usb_booted_power,
               survey_whether(f->attributes == 0xc0 && f->units == 3),
               "attributes %02x, %u units", f->attributes, f->units);
}

static void tell_boot(survey_state *v)
{
    const usb_boot_record *b = &v->boot;
    static const survey_id ids[] = {SURVEY_boot_upload, SURVEY_boot_return,
                                    SURVEY_boot_last_bytes, SURVEY_usb_place};

    for (int i = 0; i < 4 && !b->booted; i++)
        survey_miss(v, ids[i], SURVEY_NO_ANSWER, "it was booted already");
    if (!b->booted)
        return;
    survey_see(v, SURVEY_boot_upload, SURVEY_NOTED, "%.0f ms for %u bytes",
               b->upload_ms, b->image_bytes);
    survey_see(v, SURVEY_boot_return, SURVEY_NOTED, "%.0f ms", b->back_ms);
    survey_see(v, SURVEY_boot_last_bytes, SURVEY_NOTED, "%s",
               b->left_early ? "it was gone before" : "it was still there");
}

void survey_booted(survey_state *v)
{
    const usb_found *found;
    vpu_error err;
    usb_scan s;
    facts f;

    if (v->config->is_virtual)
        return;
    tell_boot(v);
    if (usb_scan_start(&s, &err))
        return;
    found = usb_scan_find(&s, v->place);
    if (found) {
        bool other_bus = strcmp(v->place, v->survey->stick);

        read_facts(found->device, &f);
        if (v->boot.booted)
            survey_see(v, SURVEY_usb_place,
                       survey_whether(other_bus == is_super(&f) &&
                                      !strcmp(usb_ports(v->place),
                                              usb_ports(v->survey->stick))),
                       "from %s to %s, %s", v->survey->stick, v->place,
                       f.speed);
        tell_booted(v, &f);
        free_facts(&f);
    }
    usb_scan_end(&s);
}
