// Which metrics are drawn together, and in which order.

const FIXED = [
  ["rollout/clear_rate"],
  ["episode/progress_mean", "episode/progress_max", "episode/progress_best"],
  ["episode/return_mean"],
  ["episode/length_mean"],
  ["loss/policy", "loss/value"],
  ["learn/entropy"],
  ["learn/approx_kl", "learn/clip_fraction"],
  ["learn/explained_variance"],
  ["learn/learning_rate"],
  ["learn/ent_coef"],
  ["learn/grad_norm"],
  ["speed/steps_per_second"],
  ["speed/rollout_seconds", "speed/learn_seconds"],
  ["resources/cpu_percent", "resources/process_cpu_percent"],
  ["resources/memory_bytes"],
];
const FAMILIES = [/^end\/.*_share$/, /^level\/clear_rate\//, /^level\/share\//, /^reward\/.*_sum$/, /^resources\/gpu_percent\//];
const MOST_CURVES = 8;

export function chartGroups(metrics) {
  const known = new Set(metrics);
  const groups = FIXED.map((names) => names.filter((name) => known.has(name))).filter((names) => names.length);
  for (const family of FAMILIES) {
    const members = metrics.filter((name) => family.test(name));
    for (let start = 0; start < members.length; start += MOST_CURVES) groups.push(members.slice(start, start + MOST_CURVES));
  }
  return groups;
}

export function otherMetrics(metrics) {
  const used = new Set(chartGroups(metrics).flat());
  return metrics.filter((name) => !used.has(name) && !name.startsWith("run/"));
}

// The leading parts that all names share, such as "level/clear_rate".
function stemOf(names) {
  const parts = names.map((name) => name.split("/"));
  const stem = [];
  while (parts.every((part) => part.length > stem.length + 1 && part[stem.length] === parts[0][stem.length])) stem.push(parts[0][stem.length]);
  return stem.join("/");
}

export function shortName(name, names) {
  const stem = stemOf(names);
  return stem ? name.slice(stem.length + 1) : name;
}

export function groupTitle(names) {
  const stem = stemOf(names);
  if (names.length === 1 || !stem) return names.join(", ");
  const rests = names.map((name) => shortName(name, names));
  return names.length <= 3 ? `${stem}: ${rests.join(", ")}` : `${stem} (${names.length})`;
}
