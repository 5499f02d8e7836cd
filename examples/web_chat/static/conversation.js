// One conversation on the page, made of the frames of its session and nothing else: whoever comes
// late, reloads or looks from another tab sees the same.

import { made, safeNodes } from "./markup.js";

const STOPPED = "Stopped here.";

export class Conversation {
  #root;
  #on;
  #answers = new Map(); // by the id of the message
  #texts = new Map(); // of answers that stream
  #pending = null;
  #activity = made("activity");
  #lastQuestion = "";
  #error = null; // of the last question
  #busy = false;

  /**
   * `on` has `busy(boolean)`, `grew()`, `answered(speech)` for an answer that was seen streaming,
   * and `again(text)` for a question to be asked again.
   */
  constructor(root, on) {
    this.#root = root;
    this.#on = on;
  }

  get isEmpty() {
    return !this.#root.hasChildNodes();
  }

  /** The list of sources that the conversation ends with, null where it ends with words. */
  get tail() {
    return this.#root.querySelector(":scope > article:last-of-type section.sources");
  }

  clear() {
    this.#root.replaceChildren();
    this.#answers.clear();
    this.#texts.clear();
    this.#pending = null;
    this.#lastQuestion = "";
    this.#error = null;
    this.#setBusy(false);
  }

  /** Show a question before the session says that it was asked; null takes it away again. */
  set pending(text) {
    this.#pending?.remove();
    this.#pending = null;
    if (text === null) {
      this.#show(null);
      return;
    }
    this.#pending = question(text);
    this.#pending.classList.add("pending");
    this.#root.append(this.#pending);
    this.#show("Sending");
    this.#on.grew();
  }

  /** What stands behind the numbers of the answer that `element` is in. */
  citedIn(element) {
    const article = element.closest("article.answer");
    return article && { article, cited: this.#answers.get(article.dataset.message) ?? {} };
  }

  /** Take the next frame of the session. */
  take({ event, html, cited, speech }) {
    if (event.agentId) return; // what a sub-agent says is not the answer
    const { type, data } = event;
    if (type === "user.message") this.#asked(data);
    else if (type === "assistant.message_delta") this.#grew(data);
    else if (type === "assistant.message") this.#finished(data, html, cited, speech);
    else if (type === "assistant.turn_start") this.#show("Reading");
    else if (type === "assistant.reasoning_delta") this.#show("Thinking");
    else if (type === "tool.execution_start") this.#show(`Using ${data.toolName ?? "a tool"}`);
    else if (type === "tool.execution_complete") this.#show("Reading");
    else if (type === "session.error") this.#failed(data);
    else if (type === "session.warning" && data.warningType === "decode_error") this.#note(data.message);
    else if (type === "abort") this.#stopped();
    else if (type === "session.idle" || type === "session.resume") this.#ended();
    this.#on.grew();
  }

  #asked(data) {
    this.#pending?.remove();
    this.#pending = null;
    this.#lastQuestion = data.content;
    this.#error = null;
    this.#root.append(question(data.content));
    this.#show("Reading");
    this.#setBusy(true);
  }

  #grew({ messageId, deltaContent }) {
    const words = this.#article(messageId).querySelector(".words");
    const text = this.#texts.get(messageId) ?? new Text();
    if (!this.#texts.has(messageId)) {
      this.#texts.set(messageId, text);
      words.replaceChildren(text);
      words.classList.add("streaming");
    }
    text.appendData(deltaContent);
    this.#show(null);
    this.#setBusy(true);
  }

  #finished(data, html, cited, speech) {
    const { messageId, content, interrupted } = data;
    if (!content.trim()) {
      this.#forget(messageId); // it only calls tools
      return;
    }
    const article = this.#article(messageId);
    const words = article.querySelector(".words");
    words.classList.remove("streaming");
    words.replaceChildren(safeNodes(html));
    article.setAttribute("aria-busy", "false");
    article.classList.toggle("interrupted", Boolean(interrupted));
    this.#answers.set(messageId, cited);
    offerPlaces(words, cited);
    if (this.#texts.delete(messageId)) this.#on.answered(speech);
    if (interrupted && !this.#error) this.#stopped();
    else if (this.#busy) this.#show("Reading");
  }

  #forget(messageId) {
    this.#texts.delete(messageId);
    this.#find(messageId)?.remove();
  }

  #failed({ message }) {
    const card = made("error");
    const asked = this.#lastQuestion;
    card.querySelector("p").textContent = message || "The session reported an error.";
    card.querySelector("button").addEventListener("click", () => this.#on.again(asked));
    card.querySelector("button").hidden = !asked;
    this.#root.append(card);
    this.#error = card;
  }

  #stopped() {
    if (!this.#root.lastElementChild?.matches(".note.stopped")) this.#note(STOPPED, "stopped");
  }

  #note(message, kind = "warning") {
    this.#show(null);
    const note = document.createElement("p");
    note.className = `note ${kind}`;
    note.textContent = message;
    this.#root.append(note);
  }

  #ended() {
    this.#show(null);
    this.#setBusy(false);
  }

  #article(messageId) {
    const found = this.#find(messageId);
    if (found) return found;
    const article = made("answer");
    article.dataset.message = messageId;
    if (this.#error) this.#error.before(article); // what came before it failed is told behind it
    else this.#root.append(article);
    return article;
  }

  #find(messageId) {
    return this.#root.querySelector(`article[data-message="${CSS.escape(messageId)}"]`);
  }

  /** Say what is being done, null for nothing, under all else. */
  #show(what) {
    if (what === null) {
      this.#activity.remove();
      return;
    }
    this.#activity.querySelector(".what").textContent = what;
    this.#root.append(this.#activity);
  }

  #setBusy(busy) {
    if (busy === this.#busy) return;
    this.#busy = busy;
    this.#on.busy(busy);
  }
}

function question(text) {
  const article = made("question");
  article.querySelector("p").textContent = text;
  return article;
}

/** Give every source in the list of an answer a button that shows it, where it can be shown. */
function offerPlaces(words, cited) {
  words.querySelectorAll("section.sources > ol > li").forEach((item, index) => {
    const number = index + 1;
    item.dataset.number = number;
    item.tabIndex = -1; // a number that has no lines leads here
    if (!cited[number]?.source) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "show";
    button.textContent = "Show";
    button.setAttribute("aria-label", `Show source ${number} in its document`);
    item.append(button);
  });
}
