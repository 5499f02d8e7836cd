// HTML from the server into the page: what is not on these lists stays out, whatever is sent.
// The server sends nothing else; this is for the day on which that is no longer true.

const PLAIN =
  "p br hr em strong s del code pre blockquote ul ol li h1 h2 h3 h4 h5 h6 table thead tbody tr th td " +
  "sup mark section bdi a";
const ELEMENTS = new Set(PLAIN.split(" "));
const ATTRIBUTES = new Set(["id", "href", "class", "start", "dir", "aria-label", "data-sources"]);
const TARGET = /^(#|https?:\/\/|mailto:)/i;

/** Return the nodes of `html`, without anything that could load, run or look like the page. */
export function safeNodes(html) {
  const nodes = document.createDocumentFragment();
  copy(new DOMParser().parseFromString(html, "text/html").body, nodes);
  return nodes;
}

function copy(from, to) {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) {
      to.append(node.data);
    } else if (node.nodeType === Node.ELEMENT_NODE) {
      const known = ELEMENTS.has(node.localName);
      const made = known ? element(node) : to;
      if (known) to.append(made);
      copy(node, made);
    }
  }
}

function element(node) {
  const made = document.createElement(node.localName);
  for (const { name, value } of node.attributes) {
    if (!ATTRIBUTES.has(name) || (name === "href" && !TARGET.test(value))) continue;
    made.setAttribute(name, value);
  }
  if (made.localName === "a" && !made.getAttribute("href")?.startsWith("#")) {
    made.target = "_blank"; // the answer that it stands in must not go away
    made.rel = "noopener noreferrer nofollow";
  }
  return made;
}

/** Clone the template with the id `t-name`. */
export function made(name) {
  return document.getElementById(`t-${name}`).content.firstElementChild.cloneNode(true);
}
