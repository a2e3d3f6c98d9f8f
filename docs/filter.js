// A box above each long table that leaves the rows which have the words typed into it.
const LONG = 20;

for (const table of document.querySelectorAll("article table")) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < LONG) continue;
  const box = document.createElement("input");
  box.type = "search";
  box.placeholder = `Filter ${rows.length} rows`;
  box.setAttribute("aria-label", box.placeholder);
  box.style.cssText =
    "font: inherit; color: inherit; background: transparent; padding: 0.4em; " +
    "margin-top: 1em; width: 20em; max-width: 100%; border: 1px solid currentColor";
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
  // The theme wraps tables to scroll: the box stands before that.
  (table.closest(".md-typeset__scrollwrap") ?? table).before(box);
}
