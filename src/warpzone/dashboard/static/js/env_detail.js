// An enlarged environment: its screen, buttons, action probabilities, value, reward, and what the network sees.

import { bar } from "./run_tabs.js";
import { h, replace, svg } from "./dom.js";
import { exact, percent } from "./format.js";
import { t } from "./i18n.js";

// Bits of a controller byte.
export const BUTTONS = { A: 0x01, B: 0x02, SELECT: 0x04, START: 0x08, UP: 0x10, DOWN: 0x20, LEFT: 0x40, RIGHT: 0x80 };
const TILE_COLORS = { s: "#8a8f98", h: "#ff5a5a", p: "#5aa9ff", i: "#ffd24c", m: "#5ee08a" };
const CELL = 8;

export function drawPads(place, pressed) {
  replace(place, Object.entries(BUTTONS).map(([name, bit]) => h("span", { class: pressed & bit ? "on" : "" }, name)));
}

export function drawTiles(canvas, rows) {
  canvas.width = rows[0].length * CELL;
  canvas.height = rows.length * CELL;
  const context = canvas.getContext("2d");
  rows.forEach((row, y) => {
    [...row].forEach((letter, x) => {
      context.fillStyle = TILE_COLORS[letter] ?? "#101114";
      context.fillRect(x * CELL, y * CELL, CELL - 1, CELL - 1);
    });
  });
}

export function drawActions(place, facts) {
  if (!facts.probabilities.length) {
    replace(place, h("p", { class: "faint" }, t("probabilities_follow")));
    return;
  }
  replace(
    place,
    facts.actions.map((name, index) => bar(name, facts.probabilities[index], percent(facts.probabilities[index]), index === facts.action ? "chosen" : "")),
  );
}

// Terms of the step's reward; zero ones stay in place, so that nothing jumps.
export function drawTerms(place, terms) {
  replace(place, Object.entries(terms).map(([name, value]) => h("span", { class: value === 0 ? "faint" : "", "data-term": name }, `${name} ${exact(value)}`)));
}

function tileKey() {
  return Object.entries(TILE_COLORS).map(([letter, fill]) => h("span", null, svg("svg", { class: "dot", viewBox: "0 0 10 10" }, svg("rect", { width: 10, height: 10, fill })), ` ${t(`tile_${letter}`)}`));
}

export class EnvDetail {
  constructor() {
    this.screen = h("canvas", { class: "screen", width: 256, height: 240, "data-screen": "detail" });
    this.pads = h("div", { class: "pads" });
    this.view = h("canvas", { class: "tilegrid", "data-view": "" });
    this.terms = h("div", { class: "terms" });
    this.actions = h("div", { class: "bars actions" });
    this.key = h("div", { class: "row legend faint" });
    this.text = h("p", { "data-detail": "" });
    this.element = h(
      "section",
      { class: "card enlarged", hidden: true },
      h("div", null, this.screen, this.pads),
      h("div", null, this.text, h("h2", null, t("action_probabilities")), this.actions, h("h2", null, t("reward_terms")), this.terms),
      h("div", null, h("h2", null, t("network_view")), this.view, this.key),
    );
  }

  setFacts(facts) {
    this.text.textContent = t("detail_facts", {
      env: facts.env,
      level: facts.level,
      value: exact(facts.value),
      reward: exact(facts.reward),
      update: exact(facts.update),
    });
    drawPads(this.pads, facts.buttons);
    drawActions(this.actions, facts);
    drawTerms(this.terms, facts.terms);
    if (facts.tiles.length) drawTiles(this.view, facts.tiles); // An image comes as a message of its own.
    if (!this.key.childNodes.length) replace(this.key, facts.tiles.length ? tileKey() : t("view_image"));
  }
}
