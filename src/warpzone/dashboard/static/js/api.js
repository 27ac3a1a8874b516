// Talking to the server. Errors carry the sentence that the server sent.

import { t } from "./i18n.js";

export const session = { csrf: "", read_only: true, folder: "" };

export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

function setOffline(text) {
  const banner = document.getElementById("offline");
  banner.hidden = !text;
  banner.textContent = text;
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    setOffline(t("offline"));
    throw new ApiError(t("offline"), 0);
  }
  setOffline("");
  const text = await response.text();
  let body = null;
  try {
    body = JSON.parse(text);
  } catch (error) {
    if (response.ok) throw new ApiError(t("garbled"), response.status);
  }
  if (!response.ok) throw new ApiError(body?.error ?? text, response.status);
  return body;
}

function query(parameters) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters ?? {})) {
    if (value !== undefined && value !== null) search.set(name, value);
  }
  const text = search.toString();
  return text ? `?${text}` : "";
}

export function get(path, parameters) {
  return request(path + query(parameters));
}

export function post(path, body) {
  return request(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-warpzone-csrf": session.csrf },
    body: JSON.stringify(body),
  });
}

export async function openSession() {
  Object.assign(session, await get("api/session"));
}

export function mediaAddress(run, name) {
  return `media${query({ run, name })}`;
}

export function mapAddress(run, level) {
  return `map${query({ run, level })}`;
}

export function socket(path, parameters) {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const connection = new WebSocket(`${scheme}://${location.host}/${path}${query(parameters)}`);
  connection.binaryType = "arraybuffer";
  return connection;
}
