// The table of specs: sorted by any column, filtered, and only as many rows in the document as can be seen. The
// parameters that matter most come first.

const ROW = 24, PRINTED = 60;

function tableColumns(run) {
  const integer = (value) => value === undefined ? NONE : String(value);
  const columns = [column("place", (s) => s.place, "", integer), column("mesh_idx", (s) => s.idx, "", integer)];
  for (const i of run.telling) {
    const {name, values} = run.params[i], text = (v) => v === undefined ? NONE : shownValue(v);
    columns.push(column(name, (s) => parameterValue(s, i), "", text, longest(values.map(text), 40)));
  }
  columns.push(...run.columns.slice(0, 1), column("+- %", plusMinus));
  for (const label of ["default", "vendor"]) {
    const seconds = baselineSeconds(run, label);
    if (seconds) columns.push(column(`x ${label}`, (s) => s.finals ? seconds / s.finals : undefined));
  }
  columns.push(...run.columns.slice(1), column("launches", (s) => s.launches, "", integer));
  const says = (s) => isTimed(s) ?
      [s.note, s.early ? "early" : "", s.checked ? "" : "checked: no"].filter((t) => t).join(", ") :
      reasonText(run, s.reason);
  const reasons = run.reasons.map((_, i) => reasonText(run, i));
  columns.push({...column("note", says, "", (v) => v, longest(["same code as 12345", ...reasons], 90)), text: true});
  return columns;
}

function longest(texts, most) {
  return Math.min(most, range(texts.map((t) => t.length))[1]);
}

const COLLATOR = new Intl.Collator("en", {numeric: true});

class SpecTable {
  constructor(section) {
    this.said = element("p", {role: "status"});
    this.table = element("table");
    this.scroll = element(
        "div", {
          class: "scroll specs",
          tabindex: "0",
          role: "region",
          "aria-label": "Specs; the arrow keys select a row",
          onscroll: () => this.paint(),
          onkeydown: (event) => this.key(event)
        },
        this.table);
    this.detail = element("div", {id: "detail", role: "status"});
    section.append(this.said, this.scroll, this.detail);
    this.sorting = {index: 0, down: false};
    addEventListener("beforeprint", () => this.paint(true));
    addEventListener("afterprint", () => this.paint());
  }

  show(run, specs) {
    if (this.run !== run) {
      if (this.run?.index !== run.index) this.sorting = {index: 0, down: false};
      const sortedBy = this.columns?.[this.sorting.index].name;
      this.columns = tableColumns(run);  // in another order, if the run goes on
      const index = this.columns.findIndex((c) => c.name === sortedBy);
      this.sorting = index < 0 ? {index: 0, down: false} : {...this.sorting, index};
    }
    this.run = run;
    this.specs = this.sorted(specs);
    this.said.textContent = `${specs.length} of ${run.specs.length} specs`;
    this.head();
    this.paint();
    this.describe();
  }

  /** Specs without a value stand last, whatever the direction. */
  sorted(specs) {
    const {get} = this.columns[this.sorting.index] ?? this.columns[0], sign = this.sorting.down ? -1 : 1;
    const keyed = specs.map((spec) => ({spec, key: get(spec)}));
    const none = (key) => key === undefined || key === "";
    keyed.sort((a, b) => {
      if (none(a.key) || none(b.key)) return none(a.key) - none(b.key) || a.spec.order - b.spec.order;
      const numbers = typeof a.key === "number" && typeof b.key === "number";
      return sign * (numbers ? a.key - b.key : COLLATOR.compare(String(a.key), String(b.key))) ||
          a.spec.order - b.spec.order;
    });
    return keyed.map((k) => k.spec);
  }

  head() {
    const titles = this.columns.map((c, i) => {
      const chosen = this.sorting.index === i, arrow = chosen ? (this.sorting.down ? " ▼" : " ▲") : "";
      return element(
          "th", {
            scope: "col",
            class: c.text ? "text" : "",
            "aria-sort": chosen ? (this.sorting.down ? "descending" : "ascending") : undefined
          },
          element("button", {type: "button", onclick: () => this.sort(i)}, c.name + arrow));
    });
    this.body = element("tbody");
    this.table.replaceChildren(
        element("colgroup", {}, ...this.columns.map(({width}) => {
          const col = element("col");
          col.style.width = `calc(${width}ch + 1rem)`;
          return col;
        })),
        element("thead", {}, element("tr", {}, ...titles)), this.body);
    this.table.setAttribute("aria-rowcount", this.specs.length + 1);
    this.first = -1;
  }

  sort(index) {
    this.sorting = {index, down: this.sorting.index === index && !this.sorting.down};
    this.specs = this.sorted(this.specs);
    this.head();
    this.paint();
    this.table.querySelectorAll("th button")[index].focus();
  }

  /** Puts the rows that can be seen into the document; for paper the first ones. */
  paint(printing = false) {
    if (!this.specs) return;
    const seen = Math.ceil(this.scroll.clientHeight / ROW) + 10;
    const from =
        printing ? 0 : Math.max(0, Math.min(Math.floor(this.scroll.scrollTop / ROW) - 5, this.specs.length - seen));
    const to = Math.min(this.specs.length, from + (printing ? PRINTED : seen));
    const spacer = (rows) => {
      const tr = element("tr", {"aria-hidden": "true"});
      tr.style.height = `${rows * ROW}px`;
      return tr;
    };
    const rows = this.specs.slice(from, to).map((spec, i) => this.row(spec, from + i));
    if (printing)
      this.body.replaceChildren(...rows);
    else
      this.body.replaceChildren(spacer(from), ...rows, spacer(this.specs.length - to));
  }

  row(spec, at) {
    const cells = this.columns.map((c) => {
      const text = c.shown(c.get(spec));
      return element("td", c.text ? {class: "text", title: text} : {}, text);
    });
    const kind = spec.place === 1 ? "best" : isTimed(spec) ? "" : "failed";
    return element(
        "tr", {
          class: kind,
          "aria-rowindex": at + 2,
          "aria-selected": spec === state.selected ? "true" : undefined,
          onclick: () => select(spec)
        },
        ...cells);
  }

  key(event) {
    const page = Math.floor(this.scroll.clientHeight / ROW) - 1;
    const by = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity}[event.key];
    if (by === undefined || event.target !== this.scroll || this.specs.length === 0) return;
    event.preventDefault();
    const now = this.specs.indexOf(state.selected);
    const next = Math.max(0, Math.min(this.specs.length - 1, now < 0 && by === 1 ? 0 : now + by));
    select(this.specs[next]);
    this.reveal(next);
  }

  reveal(index) {
    const top = index * ROW, view = this.scroll;
    if (top < view.scrollTop) view.scrollTop = top;
    if (top + 3 * ROW > view.scrollTop + view.clientHeight) view.scrollTop = top + 3 * ROW - view.clientHeight;
  }

  /** All that is known of the selected spec. */
  describe() {
    this.paint();
    const spec = state.selected;
    this.detail.hidden = !spec || spec.run !== this.run;
    if (this.detail.hidden) return;
    const run = this.run;
    const params = run.params.map((p, i) => [p, parameterValue(spec, i)])
                       .filter(([, v]) => v !== undefined)
                       .map(([p, v]) => `${p.run_time ? "$" : ""}${p.name}=${shownValue(v)}`)
                       .join(" ");
    const figures = this.columns.slice(2 + run.varying.length)
                        .map((c) => [c, c.shown(c.get(spec))])
                        .filter(([, v]) => v && v !== NONE)
                        .map(([c, v]) => `${c.name}: ${v}`)
                        .join(" · ");
    this.detail.replaceChildren(element("strong", {}, `mesh_idx ${spec.idx}`), ` ${params}`, element("br"), figures);
  }
}
