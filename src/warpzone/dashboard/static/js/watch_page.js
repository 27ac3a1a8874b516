// Watching policies: one or two games, each with its own controls and its own connection.

import { get, socket } from "./api.js";
import { h, replace } from "./dom.js";
import { BUTTONS, drawActions, drawPads } from "./env_detail.js";
import { exact } from "./format.js";
import { draw, FrameReader } from "./frames.js";
import { t } from "./i18n.js";

const KEYS = { ArrowUp: "UP", ArrowDown: "DOWN", ArrowLeft: "LEFT", ArrowRight: "RIGHT", x: "A", z: "B", Enter: "START", Shift: "SELECT" };
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];

class Game {
  constructor(choices, start) {
    this.connection = null;
    this.paused = false;
    this.takenOver = false;
    this.held = 0;
    this.policy = h("select", { "aria-label": t("watch_policy") }, choices.policies.map((row) => h("option", { value: row.id }, row.name)));
    this.level = h("select", { "aria-label": t("watch_level") }, h("option", { value: "" }, t("watch_own_level")), choices.levels.map((name) => h("option", { value: name }, name)));
    if (start.policy) this.policy.value = start.policy;
    if (start.level) this.level.value = start.level;
    this.policy.addEventListener("change", () => this.connect());
    this.level.addEventListener("change", () => this.connect());
    this.screen = h("canvas", { class: "screen", width: 256, height: 240, tabIndex: 0, "aria-label": t("watch_screen") });
    this.screen.addEventListener("keydown", (event) => this.key(event, true));
    this.screen.addEventListener("keyup", (event) => this.key(event, false));
    this.screen.addEventListener("blur", () => this.press(0));
    this.status = h("p", { role: "status", class: "faint", "data-watch": "" });
    this.pads = h("div", { class: "pads" });
    this.actions = h("div", { class: "bars actions" });
    this.pauseButton = h("button", { type: "button", onclick: () => this.send({ paused: !this.paused }) }, t("watch_pause"));
    this.stepButton = h("button", { type: "button", onclick: () => this.send({ step: true }) }, t("watch_step"));
    this.overButton = h("button", { type: "button", class: "primary", onclick: () => this.takeOver() }, t("watch_take_over"));
    this.sticky = h("input", { type: "checkbox" });
    this.sticky.addEventListener("change", () => this.send({ sticky: this.sticky.checked }));
    const speed = h("select", { "aria-label": t("watch_speed") }, SPEEDS.map((value) => h("option", { value, selected: value === 1 }, `${value}×`)));
    speed.addEventListener("change", () => this.send({ speed: Number(speed.value) }));
    this.element = h(
      "section",
      { class: "card" },
      h("div", { class: "row toolbar" }, this.policy, this.level),
      this.screen,
      h(
        "div",
        { class: "row toolbar" },
        this.pauseButton,
        this.stepButton,
        h("button", { type: "button", onclick: () => this.send({ rewind: true }) }, t("watch_rewind")),
        h("button", { type: "button", onclick: () => this.send({ restart: true }) }, t("watch_restart")),
        speed,
        h("label", { class: "row" }, this.sticky, t("watch_sticky")),
        this.overButton,
      ),
      this.status,
      this.pads,
      this.actions,
    );
    this.connect();
  }

  connect() {
    this.connection?.close();
    if (!this.policy.value) {
      this.status.textContent = t("watch_no_policies");
      return;
    }
    this.status.textContent = t("watch_loading");
    const connection = socket("ws/watch", { policy: this.policy.value, level: this.level.value });
    this.connection = connection;
    this.reader = new FrameReader(connection, ({ width, height, frames, colors }) => {
      if (connection === this.connection) draw(this.screen, width, height, frames[0].pixels, colors);
    });
    connection.addEventListener("message", (event) => {
      if (connection === this.connection) this.receive(event.data);
    });
    connection.addEventListener("close", () => {
      if (connection === this.connection && !this.closed) this.status.textContent += ` ${t("watch_ended")}`;
    });
  }

  receive(data) {
    if (typeof data !== "string") {
      this.reader.push(data);
      return;
    }
    const { status, facts } = JSON.parse(data);
    if (status) this.status.textContent = status;
    if (facts) this.show(facts);
  }

  show(facts) {
    this.paused = facts.paused;
    this.takenOver = facts.taken_over;
    this.sticky.checked = facts.sticky;
    this.pauseButton.textContent = facts.paused ? t("watch_continue") : t("watch_pause");
    this.stepButton.disabled = !facts.paused;
    this.overButton.textContent = facts.taken_over ? t("watch_hand_back") : t("watch_take_over");
    this.status.dataset.x = facts.x;
    this.status.dataset.step = facts.step;
    this.status.textContent = t(facts.end === "running" ? "watch_facts" : "watch_facts_end", {
      level: facts.level,
      step: facts.step,
      x: facts.x,
      value: exact(facts.value),
      total: exact(facts.return),
      end: facts.end,
      player: t(`watch_player_${facts.player}`),
    });
    drawPads(this.pads, facts.buttons);
    if (facts.probabilities.length) drawActions(this.actions, facts);
  }

  takeOver() {
    this.send({ taken_over: !this.takenOver, buttons: 0 });
    this.held = 0;
    this.screen.focus();
  }

  key(event, down) {
    const name = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!name || !this.takenOver) return;
    event.preventDefault();
    this.press(down ? this.held | BUTTONS[name] : this.held & ~BUTTONS[name]);
  }

  press(buttons) {
    if (buttons === this.held) return;
    this.held = buttons;
    this.send({ buttons });
  }

  send(message) {
    if (this.connection?.readyState === WebSocket.OPEN) this.connection.send(JSON.stringify(message));
  }

  close() {
    this.closed = true;
    this.connection?.close();
  }
}

export function openWatch(page, route) {
  const games = [];
  const place = h("div", { class: "players" });
  const second = h("button", { type: "button", onclick: () => toggle() }, t("watch_second"));
  const message = h("p", { class: "faint" }, t("loading"));
  page.append(h("div", { class: "row toolbar" }, h("h1", null, t("nav_watch")), second), message, place);
  let choices = null;
  let closed = false;

  function toggle() {
    if (games.length > 1) games.pop().close();
    else games.push(new Game(choices, { policy: games[0]?.policy.value, level: games[0]?.level.value }));
    second.textContent = t(games.length > 1 ? "watch_one" : "watch_second");
    replace(place, games.map((game) => game.element));
  }

  get("api/policies")
    .then((answer) => {
      if (closed) return;
      choices = answer;
      message.textContent = t("watch_help");
      games.push(new Game(choices, { policy: route.query.get("policy"), level: route.query.get("level") }));
      replace(place, games[0].element);
    })
    .catch((error) => {
      message.textContent = error.message;
    });
  return () => {
    closed = true;
    games.forEach((game) => game.close());
  };
}
