// The ledger page's own work: rows, filters, figures, and ways to live experiments.
(function () {
  const known = {}; // addresses of live experiments, by study and claim
  let drawn = null;

  function fill(table, study) {
    for (const row of table.querySelectorAll(`tr[data-study="${study}"]`)) {
      const place = row.querySelector(".live");
      const address = known[study][row.dataset.claim];
      place.textContent = "";
      if (!address) {
        place.className = "live aside";
        place.textContent = "not live";
        continue;
      }
      const link = document.createElement("a");
      link.href = address;
      link.textContent = "live";
      link.title = "The experiment of this claim on the live page";
      place.append(link);
    }
  }

  async function live(table) {
    for (const study of new Set(Array.from(table.querySelectorAll("tr[data-study]"), (r) => r.dataset.study))) {
      try {
        if (!known[study]) {
          const answer = await fetch("/ledger/live/" + study + ".json");
          if (!answer.ok) continue;
          known[study] = await answer.json();
        }
      } catch (error) {
        return; // the page was left, or the server stopped
      }
      fill(table, study);
    }
  }

  function open(link) {
    const dialog = document.getElementById("ledger-figure");
    const close = document.createElement("button"), image = document.createElement("img");
    const caption = document.createElement("p"), command = document.createElement("code");
    close.textContent = "Close";
    close.addEventListener("click", () => dialog.close());
    image.src = link.href;
    image.alt = link.title;
    command.textContent = link.dataset.command;
    caption.append(link.title + " Drawn by ", command, ".");
    dialog.replaceChildren(close, image, caption);
    dialog.showModal();
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest ? event.target.closest("a.figure") : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(link);
  });

  window.dash_clientside.ledger = {
    // Hide what is not asked for; the address tells what is.
    show: function (rows, study, verdict, text) {
      const place = document.getElementById("ledger-table");
      if (!place || !rows) return "";
      const first = !place.firstChild;
      if (first) {
        place.innerHTML = rows;
        drawn = Array.from(place.querySelectorAll("tbody tr"), (row) => [row, row.textContent.toLowerCase()]);
        live(place);
      }
      const words = (text || "").toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const [row, said] of drawn) {
        const wanted = (study === "all" || row.dataset.study === study) &&
          (verdict === "all" || row.dataset.verdict === verdict) && words.every((word) => said.includes(word));
        row.hidden = !wanted;
        count += wanted;
      }
      if (!first) {
        const asked = new URLSearchParams();
        if (study !== "all" && !window.location.pathname.endsWith("/" + study)) asked.set("study", study);
        if (verdict !== "all") asked.set("verdict", verdict);
        if (text) asked.set("text", text);
        window.history.replaceState(null, "", window.location.pathname + (asked.size ? "?" + asked : ""));
      }
      return count + " of " + drawn.length + " shown";
    },
  };
})();
