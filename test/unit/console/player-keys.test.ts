import { expect, it } from "vitest";

interface Key {
  key: string;
  target: { tagName: string; isContentEditable?: boolean };
  ctrlKey?: boolean;
  shiftKey?: boolean;
}

/** The function under test; the console is plain JavaScript without types. */
interface PlayerKeys {
  keyAction: (key: Key) => { seek: number } | { toggle: true } | null;
}

const file = new URL("../../../console/console/player/player-keys.js", import.meta.url).href;
const { keyAction } = (await import(file)) as PlayerKeys;

it.each([
  [" ", { toggle: true }],
  ["k", { toggle: true }],
  ["K", { toggle: true }],
  ["j", { seek: -10 }],
  ["l", { seek: 10 }],
  ["ArrowLeft", { seek: -5 }],
  ["ArrowRight", { seek: 5 }],
  ["ArrowUp", null],
  ["constructor", null],
])("The key %j in the player means %j", (key, action) => {
  expect(keyAction({ key, target: { tagName: "VIDEO" } })).toEqual(action);
});

it.each(["INPUT", "TEXTAREA", "SELECT"])("Keys in %s are text or a choice", (tagName) => {
  for (const key of [" ", "j", "k", "l", "ArrowLeft"]) {
    expect(keyAction({ key, target: { tagName } })).toBeNull();
  }
});

it("Keys in editable content are text", () => {
  expect(keyAction({ key: "k", target: { tagName: "P", isContentEditable: true } })).toBeNull();
});

it.each(["BUTTON", "SUMMARY", "A"])("The space bar activates %s, and k plays", (tagName) => {
  expect(keyAction({ key: " ", target: { tagName } })).toBeNull();
  expect(keyAction({ key: "k", target: { tagName } })).toEqual({ toggle: true });
});

it("A key with a modifier is left to the browser", () => {
  const target = { tagName: "VIDEO" };
  expect(keyAction({ key: "l", target, ctrlKey: true })).toBeNull();
  expect(keyAction({ key: "l", target, shiftKey: true })).toBeNull();
});
