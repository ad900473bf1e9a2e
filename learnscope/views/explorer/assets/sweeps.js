// The sweeps page's own work: controls in step, the address, the frame about the chosen cell.
(function () {
  const none = () => window.dash_clientside.no_update;
  const dark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  let shown = null; // the sweep, and its axes before the last change

  function values(ids, given) {
    const found = {};
    ids.forEach((id, i) => (found[id.name] = given[i]));
    return found;
  }

  function clamp(value, size) {
    return Math.min(Math.max(Number(value) || 0, 0), size - 1);
  }

  function within(edges, value) {
    return edges.findIndex((edge, k) => edge <= value && value < edges[k + 1]);
  }

  function tell(id, text) {
    const place = document.getElementById(id);
    if (place) place.textContent = text;
  }

  async function named() {
    const answer = await fetch("sweeps/names.json").catch(() => null);
    if (!answer || !answer.ok) return;
    const names = await answer.json();
    for (const place of document.querySelectorAll("[data-sweep]")) if (names[place.dataset.sweep]) place.textContent = names[place.dataset.sweep];
  }

  window.dash_clientside.sweeps = {
    // Axes differ; the other axes, components and cells are those of what is shown.
    shape: function (x, y, of, click, part, i, j, facts, rows) {
      const from = window.dash_clientside.callback_context.triggered_id;
      if (!shown || shown.id !== facts.id) shown = { id: facts.id, x: facts.x, y: facts.y };
      if (from === "sweep-map") {
        if (!click || !click.points.length) return Array(8).fill(none()).concat([rows.map(none)]);
        const point = click.points[0], meta = document.querySelector("#sweep-map .js-plotly-plot").layout.meta;
        if (meta.y) [i, j] = [within(meta.x, point.x), within(meta.y, point.y)];
        else i = point.customdata;
      } else if (x === y) {
        if (from && from.name === "y") x = shown.x === y ? shown.y : shown.x;
        else y = shown.y === x ? shown.x : shown.y;
        if (x === "none") x = Object.keys(facts.texts).find((dim) => dim !== y);
      }
      shown = { id: facts.id, x: x, y: y };
      const parts = facts.parts[of], sizes = [x, y].map((d) => (facts.texts[d] || [""]).length);
      const hidden = rows.map((row) => {
        if (row.name === "part") return parts.length === 1;
        if (row.name === "cell-y") return y === "none";
        if (row.name === "step") return facts.steps.length === 1;
        if (!row.name.startsWith("at.")) return false;
        const dim = row.name.slice(3);
        return dim === x || dim === y || facts.texts[dim].length === 1;
      });
      if (!parts.some((p) => p.value === part)) part = "largest";
      return [x, y, part, parts, clamp(i, sizes[0]), clamp(j, sizes[1]), sizes[0] - 1, sizes[1] - 1, hidden];
    },

    // Ask for what the controls hold; the address tells what differs from the first view.
    choose: function (given, facts, ids, asked, cell) {
      if (!facts) return [none(), none()];
      const held = values(ids, given), words = ["id=" + facts.id];
      const add = (name, text) => words.push(name + "=" + encodeURIComponent(text).replaceAll("%2C", ","));
      let place = "";
      if ("x" in held) {
        add("of", held.of);
        if (held.x !== facts.first.x || held.y !== facts.first.y) add("x", held.x), add("y", held.y);
        const step = clamp(held.step, facts.steps.length);
        if (step !== facts.steps.length - 1) add("step", facts.steps[step]);
        if (held.part !== "largest") add("part", held.part);
        for (const name of Object.keys(held))
          if (name.startsWith("at.") && ![held.x, held.y].includes(name.slice(3)) && held[name] !== facts.first[name])
            add(name, held[name]);
        const dims = held.y === "none" ? [held.x] : [held.x, held.y];
        const at = [held["cell-x"], held["cell-y"]].slice(0, dims.length)
          .map((value, k) => clamp(value, facts.texts[dims[k]].length));
        if (at.some((i) => i > 0)) place = "&cell=" + at.map((i) => i + 1).join(",");
        tell("step-text", "step " + facts.steps[step]);
        dims.forEach((dim, k) => tell(k ? "cell-y-text" : "cell-x-text", dim + " = " + facts.texts[dim][at[k]]));
      }
      const query = words.join("&");
      const first = !asked || !asked.query.startsWith(words[0]);
      if (!first || !window.location.search) window.history.replaceState(null, "", "?" + query + place);
      const map = { query: query + place, dark: dark(), first: first };
      const key = (wanted) => wanted && wanted.query.replace(/&cell=[0-9,]*/, "");
      const runs = { query: query + place };
      return [!first && key(asked) === key(map) ? none() : map, !first && cell && same(cell.query, runs.query) ? none() : runs];
    },

    // Hide the lines that lack a word. Names of studies are asked for once; they take seconds.
    search: function (text) {
      const rows = Array.from(document.querySelectorAll("table.listing tbody tr"));
      if (text === "" && rows.length) named();
      const words = (text || "").toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      return `${rows.filter((row) => !row.hidden).length} of ${rows.length} lines`;
    },

    // The runs of a cell.
    runs: function (found) {
      const box = document.getElementById("sweep-curves");
      if (!box) return none();
      box.hidden = !found;
      if (found) window.learnscope.panels(box, found);
      return none();
    },

    // The frame about the chosen cell, without a new map.
    frame: function (figure, cell) {
      const plot = document.querySelector("#sweep-map .js-plotly-plot");
      if (!plot || !plot.layout || !plot.layout.shapes || !cell || !figure || !figure.layout.meta) return none();
      const found = /&cell=(\d+)(?:,(\d+))?/.exec(cell.query);
      const [i, j] = found ? [found[1] - 1, (found[2] || 1) - 1] : [0, 0];
      const meta = figure.layout.meta;
      // A map tells the edges of its cells, a curve where its values lie.
      const next = meta.y ? 1 : 0;
      if (i + next >= meta.x.length || (meta.y && j + 1 >= meta.y.length)) return none();
      const wanted = { x0: meta.x[i], x1: meta.x[i + next] };
      if (meta.y) (wanted.y0 = meta.y[j]), (wanted.y1 = meta.y[j + 1]);
      const change = {};
      plot.layout.shapes.forEach((shape, at) => {
        if (shape.name !== "cell") return;
        for (const name of Object.keys(wanted))
          if (shape[name] !== wanted[name]) change[`shapes[${at}].${name}`] = wanted[name];
      });
      if (Object.keys(change).length && window.Plotly) window.Plotly.relayout(plot, change);
      return none();
    },
  };
})();
