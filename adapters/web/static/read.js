// The reading view: the contents folded away on a phone; a marked range on a page picture brought into sight.
"use strict";
const contents = document.querySelector(".contents details");
if (contents && matchMedia("(max-width: 60rem)").matches) contents.open = false;
const current = document.querySelector(".contents [aria-current]");
if (current && contents.open) current.closest(".contents").scrollTop = current.offsetTop - 100;

const frame = document.querySelector(".picture .frame[data-top]");
if (frame) {
  const image = frame.querySelector("img");
  const show = () => {
    const y = image.getBoundingClientRect().height * Number(frame.dataset.top);
    frame.scrollTop = y - frame.clientHeight / 3;
    const top = frame.getBoundingClientRect().top + scrollY + y - frame.scrollTop;
    scrollTo({ top: top - innerHeight / 3, behavior: "instant" });
  };
  if (image.complete) show();
  else image.addEventListener("load", show);
}
