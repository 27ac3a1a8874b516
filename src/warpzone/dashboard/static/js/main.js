// Routes: the part of the address behind '#' names a page, which is opened and closed as a whole.

import { openSession } from "./api.js";
import { h, replace } from "./dom.js";
import { language, otherLanguage, switchLanguage, t } from "./i18n.js";
import { openBoard } from "./board_page.js";
import { openCompare } from "./compare_page.js";
import { openRun } from "./run_page.js";
import { openRuns } from "./runs_page.js";
import { openWatch } from "./watch_page.js";
import { applyTheme, switchTheme } from "./theme.js";

const PAGES = { runs: openRuns, run: openRun, compare: openCompare, board: openBoard, watch: openWatch };
const LINKS = ["runs", "compare", "board", "watch"];

let close = () => {};

function parse() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  return { name: name || "runs", rest: rest.map(decodeURIComponent), query: new URLSearchParams(query ?? "") };
}

function drawHeader(page) {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  document.querySelector(".skip").textContent = t("skip");
  document.getElementById("language").textContent = otherLanguage();
  const theme = document.getElementById("theme");
  theme.textContent = "◐";
  theme.title = t("theme");
  theme.setAttribute("aria-label", t("theme"));
  const current = page === "run" ? "runs" : page;
  replace(
    document.getElementById("nav"),
    LINKS.map((name) => h("a", { href: `#/${name}`, "aria-current": name === current ? "page" : null }, t(`nav_${name}`))),
  );
}

function show() {
  close();
  const route = parse();
  const open = PAGES[route.name] ?? openRuns;
  drawHeader(route.name);
  const page = document.getElementById("page");
  replace(page);
  close = open(page, route) ?? (() => {});
}

document.getElementById("language").addEventListener("click", () => {
  switchLanguage();
  show();
});
document.getElementById("theme").addEventListener("click", switchTheme);
addEventListener("hashchange", () => {
  show();
  document.getElementById("page").focus();
});

applyTheme();
try {
  await openSession();
  show();
} catch (error) {
  replace(document.getElementById("page"), h("p", { class: "error" }, error.message));
}
