// The list of runs: live, filtered, sorted, grouped by folder.

import { get } from "./api.js";
import { h, repeat, replace, svg } from "./dom.js";
import { count, duration, levels, percent } from "./format.js";
import { t } from "./i18n.js";

const COLUMNS = [
  { key: "name" },
  { key: "level", wide: true },
  { key: "state" },
  { key: "clear_rate", number: true },
  { key: "sparkline", wide: true, plain: true },
  { key: "steps", number: true, wide: true },
  { key: "steps_per_second", number: true, wide: true },
  { key: "seconds_left", number: true, wide: true },
  { key: "changed", wide: true },
];
const SECONDS = 2;
const MOST_COMPARED = 16;
// The choices survive a visit to another page.
const view = { filter: "", sort: "changed", descending: true, grouped: true, closed: new Set() };

export function sparkline(values) {
  const drawing = svg("svg", { class: "spark", viewBox: "0 0 110 26", "aria-hidden": "true" });
  if (values.length > 1) {
    const points = values.map((value, index) => `${((108 * index) / (values.length - 1) + 1).toFixed(1)},${(24 - 22 * value).toFixed(1)}`);
    drawing.append(svg("polyline", { points: points.join(" ") }));
  }
  return drawing;
}

export function stateMark(state) {
  return h("span", { class: `state state-${state}` }, t(`state_${state}`));
}

function matches(run, words) {
  const text = `${run.id} ${run.level ?? ""} ${run.state} ${t(`state_${run.state}`)}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function compare(left, right) {
  const a = left[view.sort];
  const b = right[view.sort];
  if (a === b) return left.id < right.id ? -1 : 1;
  if (a === null) return 1; // Unknown values are last, whatever the direction.
  if (b === null) return -1;
  const order = typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
  return view.descending ? -order : order;
}

function age(seconds) {
  return seconds ? t("ago", { time: duration(Date.now() / 1000 - seconds) }) : "–";
}

function row(run) {
  const cells = {
    name: h("a", { href: `#/run/${encodeURIComponent(run.id)}`, title: run.id }, view.grouped ? run.name : run.id),
    level: h("span", { title: run.level ?? "" }, levels(run.level, (number) => t("many_levels", { number }))),
    state: stateMark(run.state),
    clear_rate: percent(run.clear_rate),
    sparkline: sparkline(run.sparkline),
    steps: count(run.steps),
    steps_per_second: run.state === "running" ? count(run.steps_per_second) : "–",
    seconds_left: duration(run.seconds_left),
    changed: age(run.changed),
  };
  const mark = run.damages.length ? h("span", { class: "error", title: run.damages.join("\n") }, " ⚠") : null;
  return h(
    "tr",
    { class: view.grouped && run.group ? "member" : "" },
    COLUMNS.map((column) =>
      h("td", { class: `${column.number ? "number " : ""}${column.wide ? "wide" : ""}` }, cells[column.key], column.key === "name" ? mark : null),
    ),
  );
}

function heading(column, draw) {
  const sorted = view.sort === column.key;
  const arrow = sorted ? (view.descending ? " ▾" : " ▴") : "";
  const label = t(`column_${column.key}`);
  const click = () => {
    view.descending = sorted ? !view.descending : column.key !== "name" && column.key !== "level";
    view.sort = column.key;
    draw();
  };
  return h(
    "th",
    { class: `${column.number ? "number " : ""}${column.wide ? "wide" : ""}`, "aria-sort": sorted ? (view.descending ? "descending" : "ascending") : null },
    column.plain ? label : h("button", { type: "button", onclick: click }, label + arrow),
  );
}

function groups(runs) {
  const found = new Map([["", []]]); // Runs without a folder come first, so that none seems to belong to the one above.
  for (const run of runs) {
    if (!found.has(run.group)) found.set(run.group, []);
    found.get(run.group).push(run);
  }
  return found;
}

function groupRow(name, kind, runs, draw) {
  const cleared = runs.filter((run) => (run.clear_rate ?? 0) >= 0.9).length;
  const text = t("group_summary", { count: runs.length, cleared });
  const isOpen = !view.closed.has(name);
  const toggle = () => {
    if (isOpen) view.closed.add(name);
    else view.closed.delete(name);
    draw();
  };
  const ids = runs.slice(0, MOST_COMPARED).map((run) => encodeURIComponent(run.id));
  return h(
    "tr",
    { class: "group" },
    h(
      "th",
      { colspan: COLUMNS.length, scope: "colgroup" },
      h("button", { type: "button", "aria-expanded": String(isOpen), "data-group": name, onclick: toggle }, `${isOpen ? "▾" : "▸"} ${name}`),
      h("span", { class: "faint wrap" }, ` ${t(`group_${kind}`)}: ${text} `),
      runs.length > 1 ? h("a", { href: `#/compare?runs=${ids.join()}` }, t("nav_compare")) : null,
    ),
  );
}

export function openRuns(page) {
  let runs = [];
  let missing = 0;
  let kinds = {};
  const status = h("p", { class: "faint", role: "status" }, t("loading"));
  const head = h("thead");
  const body = h("tbody");
  const search = h("input", { type: "search", placeholder: t("filter_runs"), "aria-label": t("filter_runs"), value: view.filter });
  const grouped = h("input", { type: "checkbox", checked: view.grouped });
  page.append(
    h("div", { class: "row toolbar" }, h("h1", null, t("nav_runs")), search, h("label", { class: "row" }, grouped, t("group_runs"))),
    status,
    h("div", { class: "card scroll" }, h("table", { class: "runs" }, head, body)),
  );

  function draw() {
    const words = view.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = runs.filter((run) => matches(run, words)).sort(compare);
    replace(head, h("tr", null, COLUMNS.map((column) => heading(column, draw))));
    const lines = [];
    if (view.grouped) {
      for (const [name, members] of groups(shown)) {
        if (name) lines.push(groupRow(name, kinds[name] ?? "folder", members, draw));
        if (!name || !view.closed.has(name)) lines.push(...members.map(row));
      }
    } else {
      lines.push(...shown.map(row));
    }
    const focused = body.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    replace(body, lines);
    if (focused) body.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
    const running = runs.filter((run) => run.state === "running").length;
    status.textContent = runs.length
      ? t("runs_summary", { shown: shown.length, count: runs.length + missing, running })
      : t("no_runs");
  }

  search.addEventListener("input", () => {
    view.filter = search.value;
    draw();
  });
  grouped.addEventListener("change", () => {
    view.grouped = grouped.checked;
    draw();
  });
  return repeat(async () => {
    try {
      ({ runs, missing, groups: kinds } = await get("api/runs"));
      draw();
      return missing ? 0.1 : SECONDS;
    } catch (error) {
      status.textContent = error.message;
      return SECONDS;
    }
  }, SECONDS);
}
