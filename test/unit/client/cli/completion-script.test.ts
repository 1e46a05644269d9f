import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../../../client/src/cli/commands.ts";
import {
  completionScript,
  completionWords,
  SHELLS,
} from "../../../../client/src/cli/completion-script.ts";

describe("the words of completions", () => {
  const words = new Map(completionWords(COMMANDS).map((entry) => [entry.prefix, entry]));

  it.each([
    ["", ["login", "index", "search", "completion"]],
    ["index", ["create", "list", "delete"]],
    ["export", ["edl", "csv", "otio", "fcpxml", "--output", "--json"]],
    ["search", ["--top-k", "--index", "--help"]],
  ])("after %j contain %j", (prefix, expected) => {
    expect(words.get(prefix)?.words).toEqual(expect.arrayContaining(expected));
  });

  it("name each word once", () => {
    for (const { words: list } of words.values()) expect(new Set(list).size).toBe(list.length);
  });
});

/** Returns what bash completes for the last of some words. */
function completeInBash(line: string[]): string[] {
  const quoted = line.map((word) => `'${word}'`).join(" ");
  const script = `${completionScript("bash", COMMANDS)}
    COMP_WORDS=(${quoted}); COMP_CWORD=${line.length - 1}
    compopt() { :; }
    _sightline; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.split("\n").filter(Boolean);
}

describe("bash", () => {
  it.each([
    [["sightline", "se"], ["search"]],
    [["sightline", "index", "c"], ["create"]],
    [["sightline", "keys", "create", "--sc"], ["--scopes"]],
    [["sightline", "transcript", "get", "vid", "--format", "s"], ["srt"]],
    [["sightline", "export", "o"], ["otio"]],
    [["sightline", "search", "--top-k", ""], []],
    [["sightline", "frob", ""], []],
  ])("completes %j with %j", (line, expected) => {
    expect(completeInBash(line)).toEqual(expected);
  });

  it("completes file names where a command takes files", () => {
    expect(completeInBash(["sightline", "add", "packag"])).toContain("package.json");
    expect(completeInBash(["sightline", "search", "--image", "packag"])).toContain("package.json");
  });
});

it.each(SHELLS)("the script for %s names every command and option", (shell) => {
  const script = completionScript(shell, COMMANDS);
  for (const { name, options } of COMMANDS) {
    for (const word of name.split(" ")) expect(script).toContain(word);
    for (const option of options) expect(script).toContain(option.name);
  }
});
