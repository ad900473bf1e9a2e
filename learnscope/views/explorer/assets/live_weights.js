// The picture of the weights at a step: a map of directions, or a matrix.
(function () {
  const learnscope = window.learnscope;

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
    layout.xaxis = { ...axis, title: { text: "first axis" } };
    layout.yaxis = { ...axis, title: { text: "second axis" }, scaleanchor: "x" };
    const each = frames.count / frames.outputs, colours = learnscope.colours();
    const points = { type: "scatter", mode: "markers", x: values.map((v) => v[0]), y: values.map((v) => v[1]),
      text: frames.points.map((f) => frames.of + " " + (f + 1)), hoverinfo: "text",
      marker: { size: 9, opacity: 0.75, color: frames.points.map((f) => colours[Math.floor(f / each) % colours.length]) } };
    const text = `Directions of ${some} ${frames.of}s, first seed, by classical scaling${frames.outputs > 1 ? ", one colour per output" : ""}.`;
    return { data: [points], layout: layout, text: text };
  };
})();
