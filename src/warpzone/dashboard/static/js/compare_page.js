// Comparing runs: overlaid curves, bands of seeds, options that differ, scoreboards side by side.

import { get } from "./api.js";
import { Chart } from "./chart.js";
import { chartSettings, settingsBar } from "./chart_settings.js";
import { h, repeat, replace } from "./dom.js";
import { count, percent, rate } from "./format.js";
import { t } from "./i18n.js";

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

function seedKey(rows) {
  const grouped = rows.filter((row) => row.seeds > 1);
  return grouped.length ? h("p", { class: "faint" }, t("compare_bands_help")) : null;
}

function boardTable({ boards, levels }) {
  const whole = boards.filter((board) => !board.error);
  if (!whole.length) return h("p", { class: "faint" }, t("board_none"));
  const best = (level) => Math.max(...whole.map((board) => board.rows[level]?.clear_rate ?? -1));
  const cell = (board, level) => {
    const row = board.rows[level];
    if (!row) return h("td", { class: "number faint" }, "–");
    const title = t("board_detail", { rate: rate(row.clear_rate), low: percent(row.low), high: percent(row.high), episodes: row.episodes, steps: count(row.steps) });
    return h("td", { class: "number", title }, row.clear_rate === best(level) ? h("b", null, rate(row.clear_rate)) : rate(row.clear_rate));
  };
  const shown = levels.filter((level) => best(level) >= 0);
  return h(
    "div",
    { class: "scroll tall" },
    h(
      "table",
      { "data-boards": whole.length },
      h("thead", null, h("tr", null, h("th", null, t("column_level")), whole.map((board) => h("th", { class: "number" }, board.name)))),
      h("tbody", null, shown.map((level) => h("tr", null, h("td", null, level), whole.map((board) => cell(board, level))))),
    ),
  );
}

export function openCompare(page, route) {
  const chosen = new Set((route.query.get("runs") ?? "").split(",").filter(Boolean).slice(0, MOST_RUNS));
  let metric = DEFAULT_METRIC;
  const chart = new Chart({ title: DEFAULT_METRIC, settings: () => chartSettings });
  const list = h("div", { class: "card scroll compare-list" });
  const search = h("input", { type: "search", placeholder: t("filter_runs"), "aria-label": t("filter_runs") });
  const metrics = h("select", { "aria-label": t("compare_metric") }, h("option", null, DEFAULT_METRIC));
  const differences = h("section", { class: "card", hidden: true });
  const key = h("div", null);
  const boards = h("section", { class: "card" }, h("h2", null, t("compare_boards")));
  const banded = h("input", { type: "checkbox", checked: true });
  banded.addEventListener("change", () => update());
  const message = h("p", { role: "status", class: "faint" }, t("compare_choose"));
  page.append(
    h("div", { class: "row toolbar" }, h("h1", null, t("nav_compare")), search, metrics, h("label", { class: "row" }, banded, t("compare_bands")), settingsBar(() => update())),
    h("div", { class: "compare" }, list, h("div", null, message, chart.element, key, h("p", null), differences, h("p", null), boards)),
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

  async function curves(ids) {
    const shared = { axis: chartSettings.axis, points: POINTS };
    if (banded.checked) {
      const search = new URLSearchParams([...ids.map((id) => ["runs", id]), ...Object.entries({ metric, ...shared })]);
      return (await get(`api/bands?${search}`)).curves;
    }
    const answers = await Promise.all(ids.map((run) => get("api/curves", { run, names: metric, ...shared })));
    return answers.map((answer, index) => ({ label: ids[index], seeds: 1, ...answer.curves[metric] }));
  }

  async function update() {
    const ids = [...chosen];
    message.hidden = ids.length > 0;
    try {
      const rows = ids.length ? await curves(ids) : [];
      chart.setTitle(metric);
      chart.setCurves(rows);
      replace(key, seedKey(rows));
      if (ids.length) {
        const about = await get("api/run", { run: ids[0] });
        const names = about.metrics.filter((name) => !name.startsWith("run/"));
        if (names.length + 1 !== metrics.options.length) {
          replace(metrics, [DEFAULT_METRIC, ...names.filter((name) => name !== DEFAULT_METRIC)].map((name) => h("option", { selected: name === metric }, name)));
        }
      }
      const search = new URLSearchParams(ids.map((id) => ["runs", id]));
      const options = ids.length > 1 ? (await get(`api/differences?${search}`)).rows : [];
      differences.hidden = ids.length < 2;
      replace(differences, h("h2", null, t("compare_differences")), differenceTable(ids, options));
    } catch (error) {
      message.hidden = false;
      message.textContent = error.message;
    }
  }

  get("api/boards")
    .then((answer) => boards.append(boardTable(answer)))
    .catch((error) => boards.append(h("p", { class: "error" }, error.message)));
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
