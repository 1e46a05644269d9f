/** A key, and the route behind it: `#key=sl_…/holidays?q=boat`. */
const LINK = /^#key=([^/]*)(\/.*)?$/;
const LOCAL_HOST = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Takes the key of a link that signs in out of the page's address, at once: neither the history nor
 * the server gets it. Returns the key, and whether the service runs on this computer; null without
 * one. Elsewhere a stranger's link must not sign anybody in, because what they add would be the
 * stranger's.
 */
export function takeLinkedKey() {
  const [, key, route = "/"] = LINK.exec(location.hash) ?? [];
  if (key === undefined) return null;
  history.replaceState(null, "", `#${route}`);
  return { key, isLocal: LOCAL_HOST.test(location.hostname) };
}

/** Returns the key of what was pasted as one: a key, a whole link that signs in, or its end. */
export function keyOf(text) {
  const trimmed = text.trim();
  return /#key=([^/]*)/.exec(trimmed)?.[1] ?? trimmed;
}
