/** Layouts of results by their name in the hash of the URL, in the order of their key. */
export const LAYOUTS = {
  cards: { label: "Cards" },
  dense: { label: "Dense" },
  rows: { label: "By video" },
};

/** Reads a layout from the parameters of the hash; "" for the one that was chosen last. */
export function readLayout(params) {
  const name = params.get("layout") ?? "";
  return Object.hasOwn(LAYOUTS, name) ? name : "";
}

export function nextLayout(name) {
  const names = Object.keys(LAYOUTS);
  return names[(names.indexOf(name) + 1) % names.length];
}
