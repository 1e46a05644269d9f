import { rememberThumbnail } from "../search/example-files.js";
import { formatSeconds, secondsField } from "../search/range-fields.js";
import { el } from "../shared/element.js";
import { routeHash } from "../shared/route.js";
import { timeRangeProblem } from "./time-range.js";

/**
 * Renders a form that chooses a part of a video and searches for footage like it. `video` is the
 * player; `start` and `end` (seconds, or null) are the first values.
 */
export function timeRangeForm({ index, id, title, start, end, thumbnail }, video) {
  const from = secondsField("Start in seconds", start ?? 0);
  const to = secondsField("End in seconds", end);
  const outcome = el("div", { role: "alert" });
  const set = (field) => () => (field.value = formatSeconds(video.currentTime));
  const row = (text, field) =>
    el("div.row", {}, el("button.quiet", { type: "button", onclick: set(field) }, text), field);
  const submit = (event) => {
    event.preventDefault();
    const [startSeconds, endSeconds] = [from.valueAsNumber, to.valueAsNumber];
    const problem = timeRangeProblem(startSeconds, endSeconds, video.duration);
    outcome.replaceChildren(problem ? el("p.notice.bad", {}, problem) : "");
    if (problem) return;
    rememberThumbnail(id, thumbnail);
    const example = { kind: "range", id, name: title, start: startSeconds, end: endSeconds };
    location.hash = routeHash({ index, example });
  };
  return el(
    "details.rest",
    {},
    el("summary", {}, "Search by a part of this video"),
    el(
      "form.time-range",
      { onsubmit: submit, oninput: () => outcome.replaceChildren(), novalidate: true },
      row("Start here", from),
      row("End here", to),
      outcome,
      el("button", {}, "Find footage like this"),
    ),
  );
}
