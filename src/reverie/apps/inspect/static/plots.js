"use strict";
// Plots of a session's window and of cost. Each takes its figures from the server; a plot with the focus is read with
// the arrow keys, and every figure is in a table too.
const colour = (name) => {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};
const axis = (extra) => ({
  stroke: colour("--quiet"), font: "11px system-ui, sans-serif", grid: { stroke: colour("--line"), width: 1 },
  ticks: { show: false }, gap: 6, ...extra,
});
const short = (value) => value >= 1e6 ? `${+(value / 1e6).toFixed(1)}M` : value >= 1e3 ? `${+(value / 1e3).toFixed(1)}k` : `${Math.round(value)}`;
const money = (value) => `$${value >= 100 ? value.toFixed(0) : value >= 0.1 || value === 0 ? value.toFixed(2) : value.toFixed(4)}`;
const make = (tag, text = "", name = "") => {
  const element = document.createElement(tag);
  element.textContent = text;
  if (name) element.className = name;
  return element;
};

// Values on top of one another. `bars` for days, else areas; `line` is one more series that is not stacked.
function drawStack(place, { x, isTime, names, values, colours, unit, say, marks = [], bars = false, line = null, height = 260 }) {
  const hidden = new Set();
  const now = make("p", "", "now");
  now.setAttribute("role", "status");
  const canvas = make("div");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "group");
  canvas.setAttribute("aria-label", place.getAttribute("aria-label") || "");
  const legend = make("ul", "", "legend");
  place.append(now, canvas, legend);
  let plot = null;
  let at = null;
  const tell = () => {
    now.textContent = at == null ? say(null) : say(at);
    legend.querySelectorAll("b").forEach((figure) => {
      const n = Number(figure.dataset.series);
      const value = at == null ? null : n < values.length ? values[n][at] : line.values[at];
      figure.textContent = value == null ? "" : unit(value);
    });
  };
  const draw = () => {
    const shown = names.map((_, n) => n).filter((n) => !hidden.has(n));
    const sums = [];
    let below = x.map(() => 0);
    for (const n of shown) { below = below.map((sum, i) => sum + values[n][i]); sums.push(below); }
    const order = shown.map((_, n) => n).reverse();
    const series = order.map((n) => {
      const ink = colour(colours[shown[n]]);
      return bars
        ? { stroke: ink, fill: ink, width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.72, 34], radius: 0 }) }
        : { stroke: ink, fill: ink, width: 0, points: { show: x.length === 1 } };
    });
    const data = [x, ...order.map((n) => sums[n])];
    if (line) {
      series.push({ show: true, paths: () => null, points: { show: false } });
      data.push(line.values);
    }
    const kept = at;
    plot?.destroy();
    plot = new uPlot({
      width: canvas.clientWidth, height, padding: [12, 4, 0, 0], legend: { show: false },
      cursor: { y: false, points: { show: false } },
      scales: {
        x: { time: Boolean(isTime), range: (_, low, high) => bars ? [low - 43200, high + 43200] : low === high ? [low - 1, high + 1] : [low, high] },
        y: { range: (_, __, high) => [0, (high || 1) * 1.08] },
      },
      axes: [axis(isTime ? { grid: { show: false } } : { grid: { show: false }, size: 28, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] }), axis({ size: 52, values: (_, all) => all.map(unit) })],
      series: [{}, ...series],
      hooks: {
        setCursor: [(one) => { at = one.cursor.idx ?? null; tell(); }],
        draw: [(one) => {
          const { ctx, bbox } = one;
          ctx.save();
          if (line) {
            // A line across each bar: what this day's background work may cost.
            const half = one.valToPos(x[0] + 36000, "x", true) - one.valToPos(x[0], "x", true);
            ctx.strokeStyle = colour("--ink");
            ctx.lineWidth = 2 * devicePixelRatio;
            for (let i = 0; i < x.length; i++) {
              const left = one.valToPos(x[i], "x", true);
              const top = one.valToPos(line.values[i], "y", true);
              ctx.beginPath();
              ctx.moveTo(left - half, top);
              ctx.lineTo(left + half, top);
              ctx.stroke();
            }
          }
          for (const mark of marks) {
            const left = one.valToPos(mark.x, "x", true);
            ctx.strokeStyle = ctx.fillStyle = colour(mark.colour);
            ctx.lineWidth = 1;
            ctx.setLineDash([3, 3]);
            ctx.beginPath();
            ctx.moveTo(left, bbox.top);
            ctx.lineTo(left, bbox.top + bbox.height);
            ctx.stroke();
            ctx.beginPath();
            ctx.moveTo(left - 5, bbox.top - 9);
            ctx.lineTo(left + 5, bbox.top - 9);
            ctx.lineTo(left, bbox.top - 1);
            ctx.fill();
          }
          ctx.restore();
        }],
      },
    }, data, canvas);
    // The new plot begins without a cursor, once it is laid out.
    if (kept != null) queueMicrotask(() => point(kept));
  };
  const point = (i) => {
    plot.setCursor({ left: plot.valToPos(x[i], "x"), top: 10 });
    at = i;
    tell();
  };
  const addLegend = (name, swatch, n, isLine) => {
    const item = make("li", "", isLine ? "line" : "");
    const button = make("button");
    button.type = "button";
    const square = make("i");
    if (isLine) square.style.borderColor = `var(${swatch})`; else square.style.background = `var(${swatch})`;
    const figure = make("b");
    figure.dataset.series = n;
    button.append(square, name, figure);
    if (!isLine) {
      button.setAttribute("aria-pressed", "true");
      button.addEventListener("click", () => {
        if (hidden.has(n)) hidden.delete(n); else hidden.add(n);
        button.setAttribute("aria-pressed", String(!hidden.has(n)));
        draw();
      });
    }
    item.append(button);
    legend.append(item);
  };
  names.forEach((name, n) => addLegend(name, colours[n], n, false));
  if (line) addLegend(line.name, "--ink", values.length, true);
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -Infinity, End: Infinity };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(x.length - 1, (at ?? (steps[event.key] > 0 ? -1 : x.length)) + steps[event.key]));
    point(next);
  });
  draw();
  tell();
  return draw;
}

function drawWindow(place, data) {
  if (!data.requests.length) { place.textContent = "No request of this session says how large it was."; return null; }
  const kinds = data.groups.map((group) => `--k${data.order.indexOf(group)}`);
  const total = data.requests.map((_, i) => data.tokens.reduce((sum, one) => sum + one[i], 0));
  const time = (i) => data.times[i] == null ? "" : ` · ${new Date(data.times[i] * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}`;
  const near = (all, i) => all.filter((one) => one.request === data.requests[i]);
  const marks = data.marks.map((mark) => ({ x: mark.request, colour: mark.label.startsWith("compaction") ? "--ink" : "--warn" }));
  const first = drawStack(place, {
    x: data.requests, names: data.groups, values: data.tokens, colours: kinds, unit: short, marks,
    say: (i) => i == null
      ? `${data.count} requests${data.marks.length ? ` · ▼ made smaller ${data.marks.length} times` : ""}`
      : [`request ${data.requests[i]}${time(i)} · ${short(total[i])} tokens`, ...near(data.marks, i).map((mark) => `▼ ${mark.label} ${mark.amount}`)].join(" · "),
  });
  place.append(make("h3", "Cache and cost of each request"));
  const second = drawStack(place, {
    x: data.requests, names: ["read from cache", "written to cache", "not cached"], values: data.cache,
    colours: ["--k5", "--k3", "--bad"], unit: short, height: 150,
    marks: data.breaks.map((one) => ({ x: one.request, colour: "--bad" })),
    say: (i) => i == null
      ? `${money(data.usd_total)} for these requests${data.breaks.length ? ` · ▼ ${data.breaks.length} cache breaks` : ""}`
      : [`request ${data.requests[i]} · ${money(data.usd[i])}`, ...near(data.breaks, i).map((one) => `▼ ${one.cause}`)].join(" · "),
  });
  return () => { first(); second(); };
}
function drawDays(place, data) {
  if (!data.days.length) { place.textContent = "No model calls in this time."; return null; }
  const x = data.days.map((day) => Date.parse(`${day}T12:00:00`) / 1000);
  return drawStack(place, {
    x, isTime: true, bars: true, names: ["background work", "conversations"], values: [data.background, data.conversations],
    colours: ["--k2", "--k4"], unit: money, height: 240,
    line: { name: "budget of background work", values: data.budget },
    say: (i) => i == null ? "" : `${data.days[i]} · ${money(data.background[i] + data.conversations[i])}`,
  });
}
const drawings = { window: drawWindow, days: drawDays };
for (const place of document.querySelectorAll("[data-plot]")) {
  fetch(place.dataset.from).then((answer) => {
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.json();
  }).then((data) => {
    place.replaceChildren();
    const again = drawings[place.dataset.plot](place, data);
    dispatchEvent(new Event("drawn"));
    if (!again) return;
    let wait = 0;
    const later = () => { clearTimeout(wait); wait = setTimeout(again, 120); };
    addEventListener("resize", later);
    addEventListener("theme", later);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
  }).catch(() => { place.textContent = "The figures could not be read."; });
}
