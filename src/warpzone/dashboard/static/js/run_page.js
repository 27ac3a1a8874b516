// The page of one run: facts on top, then one tab at a time.

import { get } from "./api.js";
import { openCharts } from "./run_charts.js";
import { openWall } from "./wall_tab.js";
import { openLevels } from "./levels_tab.js";
import { openSteer } from "./steer_tab.js";
import { openConfig, openEpisodes, openFiles, openLog } from "./run_tabs.js";
import { h, repeat, replace } from "./dom.js";
import { count, duration, levels, percent } from "./format.js";
import { t } from "./i18n.js";
import { stateMark } from "./runs_page.js";

const SECONDS = 2;
const TABS = { charts: openCharts, games: openWall, steer: openSteer, levels: openLevels, episodes: openEpisodes, log: openLog, files: openFiles, config: openConfig };

function facts(run) {
  const fact = (name, value) => h("div", null, h("b", { "data-fact": name }, value), h("span", { class: "faint" }, t(`fact_${name}`)));
  const total = run.total_steps ? ` / ${count(run.total_steps)}` : "";
  return [
    fact("clear_rate", percent(run.clear_rate)),
    fact("steps", count(run.steps) + total),
    fact("updates", count(run.updates)),
    fact("steps_per_second", run.state === "running" ? count(run.steps_per_second) : "–"),
    fact("elapsed", duration(run.elapsed)),
    fact("seconds_left", duration(run.seconds_left)),
  ];
}

export function openRun(page, route) {
  const id = route.rest.join("/");
  const title = h("h1", null, id);
  const state = h("span", null);
  const level = h("span", { class: "faint" });
  const numbers = h("div", { class: "facts" });
  const problems = h("div", { role: "status" });
  const body = h("div", { role: "tabpanel" });
  const buttons = Object.keys(TABS).map((name) =>
    h("button", { type: "button", role: "tab", "data-tab": name, onclick: () => select(name) }, t(`tab_${name}`)),
  );
  const top = h("div", { class: "row" }, title, state, level);
  page.append(top, numbers, problems, h("div", { class: "tabs", role: "tablist" }, buttons), body);

  // What tabs share: the newest answer about the run, and how they hear about the next one.
  const context = { id, answer: null, top, listeners: new Set() };
  let closeTab = () => {};

  function select(name) {
    closeTab();
    context.listeners.clear();
    buttons.forEach((button) => button.setAttribute("aria-selected", String(button.dataset.tab === name)));
    replace(body);
    closeTab = TABS[name](body, context) ?? (() => {});
  }

  const stop = repeat(async () => {
    try {
      context.answer = await get("api/run", { run: id });
      const { run, damages } = context.answer;
      replace(state, stateMark(run.state));
      level.textContent = run.level ? t("level_of", { level: levels(run.level, (number) => t("many_levels", { number })) }) : "";
      replace(numbers, facts(run));
      replace(problems, damages.map((text) => h("p", { class: "error" }, t("damaged", { text }))));
      context.listeners.forEach((listener) => listener(context.answer));
    } catch (error) {
      replace(problems, h("p", { class: "error" }, error.message));
    }
  }, SECONDS);
  select(route.query.get("tab") in TABS ? route.query.get("tab") : "charts");
  return () => {
    stop();
    closeTab();
  };
}
