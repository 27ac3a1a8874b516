// The board: all 32 levels, how often each is cleared, and a link to watch its policy.

import { get } from "./api.js";
import { h, replace } from "./dom.js";
import { count, percent, rate } from "./format.js";
import { t } from "./i18n.js";

function cell(level, row, goal, open) {
  if (!row) return h("a", { class: "faint", "data-level": level }, h("div", null, level), h("div", { class: "rate" }, "–"));
  const kind = row.clear_rate >= goal ? "full" : "part";
  return h(
    "a",
    { href: `#/board`, class: kind, "data-level": level, onclick: (event) => open(event, level, row) },
    h("div", null, level),
    h("div", { class: "rate" }, rate(row.clear_rate)),
  );
}

function detail(level, row, watchable) {
  const ends = Object.entries(row.ends).map(([name, number]) => `${name} ${number}`);
  const query = new URLSearchParams({ policy: `file:${row.policy}`, level });
  return [
    h("h2", null, level),
    h("p", null, t("board_detail", { rate: rate(row.clear_rate), low: percent(row.low), high: percent(row.high), episodes: row.episodes, steps: count(row.steps) })),
    h("p", null, ends.join(", ")),
    watchable ? h("p", null, h("a", { href: `#/watch?${query}` }, t("board_watch"))) : null,
  ];
}

function summary(board, levels) {
  const reached = levels.filter((level) => board.rows[level]?.clear_rate >= board.goal);
  return t("board_summary", { reached: reached.length, levels: levels.length, goal: percent(board.goal) });
}

export function openBoard(page) {
  const place = h("div", null, h("p", { class: "faint" }, t("loading")));
  page.append(h("h1", null, t("nav_board")), place);

  function section(board, levels) {
    const about = h("section", { class: "card", hidden: true });
    const open = (event, level, row) => {
      event.preventDefault();
      about.hidden = false;
      replace(about, detail(level, row, board.name === "policies"));
    };
    return h(
      "section",
      null,
      h("h2", null, board.name, "  ", board.error ? null : h("span", { class: "faint" }, summary(board, levels))),
      board.error ? h("p", { class: "error" }, board.error) : null,
      h("div", { class: "board" }, levels.map((level) => cell(level, board.rows[level], board.goal, open))),
      h("p", null),
      about,
    );
  }

  get("api/boards")
    .then((answer) => {
      if (answer.boards.length) replace(place, answer.boards.map((board) => section(board, answer.levels)));
      else replace(place, h("p", { class: "faint" }, t("board_none")));
    })
    .catch((error) => replace(place, h("p", { class: "error" }, error.message)));
}
