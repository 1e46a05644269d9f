/** Orders of a library by name: a comparison of two assets, and the label. */
export const ORDERS = {
  oldest: { label: "Oldest first", compare: byTime },
  newest: { label: "Newest first", compare: (a, b) => byTime(b, a) },
  title: { label: "Title", compare: byTitle },
  longest: { label: "Longest first", compare: descending("duration_seconds") },
  largest: { label: "Largest first", compare: descending("size_bytes") },
};

/** What is listed of a library at first: everything in the order of the API. */
export const WHOLE_LIBRARY = { state: "", type: "", text: "", order: "oldest" };

const CHOICES = {
  state: ["ready", "working", "failed"],
  type: ["video", "image"],
  order: Object.keys(ORDERS),
};

/** Reads a view from the parameters of the hash. Invalid values count as absent. */
export function readView(params) {
  const view = { ...WHOLE_LIBRARY, text: params.get("title") ?? "" };
  for (const [name, values] of Object.entries(CHOICES)) {
    if (values.includes(params.get(name))) view[name] = params.get(name);
  }
  return view;
}

/** Returns the parameters of a view, without default values. */
export function writeView({ text, ...choices }) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries({ title: text.trim(), ...choices })) {
    if (value && value !== WHOLE_LIBRARY[name]) params.set(name, value);
  }
  return params;
}

export function isSameView(a, b) {
  return writeView(a).toString() === writeView(b).toString();
}

/** Returns whether a view needs all assets of an index: the API lists them by time only. */
export function needsAllAssets({ state, type, text, order }) {
  return state !== "" || type !== "" || text !== "" || order !== "oldest";
}

/** Returns the assets of a view in its order. `state` may be `working`: neither ready nor failed. */
export function arrangeAssets(assets, { state, type, text, order }) {
  const words = fold(text).split(/\s+/).filter(Boolean);
  return assets
    .filter((asset) => {
      const name = fold(`${asset.technical?.folder ?? ""} ${asset.title}`);
      return (
        (state === "" || state === stateGroup(asset)) &&
        (type === "" || type === asset.asset_type) &&
        words.every((word) => name.includes(word))
      );
    })
    .sort(ORDERS[order].compare);
}

function stateGroup({ state }) {
  return state === "ready" || state === "failed" ? state : "working";
}

/** Ignores case, accents and the width of characters. */
function fold(text) {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

/** Ids begin with a type; what follows sorts by time. */
function byTime({ asset_id: a }, { asset_id: b }) {
  const [timeA, timeB] = [a.slice(4), b.slice(4)];
  if (timeA === timeB) return 0;
  return timeA < timeB ? -1 : 1;
}

const { compare: compareText } = new Intl.Collator(undefined, { numeric: true });

function byTitle(a, b) {
  return compareText(a.title, b.title) || byTime(a, b);
}

/** Compares by a number; assets without one are last. */
function descending(field) {
  return (a, b) => (b[field] ?? -1) - (a[field] ?? -1) || byTime(a, b);
}
