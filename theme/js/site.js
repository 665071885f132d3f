// Three small things that need a script; without it the pages read the same. No module: those do not load from file://.
{
  const article = document.querySelector("article");
  const chinese = document.documentElement.lang.startsWith("zh");

  // The language switch keeps the place: the target of the address if it is in view, else the last heading above.
  const place = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const box = target?.getBoundingClientRect();
    if (box && box.bottom > 0 && box.top < innerHeight) return location.hash;
    const top = document.querySelector(".md-header").getBoundingClientRect().bottom + 48;
    const above = [...article.querySelectorAll(":is(h2, h3, h4)[id]")].filter((h) => h.getBoundingClientRect().top < top);
    return above.length ? `#${above.at(-1).id}` : "";
  };
  const language = document.querySelector(".language");
  for (const event of ["click", "auxclick", "contextmenu"])
    language.addEventListener(event, () => { language.href = language.getAttribute("href").split("#")[0] + place(); });

  // The theme makes one <nav> without a name for each code block; a toolbar is what it is.
  const unname = () => { for (const nav of document.querySelectorAll(".md-code__nav:not([role])")) nav.setAttribute("role", "none"); };
  new MutationObserver(unname).observe(article, { childList: true, subtree: true });
  unname();

  // What scrolls sideways can be reached and scrolled with the keyboard.
  const attributes = { tabindex: "0", role: "group", "aria-label": chinese ? "可左右滚动" : "Scrolls sideways" };
  const reach = (box) => {
    for (const [name, value] of Object.entries(attributes))
      box.scrollWidth > box.clientWidth ? box.setAttribute(name, value) : box.removeAttribute(name);
  };
  const resized = new ResizeObserver((entries) => { for (const { target } of entries) reach(target); });
  window.document$.subscribe(() => {  // once the theme has put its boxes around the tables
    const boxes = article.querySelectorAll(".md-typeset__scrollwrap, .katex-display");
    for (const box of boxes) resized.observe(box);
    document.fonts.ready.then(() => boxes.forEach(reach));
  });
}
