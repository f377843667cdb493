"use strict";
// What the page knows of runs and specs: figures with their names and units, the text of a spec, filters.

const NONE = "-";  // in the place of a number that there is not

/** Four significant digits, without an exponent where that is readable. */
function shown(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(3);
  return String(Number(value.toPrecision(size >= 1e4 ? 6 : 4)));
}

function isTimed(spec) {
  return spec.seconds !== undefined;
}
/** In the finals if it was there. */
function secondsOf(spec) {
  return spec.finals ?? spec.seconds;
}
function shownValue(value) {
  return Array.isArray(value) ? `[${value.join(", ")}]` : String(value);
}

/** A column: what it is called, its value of a spec (undefined: it has none), whether less or more is better, and how
 * wide its texts are, in characters. */
function column(name, get, better = "", digits = shown, width = 9) {
  return {name, get, better, shown: digits, width: Math.max(width, name.length + 2)};
}

function baselineSeconds(run, label) {
  const found = run.finals.find((f) => (label === "default" ? f.default : f.label === label));
  return found && found.seconds;
}

/** The figures of a run that charts can show, the objective first. */
function figureColumns(run) {
  const {flops, bytes} = run.limits, columns = [];
  const time = run.statistic ? `time (ms, sweep: ${run.statistic})` : "time (ms)";
  columns.push(column(time, (s) => isTimed(s) ? secondsOf(s) * 1e3 : undefined, "less"));
  if (flops > 0) columns.push(column("GFLOPS/s", (s) => isTimed(s) ? flops / secondsOf(s) / 1e9 : undefined, "more"));
  if (bytes > 0) columns.push(column("least GB/s", (s) => isTimed(s) ? bytes / secondsOf(s) / 1e9 : undefined, "more"));
  const energy = run.figures.indexOf("energy");
  if (flops > 0 && energy >= 0)
    columns.push(column(
        "GFLOPS/W", (s) => s.figures && s.figures[energy] > 0 ? flops / s.figures[energy] / 1e9 : undefined, "more"));
  run.figures.forEach((name, i) => {
    columns.push(column(name, (s) => s.figures ? s.figures[i] ?? undefined : undefined, run.better[i]));
  });
  return columns;
}

const OBJECTIVES = {
  time: "time (ms)",
  gflops: "GFLOPS/s",
  gflops_per_watt: "GFLOPS/W"
};

/** The parameters with several values, those first whose values' medians differ most. */
function byEffect(run) {
  const effect = run.varying.map((i) => {
    const groups = run.params[i].values.map(() => []);
    for (const spec of run.specs)
      if (isTimed(spec) && spec.values[i] >= 0) groups[spec.values[i]].push(spec.seconds);
    const [low, high] = range(groups.filter((g) => g.length).map(median));
    return low <= high ? high / low : 0;
  });
  return run.varying.map((i, at) => ({i, effect: effect[at]})).sort((a, b) => b.effect - a.effect).map((p) => p.i);
}

/** Adds to a run what follows from its data. */
function completeRun(run, index) {
  run.index = index;
  run.columns = figureColumns(run);
  const wanted = OBJECTIVES[run.objective.name] ?? run.objective.name;
  run.objectiveColumn = run.columns.find((c) => c.name === wanted) ?? run.columns[0];
  run.varying = run.params.map((p, i) => i).filter((i) => run.params[i].values.length > 1);
  run.telling = byEffect(run);
  run.label = [run.name, run.problem, run.device.name, run.file].filter((text) => text).join(", ");
  run.specs.forEach((spec, order) => {
    spec.order = order + 1;
    spec.run = run;
  });
  run.byPlace = run.specs.filter((s) => s.place).sort((a, b) => a.place - b.place);
  run.byTime = run.wall_clock ? [...run.specs].sort((a, b) => a.at - b.at) : run.specs;
  return run;
}

function parameterValue(spec, i) {
  const at = spec.values[i];
  return at < 0 ? undefined : spec.run.params[i].values[at];
}

function nameOfSpec(spec, params = spec.run.varying) {
  const run = spec.run;
  const parts = params.filter((i) => spec.values[i] >= 0)
                    .map((i) => `${run.params[i].name}=${shownValue(parameterValue(spec, i))}`);
  return parts.join("/") || run.name;
}

function reasonText(run, index) {
  const {stage, cause, reason} = run.reasons[index];
  return `${stage}${cause ? ", " + cause : ""}: ${reason}`;
}

function plusMinus(spec) {
  const interval = spec.finals ? spec.finals_interval : spec.interval;
  return interval && (interval[1] - interval[0]) / 2 / secondsOf(spec) * 100;
}

// Filters -------------------------------------------------------------------------------------------------------------

const COMPARISONS = {
  "=": (a, b) => a == b || Number(a) === Number(b),
  "!=": (a, b) => !COMPARISONS["="](a, b),
  "<": (a, b) => Number(a) < Number(b),
  "<=": (a, b) => Number(a) <= Number(b),
  ">": (a, b) => Number(a) > Number(b),
  ">=": (a, b) => Number(a) >= Number(b),
};

/** How to get the value that a filter names, of a spec of any run; undefined: no run knows the name. */
function namedValue(runs, name) {
  const bare = (text) => text.replace(/ \(.*\)$/, "").toLowerCase(), wanted = bare(name);
  const fixed = {idx: "idx", mesh_idx: "idx", place: "place", note: "note"}[wanted];
  if (fixed) return (spec) => spec[fixed];
  const getters = runs.map((run) => {
    const i = run.params.findIndex((p) => p.name.toLowerCase() === wanted);
    if (i >= 0)
      return (spec) => {
        const value = parameterValue(spec, i);
        return value === undefined ? value : shownValue(value);
      };
    const found = run.columns.find((c) => bare(c.name) === wanted);
    return found && found.get;
  });
  return getters.some((get) => get) ? (spec) => getters[spec.run.index]?.(spec) : undefined;
}

/** A test of specs from words such as `BM=128 time<0.5 spills`; throws an Error for a name that no run knows. */
function parseFilter(runs, text) {
  const tests = (text.match(/"[^"]*"|\S+/g) ?? []).map((word) => {
    const parts = /^([^"=<>!]+)(!=|<=|>=|=|<|>)(.+)$/.exec(word);
    if (!parts) {
      const part = word.replaceAll("\"", "").toLowerCase();
      return (spec) => searched(spec).includes(part);
    }
    const get = namedValue(runs, parts[1]);
    if (!get) throw new Error(`No parameter or column is called ${parts[1]}.`);
    return (spec) => {
      const value = get(spec);
      return value !== undefined && COMPARISONS[parts[2]](value, parts[3]);
    };
  });
  return (spec) => tests.every((test) => test(spec));
}

function searched(spec) {
  if (spec.searched === undefined)
    spec.searched = `${nameOfSpec(spec)} ${spec.note ?? ""} ${isTimed(spec) ? "" : reasonText(spec.run, spec.reason)}`
                        .toLowerCase();
  return spec.searched;
}

/** Tests by what the choice of outcomes says: all, timed, untimed, or the number of a reason of the shown run. */
function outcomeTest(choice) {
  if (choice === "timed") return isTimed;
  if (choice === "untimed") return (spec) => !isTimed(spec);
  if (choice === "all" || choice === "") return () => true;
  return (spec) => spec.reason === Number(choice);
}

/** The least and the greatest of values, however many there are. */
function range(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return [low, high];
}

function median(values) {
  const sorted = Float64Array.from(values).sort(), middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function best(values, better) {
  return values.reduce((a, b) => (better === "more" ? (b > a ? b : a) : (b < a ? b : a)));
}
