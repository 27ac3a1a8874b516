// A chart of one or more curves: smoothing, log scale, zoom, marks.

import uPlot from "../vendor/uplot/uPlot.esm.js";
import { h } from "./dom.js";
import { duration, exact, tick } from "./format.js";
import { t } from "./i18n.js";
import { color } from "./theme.js";

const HEIGHT = 230;
const REACH = 0.02; // Of the axis: a curve that ended further away has no value under the cursor.
const HUES = [20, 215, 145, 275, 45, 330, 190, 95];

export function curveColor(index, alpha = 1) {
  const light = document.documentElement.dataset.theme === "dark" ? 65 : 42;
  return `hsl(${HUES[index % HUES.length]} 75% ${light}% / ${alpha})`;
}

// Exponential moving average with a correction for its start, as in TensorBoard.
export function smoothed(values, weight) {
  let last = 0;
  let total = 0;
  return values.map((value) => {
    if (value === null || value === undefined) return value;
    last = last * weight + (1 - weight) * value;
    total = total * weight + (1 - weight);
    return last / total;
  });
}

// One list of positions for all curves, with null where a curve has no point.
export function aligned(curves) {
  const positions = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
  const place = new Map(positions.map((x, index) => [x, index]));
  const columns = curves.map((curve) => {
    const column = new Array(positions.length).fill(null);
    curve.x.forEach((x, index) => {
      column[place.get(x)] = curve.y[index];
    });
    return column;
  });
  return [positions, ...columns];
}

// The point of a curve that the cursor means: curves have points at different positions.
function nearestPoint(plot, series, index) {
  const [positions, column] = [plot.data[0], plot.data[series]];
  const known = (place) => column[place] !== null && column[place] !== undefined;
  let [left, right] = [index, index];
  while (left >= 0 && !known(left)) left -= 1;
  while (right < positions.length && !known(right)) right += 1;
  const [before, after] = [positions[index] - positions[left], positions[right] - positions[index]];
  if (left >= 0 && right < positions.length) return before <= after ? left : right;
  const reach = REACH * (plot.scales.x.max - plot.scales.x.min);
  if (before <= reach) return left;
  return after <= reach ? right : index;
}

function markPlugin(marks, axis) {
  return {
    hooks: {
      draw: (plot) => {
        const { ctx, bbox } = plot;
        ctx.save();
        ctx.setLineDash([4, 3]);
        for (const mark of marks()) {
          ctx.strokeStyle = color(mark.changes ? "warn" : "good");
          const x = Math.round(plot.valToPos(mark[axis()], "x", true));
          if (x < bbox.left || x > bbox.left + bbox.width) continue;
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
        }
        ctx.restore();
      },
    },
  };
}

// The range of an axis: a value that is always 0 gets one of its own, since uPlot would draw it up to 100.
function valueRange(plot, low, high) {
  if (low === null || low === undefined) return [null, null];
  return low === 0 && high === 0 ? [0, 1] : uPlot.rangeNum(low, high, 0.1, true);
}

export class Chart {
  // options: title, names of the curves, settings() → {smoothing, log, axis}, marks(), onzoom(low, high),
  // range: lowest and highest value of a linear axis, if they are fixed
  constructor(options) {
    this.options = options;
    this.curves = [];
    this.place = h("div", { class: "plot" });
    this.element = h("section", { class: "card chart", "data-chart": options.title }, (this.heading = h("h2", null, options.title)), this.place);
    this.plot = null;
    this.shape = "";
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.place);
  }

  setTitle(title) {
    this.heading.textContent = title;
    this.element.dataset.chart = title;
  }

  // curves: [{label, x, y}]; a band has low and high as well.
  setCurves(curves) {
    this.curves = curves.filter((curve) => curve.x.length > 0);
    this.draw();
  }

  draw() {
    const { smoothing, log, axis } = this.options.settings();
    const shape = JSON.stringify([this.curves.map((curve) => [curve.label, Boolean(curve.low)]), smoothing > 0, log, axis, document.documentElement.dataset.theme]);
    if (shape !== this.shape) this.rebuild(shape);
    if (this.plot === null) return;
    this.plot.setData(this.data(smoothing, log), !this.zoomed);
    this.element.dataset.bands = this.bands().length / 2;
    this.element.dataset.points = this.curves.reduce((sum, curve) => sum + curve.x.length, 0);
  }

  // Curves with a band, as curves of their highest and lowest values.
  bands() {
    return this.curves.flatMap((curve, index) => (curve.low ? [{ index, x: curve.x, y: curve.high }, { index, x: curve.x, y: curve.low }] : []));
  }

  data(smoothing, log) {
    const [positions, ...columns] = aligned([...this.curves, ...this.bands()]);
    const raw = columns.slice(0, this.curves.length);
    const edges = columns.slice(this.curves.length).map((column) => (smoothing > 0 ? smoothed(column, smoothing) : column));
    const usable = log ? raw.map((column) => column.map((value) => (value > 0 ? value : null))) : raw;
    const soft = smoothing > 0 ? usable.map((column) => smoothed(column, smoothing)) : [];
    return [positions, ...usable, ...soft, ...edges];
  }

  rebuild(shape) {
    this.shape = shape;
    this.plot?.destroy();
    this.plot = null;
    this.place.replaceChildren();
    if (!this.curves.length) {
      this.place.append(h("p", { class: "empty" }, t("no_data")));
      return;
    }
    const { smoothing, log, axis } = this.options.settings();
    const time = axis === "time";
    const line = (curve, index, faint) => ({
      label: curve.label,
      class: faint ? "raw" : undefined, // Left out of the legend.
      stroke: curveColor(index, faint ? 0.3 : 1),
      width: faint ? 1 : 1.8,
      spanGaps: true,
      points: { show: this.curves[index].x.length < 3 },
      value: (plot, value) => exact(value),
    });
    const series = [{ label: t(`axis_${axis}`), value: (plot, value) => (value === null ? "–" : time ? duration(value) : exact(Math.round(value))) }];
    this.curves.forEach((curve, index) => series.push(line(curve, index, smoothing > 0)));
    if (smoothing > 0) this.curves.forEach((curve, index) => series.push(line(curve, index, false)));
    const bands = [];
    this.bands().forEach((edge, place) => {
      series.push({ label: "", class: "raw", stroke: curveColor(edge.index, 0.25), width: 1, spanGaps: true, points: { show: false } });
      if (place % 2) bands.push({ series: [series.length - 2, series.length - 1], fill: curveColor(edge.index, 0.15) });
    });
    const look = { stroke: color("faint"), grid: { stroke: color("grid"), width: 1 }, ticks: { stroke: color("grid"), width: 1 } };
    this.plot = new uPlot(
      {
        width: Math.max(120, this.place.clientWidth),
        height: this.chartHeight(),
        scales: { x: { time: false }, y: log ? { distr: 3 } : { range: this.options.range ?? valueRange } },
        axes: [
          { ...look, values: (plot, splits) => splits.map((value) => (time ? duration(value) : tick(value))) },
          { ...look, size: 56, values: (plot, splits) => splits.map((value) => (value === null ? "" : tick(value))) },
        ],
        series,
        bands,
        cursor: { dataIdx: nearestPoint, drag: { x: true, y: false, uni: 10 }, sync: { key: this.options.sync ?? "warpzone" } },
        legend: { live: true },
        plugins: [markPlugin(() => this.options.marks?.() ?? [], () => axis)],
        hooks: {
          setSelect: [
            (plot) => {
              if (plot.select.width < 4) return;
              this.options.onzoom?.(plot.posToVal(plot.select.left, "x"), plot.posToVal(plot.select.left + plot.select.width, "x"));
            },
          ],
        },
      },
      [[], ...series.slice(1).map(() => [])],
      this.place,
    );
    this.plot.over.addEventListener("dblclick", () => this.options.onzoom?.(null, null));
  }

  chartHeight() {
    return HEIGHT - 52;
  }

  setRange(low, high) {
    this.zoomed = low !== null;
    if (this.plot === null) return;
    if (this.zoomed) this.plot.setScale("x", { min: low, max: high });
    else this.plot.setData(this.plot.data, true);
  }

  resize() {
    const width = this.place.clientWidth;
    if (this.plot !== null && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.chartHeight() });
  }

  close() {
    this.observer.disconnect();
    this.plot?.destroy();
  }
}
