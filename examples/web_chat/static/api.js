// What the page asks of the server. Every request carries what the server demands of its own page.

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function request(method, path, body) {
  let response;
  try {
    response = await fetch(`/api/${path}`, {
      method,
      headers: { "Content-Type": "application/json" },
      body: body && JSON.stringify(body),
    });
  } catch {
    throw new Refused("The server cannot be reached.", 0);
  }
  const value = response.status === 204 ? null : await response.json().catch(() => null);
  if (!response.ok) {
    throw new Refused(value?.error || `The server answered with ${response.status}.`, response.status);
  }
  return value;
}

const session = (id) => `sessions/${encodeURIComponent(id)}`;

export const start = () => request("GET", "start");
export const sessions = async () => (await request("GET", "sessions")).sessions;
export const create = async () => (await request("POST", "sessions", {})).id;
export const remove = (id) => request("DELETE", session(id));
export const ask = (id, text) => request("POST", `${session(id)}/questions`, { text });
export const stop = (id) => request("POST", `${session(id)}/stop`, {});
export const document = (number) => request("GET", `documents/${number}`);
export const sources = async (id) => (await request("GET", `${session(id)}/sources`)).sources;
export const source = (id, name) =>
  request("GET", `${session(id)}/sources/${encodeURIComponent(name)}`);
export const eventsUrl = (id, after) =>
  `/api/${session(id)}/events${after === null ? "" : `?after=${encodeURIComponent(after)}`}`;
