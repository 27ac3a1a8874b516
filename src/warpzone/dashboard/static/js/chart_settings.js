// Smoothing, scale and axis of all charts, kept by the browser.

import { h } from "./dom.js";
import { t } from "./i18n.js";

const KEY = "warpzone-charts";

// A browser that stores nothing refuses even to be asked.
function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

function keep(settings) {
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // The settings last as long as the page.
  }
}

// A page may ask for another smoothing to begin with.
const smoothing = Number(document.documentElement.dataset.smoothing ?? 0.6);

export const chartSettings = { smoothing, log: false, axis: "steps", ...kept() };

export function settingsBar(changed) {
  const apply = () => {
    keep(chartSettings);
    changed();
  };
  const smoothing = h("input", { type: "range", min: "0", max: "0.99", step: "0.01", value: String(chartSettings.smoothing) });
  smoothing.addEventListener("input", () => {
    chartSettings.smoothing = Number(smoothing.value);
    apply();
  });
  const log = h("input", { type: "checkbox", checked: chartSettings.log });
  log.addEventListener("change", () => {
    chartSettings.log = log.checked;
    apply();
  });
  const axis = h(
    "select",
    { "aria-label": t("axis") },
    ["steps", "time"].map((name) => h("option", { value: name, selected: name === chartSettings.axis }, t(`axis_${name}`))),
  );
  axis.addEventListener("change", () => {
    chartSettings.axis = axis.value;
    apply();
  });
  return [h("label", { class: "row" }, t("smoothing"), smoothing), h("label", { class: "row" }, log, t("log_scale")), axis];
}
