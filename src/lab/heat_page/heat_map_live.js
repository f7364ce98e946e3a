// Requests the heat maps of a server again and again. It follows heat_map_page.js in a page without maps.
"use strict";
(() => {
  const {read, show, isStudied} = window.heatMapPage;
  const live = read("heatmap-live");
  const state = document.getElementById("state");

  async function follow() {
    try {
      const response = await fetch(live.path, {cache: "no-store"});
      if (!response.ok) throw new Error(`status ${response.status}`);
      const maps = await response.json();
      if (maps.length > 0 && !isStudied()) show([{name: "Heat map", maps}]);
      state.textContent = maps.length === 0 ? "No operations yet." : isStudied() ? "Paused while the map is zoomed or a cell is pinned." : "";
    } catch (error) {
      state.textContent = `Not updated: ${error.message}`;
    }
    document.body.dataset.ready = "true";
    setTimeout(follow, live.seconds * 1000);
  }

  const other = document.createElement("a");
  other.href = live.other;
  other.textContent = live.title;
  state.before(other);
  follow();
})();
