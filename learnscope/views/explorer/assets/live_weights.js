// The picture of the weights at a step: a map of directions, or a matrix.
(function () {
  const learnscope = window.learnscope;

  // Where each star's name stands: where it covers no star and no other name; nowhere ("") if there is no such place.
  const PLACES = { "top center": [0, 1], "bottom center": [0, -1], "middle right": [1, 0], "middle left": [-1, 0] };
  const PIXEL = 2.6 / 320, STAR = 8 * PIXEL, LINE = 9 * PIXEL, LETTER = 4.3 * PIXEL; // half sizes on the map
  learnscope.beside = function (stars, names) {
    const taken = stars.map(([x, y]) => [x - STAR, x + STAR, y - STAR, y + STAR]);
    const apart = (a, b) => a[1] <= b[0] || b[1] <= a[0] || a[3] <= b[2] || b[3] <= a[2];
    return stars.map(([x, y], i) => {
      const wide = LETTER * names[i].length;
      for (const [place, [dx, dy]] of Object.entries(PLACES)) {
        const at = [x + dx * (wide + STAR), y + dy * (LINE + STAR)], box = [at[0] - wide, at[0] + wide, at[1] - LINE, at[1] + LINE];
        if (taken.every((other, k) => k === i || apart(box, other))) {
          taken.push(box);
          return place;
        }
      }
      return "";
    });
  };

  learnscope.weights = function (frames, place) {
    const layout = { ...learnscope.look(), margin: { l: 50, r: 10, t: 10, b: 45 }, height: 340 };
    if (frames.kind === "none") return { data: [], layout: layout, text: frames.why };
    const values = frames.values[Math.min(place, frames.values.length - 1)];
    if (frames.kind === "matrix") {
      const most = Math.max(1e-9, ...frames.values.flat(2).map(Math.abs)), n = values.map((_, i) => i + 1);
      layout.xaxis = { title: { text: "to " + frames.of }, dtick: 1 };
      layout.yaxis = { title: { text: "from " + frames.of }, dtick: 1, autorange: "reversed" };
      const heat = { type: "heatmap", x: n, y: n, z: values, zmin: -most, zmax: most, colorscale: "RdBu", colorbar: { title: { text: "entry" } } };
      return { data: [heat], layout: layout, text: `First seed: ${frames.text}.` };
    }
    const some = frames.points.length < frames.count ? `${frames.points.length} of ${frames.count}` : frames.count;
    const axis = { range: [-1.3, 1.3], zeroline: false };
    layout.xaxis = { ...axis, showticklabels: false };
    layout.yaxis = { ...axis, showticklabels: false, scaleanchor: "x" };
    layout.margin = { l: 10, r: 10, t: 10, b: 10 };
    const each = frames.count / frames.outputs, colours = learnscope.colours();
    const at = (some) => ({ type: "scatter", x: some.map((v) => v[0]), y: some.map((v) => v[1]) });
    const points = { ...at(values.slice(0, frames.points.length)), mode: "markers",
      text: frames.points.map((f) => frames.of + " " + (f + 1)), hoverinfo: "text",
      marker: { size: 9, opacity: 0.75, color: frames.points.map((f) => colours[Math.floor(f / each) % colours.length]) } };
    const names = frames.landmarks.map((name) => learnscope.typeset(name).map((node) => node.textContent || node).join(""));
    const marked = values.slice(frames.points.length), places = learnscope.beside(marked, names);
    const stars = { ...at(marked), mode: "markers+text", text: names.map((name, i) => (places[i] ? name : "")), textposition: places.map((place) => place || "top center"), hovertext: names, hoverinfo: "text",
      cliponaxis: false, textfont: { size: 14 }, marker: { size: 13, symbol: "star", color: layout.font.color } };
    const more = places.includes("") ? "; point at one for its name" : "";
    const marks = names.length ? `, among the problem's own (stars${more})` : "";
    const text = `${frames.count === 1 ? `Direction of one ${frames.of}` : `Directions of ${some} ${frames.of}s`}${marks}, first seed, by classical scaling${frames.outputs > 1 ? ", one colour per output" : ""}.`;
    return { data: names.length ? [points, stars] : [points], layout: layout, text: text };
  };
})();
