// The tabs of a run that show text and tables: episodes, log, files, configuration.

import { get, mediaAddress } from "./api.js";
import { h, repeat, replace, svg } from "./dom.js";
import { bytes, count, exact, percent } from "./format.js";
import { t } from "./i18n.js";

const SECONDS = 4;

// Shows what `load` returns, again and again; errors become a sentence.
function live(body, load) {
  const place = h("div", null, h("p", { class: "faint" }, t("loading")));
  body.append(place);
  let last = "";
  return repeat(async () => {
    try {
      const answer = await load();
      const text = JSON.stringify(answer.data);
      if (text !== last) replace(place, answer.draw(answer.data));
      last = text;
    } catch (error) {
      last = "";
      replace(place, h("p", { class: "error" }, error.message));
    }
  }, SECONDS);
}

export function bar(label, share, text, kind = "") {
  return h(
    "div",
    { class: `bar ${kind}` },
    h("span", null, label),
    svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none" }, svg("rect", { width: (100 * share).toFixed(2), height: 10 })),
    h("span", null, text),
  );
}

// Where episodes were lost: one column per 64 pixels of progress.
function lostStrip(lost) {
  const most = Math.max(...lost.map((row) => row.progress), 64);
  const columns = Math.max(8, Math.ceil(most / 64));
  const counts = new Array(columns).fill(0);
  for (const row of lost) counts[Math.min(columns - 1, Math.max(0, Math.floor(row.progress / 64)))] += 1;
  const highest = Math.max(...counts, 1);
  const drawing = svg("svg", { class: "strip", viewBox: `0 0 ${columns} 100`, preserveAspectRatio: "none", role: "img" });
  counts.forEach((value, index) => {
    const height = (100 * value) / highest;
    drawing.append(
      svg("rect", { x: index + 0.05, y: 100 - height, width: 0.9, height, fill: "var(--bad)" }, svg("title", null, `${index * 64}–${index * 64 + 63} px: ${value}`)),
    );
  });
  return h("div", null, drawing, h("div", { class: "row faint" }, "0 px", h("span", { class: "grow" }), `${Math.round(most)} px`));
}

function drawEpisodes(answer) {
  if (!answer.count) return h("p", { class: "faint" }, t("no_episodes"));
  const ends = Object.entries(answer.ends).map(([name, number]) =>
    bar(name, number / answer.count, percent(number / answer.count), name === "clear" ? "clear" : ""),
  );
  const names = ["level", "start", "end", "progress", "reward", "length", "score", "coins"];
  const numbers = new Set(["progress", "reward", "length", "score", "coins"]);
  const cell = (row, name) => h("td", { class: numbers.has(name) ? "number" : "" }, numbers.has(name) ? exact(row[name]) : row[name]);
  return [
    h(
      "div",
      { class: "columns" },
      h("section", { class: "card" }, h("h2", null, t("ends_of", { count: answer.count })), h("div", { class: "bars" }, ends)),
      h("section", { class: "card" }, h("h2", null, t("lost_at")), answer.lost.length ? lostStrip(answer.lost) : h("p", null, t("none_lost"))),
    ),
    h(
      "div",
      { class: "card scroll" },
      h("h2", null, t("last_episodes")),
      h(
        "table",
        null,
        h("thead", null, h("tr", null, names.map((name) => h("th", { class: numbers.has(name) ? "number" : "" }, t(`episode_${name}`))))),
        h("tbody", null, answer.last.map((row) => h("tr", null, names.map((name) => cell(row, name))))),
      ),
    ),
  ];
}

export function openEpisodes(body, context) {
  return live(body, async () => ({ data: await get("api/episodes", { run: context.id }), draw: drawEpisodes }));
}

function drawLog(answer) {
  return [
    h(
      "section",
      { class: "card" },
      h("h2", null, t("hints")),
      answer.hints.length ? answer.hints.slice().reverse().map((line) => h("p", { class: "hint" }, line)) : h("p", { class: "faint" }, t("no_hints")),
    ),
    h("p", null),
    h("section", { class: "card" }, h("h2", null, "log.txt"), h("pre", { tabIndex: 0 }, answer.lines.slice().reverse().join("\n"))),
  ];
}

export function openLog(body, context) {
  return live(body, async () => ({ data: await get("api/log", { run: context.id }), draw: drawLog }));
}

function drawFiles(context) {
  return (answer) => {
    const line = (file) =>
      h("tr", null, h("td", null, file.name), h("td", { class: "number" }, count(file.steps)), h("td", { class: "number" }, percent(file.clear_rate)), h("td", { class: "number" }, bytes(file.size)));
    const heads = ["checkpoint", "steps", "clear_rate", "size"].map((name) => h("th", { class: name === "checkpoint" ? "" : "number" }, t(`file_${name}`)));
    const video = (file) =>
      h(
        "figure",
        { class: "card" },
        file.name.endsWith(".gif")
          ? h("img", { src: mediaAddress(context.id, file.name), alt: file.name, loading: "lazy" })
          : h("video", { src: mediaAddress(context.id, file.name), controls: true, preload: "metadata" }),
        h("figcaption", null, `${file.name}, ${bytes(file.size)}`),
      );
    return [
      h("div", { class: "card scroll" }, h("table", null, h("thead", null, h("tr", null, heads)), h("tbody", null, answer.checkpoints.map(line)))),
      h("h2", null, t("videos")),
      answer.videos.length ? h("div", { class: "columns" }, answer.videos.map(video)) : h("p", { class: "faint" }, t("no_videos")),
    ];
  };
}

export function openFiles(body, context) {
  const draw = drawFiles(context);
  return live(body, async () => ({ data: await get("api/files", { run: context.id }), draw }));
}

export function openConfig(body, context) {
  const draw = (answer) => h("div", { class: "card" }, h("h2", null, "config.toml"), h("pre", { tabIndex: 0 }, answer.text));
  return live(body, async () => ({ data: await get("api/config", { run: context.id }), draw }));
}

