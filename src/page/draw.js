// Charts in SVG: scales, axes, dots, and a pointer that mouse and keyboard move. Colours are those of the style sheet.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; texts become text and never markup. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on"))
      made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false)
      made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function shape(parent, tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

/** Round numbers that divide the range into about `count` parts. */
function ticksOf(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-12) + step * 1e-9; ++i) ticks.push(i * step);
  return ticks;
}

function logTicksOf(low, high) {
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e)
    for (const f of high / low > 300 ? [1] : high / low > 5 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8])
      if (f * 10 ** e >= low * 0.999 && f * 10 ** e <= high * 1.001) ticks.push(f * 10 ** e);
  return ticks.length > 2 ? ticks : ticksOf(low, high, 4);
}

/** Maps values to pixels. `from` and `to` are pixels. */
function numberScale(values, {log = false, zero = false} = {}) {
  let [low, high] = range(values);
  if (!(low <= high)) [low, high] = [0, 1];
  if (zero) low = Math.min(low, 0);
  if (log && low > 0) {
    [low, high] = [low / 1.06, high * 1.06];
    return {
      ticks: () => logTicksOf(low, high),
      at: (v, from, to) => from + (to - from) * Math.log(v / low) / Math.log(high / low),
      shown
    };
  }
  if (low === high) {
    const pad = Math.abs(low) * 0.05 || 1;
    low -= pad;
    high += pad;
  }
  const pad = (high - low) * 0.04;
  if (!zero) low -= pad;
  high += pad;
  return {
    ticks: (count) => ticksOf(low, high, count),
    at: (v, from, to) => from + (to - from) * (v - low) / (high - low),
    shown
  };
}

/** One place for each text, in order. */
function bandScale(texts) {
  return {
    ticks: () => texts.map((_, i) => i),
    at: (i, from, to) => from + (to - from) * (i + 0.5) / texts.length,
    shown: (i) => texts[i],
    step: (from, to) => Math.abs(to - from) / texts.length
  };
}

/** `about` is what the chart shows, in words. The chart is drawn into `host`, in place of what was there. */
class Chart {
  constructor(host, {x, y, xName, yName, about, height = 320}) {
    Object.assign(this, {x, y, host, points: [], current: -1});
    this.width = Math.max(host.clientWidth || 900, 320);
    this.height = height;
    const labels = y.ticks(6).map((t) => y.shown(t));
    this.letters = Math.min(Math.floor(this.width * 0.4 / 8), Math.max(...labels.map((l) => l.length), 3));
    this.box = {left: 16 + 8 * this.letters, top: yName ? 20 : 10, right: this.width - 14, bottom: height - 44};
    host.replaceChildren();
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    this.svg.setAttribute("role", "application");
    this.svg.setAttribute("aria-roledescription", "chart");
    this.svg.setAttribute("tabindex", "0");
    this.svg.setAttribute("aria-label", `${about}. The arrow keys go from point to point, Enter selects a spec.`);
    host.append(this.svg);
    this.axes(xName, yName);
    this.tip = element("div", {class: "tip", role: "status", hidden: ""});
    host.append(this.tip);
    this.svg.addEventListener("mousemove", (event) => this.follow(event));
    this.svg.addEventListener("mouseleave", () => this.point(-1));
    this.svg.addEventListener("blur", () => this.point(-1));
    this.svg.addEventListener("click", () => this.choose());
    this.svg.addEventListener("keydown", (event) => this.step(event));
  }

  px(v) {
    return this.x.at(v, this.box.left, this.box.right);
  }
  py(v) {
    return this.y.at(v, this.box.bottom, this.box.top);
  }

  axes(xName, yName) {
    const {left, right, top, bottom} = this.box, {svg} = this;
    for (const t of this.y.ticks(6)) {
      const y = this.py(t);
      shape(svg, "path", {class: "grid", d: `M${left},${y}H${right}`});
      shape(
          svg, "text", {class: "tick", x: left - 6, y: y + 4, "text-anchor": "end"},
          cut(this.y.shown(t), this.letters));
    }
    const ticks = this.x.ticks(Math.max(3, Math.floor(this.width / 110)));
    const most = Math.max(3, Math.floor((right - left) / Math.max(ticks.length, 1) / 7));
    for (const t of ticks) {
      const x = this.px(t);
      shape(svg, "path", {class: "grid", d: `M${x},${bottom}v5`});
      shape(svg, "text", {class: "tick", x, y: bottom + 18, "text-anchor": "middle"}, cut(this.x.shown(t), most));
    }
    shape(svg, "path", {class: "grid", d: `M${left},${top}V${bottom}H${right}`});
    shape(svg, "text", {class: "axis-name", x: right, y: bottom + 36, "text-anchor": "end"}, xName);
    shape(svg, "text", {class: "axis-name", x: 0, y: 10}, yName);
  }

  /** Draws dots {x, y, spec, text} as one path, so that thousands cost little; they can be pointed at. */
  dots(points, {size = 5, color = "var(--run-0)", opacity = 0.7} = {}) {
    let d = "";
    for (const p of points) {
      p.px = this.px(p.x) + (p.shift ?? 0);
      p.py = this.py(p.y);
      d += `M${Math.round(p.px)},${Math.round(p.py)}h0`;
    }
    shape(this.svg, "path", {class: "dots", d, style: `stroke:${color};stroke-width:${size};opacity:${opacity}`});
    this.points = this.points.concat(points);
    const chosen = points.filter((p) => p.spec && p.spec === state.selected);
    if (chosen.length) shape(this.svg, "path", {class: "mark", d: chosen.map((p) => `M${p.px},${p.py}h0`).join("")});
  }

  curve(points, {color = "var(--run-0)", steps = false, name = "curve", dashes = ""} = {}) {
    const d = points
                  .map((p, i) => {
                    const x = this.px(p.x).toFixed(1), y = this.py(p.y).toFixed(1);
                    return i === 0 ? `M${x},${y}` : steps ? `H${x}V${y}` : `L${x},${y}`;
                  })
                  .join("");
    shape(this.svg, "path", {
      class: name,
      d,
      style: (name === "curve" ? `stroke:${color};` : "") + (dashes ? `stroke-dasharray:${dashes}` : "")
    });
  }

  label(x, y, text, anchor = "start") {
    const at = this.px(x) + (anchor === "start" ? 8 : -8), room = anchor === "start" ? this.width - at : at;
    shape(
        this.svg, "text", {x: at, y: this.py(y) - 6, "text-anchor": anchor}, cut(text, Math.floor(room / 7)));
  }

  follow(event) {
    const area = this.svg.getBoundingClientRect(), scale = this.width / area.width;
    const x = (event.clientX - area.left) * scale, y = (event.clientY - area.top) * scale;
    let nearest = -1, least = 30 ** 2;
    this.points.forEach((p, i) => {
      const distance = (p.px - x) ** 2 + (p.py - y) ** 2;
      if (distance < least) [nearest, least] = [i, distance];
    });
    this.point(nearest);
  }

  step(event) {
    const by = {ArrowRight: 1, ArrowLeft: -1, ArrowUp: 1, ArrowDown: -1}[event.key];
    if (event.key === "Enter" || event.key === " ") {
      this.choose();
      event.preventDefault();
    }
    if (event.key === "Escape") this.point(-1);
    if (!by || this.points.length === 0) return;
    event.preventDefault();
    if (!this.sorted) {
      this.points.sort((a, b) => a.px - b.px || a.py - b.py);
      this.sorted = true;
    }
    this.point((this.current + by + this.points.length) % this.points.length);
  }

  choose() {
    const spec = this.points[this.current]?.spec;
    if (spec) select(spec);
  }

  point(index) {
    if (index === this.current) return;
    this.current = index;
    this.ring?.remove();
    this.tip.hidden = index < 0;
    if (index < 0) return;
    const p = this.points[index], scale = this.svg.getBoundingClientRect().width / this.width;
    this.ring = shape(this.svg, "circle", {class: "here", cx: p.px, cy: p.py, r: 7});
    this.tip.textContent = p.text();
    const right = p.px > this.width / 2;
    this.tip.style.left = right ? "" : `${p.px * scale + 12}px`;
    this.tip.style.right = right ? `${(this.width - p.px) * scale + 12}px` : "";
    this.tip.style.top = `${Math.max(0, p.py * scale - 12)}px`;
  }
}

function cut(text, most) {
  return text.length <= most ? text : text.slice(0, Math.max(1, most - 1)) + "…";
}
function colorOf(run) {
  return `var(--run-${run.index % 8})`;
}
