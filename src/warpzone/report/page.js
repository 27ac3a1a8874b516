// What a report can do: charts that zoom, tables that sort.

import { Chart } from "./chart.js";
import { chartSettings, settingsBar } from "./chart_settings.js";
import { h } from "./dom.js";
import { t } from "./i18n.js";

const charts = [];
const reset = h("button", { type: "button", hidden: true, onclick: () => zoom(null, null) }, t("reset_zoom"));
let axis = chartSettings.axis;

function show(chart) {
  chart.setCurves(chart.figure.curves.map((curve) => ({ label: curve.label, ...curve[chartSettings.axis] })));
}

function zoom(low, high) {
  reset.hidden = low === null;
  charts.forEach((chart) => chart.setRange(low, high));
}

function settingsChanged() {
  if (axis !== chartSettings.axis) zoom(null, null);
  axis = chartSettings.axis;
  charts.forEach(show);
}

function build(grid) {
  const figures = JSON.parse(grid.querySelector("script").textContent);
  for (const figure of figures) {
    const range = figure.is_rate ? [0, 1] : undefined;
    const chart = new Chart({ title: figure.title, settings: () => chartSettings, onzoom: zoom, range });
    chart.figure = figure;
    charts.push(chart);
    grid.append(chart.element);
    show(chart);
  }
}

// Charts that are folded away have no width yet; they are built when they are opened.
function buildWhenVisible(grid) {
  const folded = grid.closest("details:not([open])");
  if (folded === null) build(grid);
  else folded.addEventListener("toggle", () => build(grid), { once: true });
}

const theme = matchMedia("(prefers-color-scheme: dark)");
function applyTheme() {
  document.documentElement.dataset.theme = theme.matches ? "dark" : "light";
  charts.forEach((chart) => chart.draw());
}

// Numbers sort as numbers: 1,234 and 95 % and 12 px. Durations such as 1:02:03 count seconds.
function sortKey(cell) {
  const text = cell.textContent.trim();
  if (/^\d+(:\d\d)+$/.test(text)) return text.split(":").reduce((sum, part) => 60 * sum + Number(part), 0);
  const number = /^[-+]?[\d,]*\.?\d+(e[-+]?\d+)?/i.exec(text);
  const level = /^\d+-\d+$/.test(text); // 1-2 is not the number 1.
  return number && !level ? Number(number[0].replaceAll(",", "")) : text;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === typeof b) return a.localeCompare(b, "en", { numeric: true });
  return typeof a === "number" ? -1 : 1;
}

function sortBy(table, column, heading) {
  const down = heading.getAttribute("aria-sort") === "ascending";
  const rows = [...table.tBodies[0].rows].map((row) => [sortKey(row.cells[column]), row]);
  rows.sort(([a], [b]) => (down ? compare(b, a) : compare(a, b)));
  table.tBodies[0].append(...rows.map(([, row]) => row));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = h("button", { type: "button", onclick: () => sortBy(table, column, heading) }, heading.textContent);
    heading.replaceChildren(button);
  });
}

applyTheme();
theme.addEventListener("change", applyTheme);
document.querySelector(".toolbar")?.append(...settingsBar(settingsChanged), reset, h("small", null, "Drag across a chart to zoom; double-click to reset."));
document.querySelectorAll(".charts").forEach((grid) => grid.querySelector("script") && buildWhenVisible(grid));
document.querySelectorAll("table.sortable").forEach(makeSortable);
