// The chat: what is typed, dropped and pressed goes to the server; what it sends, line by line, is put on the page.
// Everything it sends as HTML was escaped there; this page's policy runs no script but these files.
"use strict";
const words = document.body.dataset;
const token = document.querySelector("meta[name=token]").content;
const log = document.getElementById("log");
const status = document.getElementById("status");
const form = document.getElementById("ask");
const box = document.getElementById("words");
const file = document.getElementById("file");

const announce = (text) => { status.textContent = ""; setTimeout(() => { status.textContent = text; }, 50); };

function element(html) {
  const template = document.createElement("template");
  template.innerHTML = html.trim();
  return template.content.firstElementChild;
}

function article(title) {
  const made = document.createElement("article");
  made.className = "turn";
  made.tabIndex = -1;
  made.setAttribute("aria-busy", "true");
  if (title) {
    const asked = document.createElement("h2");
    asked.className = "asked";
    asked.dir = "auto";
    asked.textContent = title;
    made.append(asked);
  }
  const body = document.createElement("div");
  body.className = "body";
  made.append(body);
  document.querySelector(".hello")?.remove();
  log.append(made);
  made.scrollIntoView({ block: "end" });
  return made;
}

function say(place, text, kind) {
  const line = document.createElement("p");
  line.className = kind;
  line.textContent = text;
  place.replaceChildren(line);
}

// One request; `each` is called with every line of the answer.
async function send(address, options, each) {
  let response;
  try {
    response = await fetch(address, { method: "POST", ...options, headers: { "X-Loccit-Token": token, ...options.headers } });
  } catch { return each({ do: "failed", text: words.broken }); }
  if (!response.ok) return each({ do: "failed", text: (await response.text()) || words.broken });
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop();
      for (const line of lines) each(JSON.parse(line));
    }
  } catch { each({ do: "failed", text: words.broken }); }
}

const json = (value) => ({ body: JSON.stringify(value), headers: { "Content-Type": "application/json" } });

// What a line does to the article it belongs to.
function put(line, place) {
  const body = place.querySelector(".body") || place;
  if (line.deleted) for (const gone of log.querySelectorAll(`[data-turn="${CSS.escape(line.deleted)}"]`)) gone.remove();
  if (line.do === "asked" && !place.querySelector(".asked")) place.prepend(Object.assign(document.createElement("h2"), { className: "asked", textContent: line.text }));
  if (line.do === "asked") place.append(stopper(line.event));
  else if (line.do !== "working" && line.do !== "draft") place.querySelector(".stop")?.remove();
  if (line.do === "working") { if (!place.dataset.drafted) say(body, line.text, "notice working"); announce(line.text); }
  if (line.do === "draft") {
    place.dataset.drafted = "yes";
    const draft = document.createElement("div");
    draft.className = "answer draft";
    draft.innerHTML = line.html;
    body.replaceChildren(draft);
  }
  if (line.do === "answer") {
    const answer = element(line.html);
    place.replaceWith(answer);
    place = answer;
    announce(line.text);
  }
  if (line.do === "reply") {
    body.replaceChildren(element(line.html));
    announce(line.text);
    if (line.book) shelve(line.book);
  }
  if (line.do === "failed") { say(body, line.text, "notice failed"); announce(line.text); }
  if (line.do === "need") { body.replaceChildren(need(line, place)); announce(line.text); }
  place.setAttribute("aria-busy", String(["asked", "working", "draft"].includes(line.do)));
  if (place.isConnected && line.do !== "working") place.scrollIntoView({ block: "nearest" });
  return place;
}

function stopper(event) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "stop";
  button.textContent = words.stop;
  button.onclick = () => {
    button.disabled = true;
    fetch("/stop", { method: "POST", ...json({ event }), headers: { "X-Loccit-Token": token, "Content-Type": "application/json" } });
  };
  return button;
}

function shelve(title) {
  const shelf = document.getElementById("shelf");
  const titles = shelf.textContent ? shelf.textContent.split(" · ") : [];
  if (!titles.includes(title)) shelf.textContent = [...titles, title].join(" · ");
}

// Asking

function ask() {
  const text = box.value.trim();
  if (!text) return box.focus();
  box.value = "";
  const number = /^\[?(\d{1,6})\]?$/.exec(text);
  const noted = number && [...log.querySelectorAll("article")].filter((made) => made.querySelector("[data-kind=note]")).at(-1);
  const note = noted && [...noted.querySelectorAll("[data-kind=note]")].find((made) => parseInt(made.textContent, 10) === Number(number[1]));
  if (note) { openPassage(note); return note.focus(); }
  let place = article(text);
  say(place.querySelector(".body"), words.searching, "notice working");
  send("/say", json({ text }), (line) => { place = put(line, place); });
}

form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
box.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); ask(); }
});

// Books

let waiting = null;

function add(book, headers = {}) {
  waiting = book;
  let place = article(book.name);
  const name = { "X-Loccit-Name": encodeURIComponent(book.name), "Content-Type": "application/octet-stream" };
  if (book.size > 50e6) return put({ do: "failed", text: words.large }, place);
  send("/books", { body: book, headers: { ...name, ...headers } }, (line) => { place = put(line, place); });
}

function need(line, place) {
  const book = waiting;
  const again = document.createElement("form");
  const text = document.createElement("p");
  text.textContent = line.text;
  const go = document.createElement("button");
  again.append(text);
  if (line.need === "password") {
    const label = document.createElement("label");
    const field = document.createElement("input");
    field.type = "password";
    label.append(words.password + " ", field);
    again.append(label, " ");
    go.textContent = words.add;
    again.onsubmit = () => { place.remove(); add(book, { "X-Loccit-Password": encodeURIComponent(field.value) }); return false; };
  } else {
    go.textContent = words.partly;
    again.onsubmit = () => { place.remove(); add(book, { "X-Loccit-Partly": "yes" }); return false; };
  }
  again.append(go);
  return again;
}

file.addEventListener("change", () => { for (const book of file.files) add(book); file.value = ""; box.focus(); });
addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  for (const book of event.dataTransfer.files) add(book);
});

// Pressing

function closePassage() {
  const panel = document.querySelector(".passage");
  if (!panel) return;
  const opener = document.querySelector('[aria-expanded="true"]');
  for (const button of document.querySelectorAll('[aria-expanded="true"]')) button.setAttribute("aria-expanded", "false");
  panel.closest(".pair, .turn").classList.remove("open");
  const inside = panel.contains(document.activeElement);
  panel.remove();
  if (inside) opener?.focus();
  announce(words.closed);
}

function openPassage(button) {
  // What could not be opened is tried again; what stands open closes.
  const open = button.getAttribute("aria-expanded") === "true" && !document.querySelector(".passage .failed");
  closePassage();
  if (open) return;
  const turn = button.closest(".turn");
  const pair = turn.querySelector(".pair") || turn;
  for (const same of turn.querySelectorAll(`[data-id="${CSS.escape(button.dataset.id)}"]`)) same.setAttribute("aria-expanded", "true");
  const panel = document.createElement("section");
  panel.className = "passage";
  panel.setAttribute("aria-label", words.passage);
  panel.tabIndex = -1;
  panel.setAttribute("aria-busy", "true");
  pair.classList.add("open");
  pair.append(panel);
  press(button.dataset.id, panel);
}

function press(id, place) {
  send("/press", json({ id }), (line) => {
    put(line, place);
    if (place.classList.contains("passage")) (place.querySelector("mark") || place).scrollIntoView({ block: "nearest" });
  });
}

log.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-id]");
  if (!button) return;
  const { kind, id } = button.dataset;
  const panel = button.closest(".passage");
  if (kind === "note") openPassage(button);
  else if (kind === "close") panel ? closePassage() : button.closest(".turn").remove();
  else if (kind === "step") { press(id, panel || button.closest(".turn")); (panel || button.closest(".turn")).focus(); }
  else {
    let place = null;
    send("/press", json({ id }), (line) => {
      if (line.do === "form") write(line, button);
      else place = put(line, place || article(""));
    });
  }
});
addEventListener("keydown", (event) => { if (event.key === "Escape") closePassage(); });

// Writing: a text to be filled in stands under the reply whose button brought it; what comes of it takes that reply's place.

function write(line, button) {
  const turn = button.closest(".turn");
  turn.querySelector(".write")?.remove();
  const form = element(line.html);
  const [field, wrong, save, cancel] = ["textarea", ".failed", "[type=submit]", "[type=button]"].map((name) => form.querySelector(name));
  const leave = () => { form.remove(); button.focus(); };
  cancel.onclick = leave;
  form.onkeydown = (event) => { if (event.key === "Escape") { event.stopPropagation(); leave(); } };
  form.onsubmit = (event) => {
    event.preventDefault();
    save.disabled = true;
    send("/fill", json({ id: form.dataset.id, text: field.value }), (told) => {
      save.disabled = false;
      if (told.do !== "failed") { put(told, turn); return turn.focus(); }
      wrong.hidden = false;
      wrong.textContent = told.text;
      field.setAttribute("aria-invalid", "true");
      announce(told.text);
      field.focus();
    });
  };
  (turn.querySelector(".reply") || turn).append(form);
  form.scrollIntoView({ block: "nearest" });
  field.focus();
}

// What comes unasked

new EventSource("/news").onmessage = (event) => { put(JSON.parse(event.data), article("")); };
