// The live page: asks one question at a time, draws the answers, keeps a pinned run beside them.
(function () {
  const learnscope = window.learnscope, { at, made } = learnscope, controls = () => learnscope.controls;
  const EXPORTS = ["py", "toml", "pdf", "nc"];
  const FRAME = 120, PAUSE = 150, SLOW = 300, TICK = 100; // ms: of playing, before weights are asked for, until a wait is shown, of its clock
  const USUAL = 6; // seconds that a program takes to compile, until one was
  let shownQuery, busy, steps, place, drawnQuery, frames, playing, later, entry, touched, answered, pinned, offers, stops, stop, visit = 0;

  // What the server answers, which may be a refusal.
  async function answer(question, query) {
    const found = await fetch(`live/${question}?${query}`, { headers: { "X-Page": "live" } });
    return found.ok ? found.json() : { refusal: await found.text() };
  }

  function build(given) {
    at("refusals").append(at("refusal")); // it may stand among the controls
    offers = null;
    stops = given.presets.find((preset) => preset.name === given.preset).tour;
    controls().build(given, {
      changed: (field) => { touched = field.path; ask(); },
      preset: (name) => { touched = null; endTour(); rebuild("preset=" + name); },
      picked: (slot, kind) => { touched = slot; rebuild(...controls().picking(slot, kind)); },
    });
  }

  async function rebuild(wanted, otherwise, back) {
    const stop = waiting("Looking up the parts", SLOW);
    let found = await answer("controls", wanted);
    if (found.refusal && otherwise) found = await answer("controls", otherwise);
    stop();
    if (found.refusal) return refuse(found.refusal);
    build(found);
    entry = !back; // another part is a step that "back" undoes; a slider's move is not
    place = steps.length - 1; // the last step, of the next run as well
    ask();
  }

  window.addEventListener("popstate", () => {
    if (at("curves") && steps && window.location.search) rebuild(withoutPin(window.location.search.slice(1)), null, true);
  });

  const withoutPin = (query) => query.split("&").filter((word) => !word.startsWith("pin=")).join("&");

  // ---- waiting and refusing -------------------------------------------------------------------

  // Old curves in grey, a bar and a clock, from `delay` on until the returned function is called.
  function waiting(what, delay) {
    const begun = performance.now(), usual = Number(sessionStorage.getItem("compiling")) || USUAL;
    const tick = () => {
      const seconds = (performance.now() - begun) / 1000;
      if (seconds * 1000 < (delay || 0) || !at("progress")) return;
      at("progress").hidden = false;
      at("results").classList.add("waiting");
      at("bar").style.width = 100 * (1 - Math.exp((-2 * seconds) / usual)) + "%";
      const most = seconds > 1 ? ` A new program is compiled first, which usually takes about ${Math.ceil(usual)} s.` : "";
      at("waited").textContent = `${what}: ${seconds.toFixed(1)} s.${most}`;
    };
    const clock = setInterval(tick, TICK);
    tick();
    return () => {
      clearInterval(clock);
      const seconds = (performance.now() - begun) / 1000;
      if (seconds > 1) sessionStorage.setItem("compiling", seconds.toFixed(1));
      if (!at("progress")) return;
      at("progress").hidden = true;
      at("results").classList.remove("waiting");
    };
  }

  // A refusal stands below the control that caused it.
  function refuse(words) {
    const refusal = at("refusal"), cause = touched && at("row-" + touched);
    for (const row of document.querySelectorAll("[aria-invalid]")) row.removeAttribute("aria-invalid");
    if (cause) cause.after(refusal);
    else at("refusals").append(refusal);
    if (words && cause) for (const input of cause.querySelectorAll("input, select")) input.setAttribute("aria-invalid", "true");
    refusal.textContent = words;
    refusal.className = words ? "message" : "";
  }

  // ---- questions ------------------------------------------------------------------------------

  function remember() {
    const last = !steps.length || place === steps.length - 1;
    const pin = pinned ? "&pin=" + encodeURIComponent(pinned.query) : "";
    const address = "?" + drawnQuery + (last ? "" : "&step=" + steps[place]) + pin;
    if (entry) window.history.pushState(window.history.state, "", address);
    else window.history.replaceState(window.history.state, "", address);
    entry = false;
  }

  // Ask for what the controls hold; while an answer is awaited, only as soon as it is there.
  async function ask(first) {
    const wanted = controls().query(), mine = visit;
    if (busy || wanted === shownQuery) return;
    busy = true;
    clearTimeout(later);
    if (!first) at("trouble").hidden = true;
    const stop = waiting("Training", first ? 0 : SLOW);
    try {
      const found = await answer("answer", wanted);
      if (mine !== visit || !at("curves")) return;
      shownQuery = wanted;
      refuse(found.refusal || "");
      at("results").classList.toggle("old", Boolean(found.refusal));
      at("status").textContent = found.refusal ? "Refused: this is what was shown before." : found.status;
      if (found.refusal) return;
      answered = { ...found, query: wanted };
      await draw();
      drawnQuery = wanted;
      if (!first) remember();
      for (const kind of EXPORTS) at("export-" + kind).href = "export/live." + kind + "?" + wanted;
      later = setTimeout(() => askLater(wanted, mine), PAUSE);
    } catch (error) {
      if (mine === visit && at("refusal")) refuse("The explorer does not answer: is it still running?");
      shownQuery = wanted;
    } finally {
      stop();
      if (mine === visit) {
        busy = false;
        if (at("curves")) ask();
      }
    }
  }

  // What takes longer and can wait: the weights, and which other kinds of part would fit.
  async function askLater(wanted, mine) {
    const found = await answer("weights", wanted).catch(() => null);
    if (!found || mine !== visit || wanted !== shownQuery || !at("weights")) return;
    frames = found.refusal ? { kind: "none", why: found.refusal } : found;
    look();
    const parts = wanted.split("&").filter((word) => /^(preset|data|net|rule)=/.test(word)).join("&");
    if (parts === offers) return;
    const kinds = await answer("kinds", parts).catch(() => null);
    if (!kinds || kinds.refusal || mine !== visit || !at("controls")) return;
    offers = parts;
    controls().offer(kinds);
  }

  // ---- answers --------------------------------------------------------------------------------

  async function draw() {
    const found = answered, before = steps.length - 1;
    at("warning").textContent = found.warning;
    at("warning").className = found.warning ? "message" : "";
    at("verdict").replaceChildren(...learnscope.sentence(found.verdict));
    controls().watched(found.watched);
    controls().limit(found.most_dim);
    if (frames && found.query !== drawnQuery) {
      frames = null;
      at("weights").classList.add("old"); // until theirs are there
    }
    steps = found.steps;
    place = place === null || place >= before ? steps.length - 1 : Math.min(place, steps.length - 1);
    at("at").max = steps.length - 1;
    await learnscope.panels(at("over"), { ...found, at: place, pinned: pinned });
    showStep();
    showPin();
    setTimeout(() => { if (at("theory")) at("theory").replaceChildren(...found.theory.flatMap(table)); }); // after the curves are seen
  }

  function table(found) {
    const cell = (words, tag) => made(tag, tag === "td" ? learnscope.typeset(words) : words, words === "holds" || words === "fails" ? { className: words } : {});
    const row = (cells, tag) => made("tr", cells.map((words) => cell(words, tag)));
    const title = made("h2", found.title, found.verdict ? { className: found.verdict } : {});
    if (!found.rows.length) return [title, made("p", found.names[0])];
    const rows = [made("thead", row(found.names, "th")), made("tbody", found.rows.map((r) => row(r, "td")))];
    return [title, made("div", made("table", rows), { className: "scroll" })];
  }

  // ---- the pinned run -------------------------------------------------------------------------

  // The settings in which the pinned run differs: "noise 0.5 (now 0.7)".
  function difference() {
    const [then, now] = [pinned.settings, answered.settings], words = [];
    for (const path of Object.keys({ ...then, ...now })) {
      const [slot, name] = path.split(".");
      if (then[path] === now[path] || (name && then[slot] !== now[slot])) continue;
      const [before, after] = [then[path], now[path]].map((value) => learnscope.short(String(value)));
      words.push(`${name || slot} ${before} (now ${after})`);
    }
    return words.join(", ") || "the same settings";
  }

  function showPin() {
    at("pin").textContent = pinned ? "Unpin" : "Pin this run";
    at("pin").setAttribute("aria-pressed", Boolean(pinned));
    at("pinned").textContent = pinned ? "Dashed, pinned: " + difference() : "";
  }

  async function pin() {
    pinned = pinned || !answered ? null : answered;
    if (!answered) return;
    await draw();
    remember();
  }

  // The run that an address holds as pinned.
  async function pinFrom(query) {
    const found = await answer("answer", query).catch(() => null), mine = visit;
    if (!found || found.refusal || mine !== visit || !answered) return;
    pinned = { ...found, query: query };
    await draw();
  }

  // ---- the tour -------------------------------------------------------------------------------

  // Every stop is an address. The run of the stop before stays pinned.
  function tour() {
    if (stop + 1 >= stops.length) return endTour();
    stop += 1;
    pinned = stop ? answered : null;
    touched = null;
    showTour();
    if (answered) draw();
    rebuild(stops[stop][1]);
  }

  function endTour() {
    stop = -1;
    showTour();
  }

  function showTour() {
    at("tour").hidden = !stops.length;
    at("tour").textContent = stop < 0 ? "Tour: break it, mend it" : stop + 1 < stops.length ? `Next (${stop + 1} of ${stops.length})` : "End the tour";
    at("guide").textContent = stop < 0 ? "" : stops[stop][0];
  }

  // ---- the step looked at ---------------------------------------------------------------------

  function showStep() {
    at("at").value = place;
    at("at-text").textContent = "step " + steps[place];
    at("at").setAttribute("aria-valuetext", "step " + steps[place]);
  }

  async function look() {
    if (!steps.length) return;
    showStep();
    remember();
    learnscope.lookAt(at("over"), place);
    if (frames) {
      at("weights").classList.remove("old");
      const figure = learnscope.weights(frames, place);
      at("weights-text").textContent = figure.text;
      (await learnscope.plotly()).react(at("weights"), figure.data, figure.layout, { displayModeBar: false, responsive: true });
    }
  }

  function play() {
    clearInterval(playing);
    playing = playing ? null : setInterval(() => {
      if (!at("curves")) return play();
      if (steps.length) { place = place >= steps.length - 1 ? 0 : place + 1; look(); }
    }, FRAME);
    if (at("play")) at("play").textContent = playing ? "Pause" : "Play";
  }

  async function copy() {
    let words = "Copied";
    // Browsers give pages of other machines no clipboard.
    if (!navigator.clipboard) words = "Copy the address above";
    else await navigator.clipboard.writeText(window.location.href).catch(() => { words = "Copy the address above"; });
    at("copy").textContent = words;
    setTimeout(() => { if (at("copy")) at("copy").textContent = "Copy link"; }, 1500);
  }

  function sheet() {
    const open = at("sheet").classList.toggle("open");
    at("sheet-toggle").setAttribute("aria-expanded", open);
    at("sheet-toggle").textContent = open ? "Close settings" : "Settings";
    if (open) at("verdict").scrollIntoView({ block: "start" }); // the curves stay in sight above the sheet
  }

  // ---- the page is there ----------------------------------------------------------------------

  window.dash_clientside.learnscope = {
    live: function (start) {
      visit += 1;
      clearInterval(playing);
      [shownQuery, drawnQuery, busy, steps, frames, playing, place, entry] = [null, null, false, [], null, null, null, false];
      [touched, answered, pinned, offers] = [null, null, null, null];
      build(start);
      endTour();
      const bar = made("input", [], { type: "range", id: "at", min: 0, max: 1, step: 1, value: 1 });
      bar.addEventListener("input", () => { if (steps.length) { place = Number(bar.value); look(); } });
      at("at-label").replaceChildren("step", bar);
      for (const [id, act] of Object.entries({ play, pin, copy, tour, "sheet-toggle": sheet })) at(id).addEventListener("click", act);
      const wanted = start.step;
      ask(true).then(async () => {
        if (start.pin) await pinFrom(start.pin);
        if (wanted === null || !steps.length) return;
        place = steps.findIndex((step) => step >= wanted);
        look();
      });
      return window.dash_clientside.no_update;
    },
  };
})();
