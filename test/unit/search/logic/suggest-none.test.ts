import { describe, expect, it } from "vitest";
import { suggestNone } from "../../../../src/search/logic/suggest-none.ts";

describe("A query that says what isn't there", () => {
  it.each<[string, string | null, string[]]>([
    ["a beach without people", "a beach", ["people"]],
    ["A beach without any people.", "A beach", ["people"]],
    ["no people", null, ["people"]],
    ["a woman without an umbrella", "a woman", ["umbrella"]],
    ["dogs but not cats", "dogs", ["cats"]],
    ["dogs but no cats", "dogs", ["cats"]],
    ["a harbour, but without boats", "a harbour", ["boats"]],
    ["all animals except birds", "all animals", ["birds"]],
    ["Hafen, aber ohne Schiffe", "Hafen", ["Schiffe"]],
    ["tous les fruits sauf les pommes", "tous les fruits", ["pommes"]],
    ["animales excepto perros", "animales", ["perros"]],
    ["beach, no people", "beach", ["people"]],
    ["a street with no cars", "a street", ["cars"]],
    ["a beach without people at sunset", "a beach at sunset", ["people"]],
    ["a beach without people or dogs", "a beach", ["people", "dogs"]],
    ["a beach without people, dogs, and boats", "a beach", ["people", "dogs", "boats"]],
    ["without people", null, ["people"]],
    ["Ein Strand ohne Menschen", "Ein Strand", ["Menschen"]],
    ["Strand ohne Menschen und Hunde", "Strand", ["Menschen", "Hunde"]],
    ["keine Autos", null, ["Autos"]],
    ["Hunde, aber keine Katzen", "Hunde", ["Katzen"]],
    ["Straße ohne Autos bei Nacht", "Straße bei Nacht", ["Autos"]],
    ["une plage sans personnes", "une plage", ["personnes"]],
    ["plage sans gens ni chiens", "plage", ["gens", "chiens"]],
    ["des chiens mais pas de chats", "des chiens", ["chats"]],
    ["chiens mais pas d'oiseaux", "chiens", ["oiseaux"]],
    ["una playa sin gente", "una playa", ["gente"]],
    ["perros pero no gatos", "perros", ["gatos"]],
    ["playa sin gente ni perros", "playa", ["gente", "perros"]],
  ])("%s is %s without %s", (text, query, none) => {
    expect(suggestNone(text)).toEqual({ query, none });
  });
});

describe("A query that only has such a word stays as it is", () => {
  it.each([
    "a beach",
    "no smoking sign",
    "no parking",
    "No Time to Die",
    "without a doubt",
    "a man without a country",
    "the number is not known to anybody who was in the room that day",
    '"beach without people"',
    "beach -people",
    "knowledge",
    "a piano",
    "Rebel Without a Cause",
    "Doctors Without Borders",
    "doctors without borders",
    "Man Without a Past",
    "The Man with No Name",
    "Girls Without Hope",
    "Médecins Sans Frontières",
    "Ärzte ohne Grenzen",
    "no man's land",
    "no pain, no gain",
    "no woman no cry",
    "no strings attached",
    "without further ado",
    "speechless, without warning",
    "a war without end",
    "sans souci",
    "Reporter ohne Grenzen",
    "sin embargo",
    "Casino Royale",
    "san francisco",
    `${"a long text about a beach ".repeat(8)}without people`,
    "no",
    "without",
    "",
  ])("%s", (text) => {
    expect(suggestNone(text)).toBeNull();
  });
});
