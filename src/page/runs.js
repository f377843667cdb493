// What several runs have in common: their table, the roofline, the finals with their samples, failures, run against
// run.

function plainTable(titles, rows, textColumns = [0]) {
  const cell = (tag, text, i, more = {}) => element(tag, {class: textColumns.includes(i) ? "text" : "", ...more}, text);
  return element(
      "div", {class: "scroll"},
      element(
          "table", {},
          element("thead", {}, element("tr", {}, ...titles.map((t, i) => cell("th", t, i, {scope: "col"})))),
          element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((text, i) => cell("td", text, i)))))));
}

function named(run) {
  const swatch = element("span", {class: "swatch"});
  swatch.style.background = colorOf(run);
  return element("span", {}, swatch, run.name);
}

/** What the run printed first: the decision, and below it what it rests on. */
function drawVerdict(run) {
  const lines = run.verdict ?? [];
  document.getElementById("verdict").hidden = lines.length === 0;
  body("verdict").append(
      ...lines.map((line, i) => element("p", {class: i === 0 ? "decision" : ""}, line.trim())));
}

function drawRuns(runs) {
  const host = body("runs"), first = runs[0].byPlace[0];
  const rows = runs.map((run) => {
    const winner = run.byPlace[0], time = winner && secondsOf(winner),
          column = run.columns.find((c) => c.name === "GFLOPS/s");
    const ratio = (label) => {
      const s = baselineSeconds(run, label);
      return winner?.finals && s ? shown(s / winner.finals) : NONE;
    };
    const limit = run.limits.peak_flops > 0 && run.limits.flops > 0 && winner ?
        `${shown(run.limits.flops / time / run.limits.peak_flops * 100)} %` :
        NONE;
    return [
      named(run), run.problem, winner ? shown(time * 1e3) : NONE, winner && column ? shown(column.get(winner)) : NONE,
      ratio("default"), ratio("vendor"), limit, winner && first ? shown(secondsOf(first) / time) : NONE,
      winner ? nameOfSpec(winner) : "no spec is valid", String(run.specs.length), String(run.byPlace.length),
      run.device.name, run.device.driver, run.date, run.file
    ];
  });
  host.append(plainTable(
      [
        "run", "problem", "time (ms)", "GFLOPS/s", "x default", "x vendor", "of the peak", "x the first run", "best",
        "specs", "timed", "device", "driver", "began (UTC)", "file"
      ],
      rows, [0, 1, 8, 11, 12, 13, 14]));
}

/** What a roofline has to show of a run: its place on the x axis, and what its specs and baselines reach. */
function roofOf(run) {
  const {flops, bytes} = run.limits;
  if (!(flops > 0 && bytes > 0)) return null;
  const x = flops / bytes, rate = (seconds) => flops / seconds / 1e9;
  const dots =
      run.specs.filter(isTimed).map((spec) => ({
                                      x,
                                      y: rate(secondsOf(spec)),
                                      spec,
                                      text: () => describeSpec(spec, `${shown(rate(secondsOf(spec)))} GFLOPS/s`)
                                    }));
  const baselines = run.finals.filter((f) => f.label && f.seconds)
                        .map((f) => ({
                               x,
                               y: rate(f.seconds),
                               label: f.label,
                               text: () => `${f.label}: ${shown(rate(f.seconds))} GFLOPS/s\n${run.label}`
                             }));
  return dots.length ? {run, x, dots, baselines} : null;
}

function drawRoofline(runs) {
  const host = body("roofline"), all = runs.map(roofOf).filter((r) => r);
  if (all.length === 0)
    return host.append(element(
        "p", {class: "note"},
        "The operations and bytes of the problem are not known. Journals of this version hold them; for others, --yaml gives the tuning file."));
  const drawing = figure(host), roofs = new Map(), labelled = [];
  for (const {run} of all)
    if (run.limits.peak_flops > 0 && run.limits.bandwidth > 0)
      roofs.set(`${run.limits.peak_flops} ${run.limits.bandwidth}`, run);
  const limits = [...roofs.values()].map((run) => run.limits), ridges = limits.map((l) => l.peak_flops / l.bandwidth);
  const xs = [...all.map((r) => r.x), ...ridges], ys = [
    ...all.flatMap((r) => [...r.dots, ...r.baselines].map((p) => p.y)), ...limits.map((l) => l.peak_flops / 1e9)
  ];
  const low = range(xs)[0] / 4, high = range(xs)[1] * 4;
  const chart = new Chart(drawing, {
    x: numberScale([low, high], {log: true}),
    y: numberScale(ys, {log: true}),
    xName: "operations per byte that must be moved",
    yName: "GFLOPS/s",
    about: "Roofline: what specs and baselines reach, below the limits of the device",
    height: 400
  });
  for (const l of limits) drawRoof(chart, l, low, high, range(ys)[0]);
  for (const {run, dots, baselines} of all) {
    chart.dots(dots, {size: 4, color: colorOf(run), opacity: 0.35});
    const winner = dots.find((p) => p.spec.place === 1);
    if (winner) {
      chart.dots([{...winner}], {size: 10, color: colorOf(run), opacity: 1});
      if (!labelled.some((other) => isNear(chart, winner, other)))
        chart.label(winner.x, winner.y, `best of ${shortName(run)}`);
      labelled.push(winner);
    }
    if (baselines.length) chart.dots(baselines, {size: 9, color: "var(--mark)", opacity: 1});
  }
  const baselines = all.flatMap((r) => r.baselines);
  for (const b of baselines.filter((one, i) => !baselines.slice(0, i).some((other) => isNear(chart, one, other)))) {
    const near = new Set(baselines.filter((other) => isNear(chart, b, other)).map((other) => other.label));
    chart.label(b.x, b.y, [...near].join(", "), "end");
  }
  host.append(element(
      "p", {class: "note"},
      limits.length ?
          "Limits: the memory's bandwidth as the device tells it, and the most that its architecture does for these types, dense, at its highest clock." :
          "The limits of this device are not known."));
}

/** What tells the run from the others that are shown. */
function shortName(run) {
  const namesakes = state.runs.filter((r) => r.name === run.name);
  if (namesakes.length === 1) return run.name;
  return namesakes.filter((r) => r.problem === run.problem).length === 1 ? run.problem : `${run.name}, ${run.file}`;
}

/** Whether the labels of two points would stand on each other. */
function isNear(chart, a, b) {
  return Math.abs(chart.py(a.y) - chart.py(b.y)) < 13 && Math.abs(chart.px(a.x) - chart.px(b.x)) < 250;
}

function drawRoof(chart, {peak_flops: peak, bandwidth}, low, high, floor) {
  const ridge = peak / bandwidth, start = Math.max(low, floor * 1e9 / bandwidth);
  chart.curve(
      [
        {x: Math.min(start, ridge), y: Math.min(start, ridge) * bandwidth / 1e9}, {x: ridge, y: peak / 1e9},
        {x: high, y: peak / 1e9}
      ],
      {name: "limit"});
  chart.label(high, peak / 1e9, `${shown(peak / 1e12)} TFLOPS/s`, "end");
  chart.label(start * 1.2, start * bandwidth / 1e9, `${shown(bandwidth / 1e9)} GB/s`);
}

function nameOfFinalist(finalist, spec, params) {
  if (finalist.label) return finalist.label;
  return (spec ? `${spec.idx}: ${nameOfSpec(spec, params)}` : String(finalist.idx)) +
      (finalist.default ? " (default)" : "");
}

function drawFinals(run) {
  const host = body("finals"), timed = run.finals.filter((f) => f.rounds.length);
  if (timed.length === 0)
    return host.append(element("p", {class: "note"}, "The run holds no finals that can be shown."));
  timed.sort((a, b) => (a.seconds ?? Infinity) - (b.seconds ?? Infinity));
  const specs = timed.map((f) => f.label ? undefined : run.specs.find((s) => s.idx === f.idx));
  // The chart has room for the parameters in which the finalists differ.
  const differing = run.varying.filter((i) => new Set(specs.filter((s) => s).map((s) => s.values[i])).size > 1);
  const names = timed.map((f, i) => nameOfFinalist(f, specs[i], differing)), byRound = choices.byRound;
  const drawing = figure(
      host,
      chooser("Samples", ["beside each other", "round by round"], byRound ? 1 : 0, (i) => choose("byRound", i === 1)));
  const points =
      timed.flatMap((f, i) => f.rounds.map(([round, seconds]) => ({
                                             at: i,
                                             round,
                                             ms: seconds * 1e3,
                                             spec: specs[i],
                                             text: () => `${names[i]}\nround ${round}: ${shown(seconds * 1e3)} ms`
                                           })));
  const times = numberScale(points.map((p) => p.ms)), about = `Times of ${timed.length} finalists in their rounds`;
  if (byRound) {
    const chart = new Chart(
        drawing,
        {x: numberScale(points.map((p) => p.round)), y: times, xName: "round", yName: "time (ms)", about, height: 380});
    timed.forEach((f, i) => {
      const own = points.filter((p) => p.at === i).map((p) => ({...p, x: p.round, y: p.ms}));
      chart.curve(own, {color: `var(--run-${i % 8})`});
      chart.dots(own, {color: `var(--run-${i % 8})`, size: 4});
    });
  } else {
    const chart = new Chart(drawing, {
      x: times,
      y: bandScale([...names].reverse()),
      xName: "time (ms)",
      yName: "",
      about,
      height: 60 + 24 * timed.length
    });
    timed.forEach(
        (f, i) => drawFinalist(
            chart, f, timed.length - 1 - i, points.filter((p) => p.at === i), f.label ? "var(--mark)" : colorOf(run)));
  }
  host.append(finalsTable(timed, timed.map((f, i) => nameOfFinalist(f, specs[i]))));
}

function drawFinalist(chart, finalist, row, points, color) {
  chart.dots(points.map((p) => ({...p, x: p.ms, y: row, shift: 0})), {size: 5, color, opacity: 0.4});
  if (finalist.seconds === undefined) return;
  const {seconds} = finalist, [low, high] = finalist.interval ?? [seconds, seconds];
  const y = chart.py(row), x = chart.px(seconds * 1e3);
  shape(chart.svg, "path", {
    class: "whisker",
    d: `M${chart.px(low * 1e3)},${y}H${chart.px(high * 1e3)}M${x},${y - 8}v16`,
    style: `stroke:${color}`
  });
}

function finalsTable(timed, names) {
  const leader = (timed.find((f) => !f.label && f.seconds) ?? timed[0]).seconds,
        gauges = [...new Set(timed.flatMap((f) => Object.keys(f.figures)))].sort();
  const rows = timed.map(
      (f, i) =>
          [names[i], f.seconds ? shown(f.seconds * 1e3) : NONE,
           f.interval ? shown((f.interval[1] - f.interval[0]) / 2 / f.seconds * 100) : NONE,
           f.seconds ? shown(f.seconds / leader) : NONE, String(f.rounds.length),
           ...gauges.map((g) => shown(f.figures[g])),
           f.failure ? `failed: ${f.failure}` :
               f.left_after ? `left after round ${f.left_after}` :
                              ""]);
  return plainTable(
      ["finalist", "time (ms)", "+- %", "times as long", "rounds", ...gauges, "end"], rows, [0, 5 + gauges.length]);
}

function drawFailures(run) {
  const host = body("failures"), counts = run.reasons.map(() => 0);
  for (const spec of run.specs)
    if (!isTimed(spec)) ++counts[spec.reason];
  const order = counts.map((_, i) => i).sort((a, b) => counts[b] - counts[a]), most = range(counts)[1];
  if (order.length === 0) return host.append(element("p", {class: "note"}, "No spec failed."));
  const rows = order.map((i) => {
    const bar = element("span", {class: "bar"});
    bar.style.width = `${(counts[i] / most * 12).toFixed(2)}em`;
    return [
      bar, String(counts[i]), run.reasons[i].stage, run.reasons[i].cause, run.reasons[i].reason,
      element("button", {type: "button", class: "print-not", onclick: () => showOutcome(String(i))}, "show these")
    ];
  });
  host.append(plainTable(["", "specs", "stage", "cause", "reason", ""], rows, [0, 2, 3, 4, 5]));
}

/** The specs that both runs have timed, as pairs. */
function pairsOf(a, b) {
  const key = (spec) =>
      spec.run.params.map((p, i) => `${p.name}=${shownValue(parameterValue(spec, i))}`).sort().join("/");
  const known = new Map(b.specs.filter(isTimed).map((spec) => [key(spec), spec]));
  return a.specs.filter(isTimed).map((spec) => [spec, known.get(key(spec))]).filter(([, other]) => other);
}

function drawComparison(runs, run) {
  document.getElementById("compare").hidden = runs.length < 2;
  if (runs.length < 2) return;
  const host = body("compare"), others = runs.filter((r) => r !== run), other = others[choices.other] ?? others[0];
  const drawing = figure(
      host,
      chooser(`${run.label} against`, others.map((r) => r.label), others.indexOf(other), (i) => choose("other", i)));
  const pairs = pairsOf(run, other);
  if (pairs.length === 0)
    return host.append(element("p", {class: "note"}, "The two runs have timed no spec in common."));
  const points =
      pairs.map(([a, b]) => ({
                  x: secondsOf(a) * 1e3,
                  y: secondsOf(b) * 1e3,
                  spec: a,
                  text: () => describeSpec(
                      a, `there: ${shown(secondsOf(b) * 1e3)} ms, ${shown(secondsOf(b) / secondsOf(a))} times as long`)
                }));
  const scale = () => numberScale(points.flatMap((p) => [p.x, p.y]), {log: true});
  const chart = new Chart(drawing, {
    x: scale(),
    y: scale(),
    xName: `time here (ms)`,
    yName: "time there (ms)",
    about: `Times of ${pairs.length} specs in both runs`,
    height: 420
  });
  const [low, high] = range(points.flatMap((p) => [p.x, p.y]));
  chart.curve([{x: low, y: low}, {x: high, y: high}], {name: "limit", dashes: "5 4"});
  chart.dots(points, {color: colorOf(other), size: 5});
  const ratio = median(pairs.map(([a, b]) => secondsOf(b) / secondsOf(a)));
  host.append(element(
      "p", {class: "note"},
      `${pairs.length} specs were timed in both runs. There, they took ${
          shown(ratio)} times as long in the median. On the dashed line they took as long.`));
}
