"use strict";
/* The timeline of the data element on a canvas. Texts of the trace only ever become text: textContent
 * and fillText, no markup. Times are ticks behind data.base. */
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const canvas = element("canvas"), ctx = canvas.getContext("2d");
const LABELS = 150, AXIS = 26, MARGIN = 12, LEAST = 8, CLASSES = data.classes.length;
const per_ns = data.mhz ? data.mhz / 1000 : 1;
/* From the bottom up: work, then waiting, what is worst on top. */
const STACK = [...["issue", "in", "out"].map((n) => data.classes.findIndex((c) => c.name === n)),
  ...Array.from({length: CLASSES - data.other}, (_, i) => data.other + i),
  ...["DMA setup", "L2 stall", "store stall", "DDR stall", "DMA wait", "dispatch", "idle"]
    .map((n) => data.classes.findIndex((c) => c.name === n))];

/* --- reading --------------------------------------------------------------- */

class Reader {
  constructor(base64) {
    const text = atob(base64);

    this.bytes = new Uint8Array(text.length);
    this.at = 0;
    for (let i = 0; i < text.length; i++)
      this.bytes[i] = text.charCodeAt(i);
  }
  varint() {
    let sum = 0, factor = 1;

    for (;;) {
      const byte = this.bytes[this.at++];

      if (!(byte >= 128))
        return sum + byte * factor;
      sum += (byte - 128) * factor;
      factor *= 128;
    }
  }
  view8() {
    this.at += 8;
    return new DataView(this.bytes.buffer, this.at - 8, 8);
  }
  real() { return this.view8().getFloat64(0, true); }
  wide() { return this.view8().getBigUint64(0, true); }
}

function read_slices(lane) {
  const r = new Reader(lane.slices);
  let end = 0;

  lane.begin = new Float64Array(lane.n);
  lane.length = new Float64Array(lane.n);
  lane.name = new Uint32Array(lane.n);
  lane.number = lane.numbers ? new Float64Array(lane.n) : null;
  for (let i = 0; i < lane.n; i++) {
    lane.begin[i] = end + r.varint();
    lane.length[i] = r.varint();
    lane.name[i] = r.varint();
    if (lane.numbers)
      lane.number[i] = r.varint() - 1;
    end = lane.begin[i] + lane.length[i];
  }
  lane.slices = null;
}

function bucket_at(k, n) {
  return Math.floor(data.end / n) * k + Math.floor(data.end % n * k / n);
}

function read_sums(lane) {
  const r = new Reader(lane.sums), n = lane.buckets;

  lane.bucket = new Float64Array(n * CLASSES);
  lane.begin = new Float64Array(n + 1);
  for (let k = 0; k <= n; k++)
    lane.begin[k] = bucket_at(k, n);
  for (let k = 0; k < n; k++)
    for (let c = 0, occurs = r.varint(); c < CLASSES; c++)
      if (occurs >> c & 1)
        lane.bucket[k * CLASSES + c] = r.varint();
  lane.sums = null;
}

function read_counter(c) {
  const r = new Reader(c.values), times = [], values = [], peaks = [];

  for (let t = 0; r.at < r.bytes.length;) {
    t += r.varint();
    times.push(t);
    values.push(r.real());
    peaks.push(r.real());
  }
  c.time = Float64Array.from(times);
  c.value = Float64Array.from(values);
  c.peak = Float64Array.from(peaks);
  c.most = peaks.reduce((a, b) => Math.max(a, b), 0);
  c.values = null;
}

for (const row of data.rows) {
  for (const lane of row.lanes)
    if (lane.sums !== undefined)
      read_sums(lane);
    else
      read_slices(lane);
  if (row.counter)
    read_counter(row.counter);
  (row.heat || []).forEach((lane) => read_counter(lane.counter));
  row.on_path = [];
  if (row.path)
    for (let r = new Reader(row.path), i = 0, t = 0; i < row.stretches; i++) {
      const begin = t + r.varint();

      t = begin + r.varint();
      row.on_path.push([begin, t]);
    }
}

/* Slices of a lane that begin before t. */
function count_before(times, n, t) {
  let low = 0, high = n;

  while (low < high) {
    const middle = (low + high) >> 1;

    if (times[middle] < t)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

function slice_name(lane, i) {
  const base = data.names[lane.name[i]];

  return lane.number && lane.number[i] >= 0 ? base + " " + lane.number[i] : base;
}

/* What else the trace has of a slice: {slack, on_path, args: [[name, text]]}. */
function slice_args(lane, slice) {
  const found = {args: [], slack: -1, on_path: false};

  if (lane.args === undefined)
    return found;
  lane.reader = lane.reader || new Reader(lane.args);
  const r = lane.reader;

  r.at = 0;
  for (let i = 0; i <= slice; i++) {
    const slack = r.varint(), n = r.varint();

    if (i === slice && slack) {
      found.slack = Math.floor((slack - 1) / 2);
      found.on_path = (slack - 1) % 2 === 1;
    }
    for (let k = 0; k < n; k++) {
      const name = r.varint(), kind = r.varint();
      const value = kind === 2 ? data.names[r.varint()] : kind === 1 ? r.real()
        : kind === 3 ? r.wide() : r.varint();

      if (i === slice)
        found.args.push([name, String(value)]);
    }
  }
  return found;
}

/* --- state ----------------------------------------------------------------- */

const state = {from: data.from, to: data.to, scroll: 0, unit: data.unit, theme: data.theme, dimmed: data.dimmed,
  unfolded: false, selection: null, range: null, hits: [], hit: -1, query: ""};
let width = 0, height = 0, scale = 1, colors = null, wanted = false;

const plot = () => ({x: MARGIN + LABELS, y: AXIS, w: Math.max(width - 2 * MARGIN - LABELS, 40), h: height - AXIS});
const row_y = (row) => state.unfolded ? row.openY : row.y;
const row_h = (row) => state.unfolded ? row.openH : row.h;
const x_of = (t) => plot().x + (t - state.from) / (state.to - state.from) * plot().w;
const t_of = (x) => state.from + (x - plot().x) / plot().w * (state.to - state.from);
const all_height = () => data.rows.reduce((most, r) => Math.max(most, row_y(r) + row_h(r)), 0) + 8;

function show(from, to) {
  const all = Math.max(data.end - data.first, LEAST);
  let span = to - from;

  if (!(span >= LEAST)) {
    from = (from + to) / 2 - LEAST / 2;
    span = LEAST;
  }
  span = Math.min(span, all);
  from = Math.min(Math.max(from, data.first), data.first + all - span);
  state.from = from;
  state.to = from + span;
  redraw();
}

function zoom(factor, at) {
  show(at - (at - state.from) * factor, at + (state.to - at) * factor);
}

function scroll_to(y) {
  state.scroll = Math.max(0, Math.min(y, all_height() - (height - AXIS)));
  redraw();
}

/* --- units ----------------------------------------------------------------- */

function unit_of(step) {
  const ns = step / per_ns;
  let unit = state.unit;

  if (unit === "cycles" && !data.mhz)
    unit = "auto";
  if (unit === "auto")
    unit = data.mhz && ns < 20 ? "cycles" : ns < 1e3 ? "ns" : ns < 1e6 ? "us" : "ms";
  return {name: unit === "us" ? "\u00b5s" : unit,
    ticks: unit === "cycles" ? 1 : per_ns * {ns: 1, us: 1e3, ms: 1e6}[unit]};
}

const grouped = (text) => text.replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, "\u2009");

function time_text(ticks, step) {
  const unit = unit_of(step > 0 ? step : Math.abs(ticks)), value = ticks / unit.ticks;
  let decimals = 0;

  if (step > 0)
    decimals = Math.ceil(-Math.log10(step / unit.ticks) - 1e-9);
  else if (unit.ticks !== 1)
    decimals = Math.abs(value) < 10 ? 3 : Math.abs(value) < 100 ? 2 : 1;
  return grouped(value.toFixed(Math.min(Math.max(decimals, 0), 6))) + " " + unit.name;
}

/* Exact, in ticks, and in the unit beside it. */
function exact_text(ticks) {
  const own = grouped(String(ticks)) + (data.mhz ? " cycles" : " ns"), other = time_text(ticks, 0);

  return own === other ? own : own + " (" + other + ")";
}

function step_of(room) {
  const least = (state.to - state.from) / plot().w * room, unit = unit_of(least).ticks;
  let step = Math.pow(10, Math.floor(Math.log10(least / unit)));

  while (step * unit < least) {
    const digit = step / Math.pow(10, Math.floor(Math.log10(step) + 1e-9));

    step *= digit < 1.5 ? 2 : digit < 2.5 ? 2.5 : 2;
  }
  return Math.max(step * unit, 1);
}

/* --- drawing --------------------------------------------------------------- */

const little = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
const pixel = (rgb) => little ? (0xff000000 | (rgb & 255) << 16 | rgb & 0xff00 | rgb >> 16) >>> 0
  : (rgb << 8 | 255) >>> 0;
const darker = (rgb) => (rgb >> 16) * 0.7 << 16 | (rgb >> 8 & 255) * 0.7 << 8 | (rgb & 255) * 0.7;

function on_pattern(name, x, y) {
  return name === "slash" ? (x + y) % 6 === 0 : name === "backslash" ? (x - y + 6000000) % 6 === 0
    : name === "dots" ? (x % 6 === 1 && y % 6 === 1) || (x % 6 === 4 && y % 6 === 4)
    : name === "dashes" ? y % 3 === 1 : false;
}

function color_of(klass, phases) {
  return phases && klass >= data.other && klass < data.other + 3 ? colors.phase[klass - data.other]
    : colors.class[klass];
}

/* Ticks of each class in each of n columns of the visible stretch; slices: how many are in each. */
function column_sums(lane, n, slices) {
  const sums = new Float64Array(n * CLASSES), per = (state.to - state.from) / n;
  const spread = (klass, a, b, share) => {
    a = Math.max(a, state.from);
    b = Math.min(b, state.to);
    for (let i = Math.max(0, Math.floor((a - state.from) / per)); i < n && a < b; i++) {
      const edge = i + 1 < n ? state.from + (i + 1) * per : b;
      const to = Math.min(b, edge);

      if (to > a) {
        sums[i * CLASSES + klass] += (to - a) * share;
        if (slices)
          slices[i] += lane.bucket ? 3 : 1;
        a = to;
      }
    }
  };

  if (lane.bucket) {
    for (let k = 0; k < lane.buckets; k++) {
      const a = lane.begin[k], b = lane.begin[k + 1];

      for (let c = 0; c < CLASSES && b > state.from && a < state.to; c++)
        if (lane.bucket[k * CLASSES + c])
          spread(c, a, b, lane.bucket[k * CLASSES + c] / (b - a));
    }
    return sums;
  }
  const end = count_before(lane.begin, lane.n, state.to);

  for (let i = Math.max(0, count_before(lane.begin, lane.n, state.from) - 1); i < end; i++)
    spread(data.classOf[lane.name[i]], lane.begin[i], lane.begin[i] + lane.length[i], 1);
  return sums;
}

/* At the edge of slices wider than the column the larger part has it all, which keeps edges sharp. */
function settle(sums, at, per) {
  let most = 0, all = 0;

  for (let c = 0; c < CLASSES; c++) {
    all += sums[at + c];
    most = sums[at + c] > sums[at + most] ? c : most;
  }
  sums.fill(0, at, at + CLASSES);
  if (all * 2 >= per)
    sums[at + most] = per;
}

/* A lane's pixels: each column a stack of its shares. */
function draw_lane(row, lane, index, y, h, background) {
  const p = plot(), w = Math.floor(p.w * scale), rows = Math.max(1, Math.round(h * scale));
  const top = Math.round(y * scale), left = Math.round(p.x * scale);
  const image = ctx.createImageData(w, rows), out = new Uint32Array(image.data.buffer);
  const slices = new Uint32Array(w), sums = column_sums(lane, w, slices), per = (state.to - state.from) / w;
  const phases = index === 0 && (row.kind === "SHAVE" || row.kind === "critical path");

  out.fill(pixel(background));
  for (let x = 0; x < w; x++) {
    let sum = 0, below = 0;

    if (slices[x] <= 2)
      settle(sums, x * CLASSES, per);
    for (const c of STACK) {
      if (!sums[x * CLASSES + c])
        continue;
      sum += sums[x * CLASSES + c];
      const level = Math.min(rows, Math.floor(rows * sum / per + 0.5));
      const rgb = color_of(row.kind === "bundles" ? 0 : c, phases), plain = pixel(rgb), dark = pixel(darker(rgb));
      const pattern = phases ? "" : data.classes[c].pattern;

      for (let k = below; k < level; k++)
        out[(rows - 1 - k) * w + x] =
          pattern && on_pattern(pattern, left + x, top + rows - 1 - k) ? dark : plain;
      below = Math.max(below, level);
    }
  }
  ctx.putImageData(image, left, top);
  draw_names(row, lane, y, h, phases, index);
}

/* Names of slices that have room for one, and edges. */
function draw_names(row, lane, y, h, phases, index) {
  if (lane.bucket || h < 9)
    return;
  const first = Math.max(0, count_before(lane.begin, lane.n, state.from) - 1);
  const end = count_before(lane.begin, lane.n, state.to), p = plot();

  if (end - first > 4000)
    return;
  ctx.font = "10px 'DejaVu Sans', Verdana, sans-serif";
  ctx.textBaseline = "middle";
  for (let i = first; i < end; i++) {
    const a = Math.max(x_of(lane.begin[i]), p.x), b = Math.min(x_of(lane.begin[i] + lane.length[i]), p.x + p.w);
    const rgb = color_of(row.kind === "bundles" ? 0 : data.classOf[lane.name[i]], phases);

    if (b - a >= 3 && (phases || !index)) {
      ctx.fillStyle = colors.page;
      ctx.fillRect(a, y, 1 / scale, h);
    }
    if (b - a < 22)
      continue;
    const text = slice_name(lane, i).slice(0, 200);

    if (ctx.measureText(text).width + 6 > b - a)
      continue;
    ctx.fillStyle = (rgb >> 16) * 299 + (rgb >> 8 & 255) * 587 + (rgb & 255) * 114 > 140000 ? "#101418" : "#ffffff";
    ctx.fillText(text, a + 3, y + h / 2 + 0.5);
  }
}

/* Mean and peak of a counter in each of w columns of the visible stretch. */
function each_column(c, w, use) {
  const per = (state.to - state.from) / w;
  let i = Math.max(0, count_before(c.time, c.time.length, state.from) - 1);

  for (let x = 0; x < w; x++) {
    const a = state.from + x * per, b = Math.min(a + per, data.end);
    let sum = 0, high = 0;

    for (let k = i; k < c.time.length && c.time[k] < b; k++) {
      const from = Math.max(a, c.time[k]), to = Math.min(b, k + 1 < c.time.length ? c.time[k + 1] : data.end);

      if (to > from) {
        sum += c.value[k] * (to - from);
        high = Math.max(high, c.peak[k]);
      }
      if (to <= a)
        i = k;
    }
    use(x, sum / per, high);
  }
}

function draw_counter(row, y, h) {
  const c = row.counter, p = plot();
  const ddr = row.name.startsWith("DDR"), top = Math.max(c.most, ddr ? data.capacity : 0) || 1;

  each_column(c, Math.floor(p.w * scale), (x, mean, high) => {
    const hm = Math.max(0, Math.min(mean / top, 1)) * h, hh = Math.max(0, Math.min(high / top, 1)) * h;

    ctx.fillStyle = colors.areaLight;
    ctx.fillRect(p.x + x / scale, y + h - hh, 1 / scale, hh);
    ctx.fillStyle = ddr && data.capacity && mean > 0.95 * data.capacity ? colors.ddr : colors.area;
    ctx.fillRect(p.x + x / scale, y + h - hm, 1 / scale, hm);
  });
}

/* A strip for each lane, in the colour of its share. */
function draw_heat(row, y, h) {
  const p = plot(), w = Math.floor(p.w * scale), edge = (k) => Math.round(h * k / row.heat.length * scale) / scale;

  row.heat.forEach((lane, k) => each_column(lane.counter, w, (x, mean) => {
    if (mean > 0) {
      ctx.fillStyle = heat_color(mean / row.heatTop);
      ctx.fillRect(p.x + x / scale, y + edge(k), 1 / scale, edge(k + 1) - edge(k));
    }
  }));
}

function heat_color(share) {
  const at = Math.min(share, 1) * (colors.heat.length - 1), i = Math.min(Math.floor(at), colors.heat.length - 2);
  const mix = (shift) => {
    const a = colors.heat[i] >> shift & 255, b = colors.heat[i + 1] >> shift & 255;

    return Math.round(a + (b - a) * (at - i));
  };

  return "rgb(" + mix(16) + "," + mix(8) + "," + mix(0) + ")";
}

/* The page's colour over what is not on the critical path. */
function draw_veil(row, y, h) {
  const p = plot();
  let last = p.x;

  if (!["SHAVE", "DMA", "local memory"].includes(row.kind))
    return;
  ctx.globalAlpha = 0.75;
  ctx.fillStyle = colors.page;
  for (const [a, b] of row.on_path) {
    if (b <= state.from || a >= state.to)
      continue;
    if (x_of(a) > last)
      ctx.fillRect(last, y, x_of(a) - last, h);
    last = Math.max(last, x_of(b));
  }
  if (last < p.x + p.w)
    ctx.fillRect(last, y, p.x + p.w - last, h);
  ctx.globalAlpha = 1;
}

function row_figure(row) {
  const share = (sums, classes) => Math.round(100 * classes.reduce((n, c) => n + (sums[c] || 0), 0)
    / (Math.min(state.to, data.end) - state.from)) + " %";

  if (row.kind === "SHAVE" && row.lanes.length > 1)
    return share(column_sums(row.lanes[1], 1), [0]);
  if (row.kind === "DMA")
    return share(column_sums(row.lanes[0], 1), [...data.classes.keys()]);
  if (row.kind === "local memory")
    return (row.bytes / 1024).toFixed(1) + " KiB";
  if (row.heat)
    return "0 \u2026 " + Math.round(row.heatTop * 100) + " %";
  return "";
}

function draw_axis() {
  const p = plot(), step = step_of(110);

  ctx.font = "11px 'DejaVu Sans', Verdana, sans-serif";
  ctx.textBaseline = "middle";
  for (let i = 0, t = Math.ceil(state.from / step) * step; t + i * step <= state.to && i < 1000; i++) {
    const x = Math.round(x_of(t + i * step) * scale) / scale, text = time_text(t + i * step, step);

    ctx.fillStyle = colors.strong;
    ctx.fillRect(x, 12, 1, 10);
    ctx.fillStyle = colors.line;
    ctx.globalAlpha = 0.5;
    ctx.fillRect(x, AXIS - 4, 1, p.h + 4);
    ctx.globalAlpha = 1;
    ctx.fillStyle = colors.dim;
    if (x + ctx.measureText(text).width + 4 < p.x + p.w)
      ctx.fillText(text, x + 4, AXIS - 13);
  }
}

function draw_row(row, index) {
  const p = plot(), y = p.y + row_y(row) - state.scroll, h = row_h(row);

  if (h <= 0 || y + h < p.y || y > height)
    return;
  ctx.fillStyle = index % 2 ? colors.alternate : colors.row;
  ctx.fillRect(MARGIN, y, width - 2 * MARGIN, h);
  if (row.counter)
    draw_counter(row, y, h);
  if (row.heat)
    draw_heat(row, y, h);
  row.lanes.forEach((lane, k) => draw_lane(row, lane, k, y + lane.y, lane.h, colors.rowRgb[index % 2]));
  if (state.dimmed)
    draw_veil(row, y, h);
  if (h < 10)
    return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, p.y, p.x - 4, p.h);
  ctx.clip();
  ctx.font = "12px 'DejaVu Sans', Verdana, sans-serif";
  ctx.textBaseline = "middle";
  const figure = row_figure(row), room = LABELS - 10 - (figure ? ctx.measureText(figure).width + 8 : 0);
  let name = row.name.replace(/^SHAVE (\d+) local/, "S$1 local").slice(0, 100);

  while (name.length > 1 && ctx.measureText(name).width > room)
    name = name.replace(/.\u2026?$/su, "\u2026").length < name.length ? name.replace(/.\u2026?$/su, "\u2026")
      : name.slice(0, -2) + "\u2026";
  ctx.fillStyle = colors.text;
  ctx.fillText(name, MARGIN, y + h / 2);
  ctx.fillStyle = colors.dim;
  ctx.fillText(figure, p.x - 8 - ctx.measureText(figure).width, y + h / 2);
  ctx.restore();
}

function draw_selection() {
  const s = state.selection;

  if (!s || row_h(data.rows[s.row]) <= 0)
    return;
  const row = data.rows[s.row], lane = row.lanes[s.lane], p = plot();
  const a = Math.max(x_of(lane.begin[s.slice]), p.x - 2);
  const b = Math.min(x_of(lane.begin[s.slice] + lane.length[s.slice]), p.x + p.w + 2);

  ctx.strokeStyle = colors.select;
  ctx.lineWidth = 2;
  ctx.strokeRect(a, p.y + row_y(row) + lane.y - state.scroll, Math.max(b - a, 3), lane.h);
}

function draw() {
  const p = plot();

  wanted = false;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
  ctx.fillStyle = colors.page;
  ctx.fillRect(0, 0, width, height);
  data.rows.forEach(draw_row);
  ctx.save();
  ctx.beginPath();
  ctx.rect(p.x - 3, p.y, p.w + 6, p.h);
  ctx.clip();
  draw_selection();
  ctx.restore();
  ctx.fillStyle = colors.page; /* rows that are scrolled half away */
  ctx.fillRect(0, 0, width, AXIS);
  draw_axis();
  if (state.range) {
    const a = Math.max(x_of(state.range[0]), p.x), b = Math.min(x_of(state.range[1]), p.x + p.w);

    ctx.fillStyle = colors.shade;
    if (b > a)
      ctx.fillRect(a, 0, b - a, height);
  }
}

function redraw() {
  if (!wanted)
    requestAnimationFrame(draw);
  wanted = true;
}

/* --- panel ----------------------------------------------------------------- */

function make(tag, text, parent) {
  const e = document.createElement(tag);

  if (text !== undefined)
    e.textContent = text;
  if (parent)
    parent.append(e);
  return e;
}

function pair(list, key, value, id) {
  make("dt", key, list);
  const e = make("dd", value, list);

  if (id)
    e.id = id;
}

function stage_at(t) {
  let found = data.stages[0];

  for (const s of data.stages)
    if (s.begin <= t)
      found = s;
  return found;
}

/* Lines with most cycles of a phase, in a lane of causes of that cause. */
function show_lines(box, s) {
  const row = data.rows[s.row], t = row.lanes[s.lane].begin[s.slice], stage = stage_at(t);
  const phases = row.lanes[0], klass = data.classOf[row.lanes[s.lane].name[s.slice]];
  const cause = s.lane && klass < data.causes ? klass : -1;
  const at = s.lane ? count_before(phases.begin, phases.n || 0, t + 1) - 1 : s.slice;

  if (row.kind !== "SHAVE" || phases.bucket || at < 0 || !stage)
    return;
  const phase = data.names[phases.name[at]], cycles = (c) => cause >= 0 ? c.cause[cause] : c.total;
  const costs = data.costs.filter((c) => c.stage === stage.name && c.time === stage.begin && c.phase === phase && cycles(c))
    .sort((a, b) => cycles(b) - cycles(a) || a.line - b.line), all = costs.reduce((n, c) => n + cycles(c), 0);

  if (!costs.length)
    return;
  make("h2", "Source lines of " + phase + (cause >= 0 ? ", " + data.classes[cause].name : ""), box);
  const list = make("dl", undefined, box);

  list.id = "lines";
  for (const c of costs.slice(0, 5)) {
    const line = data.lines.find((l) => l.file === c.file && l.line === c.line);

    pair(list, c.file + ":" + c.line, (100 * cycles(c) / all).toFixed(1) + " %");
    if (line)
      make("code", line.text.trim(), list);
  }
}

function path_text(row, a, b) {
  let on = 0;

  for (const [from, to] of row.on_path)
    on += Math.max(0, Math.min(to, b) - Math.max(from, a));
  return on <= 0 ? "no" : on >= b - a ? "yes" : Math.round(100 * on / (b - a)) + " % of it";
}

/* What the cycles of a phase went to. */
function show_causes(list, row, s) {
  const phase = row.lanes[0], lane = row.lanes[1], a = phase.begin[s.slice], b = a + phase.length[s.slice];

  if (s.lane || !lane || lane.bucket || (row.kind !== "SHAVE" && row.kind !== "critical path"))
    return;
  const sums = new Float64Array(CLASSES), end = count_before(lane.begin, lane.n, b);

  for (let i = Math.max(0, count_before(lane.begin, lane.n, a) - 1); i < end; i++)
    sums[data.classOf[lane.name[i]]] +=
      Math.max(0, Math.min(lane.begin[i] + lane.length[i], b) - Math.max(lane.begin[i], a));
  data.classes.forEach((c, k) => {
    if (sums[k])
      pair(list, c.name, exact_text(sums[k]) + ", " + (100 * sums[k] / (b - a)).toFixed(1) + " %");
  });
}

/* What would help, as the report of the run says, what saves most first. */
function show_advice(box) {
  if (!data.advice.length)
    return;
  make("h2", "What would help", box);
  const list = make("ol", undefined, box);

  list.id = "advice";
  for (const f of data.advice) {
    const item = make("li", undefined, list), where = f.stage + (f.line ? ", " + f.file + ":" + f.line : "");

    make("b", "saves about " + exact_text(f.before - f.after) + " of " + exact_text(f.before), item);
    make("p", where + ": " + f.text, item);
    make("code", "vpu whatif \u2026 --knob " + f.knob, item);
  }
}

function show_selection() {
  const s = state.selection, box = element("selection");

  box.replaceChildren();
  if (!s) {
    make("h2", "Nothing selected", box);
    make("p", "Click a slice. ? shows the keys.", box);
    show_advice(box);
    return;
  }
  const row = data.rows[s.row], lane = row.lanes[s.lane], begin = lane.begin[s.slice], length = lane.length[s.slice];
  const more = slice_args(lane, s.slice), list = document.createElement("dl");

  make("h2", slice_name(lane, s.slice), box).id = "name";
  box.append(list);
  pair(list, "on", row.name, "on");
  pair(list, "begins", exact_text(begin), "begin");
  pair(list, "takes", exact_text(length), "length");
  if (data.hasPath && ["SHAVE", "DMA", "local memory"].includes(row.kind))
    pair(list, "on the critical path", path_text(row, begin, begin + length), "path");
  if (more.slack >= 0)
    pair(list, "slack of the group", exact_text(more.slack) + (more.on_path ? ", on the critical path" : ""), "slack");
  for (const [name, text] of more.args)
    if (data.classOf[name] >= data.causes)
      pair(list, data.names[name], text);
  show_causes(list, row, s);
  show_lines(box, s);
}

/* By kind of row and name: how many slices, and their time in [a, b). */
function range_rows(a, b) {
  const found = new Map(), rows_of = new Map();
  const add = (kind, name, count, total) => {
    const key = kind + "\u0000" + name, sum = found.get(key) || {kind, name, count: 0, total: 0, about: false};

    sum.count += count;
    sum.total += total;
    sum.about = sum.about || !count;
    found.set(key, sum);
  };

  for (const row of data.rows) {
    rows_of.set(row.kind, (rows_of.get(row.kind) || 0) + 1);
    for (const lane of row.lanes) {
      if (lane.bucket) {
        for (let k = 0; k < lane.buckets; k++) {
          const c0 = lane.begin[k], c1 = lane.begin[k + 1], part = Math.min(c1, b) - Math.max(c0, a);

          for (let c = 0; c < CLASSES && part > 0; c++)
            if (lane.bucket[k * CLASSES + c])
              add(row.kind, data.classes[c].name, 0, lane.bucket[k * CLASSES + c] * part / (c1 - c0));
        }
        continue;
      }
      const end = count_before(lane.begin, lane.n, b);

      for (let i = Math.max(0, count_before(lane.begin, lane.n, a) - 1); i < end; i++) {
        const c0 = lane.begin[i], c1 = c0 + lane.length[i];

        if (c1 > a || c0 >= a)
          add(row.kind, data.names[lane.name[i]], 1, Math.min(c1, b) - Math.max(c0, a));
      }
    }
  }
  const sums = [...found.values()];

  for (const s of sums)
    s.share = s.total / (b - a) / rows_of.get(s.kind);
  return sums.sort((x, y) => y.total - x.total || (x.kind + x.name < y.kind + y.name ? -1 : 1));
}

function show_range() {
  const box = element("range"), MOST = 200;

  box.replaceChildren();
  if (!state.range) {
    make("p", "Shift and drag measure a range.", box);
    return;
  }
  const [a, b] = state.range, sums = range_rows(a, b);

  make("h2", "Range of " + exact_text(b - a) + " from " + exact_text(a), box);
  const table = make("table", undefined, box), head = make("tr", undefined, make("thead", undefined, table));
  const body = make("tbody", undefined, table);

  for (const text of ["", "count", data.mhz ? "cycles" : "ns", "mean", "share"])
    make("th", text, head);
  for (const s of sums.slice(0, MOST)) {
    const tr = make("tr", undefined, body);

    make("td", s.kind + ": " + s.name, tr);
    make("td", s.about ? "\u2013" : grouped(String(s.count)), tr);
    make("td", (s.about ? "\u2248 " : "") + grouped(String(Math.round(s.total))), tr);
    make("td", s.about ? "\u2013" : grouped((s.total / s.count).toFixed(1)), tr);
    make("td", (100 * s.share).toFixed(1) + " %", tr);
  }
  if (sums.length > MOST)
    make("p", (sums.length - MOST) + " more names with less time", box);
}

function select(s) {
  state.selection = s;
  show_selection();
  redraw();
}

function set_range(a, b) {
  const low = Math.round(Math.max(Math.min(a, b), data.first)), high = Math.round(Math.min(Math.max(a, b), data.end));

  state.range = high > low ? [low, high] : null;
  show_range();
  redraw();
}

/* --- search ---------------------------------------------------------------- */

/* As vpu view --select: case does not matter, "comp 2" is not in "comp 20". */
function holds(text, part) {
  const digit = /[0-9]$/.test(part);

  text = text.toLowerCase();
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1))
    if (!digit || !/[0-9]/.test(text[at + part.length] || ""))
      return true;
  return false;
}

function search(query) {
  const part = query.toLowerCase(), numbers = /[0-9]/.test(part);
  const plain = part ? data.names.map((name) => holds(name, part)) : [];

  state.query = query;
  state.hits = [];
  state.hit = -1;
  data.rows.forEach((row, r) => row.lanes.forEach((lane, l) => {
    for (let i = 0; part && !lane.bucket && i < lane.n; i++)
      if (numbers && lane.number ? holds(slice_name(lane, i), part) : plain[lane.name[i]])
        state.hits.push({row: r, lane: l, slice: i, begin: lane.begin[i]});
  }));
  state.hits.sort((a, b) => a.begin - b.begin || a.row - b.row || a.lane - b.lane || a.slice - b.slice);
  tell_hits();
}

function tell_hits() {
  const n = state.hits.length;

  element("hits").textContent = !state.query ? "" : !n ? "no hits"
    : (state.hit >= 0 ? grouped(String(state.hit + 1)) + " of " : "") + grouped(String(n)) + (n === 1 ? " hit" : " hits");
}

function go_to(step) {
  const n = state.hits.length;

  if (!n)
    return;
  state.hit = state.hit < 0 ? (step > 0 ? 0 : n - 1) : (state.hit + step + n) % n;
  tell_hits();
  reveal(state.hits[state.hit]);
}

function reveal(s) {
  const row = data.rows[s.row], lane = row.lanes[s.lane], a = lane.begin[s.slice], b = a + lane.length[s.slice];

  if (row_h(row) <= 0)
    state.unfolded = true;
  if (b <= state.from || a >= state.to) {
    const span = state.to - state.from, middle = Math.min((a + b) / 2, a + span / 2);

    show(middle - span / 2, middle + span / 2);
  }
  if (row_y(row) < state.scroll || row_y(row) + row_h(row) > state.scroll + height - AXIS)
    scroll_to(row_y(row) - (height - AXIS) / 2);
  select({row: s.row, lane: s.lane, slice: s.slice});
}

/* --- mouse ----------------------------------------------------------------- */

/* The longest slice in the pixel at a point. */
function hit(x, y) {
  const p = plot(), a = t_of(Math.floor(x)), b = t_of(Math.floor(x) + 1), at = y - p.y + state.scroll;

  if (x < p.x || x >= p.x + p.w || y < p.y)
    return null;
  for (let r = 0; r < data.rows.length; r++) {
    const row = data.rows[r];

    for (let l = 0; l < row.lanes.length && row_h(row) > 0; l++) {
      const lane = row.lanes[l], top = row_y(row) + lane.y;

      if (at < top || at >= top + lane.h || lane.bucket)
        continue;
      const end = count_before(lane.begin, lane.n, b);
      let most = 0, found = null;

      for (let i = Math.max(0, count_before(lane.begin, lane.n, a) - 1); i < end; i++) {
        const part = Math.min(lane.begin[i] + lane.length[i], b) - Math.max(lane.begin[i], a);

        if (part > most) {
          most = part;
          found = {row: r, lane: l, slice: i};
        }
      }
      return found;
    }
  }
  return null;
}

let drag = null, mouse = null;
const place = (event) => {
  const box = canvas.getBoundingClientRect();

  return {x: event.clientX - box.left, y: event.clientY - box.top};
};

canvas.addEventListener("wheel", (event) => {
  const at = place(event), lines = event.deltaMode === 1 ? 30 : 1;

  event.preventDefault();
  if (event.ctrlKey || event.shiftKey)
    scroll_to(state.scroll + (event.deltaY || event.deltaX) * lines);
  else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    const by = event.deltaX * lines / plot().w * (state.to - state.from);

    show(state.from + by, state.to + by);
  } else
    zoom(Math.exp(Math.max(-400, Math.min(400, event.deltaY * lines)) * 0.002), t_of(at.x));
}, {passive: false});

canvas.addEventListener("pointerdown", (event) => {
  const at = place(event);

  if (event.button !== 0)
    return;
  if (document.activeElement && document.activeElement !== document.body)
    document.activeElement.blur();
  canvas.setPointerCapture(event.pointerId);
  drag = {x: at.x, y: at.y, from: state.from, to: state.to, scroll: state.scroll, moved: false,
    range: event.shiftKey || at.y < AXIS, t: t_of(at.x)};
});

canvas.addEventListener("pointermove", (event) => {
  const at = place(event);

  mouse = at;
  if (!drag)
    return;
  drag.moved = drag.moved || Math.abs(at.x - drag.x) + Math.abs(at.y - drag.y) > 3;
  if (drag.moved && drag.range)
    set_range(drag.t, t_of(at.x));
  else if (drag.moved) {
    const by = (drag.x - at.x) / plot().w * (drag.to - drag.from);

    show(drag.from + by, drag.to + by);
    scroll_to(drag.scroll + drag.y - at.y);
  }
});

canvas.addEventListener("pointerup", (event) => {
  const at = place(event);

  if (drag && !drag.moved && !drag.range)
    select(hit(at.x, at.y));
  drag = null;
});
canvas.addEventListener("pointerleave", () => { mouse = null; });
canvas.addEventListener("pointercancel", () => { drag = null; });
canvas.addEventListener("dblclick", () => show(data.first, data.end));

/* --- keys ------------------------------------------------------------------ */

/* The time at the mouse, else in the middle. */
const focus = () => mouse && mouse.x >= plot().x && mouse.x < plot().x + plot().w ? t_of(mouse.x)
  : (state.from + state.to) / 2;
const pan = (share) => show(state.from + (state.to - state.from) * share, state.to + (state.to - state.from) * share);
const KEYS = [
  ["W S, wheel", "zoom in, out at the mouse", {w: () => zoom(0.8, focus()), s: () => zoom(1.25, focus()),
    "+": () => zoom(0.8, focus()), "-": () => zoom(1.25, focus())}],
  ["A D, \u2190 \u2192, drag", "move; with shift further", {a: () => pan(-0.1), d: () => pan(0.1),
    A: () => pan(-0.5), D: () => pan(0.5), ArrowLeft: (e) => pan(e.shiftKey ? -0.5 : -0.1),
    ArrowRight: (e) => pan(e.shiftKey ? 0.5 : 0.1)}],
  ["0, Home, double-click", "the whole trace", {0: () => show(data.first, data.end),
    Home: () => show(data.first, data.end)}],
  ["Enter", "zoom to the marked range or the selection", {Enter: () => zoom_to()}],
  ["click, Tab", "select; next slice", {Tab: (e) => next_slice(e.shiftKey ? -1 : 1)}],
  ["shift+drag, drag on the axis", "measure a range", {}],
  ["m", "measure the selection; again: no range", {m: () => measure()}],
  ["/  n  N", "search names and groups; next, previous", {"/": () => element("query").focus(),
    n: () => go_to(1), N: () => go_to(-1)}],
  ["F", "local memory of all SHAVEs, of one", {F: () => { state.unfolded = !state.unfolded; scroll_to(state.scroll); }}],
  ["x", "dim what is not on the critical path", {x: () => { state.dimmed = data.hasPath && !state.dimmed; redraw(); }}],
  ["PgUp PgDn, ctrl+wheel", "scroll the rows", {PageUp: () => scroll_to(state.scroll - height / 2),
    PageDown: () => scroll_to(state.scroll + height / 2)}],
  ["u  t", "unit of time; light or dark", {u: () => next_unit(), t: () => {
    state.theme = is_dark() ? "light" : "dark"; apply_theme(); }}],
  ["?  Esc", "this help; nothing selected", {"?": () => { element("help").hidden = !element("help").hidden; },
    Escape: () => escape()}]];

function escape() {
  if (!element("help").hidden)
    element("help").hidden = true;
  else
    select(null);
}

function next_unit() {
  const units = data.mhz ? ["auto", "cycles", "ns", "us", "ms"] : ["auto", "ns", "us", "ms"];

  state.unit = units[(units.indexOf(state.unit) + 1) % units.length];
  show_selection();
  show_range();
  redraw();
}

function span_of(s) {
  const lane = data.rows[s.row].lanes[s.lane];

  return [lane.begin[s.slice], lane.begin[s.slice] + lane.length[s.slice]];
}

function zoom_to() {
  if (state.range)
    show(...state.range);
  else if (state.selection)
    show(...span_of(state.selection));
}

function measure() {
  if (state.range || !state.selection)
    set_range(0, 0);
  else
    set_range(...span_of(state.selection));
}

function next_slice(step) {
  const s = state.selection;

  if (s && s.slice + step >= 0 && s.slice + step < data.rows[s.row].lanes[s.lane].n)
    reveal({row: s.row, lane: s.lane, slice: s.slice + step});
}

document.addEventListener("keydown", (event) => {
  if (event.target === element("query") || event.ctrlKey || event.altKey || event.metaKey)
    return;
  for (const [, , commands] of KEYS) {
    const name = event.key, command = Object.hasOwn(commands, name) ? commands[name] : null;

    if (!command || (name === "Tab" && !state.selection) ||
        (event.target instanceof HTMLButtonElement && (name === "Enter" || name === "Tab")))
      continue;
    event.preventDefault();
    command(event);
    return;
  }
});

element("search").addEventListener("submit", (event) => event.preventDefault());
element("query").addEventListener("input", () => search(element("query").value));
element("query").addEventListener("keydown", (event) => {
  if (event.key === "Enter")
    go_to(event.shiftKey ? -1 : 1);
  if (event.key === "Escape")
    element("query").blur();
});
element("next").addEventListener("click", () => go_to(1));
element("previous").addEventListener("click", () => go_to(-1));
element("whole").addEventListener("click", () => show(data.first, data.end));
element("asks").addEventListener("click", () => { element("help").hidden = !element("help").hidden; });

/* --- the page -------------------------------------------------------------- */

const wants_dark = matchMedia("(prefers-color-scheme: dark)");
const is_dark = () => state.theme ? state.theme === "dark" : wants_dark.matches;

function show_legend() {
  const occurs = new Set(), list = element("legend");

  for (const row of data.rows)
    if (row.kind === "SHAVE" || row.kind === "DMA")
      for (const lane of row.lanes)
        if (lane.bucket) {
          lane.bucket.forEach((n, i) => { if (n) occurs.add(i % CLASSES); });
        } else {
          lane.name.forEach((name) => occurs.add(data.classOf[name]));
        }
  list.replaceChildren();
  data.classes.forEach((c, k) => {
    if (k >= data.other || !occurs.has(k))
      return;
    const item = make("li", undefined, list), sample = make("canvas", undefined, item), draws = sample.getContext("2d");

    sample.width = sample.height = 12;
    const image = draws.createImageData(12, 12), out = new Uint32Array(image.data.buffer);

    for (let i = 0; i < 144; i++)
      out[i] = pixel(on_pattern(c.pattern, i % 12, i / 12 | 0) ? darker(colors.class[k]) : colors.class[k]);
    draws.putImageData(image, 0, 0);
    item.append(c.name + (c.resource ? " (" + c.resource + ")" : ""));
  });
}

function apply_theme() {
  colors = data.themes[is_dark() ? "dark" : "light"];
  for (const key of ["page", "panel", "line", "strong", "text", "dim", "accent", "warn"])
    document.documentElement.style.setProperty("--" + key, colors[key]);
  document.documentElement.style.setProperty("color-scheme", is_dark() ? "dark" : "light");
  show_legend();
  redraw();
}

function show_notes() {
  const notes = element("notes"), summed = [];
  let slices = 0;

  if (data.partial)
    make("div", "partial: " + data.partial, notes);
  if (data.base !== "0")
    make("div", "times are those after " + data.base + " ns", notes);
  for (const row of data.rows) {
    row.lanes.forEach((lane, k) => {
      if (lane.bucket) {
        summed.push(row.name + (row.lanes.length > 1 ? ", lane " + k : "") + ": " + lane.n + " slices");
        slices += lane.n;
      }
    });
    if (row.counter && row.counter.summed)
      summed.push(row.name + ": " + row.counter.n + " values");
  }
  if (!summed.length)
    return;
  const details = make("details", undefined, notes);

  details.id = "summed";
  make("summary", "only sums here of " + summed.length + (summed.length === 1 ? " row" : " rows") + " with "
    + grouped(String(slices)) + " slices", details);
  for (const text of summed.slice(0, 1000))
    make("div", text, details);
}

function show_help() {
  const box = element("help"), list = document.createElement("dl");

  make("h2", "Keys and mouse", box);
  box.append(list);
  for (const [keys, text] of KEYS)
    pair(list, keys, text);
}

function resize() {
  width = element("frame").clientWidth;
  height = element("frame").clientHeight;
  scale = window.devicePixelRatio || 1;
  scroll_to(state.scroll);
}

element("title").textContent = data.title;
element("total").textContent = exact_text(data.end) + (data.mhz ? " at " + data.mhz + " MHz" : "");
show_notes();
show_help();
wants_dark.addEventListener("change", apply_theme);
new ResizeObserver(resize).observe(element("frame"));
apply_theme();
resize();
show(data.from, data.to);
if (data.selection) {
  const [row, lane, slice] = data.selection;

  if (!data.rows[row].lanes[lane].bucket)
    state.selection = {row, lane, slice};
}
show_selection();
show_range();

/* For programs that drive the page: the state, and where a slice is in the window. */
window.timeline = {
  data, state,
  place(row, lane, slice) {
    const r = data.rows[row], l = r.lanes[lane], box = canvas.getBoundingClientRect(), p = plot();
    const a = Math.max(l.begin[slice], state.from), b = Math.min(l.begin[slice] + l.length[slice], state.to);

    return {x: box.left + (x_of(a) + x_of(b)) / 2, y: box.top + p.y + row_y(r) - state.scroll + l.y + l.h / 2,
      h: row_h(r)};
  },
  time(t) {
    return canvas.getBoundingClientRect().left + x_of(t);
  }
};
})();
