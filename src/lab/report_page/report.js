// Parts of the reports of `stele compare-designs` and `stele replay`: tables, and plots of latencies and rates.
// Texts of the user are only used as text.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const COLORS = ["#3a86c8", "#d1495b", "#2a9d6f", "#c8862a", "#8a5fc0", "#00a5c8", "#9a7b4f", "#c45fa0"];
  const DASHES = ["", "8 4", "2 3", "10 3 2 3"];
  const WIDTH = 480;
  const WIDTH_MIN = 260;
  const HEIGHT = 280;
  const LEFT_MIN = 64;
  const RIGHT = 24;
  const TOP = 26;
  const BOTTOM = 24;
  const CHARACTER_WIDTH = 6.5;

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

  // Returns the share of an axis, from 0 to 1, and the text of each mark. The marks are 1, 2 or 5 times a power of ten.
  function marksOf(most, count, text) {
    const power = Math.pow(10, Math.floor(Math.log10(most / count)));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power * count >= most * 0.999999);
    return Array.from({length: Math.floor(most / step + 1e-6) + 1}, (_, index) => [(index * step) / most, text(index * step)]);
  }

  // The place of a percentile on its axis. Each step of 90, 99, 99.9, ... has the same width.
  const depth = (percentile) => -Math.log10(Math.max(1 - percentile / 100, 1e-9));

  // The axes of curves of [percentile, microseconds].
  function latencyAxes(curves) {
    const points = curves.flat();
    // The last point is the maximum, which has no place of its own.
    const deepest = Math.max(1, ...points.filter(([percentile]) => percentile < 100).map(([percentile]) => depth(percentile))) + 0.2;
    const micros = points.map((point) => point[1]);
    const low = Math.floor(Math.log10(Math.max(Math.min(...micros), 0.001)));
    const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...micros, 0.001))));
    const x = (percentile) => Math.min(depth(percentile), deepest) / deepest;
    const y = (value) => (Math.log10(Math.max(value, 0.001)) - low) / (high - low);
    const percentileAt = (share) => 100 * (1 - Math.pow(10, -share * deepest));
    // The text of 0 would touch that of 50.
    const names = ["0", "50", "90", "99", "99.9", "99.99", "99.999", "99.9999", "99.99999", "99.999999"];
    return {
      name: "Latency by percentile",
      unit: "us",
      columns: names.filter((text) => depth(Number(text)) <= deepest).map((text) => [x(Number(text)), text === "0" ? "" : `${text} %`]),
      rows: Array.from({length: high - low + 1}, (_, index) => [index / (high - low), Math.pow(10, low + index).toLocaleString("en", {maximumFractionDigits: 3})]),
      places: (list) => list.map(([percentile, value]) => [x(percentile), y(value)]),
      placeText: (share) => `${percentileAt(share).toFixed(Math.max(0, Math.ceil(share * deepest) - 1))} %`,
      valueText(list, share) {
        const point = list.find(([reached]) => reached >= percentileAt(share)) || list[list.length - 1];
        return point ? `${point[1].toLocaleString("en")} us` : "";
      },
    };
  }

  // The axes of curves of [end of an interval in seconds, operations per second].
  function rateAxes(curves) {
    const points = curves.flat();
    const longest = Math.max(1e-6, ...points.map(([end]) => end));
    const fastest = Math.max(1, ...points.map(([, rate]) => rate)) * 1.05;
    const number = (value) => value.toLocaleString("en", {maximumSignificantDigits: 4});
    return {
      name: "Operations per second over time",
      unit: "operations/s",
      columns: marksOf(longest, 5, (value) => `${number(value)} s`),
      rows: marksOf(fastest, 6, number),
      // A rate is that of a whole interval.
      places: (list) => list.flatMap(([end, rate], index) => [index === 0 ? 0 : list[index - 1][0], end].map((time) => [time / longest, rate / fastest])),
      placeText: (share) => `${number(share * longest)} s`,
      valueText(list, share) {
        const point = list.find(([end]) => end >= share * longest * 0.999999);
        return point ? `${point[1].toLocaleString("en")} operations/s` : "ended";
      },
    };
  }

  // Draws curves, each with a name.
  class Plot {
    constructor(parent, {title, names, curves, axes}) {
      this.names = names;
      this.curves = curves;
      this.axes = axes;
      // A narrow window has narrow plots with texts of the same size.
      this.width = Math.min(Math.max(parent.clientWidth - 2, WIDTH_MIN), WIDTH);
      // The texts of the rows end before the left margin, and a long one needs a wider margin.
      const longest = Math.max(...axes.rows.map(([, text]) => text.length));
      this.left = Math.max(LEFT_MIN, 10 + 7 * longest);
      const figure = parent.appendChild(element("figure"));
      figure.className = "plot";
      this.root = svg(figure, "svg", {width: this.width, viewBox: `0 0 ${this.width} ${HEIGHT}`, role: "img", tabindex: 0, "aria-label": `${axes.name}: ${title}`});
      svg(this.root, "text", {x: 8, y: 16}, `${title}, ${axes.unit}`);
      this.drawGrid();
      curves.forEach((list, index) => this.drawCurve(list, index));
      this.cursor = svg(this.root, "line", {class: "cursor", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden"});
      this.readout = figure.appendChild(element("figcaption"));
      this.readout.className = "readout";
      this.readout.setAttribute("role", "status");
      this.at = 0;
      this.root.addEventListener("mousemove", (event) => this.readAt(this.shareAt(event.clientX)));
      this.root.addEventListener("keydown", (event) => {
        const steps = {ArrowLeft: -0.025, ArrowRight: 0.025};
        if (!steps[event.key]) return;
        this.readAt(this.at + steps[event.key]);
        event.preventDefault();
      });
    }

    x(share) {
      return this.left + share * (this.width - this.left - RIGHT);
    }

    y(share) {
      return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
    }

    shareAt(clientX) {
      const box = this.root.getBoundingClientRect();
      return (((clientX - box.left) * this.width) / box.width - this.left) / (this.width - this.left - RIGHT);
    }

    drawGrid() {
      for (const [share, text] of this.axes.rows) {
        const y = this.y(share);
        svg(this.root, "line", {class: "grid-line", x1: this.left, x2: this.width - RIGHT, y1: y, y2: y});
        svg(this.root, "text", {x: this.left - 6, y: y + 4, "text-anchor": "end"}, text);
      }
      let free = 0;
      for (const [share, text] of this.axes.columns) {
        const x = this.x(share);
        svg(this.root, "line", {class: "grid-line", x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM});
        // A text that would touch the one before is left out.
        const half = (text.length * CHARACTER_WIDTH) / 2;
        if (x - half < free) continue;
        free = x + half;
        svg(this.root, "text", {x, y: HEIGHT - 8, "text-anchor": "middle"}, text);
      }
    }

    drawCurve(list, index) {
      if (list.length === 0) return;
      const path = this.axes.places(list).map(([x, y], point) => `${point === 0 ? "M" : "L"}${this.x(x).toFixed(1)} ${this.y(y).toFixed(1)}`).join("");
      svg(this.root, "path", {d: path, stroke: colorOf(index), "stroke-dasharray": dashOf(index)});
    }

    readAt(wanted) {
      this.at = Math.min(Math.max(wanted, 0), 1);
      const x = this.x(this.at);
      this.cursor.setAttribute("x1", x);
      this.cursor.setAttribute("x2", x);
      this.cursor.setAttribute("visibility", "visible");
      const texts = this.curves.map((list, index) => `${this.names[index]}: ${this.axes.valueText(list, this.at)}`);
      this.readout.textContent = `${this.axes.placeText(this.at)}: ${texts.join(", ")}`;
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
  function drawPlots(parent, legend, names, plots, axesOf) {
    if (plots.every(({curves}) => curves.flat().length === 0)) return;
    names.forEach((name, index) => {
      const entry = legend.appendChild(element("span"));
      entry.appendChild(element("i")).style.background = colorOf(index);
      entry.append(name);
    });
    for (const {title, curves} of plots) if (curves.flat().length > 0) new Plot(parent, {title, names, curves, axes: axesOf(curves)});
  }

  window.reportPage = {fillTable, drawPlots, latencyAxes, rateAxes};
})();
