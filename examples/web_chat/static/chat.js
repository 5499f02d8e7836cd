// The page: which chat is shown, and how its parts work together.

import * as api from "./api.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { Drawer } from "./drawer.js";
import { Panel } from "./panel.js";
import { References } from "./references.js";
import { Following } from "./scrolling.js";
import { ChatList } from "./sessions.js";
import { follow } from "./stream.js";
import { Welcome } from "./welcome.js";

const CHAT = /^\/chats\/([^/]+)$/;
const byId = (id) => document.getElementById(id);

class Page {
  #session = null;
  #endStream = () => {};
  #documents = [];
  #refreshing = 0;
  #loading = null;
  #unreached = false; // what is said is that the server is
  #drawer = new Drawer();
  #following = new Following(byId("scroller"), byId("latest"), () => this.#conversation.tail);
  #composer = new Composer({ onAsk: (text) => this.#ask(text), onStop: () => this.#stop() });
  #list = new ChatList({ onOpen: (id) => this.#go(id), onDelete: (id) => this.#delete(id) });
  #panel = new Panel({
    toggled: (open) => {
      byId("documents-open").setAttribute("aria-expanded", open);
      if (open) this.#following.rest(); // what was followed must not move away
    },
    problem: (error) => this.#failed(error),
  });
  #conversation = new Conversation(byId("conversation"), {
    busy: (busy) => {
      this.#composer.busy = busy;
      if (!busy) this.#refresh();
    },
    grew: () => this.#following.grew(),
    answered: (speech) => {
      byId("announcer").textContent = speech;
    },
    again: (text) => this.#ask(text),
  });
  #welcome = new Welcome({
    onAsk: (text) => this.#ask(text),
    onRead: (number, opener) => this.#panel.browse(opener, number),
  });

  async start() {
    new References(this.#conversation, this.#panel);
    byId("new-chat").addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.#go(null);
    });
    byId("documents-open").addEventListener("click", (event) => {
      if (this.#panel.isOpen) this.#panel.close();
      else this.#panel.browse(event.currentTarget);
    });
    window.addEventListener("popstate", () => this.#show(shownId()));
    window.addEventListener("focus", () => this.#refresh());
    window.addEventListener("pagehide", () => this.#endStream());
    window.addEventListener("pageshow", (event) => event.persisted && this.#show(shownId()));
    this.#show(shownId());
    try {
      await this.#load();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Ask who answers about what, and for the chats, once. A new visitor gets a cookie with it. */
  #load() {
    this.#loading ??= this.#fill();
    this.#loading.catch(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #fill() {
    const { answeredBy, documents, suggestions, sessions } = await api.start();
    this.#documents = documents;
    byId("answered-by").textContent = answeredBy;
    this.#welcome.fill(documents, suggestions);
    this.#list.show(sessions, this.#session);
    this.#title();
  }

  /** Open a chat, null for a new one, as a page of its own in the history. */
  #go(id) {
    history.pushState(null, "", id === null ? "/" : `/chats/${encodeURIComponent(id)}`);
    this.#show(id);
  }

  /** Show a new chat in the place of one that is gone: going back must not lead to it. */
  #leave() {
    history.replaceState(null, "", "/");
    this.#show(null);
  }

  #show(id) {
    this.#endStream();
    this.#endStream = () => {};
    this.#session = id;
    this.#composer.chat = id;
    this.#conversation.clear();
    this.#say("");
    this.#connection("open");
    this.#panel.use(id === null ? this.#shelf() : sessionLibrary(id));
    this.#drawer.close();
    this.#title();
    this.#welcome.shown = id === null;
    this.#following.toEnd();
    if (matchMedia("(hover: hover)").matches) this.#composer.focus(); // else a keyboard comes up
    if (id !== null) this.#follow(id);
  }

  #follow(id) {
    this.#endStream = follow(id, {
      onFrame: (frame) => this.#conversation.take(frame),
      onState: (state) => this.#connection(state),
      onGone: () => {
        this.#leave();
        this.#refresh();
        this.#say("That chat does not exist any more.");
      },
    });
  }

  async #ask(text) {
    this.#say("");
    this.#welcome.shown = false;
    this.#following.toEnd();
    this.#conversation.pending = text;
    let id = this.#session;
    try {
      await this.#load();
      if (id === null) {
        id = await api.create();
        history.pushState(null, "", `/chats/${encodeURIComponent(id)}`);
        this.#session = id;
        this.#composer.begin(id);
        this.#list.begin(id, text);
        this.#title();
        this.#panel.use(sessionLibrary(id));
        this.#follow(id);
      }
      await api.ask(id, text);
      this.#refresh();
    } catch (error) {
      this.#composer.restore(text, id);
      if (id !== this.#session) return; // it shows when that chat is shown
      this.#conversation.pending = null;
      this.#welcome.shown = this.#conversation.isEmpty;
      this.#failed(error);
    }
  }

  async #stop() {
    try {
      await api.stop(this.#session);
    } catch (error) {
      this.#failed(error);
    }
  }

  async #delete(id) {
    try {
      await api.remove(id);
    } catch (error) {
      if (error.status !== 404) {
        this.#failed(error);
        return;
      }
    }
    if (id === this.#session) this.#leave();
    this.#refresh();
  }

  /** Ask for the list of chats again, once for all that happens in a moment. */
  #refresh() {
    clearTimeout(this.#refreshing);
    this.#refreshing = setTimeout(() => this.#relist(), 100);
  }

  async #relist() {
    try {
      this.#list.show(await api.sessions(), this.#session);
      this.#reached();
      this.#title();
    } catch {
      // The list stays as it was: what is wrong shows where it matters.
    }
  }

  #title() {
    const title = this.#session === null ? "New chat" : this.#list.titleOf(this.#session);
    this.#list.mark(this.#session);
    byId("title").textContent = title;
    document.title = this.#session === null ? "Chat with documents" : title;
  }

  #connection(state) {
    const line = byId("connection");
    line.dataset.state = state;
    line.textContent = state === "lost" ? "Connection lost. Reconnecting…" : "";
    if (state === "open") this.#reached();
  }

  #say(problem) {
    this.#unreached = false;
    this.#composer.problem = problem;
  }

  #failed(error) {
    this.#say(error.message);
    this.#unreached = error.status === 0;
  }

  /** The server answers: that it does not is no longer so. */
  #reached() {
    if (this.#unreached) this.#say("");
  }

  /** The documents that a new chat may cite, by their numbers. */
  #shelf() {
    return {
      list: async () => this.#documents.map(({ title }, number) => ({ id: String(number), title })),
      load: api.document,
    };
  }
}

function shownId() {
  const found = CHAT.exec(location.pathname);
  return found && decodeURIComponent(found[1]);
}

/** The documents that a session may cite, by their ids. */
function sessionLibrary(id) {
  let listed = null;
  return {
    list: async () => {
      if (!listed?.length) listed = await api.sources(id);
      return listed;
    },
    load: (name) => api.source(id, name),
  };
}

new Page().start();
