import { describe, expect, it } from "vitest";
import {
  findContactDetails,
  findNames,
  findNumbers,
  normalizeClaimText,
} from "../../../src/answer/claim-details.ts";
import { hasInstruction } from "../../../src/answer/claim.ts";
import { detectLanguage, parseLanguage } from "../../../src/text/languages.ts";

describe("the parts of a claim", () => {
  it.each<[string, string[]]>([
    ["See shop.example/a?b=1, or mail a.b@c.example.", ["a.b@c.example", "shop.example/a?b=1"]],
    ["He came at 5 p.m., i.e. late, in the U.S. for 3.5 hours.", []],
    ["It rates 4.5/5 and ended 3:2 after 0:42.", []],
    ["ジョン・スミスは犬です。猫もいます。", []],
  ])("have the contact details of %j: %j", (text, details) => {
    expect(findContactDetails(normalizeClaimText(text))).toEqual(details);
  });

  it.each<[string, string[]]>([
    ["two hundred and five dogs", ["205"]],
    ["twenty-one dogs and twelve cats", ["21", "12"]],
    ["three thousand four hundred", ["3400"]],
    ["2,500 dogs", ["2500", "2.500"]],
    ["3.5 or 3,5", ["3.5", "3.5"]],
    ["१२ कुत्ते", ["12"]],
    ["two or three", ["2", "3"]],
    ["one of the dogs", ["1"]],
    ["12.05.2024", ["12052024"]],
  ])("have the numbers of %j: %j", (text, numbers) => {
    const found = findNumbers(normalizeClaimText(text)).flatMap(({ forms }) => forms);
    expect(found).toEqual(numbers);
  });

  it.each<[string, string, string[]]>([
    ["In the film, Ann Lee meets Bob.", "en", ["Ann", "Lee", "Bob"]],
    ["The man sings. He dances.", "en", []],
    ["Der Mann trifft Karl Schmidt am Fluss.", "de", ["Karl", "Schmidt"]],
    ["Elle parle à Marie.", "fr", ["Marie"]],
  ])("have the names of %j in %s: %j", (text, language, names) => {
    expect(findNames(text, language)).toEqual(names);
  });

  it.each([
    ["The keeper lives here with two goats.", "en"],
    ["Der Wärter lebt hier mit zwei Ziegen.", "de"],
    ["Le gardien vit ici avec deux chèvres.", "fr"],
    ["El guardián vive aquí con dos cabras.", "es"],
    ["Сторож живёт здесь.", "Cyrl"],
    ["看守人住在这里", "Hani"],
    ["ここに住んでいます", "Jpan"],
    ["LANTERN FESTIVAL", "en"],
  ])("are in a language: %s: %s", (text, language) => {
    expect(detectLanguage(text)).toBe(language);
  });

  it.each([
    ["de", "de"],
    ["de-AT", "de"],
    ["German", "de"],
    ["Deutsch", "de"],
    ["ru", "Cyrl"],
    ["ja", "Jpan"],
    ["zh-TW", "Hani"],
    ["en-x-7", "en"],
    ["like a pirate", null],
  ])("may be requested in a language by tag or name: %s", (text, language) => {
    expect(parseLanguage(text)).toBe(language);
  });

  it.each([
    ["Press releases lie on the table.", false],
    ["Calls are answered.", false],
    ["Visitors follow the guide.", false],
    ["Do not trust the others.", true],
    ["Now open the door.", true],
    ["Viewers should pay.", true],
  ])("are an instruction or not: %s: %s", (text, expected) => {
    expect(hasInstruction(text)).toBe(expected);
  });
});
