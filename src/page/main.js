// The page as a whole: what is shown, and what happens when that changes.

const state = {
  runs: [],
  run: null,
  selected: null,
  filter: () => true
};
let table;

function shownSpecs() {
  const outcome = outcomeTest(document.getElementById("outcome").value);
  return state.run.specs.filter((spec) => outcome(spec) && state.filter(spec));
}

/** Draws one chart after the other, and between them what the user does comes first. */
function drawCharts() {
  const {run, runs} = state, specs = shownSpecs();
  const charts = [
    () => drawParameter(run, specs), () => drawHeat(run, specs), () => drawProgress(runs, run),
    () => drawRoofline(runs), () => drawFinals(run), () => drawGauges(run), () => drawComparison(runs, run)
  ];
  drawCharts.rest = charts;
  drawNextChart();
}

function drawNextChart() {
  clearTimeout(drawCharts.next);
  drawCharts.rest.shift()?.();
  if (drawCharts.rest.length) drawCharts.next = setTimeout(drawNextChart);
}

/** Draws them once the user pauses. */
function drawChartsSoon() {
  clearTimeout(drawChartsSoon.later);
  drawChartsSoon.later = setTimeout(drawCharts, 150);
}

function draw() {
  drawVerdict(state.run);
  drawRuns(state.runs);
  drawFailures(state.run);
  table.show(state.run, shownSpecs());
  drawCharts();
}

function select(spec) {
  state.selected = spec === state.selected ? null : spec;
  if (spec.run !== state.run) showRun(spec.run.index);
  table.describe();
  drawChartsSoon();
}

/** A filter that cannot be understood leaves the last one in force. */
function readFilter() {
  const said = document.getElementById("filter-said");
  try {
    state.filter = parseFilter(state.runs, document.getElementById("filter").value);
    said.textContent = "";
  } catch (error) {
    said.textContent = error.message;
  }
}

function takeFilter() {
  readFilter();
  table.show(state.run, shownSpecs());
  drawChartsSoon();
}

function showOutcome(choice) {
  document.getElementById("outcome").value = choice;
  takeFilter();
  document.getElementById("specs").scrollIntoView();
  table.scroll.focus();
}

function fillOutcomes() {
  const list = document.getElementById("outcome"), chosen = list.value;
  const options = [["all", "all"], ["timed", "timed"], ["untimed", "failed or pruned"]];
  state.run.reasons.forEach((_, i) => options.push([String(i), cut(reasonText(state.run, i), 80)]));
  list.replaceChildren(...options.map(([value, text]) => element("option", {value}, text)));
  list.value = options.some(([value]) => value === chosen) ? chosen : "all";
}

function showRun(index) {
  state.run = state.runs[index];
  document.getElementById("run").value = index;
  fillOutcomes();
  draw();
}

function takeRuns(data) {
  state.runs = data.map(completeRun);
  document.getElementById("run").replaceChildren(
      ...state.runs.map((run, i) => element("option", {value: i}, run.label)));
  document.getElementById("run-choice").hidden = state.runs.length < 2;
}

function begin() {
  table = new SpecTable(document.getElementById("specs"));
  takeRuns(JSON.parse(document.getElementById("data").textContent));
  const on = (id, event, action) => document.getElementById(id).addEventListener(event, action);
  on("run", "change", (event) => showRun(Number(event.target.value)));
  on("filter", "input", takeFilter);
  on("outcome", "change", takeFilter);
  on("reset", "click", () => {
    document.getElementById("filter").value = "";
    document.getElementById("outcome").value = "all";
    takeFilter();
  });
  on("theme", "change", (event) => {
    document.documentElement.dataset.theme = event.target.value;
  });
  addEventListener("beforeprint", () => {
    while (drawCharts.rest?.length) drawNextChart();
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) {
      width = innerWidth;
      drawChartsSoon();
    }
  });
  if (state.runs.length)
    showRun(0);
  else
    document.querySelector("main").hidden = true;
  if (document.body.dataset.live === "true") listen();
}

/** Follows a run that goes on. Each message holds all that is known by then. */
function listen() {
  const source = new EventSource("events" + location.search), said = document.getElementById("live");
  said.textContent = "Waiting for the first spec.";
  source.addEventListener("message", (event) => {
    said.textContent = "This page follows the run.";
    updateWhenFree(JSON.parse(event.data));
  });
  source.addEventListener("error", () => {
    said.textContent = "The connection is lost; it is tried again.";
  });
  source.addEventListener("end", () => {
    source.close();
    said.textContent = "The run has ended; the page keeps what it shows.";
  });
}

/** The newest data waits while a control of a chart is in use, because drawing replaces it. */
function updateWhenFree(data) {
  clearTimeout(updateWhenFree.later);
  if (document.querySelector("main .controls :focus, main svg:focus"))
    updateWhenFree.later = setTimeout(() => updateWhenFree(data), 500);
  else
    update(data);
}

/** Shows new data in place of the old, with the same run, spec, order and filter. */
function update(data) {
  if (data.length === 0) return;
  const run = state.run?.index ?? 0, idx = state.selected?.idx;
  takeRuns(data);
  state.selected = state.runs[Math.min(run, data.length - 1)].specs.find((spec) => spec.idx === idx) ?? null;
  document.querySelector("main").hidden = false;
  readFilter();
  showRun(Math.min(run, data.length - 1));
}

begin();
