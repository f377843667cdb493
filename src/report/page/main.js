// The page as a whole: what is shown, and what happens when that changes.

const state = {runs: [], run: null, selected: null, filter: () => true};
let table;

function shownSpecs() {
  const outcome = outcomeTest(document.getElementById("outcome").value);
  return state.run.specs.filter((spec) => outcome(spec) && state.filter(spec));
}

function drawCharts() {
  const specs = shownSpecs();
  drawParameter(state.run, specs);
  drawHeat(state.run, specs);
  drawProgress(state.runs, state.run);
  drawRoofline(state.runs);
  drawFinals(state.run);
  drawGauges(state.run);
  drawComparison(state.runs, state.run);
}

function draw() {
  drawRuns(state.runs);
  drawFailures(state.run);
  table.show(state.run, shownSpecs());
  drawCharts();
}

function select(spec) {
  state.selected = spec === state.selected ? null : spec;
  if (spec.run !== state.run) showRun(spec.run.index);
  table.describe();
  clearTimeout(select.later);
  select.later = setTimeout(drawCharts, 150);
}

function takeFilter() {
  const said = document.getElementById("filter-said");
  try {
    state.filter = parseFilter(state.runs, document.getElementById("filter").value);
    said.textContent = "";
  } catch (error) {
    said.textContent = error.message;
    return;
  }
  table.show(state.run, shownSpecs());
  clearTimeout(takeFilter.later);
  takeFilter.later = setTimeout(drawCharts, 150);
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
  document.getElementById("run").replaceChildren(...state.runs.map((run, i) => element("option", {value: i}, run.label)));
  document.getElementById("run-choice").hidden = state.runs.length < 2;
}

function begin() {
  table = new SpecTable(document.getElementById("specs"));
  takeRuns(JSON.parse(document.getElementById("data").textContent));
  const on = (id, event, action) => document.getElementById(id).addEventListener(event, action);
  on("run", "change", (event) => showRun(Number(event.target.value)));
  on("filter", "input", takeFilter);
  on("outcome", "change", takeFilter);
  on("reset", "click", () => { document.getElementById("filter").value = ""; document.getElementById("outcome").value = "all"; takeFilter(); });
  on("theme", "change", (event) => { document.documentElement.dataset.theme = event.target.value; });
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; clearTimeout(begin.later); begin.later = setTimeout(drawCharts, 150); } });
  showRun(0);
}

begin();
