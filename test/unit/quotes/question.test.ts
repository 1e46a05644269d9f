import { describe, expect, it } from "vitest";
import data from "../../../local/engine/quotes/lexicon.json" with { type: "json" };
import { Lexicon } from "../../../local/engine/quotes/lexicon.ts";
import { analyzeQuestion } from "../../../local/engine/quotes/question.ts";

const lexicon = new Lexicon(data);

describe("a question", () => {
  it.each([
    ["Who drinks coffee?", "person", null, "drinks"],
    ["Whose coffee is this?", "owner", null, null],
    ["What is the name of the dog?", "name", "name", null],
    ["What is the dog called?", "name", "name", null],
    ["What pulls a sledge?", "thing", null, "pulls"],
    ["What kind of bird sings?", "thing", "bird", "sings"],
    ["What does the cook flip over the open fire?", "thing", null, "flip"],
    ["What does she carry when it rains?", "thing", null, "carry"],
    ["Which animal sits on the sofa?", "thing", "animal", null],
    ["How many small dogs are there?", "count", "dogs", null],
    ["How thick is the ice?", "length", null, null],
    ["How hot is the oven?", "temperature", null, null],
    ["By how much did she win?", "difference", null, "win"],
    ["Which animal is on the sofa?", "thing", "animal", null],
    ["Which famous painter lives here?", "person", "painter", "lives"],
    ["In which city does she work?", "place", "city", "work"],
    ["Where does the train stop?", "place", null, "stop"],
    ["When does the train leave?", "time", null, "leave"],
    ["At what time does the train leave?", "clock", "time", "leave"],
    ["On which day is it closed?", "day", "day", "closed"],
    ["What colour is the horse?", "colour", "colour", null],
    ["How many dogs are there?", "count", "dogs", null],
    ["How many hours does it take?", "duration", null, "take"],
    ["How long is the bridge?", "extent", null, null],
    ["How much does a ticket cost?", "money", null, "cost"],
    ["What does a ticket cost?", "money", null, "cost"],
    ["How heavy is the box?", "weight", null, null],
    ["What is the height of the tower?", "length", "height", null],
    ["Why did the glacier shrink?", "reason", null, "shrink"],
    ["What does she drop?", "thing", null, "drop"],
    ["Is there a dog?", "any", null, null],
    ["What is said about glaciers?", "topic", null, null],
    ["What is the novel about?", "thing", null, null],
  ])("%j asks for a %s, names the kind %s, and has the verb %s", (text, kind, noun, verb) => {
    expect(analyzeQuestion(text, lexicon)).toMatchObject({ kind, noun, verb });
  });

  it("has terms without what is asked for, and names", () => {
    expect(analyzeQuestion("Which animal sleeps at Anna's house in 1999?", lexicon)).toMatchObject({
      terms: ["sleeps", "anna", "house", "1999"],
      names: ["anna", "1999"],
    });
    expect(analyzeQuestion("What kind of boat lies beside the pier?", lexicon).terms).toEqual([
      "lies",
      "pier",
    ]);
  });

  it("has a subject if it is about a colour or a number", () => {
    const subjectOf = (text: string) => analyzeQuestion(text, lexicon).subject;
    expect(subjectOf("What colour is the little horse?")).toBe("horse");
    expect(subjectOf("What colour are the girl's old boots?")).toBe("boots");
    expect(subjectOf("In which colour is the bridge painted?")).toBe("bridge");
    expect(subjectOf("What number of beds does the hut have?")).toBe("beds");
    expect(subjectOf("Who is on the horse?")).toBeNull();
  });
});
