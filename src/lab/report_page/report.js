// Parts of the reports of `stele compare-designs` and `stele replay`: tables, and plots of latencies.
// Texts of the user are only used as text.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const COLORS = ["#3a86c8", "#d1495b", "#2a9d6f", "#c8862a", "#8a5fc0", "#00a5c8", "#9a7b4f", "#c45fa0"];
  const DASHES = ["", "8 4", "2 3", "10 3 2 3"];
  const WIDTH = 480;
  const HEIGHT = 280;
  const LEFT = 64;
  const RIGHT = 24;
  const TOP = 26;
  const BOTTOM = 24;

  const colorOf = (index) => COLORS[index % COLORS.length];
  const dashOf = (index) => DASHES[Math.floor(index / COLORS.length) % DASHES.length];

  function element(name, text) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function svg(parent, name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return parent.appendChild(made);
  }

  function figureRow(line, columns) {
    const row = element("tr");
    const label = row.appendChild(element("th", line.label));
    label.scope = "row";
    if (!line.cells) {
      row.className = "heading";
      label.colSpan = columns.length + 1;
      return row;
    }
    // Equal numbers have no bars.
    const most = line.numbers && new Set(line.numbers).size > 1 ? Math.max(...line.numbers) : 0;
    line.cells.forEach((text, column) => {
      const cell = row.appendChild(element("td", text + (line.best === column ? " *" : "")));
      if (line.best === column) cell.className = "best";
      if (!(most > 0)) return;
      const bar = cell.appendChild(element("span"));
      bar.className = "bar";
      bar.style.width = `${(100 * line.numbers[column]) / most}%`;
    });
    return row;
  }

  // The place of a percentile on the axis. Each step of 90, 99, 99.9, ... has the same width.
  const depth = (percentile) => -Math.log10(Math.max(1 - percentile / 100, 1e-9));

  // Draws curves of [percentile, microseconds], each with a name.
  class Plot {
    constructor(parent, {title, names, curves}) {
      this.names = names;
      this.curves = curves;
      const points = curves.flat();
      // The last point is the maximum, which has no place of its own.
      this.deepest = Math.max(1, ...points.filter(([percentile]) => percentile < 100).map(([percentile]) => depth(percentile))) + 0.2;
      const micros = points.map((point) => point[1]);
      this.low = Math.floor(Math.log10(Math.max(Math.min(...micros), 0.001)));
      this.high = Math.max(this.low + 1, Math.ceil(Math.log10(Math.max(...micros, 0.001))));
      const figure = parent.appendChild(element("figure"));
      figure.className = "plot";
      this.root = svg(figure, "svg", {width: WIDTH, height: HEIGHT, role: "img", tabindex: 0, "aria-label": `Latency by percentile: ${title}`});
      svg(this.root, "text", {x: 8, y: 16}, `${title}, us`);
      this.drawGrid();
      curves.forEach((list, index) => this.drawCurve(list, index));
      this.cursor = svg(this.root, "line", {class: "cursor", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden"});
      this.readout = figure.appendChild(element("figcaption"));
      this.readout.className = "readout";
      this.readout.setAttribute("role", "status");
      this.at = 0;
      this.root.addEventListener("mousemove", (event) => this.readAt(this.depthAt(event.clientX - this.root.getBoundingClientRect().left)));
      this.root.addEventListener("keydown", (event) => {
        const steps = {ArrowLeft: -0.1, ArrowRight: 0.1};
        if (!steps[event.key]) return;
        this.readAt(this.at + steps[event.key]);
        event.preventDefault();
      });
    }

    x(percentile) {
      return LEFT + (Math.min(depth(percentile), this.deepest) / this.deepest) * (WIDTH - LEFT - RIGHT);
    }

    y(micros) {
      const share = (Math.log10(Math.max(micros, 0.001)) - this.low) / (this.high - this.low);
      return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
    }

    depthAt(x) {
      return ((x - LEFT) / (WIDTH - LEFT - RIGHT)) * this.deepest;
    }

    drawGrid() {
      for (let power = this.low; power <= this.high; ++power) {
        const y = this.y(Math.pow(10, power));
        svg(this.root, "line", {class: "grid-line", x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y});
        svg(this.root, "text", {x: LEFT - 6, y: y + 4, "text-anchor": "end"}, Math.pow(10, power).toLocaleString("en", {maximumFractionDigits: 3}));
      }
      const names = ["0", "90", "99", "99.9", "99.99", "99.999", "99.9999", "99.99999", "99.999999"];
      for (const name of ["50", ...names].filter((text) => depth(Number(text)) <= this.deepest)) {
        const x = this.x(Number(name));
        svg(this.root, "line", {class: "grid-line", x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM});
        svg(this.root, "text", {x, y: HEIGHT - 8, "text-anchor": "middle"}, `${name} %`);
      }
    }

    drawCurve(list, index) {
      if (list.length === 0) return;
      const path = list.map(([percentile, micros], point) => `${point === 0 ? "M" : "L"}${this.x(percentile).toFixed(1)} ${this.y(micros).toFixed(1)}`).join("");
      svg(this.root, "path", {d: path, stroke: colorOf(index), "stroke-dasharray": dashOf(index)});
    }

    readAt(wanted) {
      this.at = Math.min(Math.max(wanted, 0), this.deepest);
      const percentile = 100 * (1 - Math.pow(10, -this.at));
      const x = this.x(percentile);
      this.cursor.setAttribute("x1", x);
      this.cursor.setAttribute("x2", x);
      this.cursor.setAttribute("visibility", "visible");
      const texts = this.curves.map((list, index) => {
        const point = list.find(([reached]) => reached >= percentile) || list[list.length - 1];
        return point ? `${this.names[index]}: ${point[1].toLocaleString("en")} us` : "";
      });
      this.readout.textContent = `${percentile.toFixed(Math.max(0, Math.ceil(this.at) - 1))} %: ${texts.join(", ")}`;
    }
  }

  // Fills a table with a line per figure.
  function fillTable(table, columns, lines) {
    const head = element("tr");
    head.appendChild(element("th"));
    for (const name of columns) head.appendChild(element("th", name)).scope = "col";
    table.appendChild(element("thead")).appendChild(head);
    table.appendChild(element("tbody")).append(...lines.map((line) => figureRow(line, columns)));
  }

  // Draws the plots that have points, and the names of their curves.
  function drawPlots(parent, legend, names, plots) {
    names.forEach((name, index) => {
      const entry = legend.appendChild(element("span"));
      entry.appendChild(element("i")).style.background = colorOf(index);
      entry.append(name);
    });
    for (const {title, curves} of plots) if (curves.flat().length > 0) new Plot(parent, {title, names, curves});
  }

  window.reportPage = {fillTable, drawPlots};
})();
