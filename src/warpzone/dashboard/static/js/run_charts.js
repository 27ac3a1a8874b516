// The charts of a run, refreshed when its metrics have grown.

import { get } from "./api.js";
import { Chart } from "./chart.js";
import { chartSettings, settingsBar } from "./chart_settings.js";
import { chartGroups, groupTitle, otherMetrics, shortName } from "./chart_groups.js";
import { h, replace } from "./dom.js";
import { t } from "./i18n.js";

const POINTS = 800;

export function openCharts(body, context) {
  const charts = new Map();
  const chosen = new Set();
  let range = [null, null];
  let drawn = "";
  let axis = chartSettings.axis;
  const grid = h("div", { class: "charts" });
  const more = h("select", { "aria-label": t("add_chart") });
  const reset = h("button", { type: "button", hidden: true, onclick: () => zoom(null, null) }, t("reset_zoom"));
  body.append(h("div", { class: "row toolbar" }, settingsBar(settingsChanged), more, reset), grid);
  more.addEventListener("change", () => {
    chosen.add(more.value);
    refresh(context.answer, true);
  });

  function settingsChanged() {
    if (axis !== chartSettings.axis) {
      axis = chartSettings.axis;
      zoom(null, null);
    } else {
      charts.forEach((chart) => chart.draw());
    }
  }

  function zoom(low, high) {
    range = [low, high];
    reset.hidden = low === null;
    charts.forEach((chart) => chart.setRange(low, high));
    refresh(context.answer, true);
  }

  function arrange(metrics) {
    const groups = [...[...chosen].map((name) => [name]), ...chartGroups(metrics)];
    for (const names of groups) {
      const key = names.join();
      if (charts.has(key)) continue;
      const chart = new Chart({
        title: groupTitle(names),
        settings: () => chartSettings,
        marks: () => context.answer?.marks ?? [],
        onzoom: zoom,
      });
      charts.set(key, Object.assign(chart, { names }));
    }
    const order = groups.map((names) => charts.get(names.join()).element);
    if (order.some((element, index) => grid.children[index] !== element)) replace(grid, order);
    const others = otherMetrics(metrics).filter((name) => !chosen.has(name));
    if (more.options.length !== others.length + 1) {
      replace(more, h("option", { value: "" }, t("add_chart")), others.map((name) => h("option", { value: name }, name)));
    }
    return groups.flat();
  }

  async function refresh(answer, force) {
    if (answer === null) return;
    const stamp = `${answer.rows} ${answer.run.steps} ${answer.marks?.length}`;
    if (!force && stamp === drawn) return;
    drawn = stamp;
    const names = arrange(answer.metrics);
    if (!names.length) {
      replace(grid, h("p", { class: "faint" }, t("no_metrics_yet")));
      return;
    }
    const found = {};
    for (let start = 0; start < names.length; start += 40) {
      const part = names.slice(start, start + 40).join();
      const parameters = { run: context.id, names: part, axis: chartSettings.axis, points: POINTS };
      if (range[0] !== null) Object.assign(parameters, { low: range[0], high: range[1] });
      try {
        Object.assign(found, (await get("api/curves", parameters)).curves);
      } catch (error) {
        return; // The page shows what is wrong with the run.
      }
    }
    for (const chart of charts.values()) {
      chart.setCurves(chart.names.filter((name) => name in found).map((name) => ({ label: shortName(name, chart.names), ...found[name] })));
    }
  }

  const themed = () => charts.forEach((chart) => chart.draw());
  addEventListener("warpzone-theme", themed);
  context.listeners.add((answer) => refresh(answer, false));
  refresh(context.answer, true);
  return () => {
    removeEventListener("warpzone-theme", themed);
    charts.forEach((chart) => chart.close());
  };
}
