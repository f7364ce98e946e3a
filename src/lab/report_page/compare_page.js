// The report of `stele compare-designs`: the element compare-data above the heat maps, which
// heat_map_page.js draws.
"use strict";
(() => {
  const {read, show} = window.heatMapPage;
  const {fillTable, drawPlots, latencyAxes, rateAxes} = window.reportPage;
  const $ = (id) => document.getElementById(id);
  const data = read("compare-data");

  for (const id of ["run", "answers", "summary", "maps"]) $(id).textContent = data[id];
  fillTable($("figures"), data.designs, data.lines);
  drawPlots($("plots"), $("legend"), data.designs, data.plots, latencyAxes);
  drawPlots($("rates"), $("rates-legend"), data.designs, data.rates, rateAxes);
  show(data.designs.map((name, design) => ({name, maps: [read(`compare-map-${design}`)], isNamed: true})));
  document.body.dataset.ready = "true";
})();
