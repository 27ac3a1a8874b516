// Numbers, durations and moments for people.

export function count(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size >= 1e9) return `${(value / 1e9).toFixed(2)}G`;
  if (size >= 1e6) return `${(value / 1e6).toFixed(2)}M`;
  if (size >= 1e4) return `${(value / 1e3).toFixed(0)}k`;
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
}

// A short label for the axis of a chart.
export function tick(value) {
  const size = Math.abs(value);
  if (size > 0 && size < 1e-2) return value.toExponential(3).replace(/\.?0*e/, "e");
  const [unit, letter] = size >= 1e9 ? [1e9, "G"] : size >= 1e6 ? [1e6, "M"] : size >= 1e4 ? [1e3, "k"] : [1, ""];
  return `${Number((value / unit).toPrecision(4))}${letter}`;
}

export function exact(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  return size >= 1e-5 && size < 1e6 ? String(Number(value.toPrecision(5))) : value.toExponential(3);
}

export function percent(value) {
  return value === null || value === undefined ? "–" : `${(100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`;
}

// A measured rate, to a tenth: 89.5 % must not look like 90 %. Halves become even, as in Python, so that the page
// shows the same figures as scoreboard.md.
export function rate(value) {
  if (value === null || value === undefined) return "–";
  const tenths = 1000 * value;
  const below = Math.floor(tenths);
  const rounded = tenths - below === 0.5 ? below + (below % 2) : Math.round(tenths);
  return `${(rounded / 10).toFixed(1)} %`;
}

// Long lists of levels as their number.
export function levels(text, many) {
  const names = (text ?? "–").split(",");
  return names.length > 4 ? many(names.length) : names.join(", ");
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = seconds / 60;
  if (minutes < 90) return `${Math.round(minutes)} min`;
  const hours = minutes / 60;
  return hours < 48 ? `${hours.toFixed(1)} h` : `${(hours / 24).toFixed(1)} d`;
}

export function bytes(value) {
  let rest = value;
  for (const unit of ["B", "KiB", "MiB"]) {
    if (rest < 1024) return `${Number(rest.toPrecision(3))} ${unit}`;
    rest /= 1024;
  }
  return `${Number(rest.toPrecision(3))} GiB`;
}

export function moment(seconds) {
  return seconds ? new Date(seconds * 1000).toLocaleString() : "–";
}
