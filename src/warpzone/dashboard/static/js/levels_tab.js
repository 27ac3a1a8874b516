// The levels of a run: how often each is cleared, and where episodes are lost, on a map of the level.

import { get, mapAddress } from "./api.js";
import { h, repeat, replace, svg } from "./dom.js";
import { count, exact, percent } from "./format.js";
import { t } from "./i18n.js";
import { curveColor } from "./chart.js";

const SECONDS = 4;
const BIN = 32; // Pixels of the level per column of the histogram.
const HISTOGRAM = 72;
const GAP = 6;
const CAUSES = ["enemy", "pit", "time", "stagnation", "step_limit", "game_over"];

function causeColor(end) {
  const index = CAUSES.indexOf(end);
  return curveColor(index < 0 ? CAUSES.length : index);
}

function legend(counts) {
  return h(
    "div",
    { class: "row legend" },
    Object.entries(counts).map(([end, number]) => h("span", { "data-cause": end }, svg("svg", { class: "dot", viewBox: "0 0 10 10" }, svg("circle", { cx: 5, cy: 5, r: 5, fill: causeColor(end) })), ` ${end} ${number}`)),
  );
}

function countBy(rows, name) {
  const counts = {};
  for (const row of rows) counts[row[name]] = (counts[row[name]] ?? 0) + 1;
  return counts;
}

// Columns above the map, one per BIN pixels, stacked by cause; below it, one dot per lost episode.
function drawMap(canvas, image, lost) {
  canvas.width = image.width;
  canvas.height = HISTOGRAM + GAP + image.height;
  const context = canvas.getContext("2d");
  const bins = new Map();
  for (const row of lost) {
    const bin = Math.max(0, Math.floor(row.x / BIN));
    if (!bins.has(bin)) bins.set(bin, []);
    bins.get(bin).push(row);
  }
  const highest = Math.max(1, ...[...bins.values()].map((rows) => rows.length));
  for (const [bin, rows] of bins) {
    let bottom = HISTOGRAM;
    for (const [end, number] of Object.entries(countBy(rows, "end"))) {
      const height = (HISTOGRAM * number) / highest;
      context.fillStyle = causeColor(end);
      context.fillRect(bin * BIN + 1, bottom - height, BIN - 2, height);
      bottom -= height;
    }
  }
  context.translate(0, HISTOGRAM + GAP);
  context.drawImage(image, 0, 0);
  for (const row of lost) {
    // Heights count from the bottom of the screen, of which the map lacks the status bar.
    const y = Math.min(image.height - 5, Math.max(5, image.height - row.y + 8));
    context.beginPath();
    context.arc(row.x + 8, y, 6, 0, 2 * Math.PI);
    context.fillStyle = causeColor(row.end);
    context.globalAlpha = 0.6;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = "#fff";
    context.stroke();
  }
}

function loadImage(address) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = () => reject(new Error(t("map_missing")));
    image.src = address;
  });
}

export function openLevels(body, context) {
  const maps = new Map();
  let chosen = null;
  let last = "";
  let closed = false;
  const canvas = h("canvas", { class: "levelmap", role: "img", hidden: true });
  const scroll = h("div", { class: "scroll", tabIndex: 0 }, canvas);
  const place = h("div", null);
  const about = h("div", { role: "status" }, h("p", { class: "faint" }, t("loading")));
  const actual = h("input", { type: "checkbox" });
  actual.addEventListener("change", () => canvas.classList.toggle("actual", actual.checked));
  body.append(
    place,
    h("section", { class: "card" }, h("div", { class: "row" }, h("h2", null, t("map_title")), h("span", { class: "grow" }), h("label", { class: "row" }, actual, t("map_actual"))), about, scroll),
  );

  async function mapOf(level) {
    if (!maps.has(level)) {
      const facts = await get("api/map", { run: context.id, level });
      maps.set(level, { ...facts, image: await loadImage(mapAddress(context.id, level)) });
    }
    return maps.get(level);
  }

  async function showMap(row) {
    if (!row) return;
    try {
      const map = await mapOf(row.level);
      if (closed || chosen !== row.level) return;
      const here = row.lost.filter((one) => one.area === null || one.area === map.area);
      canvas.hidden = false;
      canvas.setAttribute("aria-label", t("map_label", { level: row.level, count: here.length }));
      drawMap(canvas, map.image, here);
      canvas.dataset.level = row.level;
      canvas.dataset.deaths = here.length;
      const elsewhere = row.lost.length - here.length;
      replace(
        about,
        h("p", null, t("map_about", { level: row.level, count: here.length }), elsewhere ? ` ${t("map_elsewhere", { count: elsewhere })}` : ""),
        legend(countBy(here, "end")),
      );
    } catch (error) {
      canvas.hidden = true;
      replace(about, h("p", { class: "error" }, error.message));
    }
  }

  function table(rows) {
    const heads = ["level", "clear_rate", "whole", "episodes", "furthest", "ends"];
    const numbers = new Set(["clear_rate", "whole", "episodes", "furthest"]);
    const line = (row) =>
      h(
        "tr",
        { class: row.level === chosen ? "chosen" : "" },
        h("td", null, h("button", { type: "button", "data-level": row.level, "aria-pressed": String(row.level === chosen), onclick: () => choose(row.level) }, row.level)),
        h("td", { class: "number" }, percent(row.clear_rate)),
        h("td", { class: "number" }, exact(row.whole)),
        h("td", { class: "number" }, exact(row.episodes)),
        h("td", { class: "number" }, count(row.furthest)),
        h("td", null, Object.entries(row.ends).map(([end, number]) => `${end} ${number}`).join(", ")),
      );
    return h(
      "div",
      { class: "card scroll tall" },
      h("table", { "data-levels": rows.length }, h("thead", null, h("tr", null, heads.map((name) => h("th", { class: numbers.has(name) ? "number" : "" }, t(`level_${name}`))))), h("tbody", null, rows.map(line))),
    );
  }

  let rows = [];
  function draw() {
    if (!rows.some((row) => row.level === chosen)) chosen = [...rows].sort((a, b) => b.lost.length - a.lost.length)[0]?.level ?? null;
    replace(place, table(rows), h("p", { class: "faint" }, t("level_help")));
    showMap(rows.find((row) => row.level === chosen));
  }

  function choose(level) {
    chosen = level;
    draw();
    place.querySelector(`[data-level="${CSS.escape(level)}"]`)?.focus();
  }

  addEventListener("warpzone-theme", draw);
  const stop = repeat(async () => {
    try {
      const answer = await get("api/levels", { run: context.id });
      const text = JSON.stringify(answer);
      rows = answer.levels;
      if (text !== last) draw();
      last = text;
    } catch (error) {
      replace(about, h("p", { class: "error" }, error.message));
    }
  }, SECONDS);
  return () => {
    closed = true;
    stop();
    removeEventListener("warpzone-theme", draw);
  };
}
