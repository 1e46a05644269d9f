import { describe, expect, it } from "vitest";
import { verbStems } from "../../../src/normal-form/japanese-verbs.ts";
import { mayBeForm, verbForms } from "../../../src/normal-form/verb-forms.ts";

describe("forms of a verb", () => {
  it.each([
    ["de", "kochen", ["kocht", "gekocht"]],
    ["de", "kocht", ["kochen", "gekocht"]],
    ["de", "gekocht", ["kochen", "kocht"]],
    ["de", "arbeitet", ["arbeiten", "gearbeitet"]],
    ["de", "aufgemacht", ["aufmachen", "aufmacht"]],
    ["de", "ankommt", ["ankommen", "angekommen"]],
    ["de", "singt", ["singen", "sang", "gesungen"]],
    ["de", "verstanden", ["verstehen", "verstand"]],
    ["fr", "dort", ["dormir", "dorment"]],
    ["fr", "comprendre", ["compris"]],
    ["fr", "mange", ["mangons"]],
    ["nl", "gekookt", ["kookt", "kooken"]],
    ["nl", "gegeten", ["eten", "eet"]],
  ] as const)("in %s of %s are %j", (language, word, forms) => {
    expect(verbForms(word, language)).toEqual(expect.arrayContaining([...forms]));
    expect(verbForms(word, language)).not.toContain(word);
  });

  it.each([
    ["de", "haus"],
    ["fr", "maison"],
    ["en", "running"],
    ["de", "日本"],
  ] as const)("in %s of %s are none", (language, word) => {
    expect(verbForms(word, language)).toEqual([]);
  });

  it.each([
    ["kocht", true],
    ["kochte", true],
    ["Kochen", true],
    ["Leiche", false],
    ["Macht", false],
    ["macht", true],
  ])("in German may be %s: %s", (written, expected) => {
    expect(mayBeForm({ written, form: "", language: "de", text: written })).toBe(expected);
  });

  it.each([
    ["食べる", ["食べ"]],
    ["飲む", ["飲み", "飲ん", "飲ま", "飲め"]],
    ["車", []],
    ["りんご", []],
  ])("in Japanese begin for %s with %j", (word, stems) => {
    expect(verbStems(word)).toEqual(stems);
  });
});
