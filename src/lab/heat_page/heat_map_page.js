// The page of a heat map. It draws the JSON of the element heatmap-data on a canvas, and next to it that of
// heatmap-compare if there is one. Keys are only used as text: textContent and fillText.
"use strict";
(() => {
  const TREE_LEVELS = 3;
  const TREE_WIDTH = 64;
  const SUM_SIZE = 72;
  const ZOOM = 1.25;
  const LABEL_HEIGHT = 13;
  const TIME_HEIGHT = 18;
  // A longer key is cut where it is shown.
  const SHOWN_MAX = 256;
  // The tree compares so many characters of a key, and a label has at most TREE_LABEL_MAX.
  const TREE_KEY_MAX = 1024;
  const TREE_LABEL_MAX = 64;
  // Characters that are not visible or change the direction of text.
  const HIDDEN = /[\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

  const $ = (id) => document.getElementById(id);
  const clamp = (value, least, most) => Math.min(Math.max(value, least), most);
  const read = (id) => ($(id) ? JSON.parse($(id).textContent) : null);
  const listOf = (data) => (Array.isArray(data) ? data : [data]);

  function shown(text) {
    const escaped = (c) => (c.length > 1 ? `\\u{${c.codePointAt(0).toString(16)}}` : "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
    return text.replace(HIDDEN, escaped);
  }

  // The first `most` characters of the member `name`, each as the text that shows it. Bytes that are not UTF-8 are
  // \xNN.
  function charactersOf(object, name, most) {
    if (object[name] !== undefined) return Array.from(object[name].slice(0, most), shown);
    if (object[name + "_base64"] === undefined) return [];
    const escaped = (c) => (c < " " || c > "~" ? "\\x" + c.charCodeAt(0).toString(16).padStart(2, "0") : c);
    return Array.from(atob(object[name + "_base64"]).slice(0, most), escaped);
  }

  // The member `name` as text.
  function textOf(object, name) {
    const bytes = bytesOf(object, name);
    const length = (object[name] || bytes).length;
    const rest = length > SHOWN_MAX ? `... (${numberText(bytes.length)} bytes)` : "";
    return charactersOf(object, name, SHOWN_MAX).join("") + rest;
  }

  // The UTF-8 bytes of a key, one character each, so that keys compare as in the table.
  function bytesOf(object, name) {
    if (object[name + "_base64"] !== undefined) return atob(object[name + "_base64"]);
    return unescape(encodeURIComponent(object[name] || ""));
  }

  function timeText(micros) {
    const date = new Date(micros / 1000);
    if (Number.isNaN(date.getTime())) return String(micros) + " us";
    return date.toISOString().replace(/\.000Z$/, "Z");
  }

  const numberText = (value) => value.toLocaleString("en", {maximumFractionDigits: 2});
  const counted = (count, noun) => `${numberText(count)} ${noun}${count === 1 ? "" : "s"}`;

  // A width in the largest unit that divides it, as in the text of a map.
  function widthText(micros) {
    const units = [["d", 864e8], ["h", 36e8], ["m", 6e7], ["s", 1e6], ["ms", 1e3], ["us", 1]];
    const [unit, width] = units.find((each) => micros % each[1] === 0);
    return `${micros / width}${unit}`;
  }

  const isSum = (metric) => metric !== "latency" && metric !== "seen-ratio";

  const palette = read("heatmap-palette").map((color) => [1, 3, 5].map((at) => parseInt(color.substr(at, 2), 16)));

  function element(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text) made.textContent = text;
    return made;
  }

  // A canvas of the size of its element, in pixels of the screen.
  function prepared(canvas) {
    const ratio = window.devicePixelRatio || 1;
    const box = canvas.getBoundingClientRect();
    canvas.width = Math.max(1, Math.round(box.width * ratio));
    canvas.height = Math.max(1, Math.round(box.height * ratio));
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return {context, width: box.width, height: box.height, ratio};
  }

  const colorOf = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

  // What all panels have in common.
  const shared = {metric: "ops", brightness: 1, panels: [], maps: []};
  const largest = () => Math.max(0, ...shared.panels.map((panel) => panel.largest()));

  class Panel {
    constructor(parent, {name, maps, isNamed}) {
      this.name = name;
      this.maps = maps;
      this.isNamed = isNamed;
      this.root = element("section", "panel");
      this.root.setAttribute("aria-label", name);
      this.heading = this.root.appendChild(element("h2", "", name));
      const grid = this.root.appendChild(element("div", "grid"));
      this.tree = grid.appendChild(element("canvas", "tree"));
      this.canvas = grid.appendChild(element("canvas", "map"));
      this.bandSums = grid.appendChild(element("canvas", "band-sums"));
      this.stepSums = grid.appendChild(element("canvas", "step-sums"));
      this.canvas.tabIndex = 0;
      this.canvas.setAttribute("role", "img");
      this.tree.setAttribute("role", "img");
      this.tree.setAttribute("aria-label", "Common prefixes of the row keys, at most three levels");
      this.bandSums.setAttribute("role", "img");
      this.bandSums.setAttribute("aria-label", "Sum by band");
      this.stepSums.setAttribute("role", "img");
      this.stepSums.setAttribute("aria-label", "Sum by step");
      this.tooltip = this.root.appendChild(element("div", "tooltip"));
      this.tooltip.setAttribute("role", "status");
      this.tooltip.setAttribute("aria-live", "polite");
      this.summary = this.root.appendChild(element("p", "summary"));
      this.root.appendChild(element("h3", "", "Patterns"));
      this.patterns = this.root.appendChild(element("ul", "patterns"));
      parent.appendChild(this.root);
      this.listen();
      this.choose(0);
    }

    choose(index) {
      this.map = this.maps[index];
      this.bands = this.map.bands.length;
      this.steps = this.map.steps;
      this.starts = this.map.bands.map((band) => textOf(band, "start"));
      this.startCharacters = this.map.bands.map((band) => charactersOf(band, "start", TREE_KEY_MAX));
      this.startBytes = this.map.bands.map((band) => bytesOf(band, "start"));
      this.history = [];
      this.view = this.whole();
      this.cursor = null;
      this.pinned = false;
      this.mark = null;
      this.listPatterns();
    }

    whole() {
      return {band: 0, bands: this.bands, step: 0, steps: this.steps};
    }

    isZoomed() {
      return this.view.bands < this.bands || this.view.steps < this.steps;
    }

    values() {
      return this.map.metrics[shared.metric] || null;
    }

    at(band, step) {
      const values = this.values();
      return values ? values[band][step] : 0;
    }

    largest() {
      let most = 0;
      for (const row of this.values() || []) for (const value of row) if (value > most) most = value;
      return most;
    }

    // The color of a value, as in the image of `stele heatmap -o FILE.png`; the brightness bends it.
    level(value) {
      if (!(value > 0)) return 0;
      const share = Math.log1p(value) / Math.log1p(this.scale);
      return 1 + Math.floor(254 * clamp(Math.pow(share, 1 / shared.brightness), 0, 1));
    }

    draw() {
      this.scale = largest();
      this.drawCells();
      this.drawSums();
      this.drawTree();
      this.drawMarks();
      this.describe();
      this.showTooltip();
    }

    // Cells [first, after) that the pixel shows: at least one.
    static span(pixel, pixels, first, count, most) {
      const from = clamp(Math.floor(first + (pixel * count) / pixels), 0, most - 1);
      const to = clamp(Math.ceil(first + ((pixel + 1) * count) / pixels), from + 1, most);
      return count < pixels ? [from, from + 1] : [from, to];
    }

    // Every pixel has the largest value of its cells, so that a hot row does not vanish.
    drawCells() {
      const {context} = prepared(this.canvas);
      const {width, height} = this.canvas;
      const image = context.createImageData(width, height);
      const view = this.view;
      const columns = [];
      for (let x = 0; x < width; ++x) columns.push(Panel.span(x, width, view.step, view.steps, this.steps));
      let last = -1;
      for (let y = 0; y < height; ++y) {
        const [from, to] = Panel.span(y, height, view.band, view.bands, this.bands);
        if (from * this.bands + to === last) {
          image.data.copyWithin(y * width * 4, (y - 1) * width * 4, y * width * 4);
          continue;
        }
        last = from * this.bands + to;
        for (let x = 0; x < width; ++x) {
          let most = 0;
          for (let band = from; band < to; ++band)
            for (let step = columns[x][0]; step < columns[x][1]; ++step) most = Math.max(most, this.at(band, step));
          const color = palette[this.level(most)];
          const offset = (y * width + x) * 4;
          image.data[offset] = color[0];
          image.data[offset + 1] = color[1];
          image.data[offset + 2] = color[2];
          image.data[offset + 3] = 255;
        }
      }
      context.putImageData(image, 0, 0);
      this.image = image;
    }

    // Draws the marks again over the same cells.
    refresh() {
      this.canvas.getContext("2d").putImageData(this.image, 0, 0);
      this.drawMarks();
      this.showTooltip();
    }

    // The sum over the visible steps of each band, and over the visible bands of each step.
    sums() {
      const byBand = new Array(this.bands).fill(0);
      const byStep = new Array(this.steps).fill(0);
      const add = isSum(shared.metric) ? (a, b) => a + b : Math.max;
      const {band, bands, step, steps} = this.view;
      for (let b = Math.floor(band); b < Math.min(this.bands, band + bands); ++b) {
        for (let s = Math.floor(step); s < Math.min(this.steps, step + steps); ++s) {
          const value = this.at(b, s);
          byBand[b] = add(byBand[b], value);
          byStep[s] = add(byStep[s], value);
        }
      }
      return {byBand, byStep};
    }

    drawSums() {
      const {byBand, byStep} = this.sums();
      const bars = (canvas, sums, first, count, isDown) => {
        const {context, width, height} = prepared(canvas);
        context.clearRect(0, 0, width, height);
        context.fillStyle = colorOf("--bar");
        const most = Math.max(...sums);
        if (most === 0) return;
        const length = isDown ? height : width;
        for (let i = 0; i < length; ++i) {
          const [from, to] = Panel.span(i, length, first, count, sums.length);
          let value = 0;
          for (let cell = from; cell < to; ++cell) value = Math.max(value, sums[cell]);
          const size = (value / most) * (isDown ? width - 4 : height - TIME_HEIGHT);
          if (isDown) context.fillRect(0, i, size, 1);
          else context.fillRect(i, 0, 1, size);
        }
      };
      bars(this.bandSums, byBand, this.view.band, this.view.bands, true);
      bars(this.stepSums, byStep, this.view.step, this.view.steps, false);
      const {context, width, height} = {context: this.stepSums.getContext("2d"), width: this.stepSums.clientWidth,
                                        height: this.stepSums.clientHeight};
      context.fillStyle = colorOf("--text");
      context.font = "11px sans-serif";
      const time = (step) => timeText(this.map.start_us + Math.floor(step) * this.map.step_us);
      const first = time(this.view.step);
      const last = time(this.view.step + this.view.steps);
      context.textAlign = "left";
      context.fillText(first, 0, height - 3);
      context.textAlign = "right";
      if (context.measureText(first + last).width < width - 12) context.fillText(last, width, height - 3);
    }

    // The end of the next part of a key, a list of characters: after a delimiter, or after one more character.
    static partEnd(key, from) {
      for (let i = from; i < key.length; ++i) if ("#/:|.".includes(key[i])) return i + 1;
      return Math.min(key.length, from + 1);
    }

    // Groups neighbouring bands whose first keys have the same next part.
    drawTree() {
      const {context, width, height} = prepared(this.tree);
      context.clearRect(0, 0, width, height);
      context.font = "11px monospace";
      context.textAlign = "left";
      context.textBaseline = "top";
      const text = colorOf("--text");
      const line = colorOf("--line");
      const y = (band) => ((band - this.view.band) / this.view.bands) * height;
      const visit = (first, after, from, level) => {
        for (let begin = first; begin < after;) {
          const key = this.startCharacters[begin];
          const part = Panel.partEnd(key, from);
          let common = key.length;
          let end = begin + 1;
          for (; end < after && part > from; ++end) {
            const other = this.startCharacters[end];
            let same = from;
            while (same < common && key[same] === other[same]) ++same;
            if (same < part) break;
            common = same;
          }
          const top = Math.max(0, y(begin));
          const bottom = Math.min(height, y(end));
          if (bottom > 0 && top < height) {
            const label = key.slice(from, Math.min(common, from + TREE_LABEL_MAX)).join("");
            context.strokeStyle = line;
            context.strokeRect(level * TREE_WIDTH + 0.5, Math.round(top) + 0.5, TREE_WIDTH, bottom - top);
            if (bottom - top >= LABEL_HEIGHT) {
              context.save();
              context.beginPath();
              context.rect(level * TREE_WIDTH, top, TREE_WIDTH - 2, bottom - top);
              context.clip();
              context.fillStyle = text;
              context.fillText(label, level * TREE_WIDTH + 3, top + 2);
              context.restore();
            }
            if (level + 1 < TREE_LEVELS && end > begin + 1 && bottom - top >= 2 * LABEL_HEIGHT)
              visit(begin, end, common, level + 1);
          }
          begin = end;
        }
      };
      visit(0, this.bands, 0, 0);
    }

    // The rectangle of bands and steps on the canvas.
    box(band, bands, step, steps) {
      const width = this.canvas.clientWidth;
      const height = this.canvas.clientHeight;
      return [((step - this.view.step) / this.view.steps) * width, ((band - this.view.band) / this.view.bands) * height,
              (steps / this.view.steps) * width, (bands / this.view.bands) * height];
    }

    drawMarks() {
      const context = this.canvas.getContext("2d");
      const outline = (color, dash, box) => {
        context.setLineDash(dash);
        context.lineWidth = 2;
        context.strokeStyle = color;
        context.strokeRect(...box);
      };
      if (this.mark) outline("#00e5ff", [6, 3], this.box(this.mark.band, this.mark.bands, this.mark.step, this.mark.steps));
      if (this.cursor) outline("#ffffff", this.pinned ? [] : [2, 2], this.box(this.cursor.band, 1, this.cursor.step, 1));
      if (this.drag && this.drag.to) {
        const {from, to} = this.drag;
        outline("#ffffff", [4, 2], [from.x, from.y, to.x - from.x, to.y - from.y]);
      }
    }

    describe() {
      const {map} = this;
      this.heading.textContent = (this.isNamed ? `${this.name}: ` : "") + textOf(map, "table");
      let hottest = 0;
      const {byBand} = this.sums();
      for (let band = 1; band < this.bands; ++band) if (byBand[band] > byBand[hottest]) hottest = band;
      const row = map.hottest_row ? ` Hottest row: ${textOf(map.hottest_row, "row")}, ${numberText(map.hottest_row.operations)}.` : "";
      this.summary.textContent =
        `${counted(this.bands, "band")} by ${counted(this.steps, "step")} of ${widthText(map.step_us)} from ${timeText(map.start_us)}. ` +
        `${counted(map.totals.operations, "operation")}, ${counted(map.totals.reads, "read")}, ` +
        `${counted(map.totals.writes, "write")}. Gini coefficient ${map.gini}. Most ${shared.metric} in the band from "${this.starts[hottest]}".` + row;
      this.canvas.setAttribute("aria-label", `Heat map of ${textOf(map, "table")}, ${shared.metric}, time to the right and row keys ` +
        `downwards. ${this.summary.textContent} Arrow keys move between cells, plus and minus zoom, Backspace goes back.`);
    }

    showTooltip() {
      this.tooltip.replaceChildren();
      this.tooltip.classList.toggle("pinned", this.pinned);
      if (!this.cursor) {
        this.tooltip.append(element("span", "", "Point at the map. Drag or turn the wheel to zoom."));
        return;
      }
      const {band, step} = this.cursor;
      const begin = this.map.start_us + step * this.map.step_us;
      const end = textOf(this.map.bands[band], "end");
      const add = (name, value) => {
        const line = element("div");
        line.append(element("b", "", name), element("span", "", value));
        this.tooltip.append(line);
      };
      add("from", `"${this.starts[band]}"`);
      add("to", band + 1 === this.bands ? "the end" : `"${end}"`);
      if (this.map.bands[band].keys > 0) add("keys", numberText(this.map.bands[band].keys));
      add("time", `${timeText(begin)} to ${timeText(begin + this.map.step_us)}`);
      for (const metric of Object.keys(this.map.metrics)) add(metric, numberText(this.map.metrics[metric][band][step]));
    }

    listPatterns() {
      this.patterns.replaceChildren();
      if (this.map.patterns.length === 0) this.patterns.append(element("li", "", "none"));
      for (const pattern of this.map.patterns) {
        const button = element("button", pattern.severity);
        button.type = "button";
        button.append(element("b", "", pattern.name), element("span", "", shown(pattern.message)));
        button.title = pattern.rule ? `stele lint --explain ${pattern.rule}` : pattern.severity;
        button.addEventListener("click", () => {
          this.mark = this.placeOf(pattern);
          this.refresh();
        });
        this.patterns.appendChild(element("li")).append(button);
      }
    }

    bandOf(bytes) {
      let band = 0;
      while (band + 1 < this.bands && this.startBytes[band + 1] <= bytes) ++band;
      return band;
    }

    // Where on the map a pattern is; the whole map if it has no place.
    placeOf(pattern) {
      const place = this.whole();
      if (pattern.bands) {
        place.band = pattern.bands[0];
        place.bands = pattern.bands[1] - pattern.bands[0] + 1;
      } else if (pattern.row !== undefined || pattern.row_base64 !== undefined) {
        place.band = this.bandOf(bytesOf(pattern, "row"));
        place.bands = 1;
      } else if (pattern.name === "hot-tablet") {
        const end = bytesOf(pattern, "end");
        place.band = this.bandOf(bytesOf(pattern, "start"));
        place.bands = (end === "" ? this.bands - 1 : this.bandOf(end)) - place.band + 1;
      }
      if (pattern.from_step !== undefined) {
        place.step = pattern.from_step;
        place.steps = this.steps - pattern.from_step;
      }
      return place;
    }

    setView(view, keepsHistory) {
      const bands = clamp(view.bands, Math.min(1, this.bands), this.bands);
      const steps = clamp(view.steps, Math.min(1, this.steps), this.steps);
      if (!keepsHistory) this.history.push(this.view);
      this.view = {band: clamp(view.band, 0, this.bands - bands), bands, step: clamp(view.step, 0, this.steps - steps), steps};
      this.draw();
    }

    back() {
      if (this.history.length > 0) this.setView(this.history.pop(), true);
    }

    // Keeps the cell at these shares of the canvas in place.
    zoom(factor, x, y, onlyTime, onlyBands) {
      const {band, bands, step, steps} = this.view;
      const newBands = onlyTime ? bands : clamp(bands * factor, 1, this.bands);
      const newSteps = onlyBands ? steps : clamp(steps * factor, 1, this.steps);
      this.setView({band: band + y * (bands - newBands), bands: newBands, step: step + x * (steps - newSteps), steps: newSteps});
    }

    point(event) {
      const box = this.canvas.getBoundingClientRect();
      return {x: clamp(event.clientX - box.left, 0, box.width), y: clamp(event.clientY - box.top, 0, box.height), width: box.width, height: box.height};
    }

    cellAt({x, y, width, height}) {
      return {band: clamp(Math.floor(this.view.band + (y / height) * this.view.bands), 0, this.bands - 1),
              step: clamp(Math.floor(this.view.step + (x / width) * this.view.steps), 0, this.steps - 1)};
    }

    endDrag(event) {
      const {from} = this.drag;
      const to = this.point(event);
      this.drag = null;
      if (Math.abs(to.x - from.x) < 5 && Math.abs(to.y - from.y) < 5) {
        this.pinned = !this.pinned || JSON.stringify(this.cursor) !== JSON.stringify(this.cellAt(to));
        this.cursor = this.cellAt(to);
        this.refresh();
        return;
      }
      const a = this.cellAt({...from, x: Math.min(from.x, to.x), y: Math.min(from.y, to.y)});
      const b = this.cellAt({...from, x: Math.max(from.x, to.x), y: Math.max(from.y, to.y)});
      this.setView({band: a.band, bands: b.band - a.band + 1, step: a.step, steps: b.step - a.step + 1});
    }

    moveCursor(bands, steps) {
      const {band, step} = this.cursor || {band: Math.floor(this.view.band), step: Math.floor(this.view.step)};
      this.cursor = {band: clamp(band + bands, 0, this.bands - 1), step: clamp(step + steps, 0, this.steps - 1)};
      const view = {...this.view};
      view.band = clamp(view.band, this.cursor.band + 1 - view.bands, this.cursor.band);
      view.step = clamp(view.step, this.cursor.step + 1 - view.steps, this.cursor.step);
      this.setView(view, true);
    }

    pan(bands, steps) {
      this.setView({...this.view, band: this.view.band + bands * this.view.bands, step: this.view.step + steps * this.view.steps}, true);
    }

    key(event) {
      if (event.ctrlKey || event.altKey || event.metaKey) return;  // for the browser
      const arrows = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
      const cursor = this.cursor || {band: this.view.band + this.view.bands / 2, step: this.view.step + this.view.steps / 2};
      const x = (cursor.step - this.view.step) / this.view.steps;
      const y = (cursor.band - this.view.band) / this.view.bands;
      if (arrows[event.key] && event.shiftKey) this.pan(arrows[event.key][0] / 4, arrows[event.key][1] / 4);
      else if (arrows[event.key]) this.moveCursor(...arrows[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(1 / ZOOM, x, y);
      else if (event.key === "-") this.zoom(ZOOM, x, y);
      else if (event.key === "0" || event.key === "Home") this.setView(this.whole());
      else if (event.key === "Backspace" || event.key === "Escape") this.back();
      else if (event.key === "Enter" || event.key === " ") {
        this.pinned = !this.pinned && this.cursor !== null;
        this.refresh();
      } else return;
      event.preventDefault();
    }

    listen() {
      this.canvas.addEventListener("mousedown", (event) => {
        if (event.button === 0) this.drag = {from: this.point(event), to: null};
      });
      window.addEventListener("mouseup", (event) => {
        if (this.drag) this.endDrag(event);
      });
      this.canvas.addEventListener("mousemove", (event) => {
        if (this.drag) this.drag.to = this.point(event);
        else if (this.pinned) return;
        const cell = this.cellAt(this.point(event));
        if (!this.drag && this.cursor && cell.band === this.cursor.band && cell.step === this.cursor.step) return;
        if (!this.pinned) this.cursor = cell;
        this.refresh();
      });
      this.canvas.addEventListener("wheel", (event) => {
        // A browser turns a wheel with Shift into a horizontal one. Other horizontal wheels do not zoom.
        const turn = event.deltaY || (event.shiftKey ? event.deltaX : 0);
        if (turn === 0) return;
        const {x, y, width, height} = this.point(event);
        this.zoom(turn > 0 ? ZOOM : 1 / ZOOM, x / width, y / height, event.shiftKey, event.altKey);
        event.preventDefault();
      }, {passive: false});
      this.canvas.addEventListener("keydown", (event) => this.key(event));
    }
  }

  const drawAll = () => shared.panels.forEach((panel) => panel.draw());

  function fillMetrics() {
    const names = new Set(shared.panels.flatMap((panel) => Object.keys(panel.map.metrics)));
    $("metric").replaceChildren(...Array.from(names, (name) => new Option(name, name, false, name === shared.metric)));
    if (!names.has(shared.metric)) shared.metric = "ops";
    $("metric").value = shared.metric;
  }

  // Shows panels next to each other, each with a name and a list of maps. The heading of a panel
  // with isNamed shows its name. The first panel gives the choice of tables. The table that was
  // shown before stays if it has a map.
  function show(panels) {
    const chosen = shared.maps.length > 0 ? chosenTable() : null;
    const maps = panels[0].maps;
    shared.maps = maps;
    if (shared.panels.length === 0) shared.panels = panels.map((panel) => new Panel($("panels"), panel));
    panels.forEach((panel, index) => {
      shared.panels[index].maps = panel.maps;
    });
    $("table").replaceChildren(...maps.map((map, index) => new Option(textOf(map, "table"), String(index))));
    $("table-choice").hidden = maps.length < 2;
    const index = Math.max(0, maps.findIndex((map) => bytesOf(map, "table") === chosen));
    $("table").value = String(index);
    chooseTable(bytesOf(maps[index], "table"));
  }

  const chosenTable = () => bytesOf(shared.maps[Number($("table").value)], "table");

  function chooseTable(name) {
    for (const panel of shared.panels) panel.choose(Math.max(0, panel.maps.findIndex((map) => bytesOf(map, "table") === name)));
    fillMetrics();
    drawAll();
  }

  function listen() {
    $("metric").addEventListener("change", () => {
      shared.metric = $("metric").value;
      drawAll();
    });
    $("table").addEventListener("change", () => chooseTable(chosenTable()));
    $("brightness").addEventListener("input", () => {
      shared.brightness = Number($("brightness").value);
      drawAll();
    });
    $("back").addEventListener("click", () => shared.panels.forEach((panel) => panel.back()));
    $("whole").addEventListener("click", () => shared.panels.forEach((panel) => panel.setView(panel.whole())));
    window.addEventListener("resize", drawAll);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  }

  function start() {
    listen();
    const maps = read("heatmap-data");
    if (!maps) return;  // another script calls show()
    const compared = read("heatmap-compare");
    shared.metric = listOf(maps)[0].metric;
    const isNamed = compared !== null;
    const panels = [{name: "Heat map", maps: listOf(maps), isNamed}];
    if (compared) panels.push({name: "Compared heat map", maps: listOf(compared), isNamed});
    show(panels);
    document.body.dataset.ready = "true";
  }

  // True while the user looks at a part of the map.
  const isStudied = () => shared.panels.some((panel) => panel.drag || panel.pinned || panel.isZoomed());

  window.heatMapPage = {read, show, isStudied};
  start();
})();
