// Reports are in English; the dashboard has a module of the same shape for two languages.

import { english } from "./strings_en.js";

export function t(name) {
  return english[name] ?? name;
}
