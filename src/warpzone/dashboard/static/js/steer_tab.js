// Steering: buttons for the run, fields for its options, and what was changed before.

import { get, post, session } from "./api.js";
import { h, repeat, replace } from "./dom.js";
import { exact, moment, percent } from "./format.js";
import { t } from "./i18n.js";

const SECONDS = 2;
const ACTIONS = ["pause", "resume", "save", "record", "evaluate", "stop"];
const LIVE = new Set(["running", "stalled", "paused"]);

function describe(row) {
  if (row.error) return t("steer_refused", { text: row.error });
  const changes = Object.entries(row.changes ?? {}).map(([path, [before, after]]) => `${path}: ${shown(before)} → ${shown(after)}`);
  return changes.length ? changes.join(", ") : t("steer_done");
}

function shown(value) {
  return typeof value === "number" ? exact(value) : JSON.stringify(value);
}

function historyTable(rows) {
  if (!rows.length) return h("p", { class: "faint" }, t("steer_no_history"));
  const heads = ["time", "who", "action", "update", "outcome"].map((name) => h("th", null, t(`steer_${name}`)));
  const line = (row) =>
    h("tr", null, h("td", null, moment(row.time)), h("td", null, row.who), h("td", null, row.action), h("td", { class: "number" }, exact(row.update)), h("td", { class: row.error ? "error" : "" }, describe(row)));
  return h("div", { class: "scroll" }, h("table", { "data-history": rows.length }, h("thead", null, h("tr", null, heads)), h("tbody", null, rows.slice().reverse().map(line))));
}

function evaluationTable(rows) {
  if (!rows.length) return h("p", { class: "faint" }, t("evaluate_none"));
  const heads = ["time", "update", "rate", "levels"].map((name) => h("th", { class: name === "levels" || name === "time" ? "" : "number" }, t(`evaluate_${name}`)));
  const level = (row) => t("evaluate_level", { level: row.level, clears: exact(row.clears), episodes: exact(row.episodes), low: percent(row.interval_low), high: percent(row.interval_high) });
  const line = (row) =>
    h("tr", null, h("td", null, moment(row.time)), h("td", { class: "number" }, exact(row.update)), h("td", { class: "number" }, percent(row.clear_rate)), h("td", { class: row.error ? "error wrap" : "wrap" }, row.error ?? row.levels.map(level).join("; ")));
  return h("div", { class: "scroll" }, h("table", { "data-evaluations": rows.length }, h("thead", null, h("tr", null, heads)), h("tbody", null, rows.slice().reverse().map(line))));
}

export function openSteer(body, context) {
  const message = h("p", { role: "status", class: "faint" });
  const ended = h("p", { class: "faint", hidden: true }, t("steer_ended"));
  const fields = h("div", { class: "steer" });
  const shares = h("div", { class: "steer" });
  const shareTitle = h("h2", { hidden: true }, t("steer_shares"));
  const history = h("section", { class: "card" });
  const evaluations = h("section", { class: "card" });
  const inputs = new Map();
  const buttons = ACTIONS.map((action) => h("button", { type: "button", "data-action": action, onclick: () => send(action) }, t(`action_${action}`)));
  const apply = h("button", { type: "button", class: "primary", "data-action": "set", onclick: () => send("set", edited()) }, t("steer_apply"));
  body.append(
    h("section", { class: "card" }, h("h2", null, t("tab_steer")), session.read_only ? h("p", null, t("read_only")) : h("div", { class: "row" }, buttons), ended, message),
    h("p", null),
    h("section", { class: "card" }, h("h2", null, t("steer_options")), fields, shareTitle, shares, session.read_only ? null : h("p", null, apply)),
    h("p", null),
    history,
    h("p", null),
    evaluations,
  );

  function edited() {
    const changes = {};
    for (const [path, { input, text }] of inputs) if (input.value.trim() !== text) changes[path] = input.value.trim();
    return changes;
  }

  async function send(action, changes = {}) {
    if (action === "set" && !Object.keys(changes).length) {
      message.textContent = t("steer_nothing");
      return;
    }
    if (action === "stop" && !confirm(t("confirm_stop"))) return;
    message.className = "faint";
    message.textContent = t("steer_waiting");
    try {
      await post("api/steer", { run: context.id, action, changes });
    } catch (error) {
      message.className = "error";
      message.textContent = error.message;
    }
  }

  // Fields that somebody edits keep what was typed; the others follow the run.
  function drawFields(options) {
    for (const option of options) {
      const { text } = option;
      const known = inputs.get(option.path);
      if (!known) {
        const input = h("input", { value: text, "data-option": option.path, title: option.help, disabled: session.read_only });
        inputs.set(option.path, { input, text });
        const isShare = option.path.startsWith("level-share:");
        (isShare ? shares : fields).append(h("label", null, isShare ? option.path.slice("level-share:".length) : option.flag, input));
        if (isShare) shareTitle.hidden = false;
      } else if (known.text !== text) {
        if (known.input.value.trim() === known.text || known.input.value.trim() === "" || Number(known.input.value) === Number(text)) known.input.value = text;
        known.text = text;
      }
    }
  }

  function enable() {
    const state = context.answer?.run.state;
    ended.hidden = state === undefined || LIVE.has(state);
    for (const button of [...buttons, apply]) {
      const action = button.dataset.action;
      button.disabled = !LIVE.has(state) || (action === "pause" && state === "paused") || (action === "resume" && state !== "paused");
    }
  }

  context.listeners.add(enable);
  enable();
  let last = -1;
  let evaluated = -1;
  return repeat(async () => {
    try {
      const answer = await get("api/steering", { run: context.id });
      drawFields(answer.options);
      if (answer.history.length !== last) {
        if (last >= 0) {
          const newest = answer.history.at(-1);
          message.className = newest?.error ? "error" : "faint";
          message.textContent = newest ? `${t(`action_${newest.action}`)}: ${describe(newest)}` : "";
        }
        replace(history, h("h2", null, t("steer_history")), historyTable(answer.history));
      }
      last = answer.history.length;
      if (answer.evaluations.length !== evaluated) {
        evaluated = answer.evaluations.length;
        replace(evaluations, h("h2", null, t("evaluate_title")), evaluationTable(answer.evaluations));
      }
    } catch (error) {
      message.className = "error";
      message.textContent = error.message;
    }
  }, SECONDS);
}
