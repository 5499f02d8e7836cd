// The events of one session, from the first on. What was read is never lost or read twice: the
// browser reconnects with the cursor of the last event; where it gives up, so do we, from there.

import * as api from "./api.js";

const LONGEST_WAIT = 10_000;

/**
 * Follow a session. `onFrame` gets every frame once and in order, `onState` "open" or "lost",
 * `onGone` is called when the session does not exist any more. Returns a function that ends it.
 */
export function follow(id, { onFrame, onState, onGone }) {
  let source = null;
  let cursor = null;
  let timer = 0;
  let wait = 500;
  let over = false;

  function open() {
    source = new EventSource(api.eventsUrl(id, cursor));
    source.onopen = () => {
      wait = 500;
      onState("open");
    };
    source.onmessage = (message) => {
      cursor = message.lastEventId || cursor;
      onFrame(JSON.parse(message.data));
    };
    source.addEventListener("gone", () => {
      end();
      onGone();
    });
    source.onerror = () => {
      if (over) return;
      onState("lost");
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(again, wait);
    };
  }

  async function again() {
    wait = Math.min(wait * 2, LONGEST_WAIT);
    try {
      await api.sources(id);
    } catch (error) {
      if (over) return;
      if (error.status === 404 || error.status === 401) {
        end();
        onGone();
      } else {
        timer = setTimeout(again, wait);
      }
      return;
    }
    if (!over) open();
  }

  function end() {
    over = true;
    clearTimeout(timer);
    source.close();
  }

  open();
  return end;
}
