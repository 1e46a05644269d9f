import { expect, it } from "vitest";
import { parseJudgments } from "../../../../client/src/cli/judgment-file.ts";

it("judgments are read from CSV with quotes, any order of columns and any line breaks", () => {
  const text =
    "\uFEFFrelevant,note,segment_id,query\r\n" +
    'true,x,seg_1,"a ""red"" truck, parked"\r\n' +
    "no,,seg_2,boats\n\n" +
    '"",,seg_3,"two\nlines"';
  expect(parseJudgments(text)).toEqual([
    { query: 'a "red" truck, parked', segment_id: "seg_1", relevant: true },
    { query: "boats", segment_id: "seg_2", relevant: false },
    { query: "two\nlines", segment_id: "seg_3", relevant: null },
  ]);
});

it("an export of the service is read as it was, also with an apostrophe before a formula", () => {
  const text =
    "judgment_id,query,search_id,segment_id,relevant,score\r\n" +
    "jud_1,'-carpenter,,seg_1,true,0.5\r\njud_2,,job_1,seg_2,false,\r\n";
  expect(parseJudgments(text)).toEqual([
    { query: "-carpenter", segment_id: "seg_1", relevant: true },
    { search_id: "job_1", segment_id: "seg_2", relevant: false },
  ]);
});

it.each([
  ["no header", "boats,seg_1,true", "first row"],
  ["another value", "query,segment_id,relevant\nboats,seg_1,maybe", "Row 2"],
  ["a stray quote", 'query,segment_id,relevant\nbo"ats,seg_1,true', "Row 2"],
])("judgments with %s are refused", (_, text, message) => {
  expect(() => parseJudgments(text)).toThrow(message);
});
