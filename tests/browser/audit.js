// Runs axe. The result waits in `found`, so that two pages can be audited at the same time.
window.startAudit = (tags) => {
  window.found = (async () => {
    await new Promise((resolve) => setTimeout(resolve));
    flatten();
    const { violations } = await axe.run(document, { runOnly: tags, resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `axe ${id}: ${nodes.slice(0, 3).map((node) => node.target.join(" ")).join(" | ")}`);
  })();
};

// axe takes seconds for thousands of equal elements. In code, one token of each colour stays, the others become plain text;
// so do the formulas in the text but the first three, and not those in table headers.
window.flatten = () => {
  const seen = new Set();
  for (const token of document.querySelectorAll("pre > code span")) {
    if (seen.has(token.className)) token.replaceWith(...token.childNodes);
    else if (token.checkVisibility()) seen.add(token.className);
  }
  for (const formula of [...document.querySelectorAll(".katex:has(annotation):not(.katex-display *)")].slice(3))
    if (!formula.closest("th")) formula.textContent = formula.querySelector("annotation").textContent;
};

// What reaches beyond the right edge, if the page can be scrolled sideways.
window.tooWide = () => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.body.querySelectorAll("*")].filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
    .slice(0, 3).map((element) => `wider than ${innerWidth} px: <${element.localName} class="${element.className}">`);
