// Light and dark: the system's choice until the visitor makes another.

const KEY = "warpzone-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function current() {
  return localStorage.getItem(KEY) ?? (system.matches ? "dark" : "light");
}

export function applyTheme() {
  document.documentElement.dataset.theme = current();
  dispatchEvent(new Event("warpzone-theme"));
}

export function switchTheme() {
  localStorage.setItem(KEY, current() === "dark" ? "light" : "dark");
  applyTheme();
}

export function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

system.addEventListener("change", applyTheme);
