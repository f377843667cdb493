// The charts of one run: time against each parameter, two parameters, progress, roofline, finals, gauges.

/** A list of names to choose from. It calls `changed` with the index. */
function chooser(label, names, chosen, changed) {
  const list = element(
      "select", {onchange: () => changed(Number(list.value))},
      ...names.map((name, i) => element("option", {value: i}, name)));
  list.value = chosen;
  return element("label", {}, `${label} `, list);
}

function describeSpec(spec, ...more) {
  const time = isTimed(spec) ? `${shown(secondsOf(spec) * 1e3)} ms` : "";
  return [`${spec.idx}: ${nameOfSpec(spec)}`, time, spec.place ? `place ${spec.place}` : "", ...more]
      .filter((t) => t)
      .join("\n");
}

/** What a view remembers while the page is open. */
const choices = {
  figure: "",
  param: 0,
  across: 0,
  down: 1,
  seconds: false,
  log: true,
  byRound: false,
  other: 0
};

function choose(name, value) {
  choices[name] = value;
  drawCharts();
}

/** A section's body: a sentence if there is nothing to draw. */
function body(id) {
  const section = document.getElementById(id);
  const old = section.querySelector(".body");
  const fresh = element("div", {class: "body"});
  if (old)
    old.replaceWith(fresh);
  else
    section.append(fresh);
  return fresh;
}

function figure(host, ...controls) {
  const drawing = element("figure");
  host.append(element("div", {class: "controls"}, ...controls), drawing);
  return drawing;
}

/** The objective, until another figure is chosen. */
function chosenFigure(run) {
  return run.columns.find((c) => c.name === choices.figure) ?? run.objectiveColumn;
}

function figureChoice(run) {
  return chooser(
      "Figure", run.columns.map((c) => c.name), run.columns.indexOf(chosenFigure(run)),
      (i) => choose("figure", run.columns[i].name));
}
function logChoice() {
  const box = element("input", {type: "checkbox", onchange: () => choose("log", box.checked)});
  box.checked = choices.log;
  return element("label", {}, box, " logarithmic");
}
function clockChoice(run) {
  const name = run.wall_clock ? "seconds" : "seconds of builds and measurements";
  return chooser("Over", ["evaluations", name], choices.seconds ? 1 : 0, (i) => choose("seconds", i === 1));
}

function drawParameter(run, specs) {
  const host = body("param");
  if (run.varying.length === 0) return host.append(element("p", {class: "note"}, "No parameter has several values."));
  const which = run.telling[choices.param] ?? run.telling[0], param = run.params[which];
  const chosen = chosenFigure(run);
  const names = run.telling.map((i) => run.params[i].name);
  const drawing = figure(
      host, chooser("Parameter", names, run.telling.indexOf(which), (i) => choose("param", i)), figureChoice(run),
      logChoice());
  const points = specs.filter((s) => s.values[which] >= 0 && chosen.get(s) !== undefined)
                     .map((spec) => ({
                            x: spec.values[which],
                            y: chosen.get(spec),
                            spec,
                            text: () => describeSpec(spec, `${chosen.name}: ${shown(chosen.get(spec))}`)
                          }));
  const chart = new Chart(drawing, {
    x: bandScale(param.values.map(shownValue)),
    y: numberScale(points.map((p) => p.y), {log: choices.log}),
    xName: param.name,
    yName: chosen.name,
    about: `${chosen.name} of ${points.length} specs for each value of ${param.name}`
  });
  const room = chart.x.step(chart.box.left, chart.box.right) * 0.35;
  const groups = param.values.map(() => []);
  for (const p of points) {
    p.shift = room * (((p.spec.order * 0.6180339887) % 1) - 0.5);  // beside each other, the same way each time
    groups[p.x].push(p.y);
  }
  chart.dots(points, {size: points.length > 2000 ? 3 : 5, opacity: 0.55, color: colorOf(run)});
  const over = (summary) => groups.map((ys, x) => ys.length ? {x, y: summary(ys)} : null).filter((p) => p);
  chart.curve(over(median), {color: "var(--quiet)", dashes: "4 4"});
  if (chosen.better) chart.curve(over((ys) => best(ys, chosen.better)), {color: "var(--mark)"});
  host.append(element(
      "p", {class: "note"}, `${chosen.better ? "Solid line: the best of each value. " : ""}Dashed line: the median.`));
}

function heatCells(run, specs, across, down, chosen) {
  const cells = new Map();
  for (const spec of specs) {
    const y = chosen.get(spec), key = `${spec.values[across]},${spec.values[down]}`;
    if (y === undefined || spec.values[across] < 0 || spec.values[down] < 0) continue;
    const cell = cells.get(key) ?? {x: spec.values[across], y: spec.values[down], value: y, spec, count: 0};
    if (best([cell.value, y], chosen.better || "less") === y && y !== cell.value) Object.assign(cell, {value: y, spec});
    ++cell.count;
    cells.set(key, cell);
  }
  return [...cells.values()];
}

function drawHeat(run, specs) {
  const host = body("heat");
  if (run.varying.length < 2)
    return host.append(element("p", {class: "note"}, "This needs two parameters with several values."));
  const pick = (at, otherwise) => run.telling[at] ?? run.telling[otherwise];
  const across = pick(choices.across, 0), down = pick(choices.down, 1), chosen = chosenFigure(run);
  const names = run.telling.map((i) => run.params[i].name);
  const drawing = figure(
      host, chooser("Across", names, run.telling.indexOf(across), (i) => choose("across", i)),
      chooser("Down", names, run.telling.indexOf(down), (i) => choose("down", i)), figureChoice(run));
  const cells = heatCells(run, specs, across, down, chosen), rows = run.params[down].values.map(shownValue);
  const chart = new Chart(drawing, {
    x: bandScale(run.params[across].values.map(shownValue)),
    y: bandScale(rows),
    xName: run.params[across].name,
    yName: run.params[down].name,
    about: `The ${chosen.better ? "best" : "least"} ${chosen.name} for each pair of ${run.params[across].name} and ${
        run.params[down].name}`,
    height: Math.min(700, 70 + 34 * rows.length)
  });
  paintCells(chart, cells, chosen);
  host.append(element(
      "p", {class: "note"},
      `Each cell is the ${chosen.better ? "best" : "least"} of all specs with these two values; strong colour is ${
          chosen.better ? "good" : "less"}.`));
}

function paintCells(chart, cells, chosen) {
  const {left, right, top, bottom} = chart.box, width = chart.x.step(left, right), height = chart.y.step(top, bottom);
  const values = cells.map((c) => c.value), [low, high] = range(values);
  const group = shape(chart.svg, "g", {class: "heat"});
  for (const cell of cells) {
    const share = high > low ? (cell.value - low) / (high - low) : 1,
          good = chosen.better === "more" || high === low ? share : 1 - share;
    const x = chart.px(cell.x), y = chart.py(cell.y);
    shape(group, "rect", {
      x: x - width / 2 + 1,
      y: y - height / 2 + 1,
      width: Math.max(width - 2, 1),
      height: Math.max(height - 2, 1),
      style: `fill:color-mix(in oklab, var(--heat-best) ${(good * 100).toFixed(0)}%, var(--heat-worst))`
    });
    if (width > 46 && height > 14)
      shape(group, "text", {x, y, style: `fill:var(--heat-${good > 0.5 ? "best" : "worst"}-ink)`}, shown(cell.value));
    chart.points.push({
      px: x,
      py: y,
      spec: cell.spec,
      text: () => describeSpec(
          cell.spec, `${chosen.better ? "best" : "least"} ${chosen.name} of ${cell.count} specs: ${shown(cell.value)}`)
    });
  }
}

/** The best so far after each evaluation, by the sweep's figures. */
function progressOf(run) {
  const get = run.objectiveColumn.get, better = run.objectiveColumn.better || "less", line = [], dots = [];
  let reached;
  run.byTime.forEach((spec, i) => {
    const y = get(spec.finals === undefined ? spec : {...spec, finals: undefined}),
          x = choices.seconds ? spec.at : i + 1;
    if (y === undefined || !Number.isFinite(y)) return;
    dots.push({x, y, spec, text: () => describeSpec(spec, `after ${i + 1} evaluations, ${shown(spec.at)} s`)});
    if (reached === undefined || best([reached, y], better) === y) line.push({x, y: reached = y});
  });
  const last = run.byTime.at(-1);
  if (line.length) line.push({x: choices.seconds ? last.at : run.byTime.length, y: reached});
  return {line, dots};
}

function drawProgress(runs, shownRun) {
  const host = body("progress"), name = shownRun.objectiveColumn.name;
  const alike = runs.filter(
            (run) =>
                run.objectiveColumn.name === name && run.name === shownRun.name && run.problem === shownRun.problem),
        all = alike.map((run) => ({run, ...progressOf(run)}));
  const lines = all.flatMap((p) => p.line), own = all.find((p) => p.run === shownRun);
  if (lines.length === 0) return host.append(element("p", {class: "note"}, "No spec has been timed."));
  const drawing = figure(host, clockChoice(shownRun), logChoice());
  const reach = lines.map((p) => p.y), [low, high] = range(reach), span = high - low;
  const inside = choices.log ? own.dots : own.dots.filter((p) => p.y <= high + span && p.y >= low - span);
  const chart = new Chart(drawing, {
    x: numberScale(lines.map((p) => p.x), {zero: true}),
    y: numberScale([...reach, ...inside.map((p) => p.y)], {log: choices.log}),
    xName: choices.seconds ? "seconds" : "evaluations",
    yName: name,
    about: `The best ${name} so far`
  });
  chart.dots(inside, {size: inside.length > 2000 ? 3 : 4, color: colorOf(shownRun), opacity: 0.3});
  for (const {run, line} of all)
    if (line.length) chart.curve(line, {color: colorOf(run), steps: true});
  if (inside.length < own.dots.length)
    host.append(element(
        "p", {class: "note"},
        `${own.dots.length - inside.length} slow specs are beyond the edge; the logarithmic scale shows them.`));
}

const GAUGES = {
  clock_mhz: "Clock (MHz)",
  power_w: "Power (W)",
  temperature_c: "Temperature (°C)",
  memory_clock_mhz: "Memory clock (MHz)",
  throttle: "Reasons of throttling (bits)"
};

function drawGauges(run) {
  const host = body("gauges"), side = element("div", {class: "side"}),
        names = Object.keys(GAUGES).filter((n) => run.figures.includes(n));
  if (names.length === 0) return host.append(element("p", {class: "note"}, "The run recorded no clocks and no power."));
  host.append(element("div", {class: "controls"}, clockChoice(run)), side);
  const drawings = names.map(() => element("figure"));
  side.append(...drawings);
  for (const [i, name] of names.entries()) {
    const at = run.figures.indexOf(name), drawing = drawings[i];
    const points =
        run.byTime.map((spec, order) => ({spec, x: choices.seconds ? spec.at : order + 1, y: spec.figures?.[at]}))
            .filter((p) => Number.isFinite(p.y));
    for (const p of points) p.text = () => describeSpec(p.spec, `${name}: ${shown(p.y)}`);
    const chart = new Chart(drawing, {
      x: numberScale(points.map((p) => p.x), {zero: true}),
      y: numberScale(points.map((p) => p.y)),
      xName: choices.seconds ? "seconds" : "evaluations",
      yName: GAUGES[name],
      about: `${GAUGES[name]} while each spec was timed`,
      height: 220
    });
    chart.dots(points, {size: points.length > 2000 ? 3 : 4, color: colorOf(run)});
  }
}
