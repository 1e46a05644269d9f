import { describe, expect, it } from "vitest";
import { EngineError } from "../../../local/engine/errors.ts";
import { createQuoteModel, isGenericQuestion } from "../../../local/engine/quotes/chat-model.ts";
import {
  type AnswerStyle,
  evidenceText,
  MAP_PROMPT,
  NO_ANSWER,
  noteText,
  type PromptEvidence,
  questionText,
  REDUCE_PROMPT,
  systemText,
} from "../../../src/prompts.ts";

type Encode = (texts: readonly string[]) => Promise<number[][]>;

/** Vectors for which the cosine of the first text with each other one is `similarity`. */
const vectorsWith =
  (similarity: number): Encode =>
  async (texts) =>
    texts.map((_, i) => (i === 0 ? [1, 0] : [similarity, Math.sqrt(1 - similarity ** 2)]));
const failing: Encode = () => Promise.reject(new EngineError("busy", "The queue is full."));

function modelWith(embed: Encode) {
  const signal = AbortSignal.timeout(60_000);
  const encoder = { embed, countTokens: () => 0 };
  const capability = {
    model: "encoder",
    status: () => ({ ready: true, model: "encoder" }),
    use: <T>(work: (model: typeof encoder, signal: AbortSignal) => Promise<T>) =>
      work(encoder, signal),
  };
  const model = createQuoteModel(capability, "No language model.");
  return async (system: string, content: string) => {
    const deltas: string[] = [];
    const messages = [
      { role: "system" as const, content: system },
      { role: "user" as const, content },
    ];
    const answer = await model.answer(
      { messages, stream: true },
      (text) => deltas.push(text),
      signal,
    );
    expect(deltas.join("")).toBe(answer.text);
    return answer;
  };
}

const STYLE: AnswerStyle = { markdown: false, language: "", systemPrompt: "" };

function promptOf(question: string, lines: readonly string[]): string {
  return ["Evidence:", ...lines, questionText(question)].join("\n\n");
}

const evidence = (speech: string, i: number, other: Partial<PromptEvidence> = {}) =>
  evidenceText(i + 1, {
    title: "a.mp4",
    timeRange: { startMs: 0, endMs: 1000 },
    saidBefore: "",
    speech,
    onScreenText: "",
    caption: "A person.",
    ...other,
  });

/** Returns the reply to a question about what is said in each piece of evidence. */
async function reply(question: string, texts: readonly string[], embed = vectorsWith(0.55)) {
  const lines = texts.map((text, i) => evidence(text, i));
  return (await modelWith(embed)(systemText(STYLE), promptOf(question, lines))).text;
}

describe("a sentence whose subject is named elsewhere", () => {
  const DARLING = "Grace Darling was a keeper's daughter.";
  const RESCUE = "She saved nine people from a wreck.";
  it.each<[string, Partial<PromptEvidence> & { speech: string }, boolean]>([
    ["How many people did Grace Darling save?", { speech: `${DARLING} ${RESCUE}` }, true],
    ["How many people did Grace Darling save?", { speech: RESCUE, saidBefore: DARLING }, true],
    [
      "How many people did Grace Darling save?",
      { speech: RESCUE, title: "Grace Darling.mp4" },
      true,
    ],
    ["How many people did Grace Darling save?", { speech: RESCUE }, false],
    ["How many people did Ida Lewis save?", { speech: RESCUE, saidBefore: DARLING }, false],
    ["Did Grace Darling save people?", { speech: `${DARLING} ${RESCUE}` }, true],
    ["Did Grace Darling marry?", { speech: `${DARLING} ${RESCUE}` }, false],
    ["How many people did Grace Darling save?", { speech: `${DARLING} Nine boats came.` }, false],
  ])("answers %s with %j: %s", async (question, { speech, ...other }, isAnswered) => {
    const prompt = promptOf(question, [evidence(speech, 0, other)]);
    const { text } = await modelWith(vectorsWith(0.55))(systemText(STYLE), prompt);
    expect(text).toBe(isAnswered ? `${RESCUE} [1]` : NO_ANSWER);
  });
});

describe("a sentence in the question's words, the rest of which stand before it", () => {
  it.each([
    ["When was the stone bridge built?", "The stone bridge has arches.", "It was built in 1891."],
    ["When should I sow tomatoes?", "Today it's tomatoes.", "Sow the seeds in March."],
    ["When was the tannery founded?", "TANNERY OF HOLM.", "Founded 1811 by Nils Aker."],
    ["Who smelled the smoke at the school?", "The school burned.", "Josef smelled the smoke."],
    ["How many pounds did the camera cost?", "We had a camera.", "It cost eleven pounds."],
    ["Wie hieß der Lehrer?", "Ich ging in Oberwies zur Schule.", "Der Lehrer hieß Anton Gruber."],
    ["Wo ist Alfons geboren?", "Ich bin der Alfons.", "Ich bin in Brixlegg geboren."],
    ["Wann wurde der Verein gegründet?", "Es war einmal.", "Wir gründeten den Verein 1921."],
    ["Wer hat die Mühle gebaut?", "Das ist die Mühle.", "Gebaut hat sie Pfarrer Alois Stöger."],
    [
      "Wie lange muss man Quitten kochen?",
      "Wir kochen Quitten.",
      "Die Früchte eine Stunde kochen.",
    ],
    ["Was kostete der Eintritt ins Bad?", "Das Bad ist alt.", "Der Eintritt kostete zwei Mark."],
    ["Warum schloss die Hütte?", "Das ist die Hütte.", "Sie schloss, weil das Gas fehlte."],
  ])("to %j after %j quotes %j", async (question, before, sentence) => {
    expect(await reply(question, [`${before} ${sentence}`])).toBe(`${sentence} [1]`);
  });

  it.each([
    ["When was the iron bridge built?", "The stone bridge has arches. It was built in 1891."],
    ["When was the stone bridge built?", "The stone bridge has arches. It was built by hand."],
    ["Wann wurde die Mühle gebaut?", "Das ist die Mühle. Sie wurde aus Stein gebaut."],
    ["Wo ist Alfons gestorben?", "Ich bin der Alfons. Ich bin in Brixlegg geboren."],
    ["Wer hat die Mühle gebaut?", "Die Mühle wurde 1764 gebaut."],
    ["Wie viele Räder hat die Mühle?", "Die Mühle hat 1764 neue Räder bekommen."],
  ])("to %j quotes nothing of %j", async (question, text) => {
    expect(await reply(question, [text])).toBe(NO_ANSWER);
  });
});

describe("the reply of the quote model", () => {
  it.each([
    ["How long is the ferry to Oban?", "The ferry to Oban takes an hour.", true],
    ["How long is the ferry to Iona?", "The ferry to Oban takes an hour.", false],
    ["Which colour has the boat of Ann?", "The boat that Ann has is red.", true],
    ["What does Mr. Okafor water?", "Mr. Okafor waters the tomatoes.", true],
    ["What does Mrs. Okafor water?", "Mr. Okafor waters the tomatoes.", false],
    ["What does the boy play?", "A girl plays the cello.", false],
    ["Which song does the girl play?", "A girl plays the cello.", false],
    ["To whom does the dairy sell butter?", "The dairy sells butter to schools.", true],
    ["Where are the dogs?", "A dog sleeps on the sofa.", true],
    ["Which animal is on the skateboard?", "A dog and a skateboard.", true],
    ["Which animal is on the skateboard?", "A person and a skateboard.", false],
    ["Who drinks coffee?", "A biker enjoys a coffee.", true],
    ["Who is on the skateboard?", "A dog and a skateboard.", false],
    ["At what time does the boat for Oban depart?", "The ferry to Oban leaves at noon.", true],
    ["At what time does the boat for Oban depart?", "The ferry to Iona leaves at noon.", false],
    ["How much must one pay for the boat to Oban?", "The ferry to Oban leaves at noon.", false],
    ["What colour is the horse?", "A brown horse gallops across a field.", true],
    ["What colour is the horse?", "A horse gallops across a field.", false],
    ["How many dogs are there?", "Two dogs run through the snow.", true],
    ["How many dogs are there?", "Dogs run through the snow.", false],
    ["Welche Farbe hat das Pferd?", "A brown horse gallops across a field.", false],
    ["Wohnt der Wärter im Turm?", "Der Wärter wohnt im Turm.", true],
  ])("to %j quotes %j: %s", async (question, sentence, isQuoted) => {
    expect(await reply(question, [sentence])).toBe(isQuoted ? `${sentence} [1]` : NO_ANSWER);
  });

  it("to a vague question quotes a sentence that has the subject, too", async () => {
    const poster = "LANTERN FESTIVAL Riverside Park Friday 9 October";
    const lines = [evidence("The film festival is on Monday.", 0), evidence(poster, 1)];
    const prompt = [
      "Evidence:",
      ...lines,
      questionText("On which day is the festival?", "lantern"),
    ];
    const { text } = await modelWith(failing)(systemText(STYLE), prompt.join("\n\n"));
    expect(text).toBe(`${poster} [2]`);
  });

  it("has a quote a line, each with its marker, as a list if Markdown is allowed", async () => {
    const texts = ["A dog ran.", "It rained.", "Some dogs sat in the snow."];
    expect(await reply("dogs", texts)).toBe("A dog ran. [1]\nSome dogs sat in the snow. [3]");
    const lines = texts.map((text, i) => evidence(text, i));
    const system = systemText({ ...STYLE, markdown: true });
    const { text } = await modelWith(failing)(system, promptOf("dogs", lines));
    expect(text).toBe("- A dog ran. [1]\n- Some dogs sat in the snow. [3]");
  });

  it("names the model and uses no tokens", async () => {
    const prompt = promptOf("dogs", [evidence("A dog ran.", 0)]);
    expect(await modelWith(failing)(systemText(STYLE), prompt)).toMatchObject({
      model: "extractive",
      promptTokens: 0,
      completionTokens: 0,
      finishReason: "stop",
    });
  });

  it("quotes on-screen text and captions", async () => {
    const written = { onScreenText: "LANTERN FESTIVAL\nFriday 9 October" };
    const lines = [evidence("", 0, written), evidence("", 1, { caption: "A brown horse." })];
    const ask = (question: string) =>
      modelWith(vectorsWith(0.55))(systemText(STYLE), promptOf(question, lines));
    expect((await ask("On which day is the lantern festival?")).text).toBe(
      "LANTERN FESTIVAL Friday 9 October [1]",
    );
    expect((await ask("What colour is the horse?")).text).toBe("A brown horse. [2]");
  });

  it.each([
    ["Is there a dog?", "A dog. A cat. Two people.", "A dog. [1]"],
    ["Is there a puppy?", "A dog.", NO_ANSWER],
    ["Is there a man?", "A person.", NO_ANSWER],
    ["Is there a cat?", "A dog. A cat. Two people.", NO_ANSWER],
    ["Is there a dog?", "A hot dog.", NO_ANSWER],
    ["Is there a cat?", "A cat sits on a wall.", "A cat sits on a wall. [1]"],
  ])("to %j about a picture of %j is %j", async (question, caption, text) => {
    const prompt = promptOf(question, [evidence("", 0, { caption })]);
    expect((await modelWith(vectorsWith(0.55))(systemText(STYLE), prompt)).text).toBe(text);
  });

  it("in other words needs no embeddings if the words say enough", async () => {
    const texts = ["Bees come at dawn.", "Bees come at dawn."];
    expect(await reply("Which insects arrive at dawn?", texts, failing)).toBe(
      "Bees come at dawn. [1]",
    );
  });

  it("in other words needs embeddings if the words say little", async () => {
    const question = "When must travellers to Oban be aboard?";
    const texts = ["The ferry to Oban leaves at noon."];
    expect(await reply(question, texts, vectorsWith(0.9))).toBe(`${texts[0]} [1]`);
    await expect(reply(question, texts, failing)).rejects.toMatchObject({ code: "busy" });
  });

  it("to a question that names nothing has evenly spaced sentences", async () => {
    const texts = Array.from({ length: 9 }, (_, i) => `Number ${i}. And more.`);
    expect(await reply("What happens here?", texts)).toBe(
      "Number 0. [1]\nNumber 3. [4]\nNumber 6. [7]",
    );
    expect(await reply("What happens here?", [])).toBe(NO_ANSWER);
  });

  it("about a part of a video, and then about the notes on all, keeps the markers", async () => {
    const ask = modelWith(failing);
    const lines = [evidence("A dog ran.", 8), evidence("Some dogs sat in the snow.", 9)];
    const { text } = await ask(systemText(STYLE, MAP_PROMPT), promptOf("dogs", lines));
    expect(text).toBe("A dog ran. [9]\nSome dogs sat in the snow. [10]");
    const notes = ["A dog ran. [9] Some dogs sat in the snow. [10][11]", "- It rained. [2]"];
    const prompt = promptOf("Where do dogs sit?", notes.map(noteText));
    const reduced = await ask(systemText(STYLE, REDUCE_PROMPT), prompt);
    expect(reduced.text).toBe("Some dogs sat in the snow. [10]");
  });

  it.each([
    ["Hello?", ""],
    ['Question: "Who is there?"', "You are a pirate."],
    ["Describe this picture.", systemText(STYLE)],
  ])("to a prompt that isn't an answer's fails: %s", async (content, system) => {
    await expect(modelWith(failing)(system, content)).rejects.toMatchObject({
      code: "model_not_found",
      message: "No language model.",
    });
  });
});

it.each([
  ["What happens here?", true],
  ["What is said?", true],
  ["Please describe the scene", false],
  ["What does the keeper say?", false],
  ["Where are the goats?", false],
])("the question %j names nothing: %s", (text, isGeneric) => {
  expect(isGenericQuestion(text)).toBe(isGeneric);
});
