"use strict";
// Keys, confirmations and plots. The pages work without it, but for the plots.
document.addEventListener("keydown", (event) => {
  const field = document.querySelector("input[type=search]");
  const isTyping = /^(input|textarea|select)$/i.test(event.target.tagName);
  if (event.key === "/" && field && !isTyping) {
    event.preventDefault();
    field.focus();
  }
});
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});
for (const field of document.querySelectorAll("[data-from-address]")) {
  field.value = new URLSearchParams(location.search).get("q") || "";
}
const colours = () => getComputedStyle(document.documentElement);
function axis(extra) {
  const ink = colours().getPropertyValue("--pico-muted-color");
  const line = colours().getPropertyValue("--pico-muted-border-color");
  return { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, ...extra };
}
const short = (value) => value >= 1e6 ? `${value / 1e6}M` : value >= 1e3 ? `${value / 1e3}k` : `${value}`;
function drawWindow(place, data) {
  if (!data.at.length) { place.textContent = "No request with reported usage."; return; }
  // Stacked: each series is drawn on top of the sum of those before it, the last one first.
  const sums = data.values.map((_, n) => data.at.map((_, i) => data.values.slice(0, n + 1).reduce((all, one) => all + one[i], 0)));
  const fills = ["#4c8bf5aa", "#f5a623aa", "#e0523caa"];
  const x = data.at.map((_, i) => i + 1);
  const order = sums.map((_, n) => n).reverse();
  const marks = data.marks.map((mark) => data.at.findIndex((at) => at >= mark.at)).filter((i) => i >= 0);
  new uPlot({
    width: place.clientWidth, height: 260, scales: { x: { time: false } },
    axes: [axis({ label: "request" }), axis({ size: 60, values: (_, all) => all.map(short) })],
    series: [{ label: "request" }, ...order.map((n) => ({
      label: data.series[n], stroke: fills[n], fill: fills[n], points: { show: false },
      value: (_, __, ___, i) => i == null ? "" : short(data.values[n][i]),
    }))],
    hooks: { draw: [(plot) => {
      plot.ctx.save();
      plot.ctx.strokeStyle = colours().getPropertyValue("--pico-color");
      plot.ctx.setLineDash([4, 4]);
      for (const i of marks) {
        const at = plot.valToPos(i + 1, "x", true);
        plot.ctx.beginPath();
        plot.ctx.moveTo(at, plot.bbox.top);
        plot.ctx.lineTo(at, plot.bbox.top + plot.bbox.height);
        plot.ctx.stroke();
      }
      plot.ctx.restore();
    }] },
  }, [x, ...order.map((n) => sums[n])], place);
}
function drawDays(place, data) {
  if (!data.days.length) { place.textContent = "No model calls in this time."; return; }
  new uPlot({
    width: place.clientWidth, height: 220,
    axes: [axis({}), axis({ size: 60, values: (_, all) => all.map((value) => `$${value}`) })],
    series: [{}, { label: "US dollars", stroke: "#4c8bf5", fill: "#4c8bf588", paths: uPlot.paths.bars({ size: [0.7, 40] }), points: { show: false } }],
  }, [data.days.map((day) => Date.parse(`${day}T12:00:00`) / 1000), data.usd], place);
}
const draw = { window: drawWindow, days: drawDays };
for (const place of document.querySelectorAll("[data-plot]")) {
  fetch(place.dataset.from).then((answer) => answer.json()).then((data) => {
    const again = () => { place.replaceChildren(); draw[place.dataset.plot](place, data); };
    again();
    let wait = 0;
    addEventListener("resize", () => { clearTimeout(wait); wait = setTimeout(again, 150); });
  }).catch(() => { place.textContent = "The figures could not be read."; });
}
