import { el } from "./element.js";

/** Keys of the console, by where they work. */
const GROUPS = {
  Anywhere: [
    [["/"], "go to the search field"],
    [["?"], "show these keys"],
    [["Esc"], "close the player, or leave a field of it"],
  ],
  Results: [
    [["V"], "next view: cards, dense grid, by video"],
    [["←", "→"], "show other moments of the video in its picture"],
    [["Enter"], "play, or close the player"],
    [["+", "−"], "judge as relevant, not relevant"],
  ],
  "Steps and conditions": [
    [["Enter"], "search"],
    [["Backspace"], "remove an empty field"],
  ],
  Player: [
    [["Space", "K"], "play or pause"],
    [["J", "L"], "10 seconds back, forward"],
    [["←", "→"], "5 seconds back, forward"],
  ],
};

/** Shows the keys of the console in a dialog. */
export function openKeyboardHelp() {
  if (document.querySelector("dialog[open]")) return;
  const sections = Object.entries(GROUPS).flatMap(([name, keys]) => [
    el("h3", {}, name),
    el("dl.keys", {}, keys.flatMap(keyRow)),
  ]);
  const close = el("button.quiet", { autofocus: true }, "Close");
  const dialog = el(
    "dialog.keyboard",
    { "aria-labelledby": "keyboard-heading" },
    el("form", { method: "dialog" }, [
      el("h2", { id: "keyboard-heading" }, "Keyboard"),
      ...sections,
      el("div.row.end", {}, close),
    ]),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function keyRow([keys, effect]) {
  const names = keys.flatMap((key, i) => [i > 0 ? " " : "", el("kbd", {}, key)]);
  return [el("dt", {}, names), el("dd", {}, effect)];
}
