// The wall: the run's own games, played again in real time by the dashboard's process.

import { socket } from "./api.js";
import { h, replace } from "./dom.js";
import { EnvDetail } from "./env_detail.js";
import { DETAIL, draw, FrameReader, VIEW, WALL } from "./frames.js";
import { t } from "./i18n.js";

const RETRY_SECONDS = 3;

export function openWall(body, context) {
  const status = h("p", { role: "status", class: "faint" }, t("wall_connecting"));
  const wall = h("div", { class: "wall" });
  const detail = new EnvDetail();
  const tiles = new Map();
  let chosen = null;
  let connection = null;
  let timer = null;
  let closed = false;
  body.append(status, detail.element, wall, h("p", { class: "faint" }, t("wall_help")));

  function choose(env) {
    chosen = chosen === env ? null : env;
    detail.element.hidden = chosen === null;
    tiles.forEach((tile, number) => tile.button.setAttribute("aria-pressed", String(number === chosen)));
    tell();
  }

  function tell() {
    if (connection?.readyState === WebSocket.OPEN) connection.send(JSON.stringify({ detail: chosen }));
  }

  function tileOf(env) {
    if (!tiles.has(env)) {
      const canvas = h("canvas", { width: 128, height: 120 });
      const button = h("button", { type: "button", "aria-pressed": "false", "data-env": env, "aria-label": t("wall_env", { env }), onclick: () => choose(env) }, canvas, h("span", null, String(env)));
      tiles.set(env, { canvas, button });
      wall.append(button);
    }
    return tiles.get(env);
  }

  function show(message) {
    if (message.kind === WALL) {
      for (const frame of message.frames) draw(tileOf(frame.env).canvas, message.width, message.height, frame.pixels, message.colors);
      wall.dataset.frames = Number(wall.dataset.frames ?? 0) + 1;
      status.textContent = t("wall_live", { count: message.frames.length });
    } else if (message.kind === DETAIL && message.frames[0].env === chosen) {
      draw(detail.screen, message.width, message.height, message.frames[0].pixels, message.colors);
    } else if (message.kind === VIEW && chosen !== null) {
      draw(detail.view, message.width, message.height, message.frames[0].pixels, message.colors);
    }
  }

  function connect() {
    connection = socket("ws/wall", { run: context.id });
    const reader = new FrameReader(connection, show);
    connection.addEventListener("open", tell);
    connection.addEventListener("message", (event) => {
      if (typeof event.data !== "string") {
        reader.push(event.data);
        return;
      }
      const message = JSON.parse(event.data);
      if (message.status) status.textContent = message.status;
      if (message.detail && message.detail.env === chosen) detail.setFacts(message.detail);
    });
    connection.addEventListener("close", () => {
      if (!closed) timer = setTimeout(connect, RETRY_SECONDS * 1000);
    });
  }

  connect();
  return () => {
    closed = true;
    clearTimeout(timer);
    connection.close();
    replace(wall);
  };
}
