// The list of chats: switching between them and deleting one.

import { made } from "./markup.js";

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

export class ChatList {
  #list = document.getElementById("chat-list");
  #none = document.getElementById("no-chats");
  #confirm = document.getElementById("confirm");
  #chats = [];
  #current = null;
  #onOpen;
  #onDelete;

  /** `onOpen(id)` is called for the chat to show, `onDelete(id)` for one to delete. */
  constructor({ onOpen, onDelete }) {
    this.#onOpen = onOpen;
    this.#onDelete = onDelete;
    document.getElementById("confirm-no").addEventListener("click", () => this.#confirm.close());
    document.getElementById("confirm-yes").addEventListener("click", () => {
      this.#confirm.close();
      this.#onDelete(this.#confirm.dataset.id);
    });
    this.#confirm.addEventListener("click", (event) => {
      if (event.target === this.#confirm) this.#confirm.close();
    });
  }

  /** Show `chats`, of which `current` is open, null for none. */
  show(chats, current) {
    this.#chats = chats;
    this.#current = current;
    const focused = document.activeElement;
    const place = [...this.#list.children].findIndex((item) => item.contains(focused));
    const items = new Map([...this.#list.children].map((item) => [item.dataset.id, item]));
    const shown = chats.map((chat) => this.#fill(items.get(chat.id) ?? this.#item(chat.id), chat));
    shown.forEach((item, index) => {
      const there = this.#list.children[index];
      if (there !== item) this.#list.insertBefore(item, there ?? null);
    });
    while (this.#list.children.length > shown.length) this.#list.lastElementChild.remove();
    this.#none.hidden = chats.length > 0;
    if (place >= 0) this.#refocus(focused, place);
  }

  /** Show a chat that was just begun, before the server lists it. */
  begin(id, title) {
    this.show([{ id, title, modified: new Date().toISOString() }, ...this.#chats], id);
  }

  mark(current) {
    this.show(this.#chats, current);
  }

  titleOf(id) {
    return this.#chats.find((chat) => chat.id === id)?.title || "New chat";
  }

  /** Keep the focus where it was: an item that moved lost it, one that went leaves it to the next. */
  #refocus(focused, place) {
    if (document.activeElement === focused) return;
    const next = this.#list.children[Math.min(place, this.#list.children.length - 1)];
    const left = next?.querySelector(focused.localName) ?? document.getElementById("new-chat");
    (focused.isConnected ? focused : left).focus({ preventScroll: true });
  }

  #item(id) {
    const item = made("chat");
    item.dataset.id = id;
    const link = item.querySelector("a");
    link.href = `/chats/${encodeURIComponent(id)}`;
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.#onOpen(id);
    });
    item.querySelector("button").addEventListener("click", () => this.#ask(id, this.titleOf(id)));
    return item;
  }

  #fill(item, chat) {
    const link = item.querySelector("a");
    const title = chat.title || "New chat";
    link.querySelector("bdi").textContent = title;
    const time = link.querySelector("time");
    time.dateTime = chat.modified;
    time.textContent = ago(chat.modified);
    if (chat.id === this.#current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    item.querySelector("button").setAttribute("aria-label", `Delete “${title}”`);
    return item;
  }

  #ask(id, title) {
    this.#confirm.dataset.id = id;
    document.getElementById("confirm-name").textContent = title;
    this.#confirm.showModal();
  }
}

function ago(moment) {
  const seconds = (new Date(moment) - Date.now()) / 1000;
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) || [null, 1];
  return unit ? relative.format(Math.round(seconds / size), unit) : "just now";
}
