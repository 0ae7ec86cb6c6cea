/* Layer lists. All images are square; a tensor is a number, its place in the
 * list. */
#include "tests/runtime/pool/networks.h"

#include <stdbool.h>
#include <string.h>

typedef int tensor;

/* A tensor of c channels and h * h elements each, made at the next step. */
static tensor make(network *net, int c, int h)
{
    size_t n = net->n++;

    net->items[n] = (pool_item){.bytes = (uint64_t)c * h * h * 2,
                                .alignment = 64,
                                .first = (uint32_t)n,
                                .last = (uint32_t)n};
    net->channels[n] = c;
    net->height[n] = h;
    return (tensor)n;
}

static void reads(network *net, tensor t)
{
    net->items[t].last = (uint32_t)net->n;
}

/* Any operation of one input: c channels, h * h. */
static tensor op(network *net, tensor in, int c, int h)
{
    reads(net, in);
    return make(net, c, h);
}

/* The size divided by the stride, rounded up: padding "same". */
static tensor conv(network *net, tensor in, int c, int stride)
{
    return op(net, in, c, (net->height[in] + stride - 1) / stride);
}

/* The same channels: pooling, depthwise convolution. */
static tensor each(network *net, tensor in, int stride)
{
    return conv(net, in, net->channels[in], stride);
}

static tensor add(network *net, tensor l, tensor r)
{
    reads(net, l);
    return op(net, r, net->channels[l], net->height[l]);
}

/* As large as the last one. */
static tensor concat(network *net, const tensor *parts, int n)
{
    int c = 0;

    for (int i = 0; i < n; i++) {
        reads(net, parts[i]);
        c += net->channels[parts[i]];
    }
    return make(net, c, net->height[parts[n - 1]]);
}

static tensor concat2(network *net, tensor l, tensor r)
{
    return concat(net, (tensor[]){l, r}, 2);
}

/* Global pooling, classes, softmax. */
static void classify(network *net, tensor t)
{
    t = op(net, t, net->channels[t], 1);
    t = op(net, t, 1000, 1);
    op(net, t, 1000, 1);
}

static void mobilenet_v1(network *net)
{
    static const int rows[][2] = {
        {1, 64},  {2, 128}, {1, 128}, {2, 256}, {1, 256},  {2, 512}, {1, 512},
        {1, 512}, {1, 512}, {1, 512}, {1, 512}, {2, 1024}, {1, 1024}};
    tensor t = conv(net, make(net, 3, 224), 32, 2);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        t = each(net, t, rows[i][0]);
        t = conv(net, t, rows[i][1], 1);
    }
    classify(net, t);
}

static tensor inverted(network *net, tensor in, int expand, int c, int stride)
{
    tensor t = in;

    if (expand > 1)
        t = conv(net, t, net->channels[in] * expand, 1);
    t = each(net, t, stride);
    t = conv(net, t, c, 1);
    return stride == 1 && net->channels[in] == c ? add(net, in, t) : t;
}

static void mobilenet_v2(network *net)
{
    static const int rows[][4] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2},
                                  {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2},
                                  {6, 320, 1, 1}};
    tensor t = conv(net, make(net, 3, 224), 32, 2);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < rows[i][2]; k++)
            t = inverted(net, t, rows[i][0], rows[i][1], k ? 1 : rows[i][3]);
    classify(net, conv(net, t, 1280, 1));
}

static tensor residual(network *net, tensor in, int c, int stride, bool deep)
{
    int wide = deep ? 4 * c : c;
    tensor t, side = in;

    if (deep)
        t = conv(net, conv(net, conv(net, in, c, 1), c, stride), wide, 1);
    else
        t = conv(net, conv(net, in, c, stride), c, 1);
    if (stride > 1 || net->channels[in] != wide)
        side = conv(net, in, wide, stride);
    return add(net, side, t);
}

static void resnet(network *net, const int blocks[4], bool deep)
{
    tensor t = each(net, conv(net, make(net, 3, 224), 64, 2), 2);

    for (int stage = 0; stage < 4; stage++)
        for (int k = 0; k < blocks[stage]; k++)
            t = residual(net, t, 64 << stage, stage && !k ? 2 : 1, deep);
    classify(net, t);
}

static void resnet_18(network *net)
{
    resnet(net, (const int[]){2, 2, 2, 2}, false);
}

static void resnet_50(network *net)
{
    resnet(net, (const int[]){3, 4, 6, 3}, true);
}

static tensor fire(network *net, tensor in, int squeeze, int expand)
{
    tensor s = conv(net, in, squeeze, 1);
    tensor narrow = conv(net, s, expand, 1);

    return concat2(net, narrow, conv(net, s, expand, 1));
}

static void squeezenet(network *net)
{
    tensor t = op(net, make(net, 3, 227), 96, 111);

    t = fire(net, op(net, t, 96, 55), 16, 64);
    t = fire(net, fire(net, t, 16, 64), 32, 128);
    t = fire(net, op(net, t, 256, 27), 32, 128);
    t = fire(net, fire(net, t, 48, 192), 48, 192);
    t = fire(net, t, 64, 256);
    t = fire(net, op(net, t, 512, 13), 64, 256);
    t = op(net, conv(net, t, 1000, 1), 1000, 1);
    op(net, t, 1000, 1);
}

static tensor inception_a(network *net, tensor in, int pooled)
{
    tensor parts[4];

    parts[0] = conv(net, in, 64, 1);
    parts[1] = conv(net, conv(net, in, 48, 1), 64, 1);
    parts[2] = conv(net, conv(net, conv(net, in, 64, 1), 96, 1), 96, 1);
    parts[3] = conv(net, each(net, in, 1), pooled, 1);
    return concat(net, parts, 4);
}

/* To the first reduction. */
static void inception_v3(network *net)
{
    tensor parts[3];
    tensor t = op(net, make(net, 3, 299), 32, 149);

    t = op(net, op(net, t, 32, 147), 64, 147);
    t = op(net, op(net, t, 64, 73), 80, 73);
    t = op(net, op(net, t, 192, 71), 192, 35);
    t = inception_a(net, t, 32);
    t = inception_a(net, t, 64);
    t = inception_a(net, t, 64);
    parts[0] = op(net, t, 384, 17);
    parts[1] = conv(net, conv(net, t, 64, 1), 96, 1);
    parts[1] = op(net, parts[1], 96, 17);
    parts[2] = op(net, t, 288, 17);
    concat(net, parts, 3);
}

static void tiny_yolo_v2(network *net)
{
    tensor t = make(net, 3, 416);

    for (int c = 16; c <= 256; c *= 2)
        t = each(net, conv(net, t, c, 1), 2);
    t = each(net, conv(net, t, 512, 1), 1);
    t = conv(net, conv(net, t, 1024, 1), 1024, 1);
    conv(net, t, 125, 1);
}

static void tiny_yolo_v3(network *net)
{
    tensor t = make(net, 3, 416);
    tensor fine = t, coarse, result;

    for (int c = 16; c <= 256; c *= 2) {
        fine = conv(net, t, c, 1);
        t = each(net, fine, 2);
    }
    t = each(net, conv(net, t, 512, 1), 1);
    coarse = conv(net, conv(net, t, 1024, 1), 256, 1);
    result = conv(net, conv(net, coarse, 512, 1), 255, 1);
    t = op(net, conv(net, coarse, 128, 1), 128, 26);
    t = conv(net, concat2(net, t, fine), 256, 1);
    reads(net, result);
    conv(net, t, 255, 1);
}

/* Without padding: each convolution of 3 takes two rows and columns. */
static tensor two_convs(network *net, tensor in, int c)
{
    tensor t = op(net, in, c, net->height[in] - 2);

    return op(net, t, c, net->height[t] - 2);
}

static void unet(network *net)
{
    tensor kept[4];
    tensor t = make(net, 1, 572);

    for (int k = 0; k < 4; k++) {
        kept[k] = two_convs(net, t, 64 << k);
        t = each(net, kept[k], 2);
    }
    t = two_convs(net, t, 1024);
    for (int k = 3; k >= 0; k--) {
        t = op(net, t, 64 << k, 2 * net->height[t]);
        t = two_convs(net, concat2(net, kept[k], t), 64 << k);
    }
    conv(net, t, 2, 1);
}

/* Normalizations come first here, and are steps where a concatenation is
 * before them. */
static void densenet_121(network *net)
{
    static const int layers[] = {6, 12, 24, 16};
    tensor t = each(net, conv(net, make(net, 3, 224), 64, 2), 2);

    for (int block = 0; block < 4; block++) {
        for (int k = 0; k < layers[block]; k++) {
            tensor inner = conv(net, each(net, t, 1), 128, 1);

            t = concat2(net, t, conv(net, inner, 32, 1));
        }
        t = each(net, t, 1);
        if (block < 3)
            t = each(net, conv(net, t, net->channels[t] / 2, 1), 2);
    }
    classify(net, t);
}

static void vgg_16(network *net)
{
    static const int convs[] = {2, 2, 3, 3, 3};
    tensor t = make(net, 3, 224);

    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < convs[k]; i++)
            t = conv(net, t, k < 4 ? 64 << k : 512, 1);
        t = each(net, t, 2);
    }
    t = op(net, op(net, t, 4096, 1), 4096, 1);
    op(net, op(net, t, 1000, 1), 1000, 1);
}

const network_row networks[] = {
    {"MobileNet v1", mobilenet_v1},
    {"MobileNet v2", mobilenet_v2},
    {"ResNet-18", resnet_18},
    {"ResNet-50", resnet_50},
    {"SqueezeNet 1.0", squeezenet},
    {"Inception v3, to Mixed_6a", inception_v3},
    {"Tiny YOLO v2", tiny_yolo_v2},
    {"Tiny YOLO v3", tiny_yolo_v3},
    {"U-Net", unet},
    {"DenseNet-121", densenet_121},
    {"VGG-16", vgg_16},
};
const size_t n_networks = sizeof networks / sizeof *networks;

void network_make(const network_row *row, network *net)
{
    memset(net, 0, sizeof *net);
    row->make(net);
}
