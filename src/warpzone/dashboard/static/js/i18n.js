// Two languages. A missing string shows in English.

import { chinese } from "./strings_zh.js";
import { english } from "./strings_en.js";

const LANGUAGES = { en: english, zh: chinese };
const KEY = "warpzone-language";

function preferred() {
  const kept = localStorage.getItem(KEY);
  if (kept in LANGUAGES) return kept;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

export let language = preferred();

export function t(name, values = {}) {
  const text = LANGUAGES[language][name] ?? english[name] ?? name;
  return text.replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
}

export function switchLanguage() {
  language = language === "en" ? "zh" : "en";
  localStorage.setItem(KEY, language);
}

export function otherLanguage() {
  return language === "en" ? "中文" : "English";
}
