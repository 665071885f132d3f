// Folds what a code block repeats from above (site_tools/hooks/fold.py); the copy button still copies it all.
for (const button of document.querySelectorAll("button.unfold")) {
  const block = button.parentElement
  block.dataset.copy = block.querySelector("code").textContent.trimEnd()
  button.hidden = false
  block.classList.add("folded")
  button.addEventListener("click", () => {
    button.setAttribute("aria-expanded", String(!block.classList.toggle("folded")))
  })
}
