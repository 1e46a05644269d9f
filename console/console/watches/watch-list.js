import { indexPath } from "../shared/api-path.js";
import { el, errorNotice, replaceCard } from "../shared/element.js";
import { openPagedList } from "../shared/paged-list.js";
import { NEW_WATCH, routeHash } from "../shared/route.js";
import { count } from "../shared/wording.js";
import { watchActions } from "./watch-actions.js";
import { restrictionsOf, subjectOf, toPercent } from "./watch-wording.js";

/** Opens the list of the watches of an index. */
export function openWatches(index) {
  const list = openPagedList("Watches", {
    path: indexPath(index, ["watches"]),
    field: "watches",
    empty: emptyList(),
    render: (watch) => watchItem(watch, () => list.load()),
  });
  const href = routeHash({ index, page: "watches", watch: NEW_WATCH });
  const root = el(
    "section.stack",
    {},
    el("div.row.between", {}, el("h2", {}, "Watches"), el("a.button.main", { href }, "New watch")),
    list.root,
  );
  void list.load();
  return root;
}

function emptyList() {
  return [
    el("b", {}, "No watches yet."),
    el("br"),
    "A watch is a search that goes on: each new moment that matches it is listed here once, and announced by an event or a webhook. Choose “New watch”, or search first and choose “Watch this” beside the results.",
  ];
}

function watchItem(watch, onDeleted) {
  const item = el("li.record");
  const problem = el("div.rest", { role: "alert" });
  const draw = (record) => {
    const focused = [...item.querySelectorAll("button")].indexOf(document.activeElement);
    const { name, index_name: index, watch_id: id } = record;
    const href = routeHash({ index, page: "watches", watch: id });
    const actions = watchActions(record, {
      onChange: draw,
      onDeleted() {
        replaceCard(item);
        onDeleted();
      },
      onError: (error) => problem.replaceChildren(...(error ? [errorNotice(error)] : [])),
    });
    item.replaceChildren(
      el("b", {}, el("a", { href, dir: "auto" }, name)),
      ...pausedBadge(record),
      el("span.facts", {}, factsOf(record)),
      actions,
      problem,
    );
    if (focused >= 0) item.querySelectorAll("button")[focused].focus();
  };
  draw(watch);
  return item;
}

export function pausedBadge({ paused }) {
  return paused ? [el("span.badge", {}, "Paused")] : [];
}

/** Describes a watch in one line, from its record; of its webhook, only the host. */
export function factsOf(watch) {
  const { matches, webhook_url: url } = watch;
  return [
    subjectOf(watch),
    ...restrictionsOf(watch),
    `from ${toPercent(watch.min_probability)} %`,
    count(matches, "match", "matches"),
    url && `to ${new URL(url).host}`,
  ]
    .filter(Boolean)
    .join(" · ");
}
