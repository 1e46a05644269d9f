import { describe, expect, it } from "vitest";
import data from "../../../local/engine/quotes/lexicon.json" with { type: "json" };
import { Lexicon } from "../../../local/engine/quotes/lexicon.ts";
import { analyzeQuestion } from "../../../local/engine/quotes/question.ts";
import model from "../../../local/engine/quotes/quote-model.json" with { type: "json" };
import { answerProbability } from "../../../local/engine/quotes/quote-model.ts";
import { gatherEvidence } from "../../../local/engine/quotes/verifier.ts";

const lexicon = new Lexicon(data);
const compare = (question: string, sentence: string) =>
  gatherEvidence(sentence, analyzeQuestion(question, lexicon), lexicon);

describe("the evidence of a sentence", () => {
  it.each<[question: string, sentence: string, stated: boolean | null]>([
    ["Who plays?", "A musician plays.", true],
    ["Who plays?", "Ada Lovelace plays.", true],
    ["Who plays?", "It was played by the founder.", true],
    ["Who plays?", "The dog plays.", false],
    ["Who works?", "He works in Boston.", false],
    ["Who danced at Larkhill?", "The bride of the wedding in Larkhill wore silk.", false],
    ["Who danced at Larkhill?", "Larkhill had thirty-one guests.", false],
    ["Which animal runs?", "A horse runs.", true],
    ["Which animal runs?", "Two children run.", false],
    ["Which tool is used?", "A cup is used.", null],
    ["Which song is played?", "The girl plays the cello.", false],
    ["Which breed is the dog?", "The dog chews a slipper.", false],
    ["Which bus is late?", "The red bus is late.", true],
    ["What kind of cookie is it?", "It is a cookie.", null],
    ["What is the name of the cat?", "The cat is called Tom.", true],
    ["What is the name of the cat?", "The cat sleeps.", false],
    ["Whose hat is it?", "He tries on his wife's hat.", true],
    ["Whose hat is it?", "It belongs to a judge.", true],
    ["Whose hat is it?", "A judge looks at the hat.", false],
    ["Which city is it in?", "It is in a library.", false],
    ["Which city is it in?", "It is in Cairo.", true],
    ["When was he born?", "He was named after the nurse.", false],
    ["When did she promise it?", "She promised it to every child.", false],
    ["When is it fed?", "It is fed after the guests have left.", true],
    ["How old is she?", "She won by two seconds.", false],
    ["How old is she?", "She was fifty-three when she learned it.", true],
    ["How hot is it?", "It is two hundred degrees.", true],
    ["How hot is it?", "It has two hundred rooms.", false],
    ["How much water is there?", "It simmers for thirty minutes.", false],
    ["By how much does it shrink?", "It shrinks by forty metres.", true],
    ["What colour does she paint the door?", "She paints the door of her house blue.", true],
    ["Why do bees dance?", "Bees dance to tell the others.", true],
    ["Why does she study?", "She wants to become a pilot.", false],
    ["Where does she sleep?", "She sleeps behind the stove.", true],
    ["Where does she sleep?", "She sleeps until noon.", false],
    ["Where is the fair?", "SUMMER FAIR Riverside Park Friday 9 October", null],
    ["Where is Oban?", "The ferry to Oban leaves at noon.", false],
    ["Where was the wedding at Larkhill?", "At Larkhill she wore a silk gown.", false],
    ["Where was the cake bought?", "The cake came from a village priest.", false],
    ["When does it open?", "It opens on Mondays.", true],
    ["When does it open?", "It opens at Easter.", true],
    ["When does it open?", "It opens slowly.", false],
    ["At what time does it open?", "It opens at half past nine.", true],
    ["At what time does it open?", "It opens on Mondays.", false],
    ["In which year was it built?", "It was built in 1874.", true],
    ["In which year was it built?", "It was built in ten days.", false],
    ["How long does it take?", "It takes two and a half hours.", true],
    ["How long is it?", "It is 312 metres long.", true],
    ["How long is it?", "It is red.", false],
    ["What does it cost?", "It costs twelve euros.", true],
    ["What does the bread cost?", "BREAD 4.50 MILK 1.20", true],
    ["What does it cost?", "It has twelve rooms.", false],
    ["How heavy is it?", "It weighs two tons.", true],
    ["How old is it?", "It is three years old.", true],
    ["How fast is it?", "It flies at sixty miles an hour.", true],
    ["How many rooms are there?", "There are twelve small rooms.", true],
    ["How many rooms are there?", "A room costs twelve euros.", false],
    ["How many players are there?", "Two men are playing.", false],
    ["How large is the staff?", "The staff leaves at half past eleven.", false],
    ["How large is the staff?", "The staff has eleven members.", true],
    ["What colour is the shirt?", "A man in a red and white shirt.", true],
    ["What colour is the shirt?", "The shirt is painted dark green.", true],
    ["What colour is the shirt?", "A red dog bites a shirt.", false],
    ["What colour is the shirt?", "A man in a shirt.", false],
    ["Why did it fall?", "It fell because of the wind.", true],
    ["What does it carry?", "It takes five hours.", false],
    ["What is said about it?", "It takes five hours.", null],
  ])("to %j, %j states what is asked for: %s", (question, sentence, stated) => {
    const evidence = compare(question, sentence);
    expect(evidence === null ? false : evidence.stated).toBe(stated);
  });

  it("counts terms by stem, by meaning, and those that are missing", () => {
    const evidence = compare("Where does the boat leave the old harbour?", "The ferry left Oban.");
    expect(evidence).toMatchObject({ stems: 0, meanings: 0.5, missing: 2, lacksVerb: false });
  });

  it("counts a word for one term only", () => {
    const evidence = compare("What does the vessel transport?", "The ship has a large crew.");
    expect(evidence).toMatchObject({ meanings: 0.5, missing: 1 });
  });

  it("is null if the sentence lacks a name or a number of the question", () => {
    expect(compare("Who lives in Oban?", "Ann lives in Iona.")).toBeNull();
    expect(compare("What happened in 1999?", "It happened in 1998.")).toBeNull();
  });
});

const contrast = { similarity: 0.5, similarityLead: 0.1, overlapLead: 0.3 };

it.each(["similarity", "similarityLead", "overlapLead"] as const)(
  "a sentence is more likely to be the answer the higher its %s",
  (name) => {
    const evidence = compare("Who drinks coffee?", "A biker enjoys a coffee.")!;
    const likely = [0, 0.3, 0.6].map((value) =>
      answerProbability(evidence, { ...contrast, [name]: value }, model),
    );
    expect(likely).toEqual(likely.toSorted((a, b) => a - b));
    expect(likely.at(-1)).toBeGreaterThan(likely[0]! + 0.02);
  },
);
