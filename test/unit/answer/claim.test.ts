import { describe, expect, it } from "vitest";
import { CitationVerifier } from "../../../src/answer/citation-verifier.ts";
import type { ClaimEvidence } from "../../../src/answer/claim.ts";

const NOTHING = {
  title: "IMG_20.jpg",
  saidBefore: "",
  speech: "",
  onScreenText: "",
  caption: "",
  timeRange: null,
};
/** An image without any text, which the model was shown. */
const BARE_IMAGE: ClaimEvidence = { ...NOTHING, hasImage: true };
const CAPTIONED_IMAGE: ClaimEvidence = {
  ...BARE_IMAGE,
  caption: "Three boats with red sails lie on a river in front of a town.",
};
const SPEECH: ClaimEvidence = {
  ...NOTHING,
  title: "lighthouse.mp4",
  speech:
    "Welcome to the lighthouse. The keeper Anna Berg lives here with two goats. She paid forty " +
    "euros in 1998, and climbs 212 steps a day. Write to keeper@lighthouse.example or call " +
    "555 0100. If you visit, close the gate. The password of the old radio was albatross.",
  hasImage: false,
  timeRange: { startMs: 60_000, endMs: 95_000 },
};

const SOURCES = { 1: BARE_IMAGE, 2: CAPTIONED_IMAGE, 3: SPEECH };

function passes(claim: string, marker: keyof typeof SOURCES, context = NO_CONTEXT): boolean {
  const sources = new Map(Object.entries(SOURCES).map(([key, source]) => [Number(key), source]));
  const verifier = new CitationVerifier(sources, "", context);
  const sentence = claim.replace(/([.!?。！？।]?)$/u, ` [${marker}]$1`);
  return verifier.push(sentence) + verifier.end() !== "";
}
const NO_CONTEXT: { question: string; language: string | null } = { question: "", language: null };

describe("a claim that only an image without text backs", () => {
  it.each([
    "Write to help@evil.example.",
    "The address is help [at] evil [dot] example.",
    "The address is help(at)evil(dot)example.",
    "The address is help at evil dot com.",
    "The address is help＠evil．example.",
    "More is at evil.example.",
    "More is at evil[.]example.",
    "More is at evil\u200b.\u200bexample.",
    "More is at ｅｖｉｌ．ｅｘａｍｐｌｅ.",
    "More is at еvil.example.",
    "More is at EVIL.example/login?k=1.",
    "More is at evil dot com.",
    "More is at evil dot click.",
    "More is at evil dot zip.",
    "More is at evil【dot】click.",
    "More is at evil\u200bdot\u200bclick.".replaceAll("\u200b", "\u200b "),
    "More is at evil punkt de.",
    "More is at evil punto click.",
    "More is at evil point fr.",
    "More is at evil full stop com.",
    "More is at evil точка ру.",
    "More is at evil｡click.",
    "More is at evil。click.",
    "More is at evil．click.",
    "More is at evil·click.",
    "More is at evil⁄login dot zip.",
    "More is at evil.example⁄login.",
    "More is at evil.example／login.",
    "The address is help at evil dot click.",
    "The address is help ät evil punkt de.",
    "The address is help arroba evil punto es.",
    "The address is help(arroba)evil(punto)es.",
    "More is at evil .example.",
    "More is at evil. example for all.",
    "More is at `evil`.example.",
    "More is at evil&#46;example.",
    "More is at evil&period;example.",
    "More is at 10.0.0.1/login.",
    "More is at 10[.]0[.]0[.]1.",
    "More is at [2001:db8::1]/x.",
    "More is on [this page](https://evil.example/login).",
    "More is on <https://evil.example/login>.",
    "The sign shows bitcoin:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa.",
    "A wallet is 0x52908400098527886E0F7030069857D2E4169EE7.",
    "A wallet is bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq.",
    "The handle is @evil_example.",
    "The tag is #evilexample.",
    "The number is 555 0100.",
    "The number is +1 (555) 010-0199.",
    "The number is 5 5 5 0 1 0 0.",
    "The number is 5-5-5-0-1.",
    "The number is 5, 5, 5, 0, 1, 0.",
    "The number is five five five oh one zero zero.",
    "The number is ５５５０１００.",
    "The number is ٥٥٥٠١٠٠.",
    "The number is 5\u200b5\u200b5\u200b0100.",
    "The number is\n555\n0100.",
    "Lunch costs $5.",
    "Lunch costs 5 €.",
    "Lunch costs nine euros.",
    "Lunch costs 9 EUR.",
    "The battery is at 9%.",
    "About two hundred people are there.",
    "It was taken in 1998.",
    "The password is swordfish.",
    "The password is hunter2.",
    "The pass code is on the door.",
    "Das Passwort lautet Schwertfisch.",
    "Le mot de passe est poisson.",
    "密码是剑鱼。",
    "The api key is on the screen.",
    "The PIN is on the card.",
    "The pass-word is swordfish.",
    "The secret word is swordfish.",
    "Karl Schmidt stands by the door.",
    "The man is Karl.",
    "Karl stole the boat.",
    "The boat belongs to K. Schmidt.",
    "The boat belongs to Mr. Schmidt.",
    "Karl's boat is red.",
    "The culprit is KARL.",
    "The boat belongs to iEvil.",
    "PWNED",
    "Стоит Карл Шмидт.",
    "Ignore the other pictures.",
    "Please log in again.",
    "Call the number on the wall.",
    "You must send the form to the bank.",
    "It is best to call the bank.",
    "The sign asks visitors to pay.",
    "A boat is there, call the bank.",
    "Rufen Sie die Bank an.",
    "Cliquez sur le bouton.",
    "请点击按钮。",
    "The sign says “pay here”.",
    'The sign says "open".',
  ])("is dropped: %s", (claim) => {
    expect(passes(claim, 1)).toBe(false);
  });

  it.each([
    "Two red boats lie on a river.",
    "There are 12 dogs on the beach.",
    "A man in a blue coat holds an umbrella.",
    "It is raining.",
    "Yes.",
    "Red.",
    "The boat is white and green, with 3 sails.",
    "People walk past a shop.",
    "Boats lie at the quay.",
    "Black dogs in the water shake their heads.",
    "A dog is on the left, then a cat.",
    "Three people drive a car, whilst two watch.",
    "Snow covers the roofs.",
    "Children are playing in the street.",
    "A woman wears a T-shirt and looks at a TV.",
    "Text is visible on the wall.",
    "A red dot is on the wall.",
    "The dot moves to the left.",
    "Open doors lead to a garden.",
    "Sign posts stand along the road.",
    "You can see a dog.",
    "A man says nothing and points to the left.",
    "1–2 dogs are in the background.",
    "The 2nd boat is blue.",
    "Zwei rote Boote liegen auf dem Fluss.",
    "Rote Boote liegen im Hafen vor einer Stadt.",
    "Deux bateaux rouges sont sur la rivière.",
    "Dos barcos rojos están en el río.",
    "Две красные лодки стоят у берега.",
    "河上有3条红色的船。",
    "川に赤い船が三隻あります。",
    "هناك قاربان أحمران في النهر.",
  ])("passes if it describes what is visible: %s", (claim) => {
    expect(passes(claim, 1)).toBe(true);
  });
});

describe("a claim about an image with a caption", () => {
  it.each([
    ["The red boat is at the left.", ""],
    ["He holds an umbrella.", "What does the man hold?"],
    ["It is blue and white.", "What colour is the flag?"],
    ["4 boats are there.", ""],
  ])("passes if the caption or the question has to do with it: %s", (claim, question) => {
    expect(passes(claim, 2, { ...NO_CONTEXT, question })).toBe(true);
  });

  it.each([
    "The festival was cancelled.",
    "The 45 boats are there.",
    "The boats belong to Karl.",
    "The boats cost 9 euros each at boats.example.",
    "Visit the boats.",
  ])("is dropped if it has nothing to do with it, or adds a detail: %s", (claim) => {
    const question = claim.startsWith("The festival") ? "What lies there?" : "";
    expect(passes(claim, 2, { ...NO_CONTEXT, question })).toBe(false);
  });
});

describe("a claim about speech", () => {
  it.each([
    "The keeper lives with her goats.",
    "Anna Berg keeps two goats at the lighthouse.",
    "Anna's goats live there, too.",
    "She paid 40 euros in 1998.",
    "She climbs 212 steps every day.",
    "The number of the keeper is 5550100.",
    "Write to the keeper: keeper at lighthouse dot example.",
    "You can write to keeper@lighthouse.example or call 555 0100.",
    "If you visit, you should close the gate.",
    "Close the gate when you visit.",
    "The password of the radio was albatross.",
    "At 1:05, the keeper says so.",
    "The keeper is mentioned from 1:00 to 1:35.",
    "It is said in lighthouse.mp4.",
    "It dates from 1998.",
    "Yes.",
  ])("passes if the speech has its words and details: %s", (claim) => {
    expect(passes(claim, 3)).toBe(true);
  });

  it.each([
    "It was cancelled.",
    "The keeper Karl lives here with two goats.",
    "Bob stole the goats of the keeper.",
    "The keeper lives here with five goats.",
    "She paid 41 euros.",
    "She paid forty-one euros.",
    "Write to keeper@evil.example about the goats.",
    "Call the keeper at 555 0199.",
    "The keeper's page is lighthouse.evil.example.",
    "The password of the radio was swordfish.",
    "Send the keeper all your money.",
    "At 4:05, the keeper says so.",
    "Two dogs run over a beach.",
  ])("is dropped otherwise: %s", (claim) => {
    expect(passes(claim, 3)).toBe(false);
  });

  it.each([
    ["de", "Die Wärterin lebt dort mit zwei Ziegen."],
    ["de", "Die Wärterin hat zwei Liter Milch."],
    ["es", "Se necesitan dos cubos de agua."],
    ["de", "Anna Berg hat 1998 dafür 40 Euro bezahlt."],
    ["fr", "La gardienne vit ici avec deux chèvres."],
    ["Cyrl", "Смотрительница живёт здесь с двумя козами."],
    ["Hani", "看守人和两只山羊住在这里。"],
  ])("passes in the requested language, without a word in common: %s, %s", (language, claim) => {
    expect(passes(claim, 3, { ...NO_CONTEXT, language })).toBe(true);
  });

  it.each([
    ["de", "Karl Schmidt hat dafür bezahlt."],
    ["de", "Sie hat dafür 41 Euro bezahlt."],
    ["de", "Mehr steht auf der Seite evil.example."],
    ["de", "Rufen Sie die Bank an."],
    ["de", "Das Passwort lautet Schwertfisch."],
    ["fr", "Elle a écrit à Karl dans la nuit."],
    ["en", "Die Wärterin lebt dort mit zwei Hunden."],
    ["de", "There was a party on the beach."],
    [null, "Die Wärterin lebt dort mit zwei Hunden."],
  ])("is dropped in the language %s if a detail isn't in the speech: %s", (language, claim) => {
    expect(passes(claim, 3, { ...NO_CONTEXT, language })).toBe(false);
  });
});

describe("a heading of an answer", () => {
  const verify = (text: string) => {
    const verifier = new CitationVerifier(new Map([[1, SPEECH]]), "");
    return verifier.push(text) + verifier.end();
  };
  it("is dropped if a detail isn't in what the sentence below it cites", () => {
    expect(verify("# Call 555 0199\n\nThe keeper has goats [1].")).toBe(
      "The keeper has goats. [1]",
    );
    expect(verify("# Karl Schmidt\n\nThe keeper has goats [1].")).toBe("The keeper has goats. [1]");
  });

  it("may count what follows", () => {
    const list = "There are three things:\n\n- The keeper. [1]\n- The goats. [1]";
    expect(verify(list)).toBe(list);
  });
});
