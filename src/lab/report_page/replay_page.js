// The report of `stele replay`: the element replay-data.
"use strict";
(() => {
  const {fillTable, drawPlots, latencyAxes} = window.reportPage;
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("replay-data").textContent);

  for (const id of ["run", "notes"]) $(id).textContent = data[id];
  fillTable($("figures"), data.columns, data.lines);
  drawPlots($("plots"), $("legend"), data.names, data.plots, latencyAxes);
  document.body.dataset.ready = "true";
})();
