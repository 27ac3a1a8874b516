// Comparing runs: overlaid curves, and the options in which they differ.

import { get } from "./api.js";
import { Chart } from "./chart.js";
import { h, repeat, replace } from "./dom.js";
import { count, percent } from "./format.js";
import { t } from "./i18n.js";
import { chartSettings, settingsBar } from "./run_charts.js";

const SECONDS = 4;
const MOST_RUNS = 16;
const POINTS = 800;
const DEFAULT_METRIC = "rollout/clear_rate";

function shown(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function differenceTable(runs, rows) {
  if (!rows.length) return h("p", { class: "faint" }, t("compare_same"));
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { "data-differences": rows.length },
      h("thead", null, h("tr", null, h("th", null, t("compare_option")), runs.map((id) => h("th", null, id)))),
      h("tbody", null, rows.map((row) => h("tr", null, h("td", null, row.option), row.values.map((value) => h("td", null, shown(value)))))),
    ),
  );
}

export function openCompare(page, route) {
  const chosen = new Set((route.query.get("runs") ?? "").split(",").filter(Boolean));
  let metric = DEFAULT_METRIC;
  const chart = new Chart({ title: t("nav_compare"), settings: () => chartSettings });
  const list = h("div", { class: "card scroll compare-list" });
  const search = h("input", { type: "search", placeholder: t("filter_runs"), "aria-label": t("filter_runs") });
  const metrics = h("select", { "aria-label": t("compare_metric") }, h("option", null, DEFAULT_METRIC));
  const differences = h("section", { class: "card" });
  const message = h("p", { role: "status", class: "faint" }, t("compare_choose"));
  page.append(
    h("div", { class: "row toolbar" }, h("h1", null, t("nav_compare")), search, metrics, settingsBar(() => update())),
    h("div", { class: "compare" }, list, h("div", null, message, chart.element, h("p", null), differences)),
  );
  let runs = [];

  function drawList() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matching = runs.filter((run) => chosen.has(run.id) || words.every((word) => run.id.toLowerCase().includes(word)));
    const line = (run) => {
      const box = h("input", { type: "checkbox", checked: chosen.has(run.id), "data-run": run.id });
      box.addEventListener("change", () => {
        if (box.checked && chosen.size < MOST_RUNS) chosen.add(run.id);
        else chosen.delete(run.id);
        box.checked = chosen.has(run.id);
        update();
      });
      return h("label", { class: "row" }, box, h("span", { class: "grow" }, run.id), h("span", { class: "faint" }, `${percent(run.clear_rate)}, ${count(run.steps)}`));
    };
    replace(list, matching.map(line));
  }

  async function update() {
    const ids = [...chosen];
    message.hidden = ids.length > 0;
    try {
      const answers = await Promise.all(ids.map((run) => get("api/curves", { run, names: metric, axis: chartSettings.axis, points: POINTS })));
      chart.setCurves(answers.map((answer, index) => ({ label: ids[index], ...answer.curves[metric] })));
      if (ids.length) {
        const about = await get("api/run", { run: ids[0] });
        const names = about.metrics.filter((name) => !name.startsWith("run/"));
        if (names.length + 1 !== metrics.options.length) {
          replace(metrics, [DEFAULT_METRIC, ...names.filter((name) => name !== DEFAULT_METRIC)].map((name) => h("option", { selected: name === metric }, name)));
        }
      }
      const search = new URLSearchParams(ids.map((id) => ["runs", id]));
      const rows = ids.length > 1 ? (await get(`api/differences?${search}`)).rows : [];
      replace(differences, h("h2", null, t("compare_differences")), ids.length > 1 ? differenceTable(ids, rows) : null);
    } catch (error) {
      message.hidden = false;
      message.textContent = error.message;
    }
  }

  metrics.addEventListener("change", () => {
    metric = metrics.value;
    update();
  });
  search.addEventListener("input", drawList);
  const stop = repeat(async () => {
    try {
      const answer = await get("api/runs");
      const known = runs.length;
      runs = answer.runs;
      if (runs.length !== known) drawList();
      await update();
    } catch (error) {
      message.hidden = false;
      message.textContent = error.message;
    }
  }, SECONDS);
  return () => {
    stop();
    chart.close();
  };
}
