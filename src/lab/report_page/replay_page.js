// The report of `stele replay`: the element replay-data.
"use strict";
(() => {
  const {fillTable, drawPlots, latencyAxes, rateAxes} = window.reportPage;
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("replay-data").textContent);

  for (const id of ["run", "notes"]) $(id).textContent = data[id];
  fillTable($("figures"), data.columns, data.lines);
  drawPlots($("plots"), $("legend"), data.names, data.plots, latencyAxes);
  drawPlots($("rates"), $("rates-legend"), data.rate_names, data.rates, rateAxes);
  document.body.dataset.ready = "true";
})();
