import { describe, expect, it } from "vitest";
import { fold } from "../../../src/text/fold.ts";
import { guessLanguage } from "../../../src/text/languages.ts";
import { areUnrelated, wordForm } from "../../../src/text/stems.ts";
import { normalForm } from "../../../src/text/tokens.ts";

/** The bases of a text's tokens, and its joined compounds after "|". */
function form(text: string): string {
  const { tokens, compounds } = normalForm(text, "en");
  const words = tokens.map(({ base }) => base).join(" ");
  return [words, ...compounds.map(({ base }) => base)].join(" | ");
}

describe("folding", () => {
  it.each([
    ["Straße", "strasse"],
    ["ŁÓDŹ", "lodz"],
    ["Smørrebrød", "smorrebrod"],
    ["Æble", "aeble"],
    ["Đà Nẵng", "da nang"],
    ["Diyarbakır İZMİR", "diyarbakir izmir"],
    ["ΝΗΣΟΣ", "νησοσ"],
    ["νήσος Μαΐου", "νησοσ μαιου"],
    ["Ёлка, йогурт", "елка, йогурт"],
    ["كِتَابٌ أحمد", "كتاب احمد"],
    ["مستشفى مدرسة ســـلام", "مستشفي مدرسه سلام"],
    ["שָׁלוֹם", "שלום"],
    ["सड़क हिन्दी", "सडक हिंदी"],
    ["চওড়া", "চওডা"],
    ["١٩٧٣ २०१५ ๒๕๖๐", "1973 2015 2560"],
    ["ＴＶ ｶﾒﾗ", "tv カメラ"],
    ["서울", "서울"],
    ["น้ำ", "น้ำ"],
    ["ԵՐԵՎԱՆ Երևան", "երեվան երեվան"],
  ])("of %s gives %s", (text, folded) => {
    expect(fold(text)).toBe(folded);
    expect(fold(folded)).toBe(folded);
  });
});

describe("the normal form of a text", () => {
  it.each([
    ["twenty one, twenty-first, a hundred", "21 21th a 100"],
    ["Three women went home", "3 woman go home"],
    ["fishermen and oxen; the ground", "fisherman and ox the ground"],
    ["buses, viruses and gases; people", "bus virus and gas person"],
    ["a doughnut by the kerb, mum", "a doughnut by the curb mom"],
    ["\u1112\u1161\u11ab\u1100\u1161\u11bc", "한 강"],
    ["বইগুলো নদীতে", "বই নদি"],
    ["Colour, theatre, organisation", "colored theater organize"],
    ["an e-mail", "an e mail | email"],
    ["a well-known ice-breaker", "a well know ice breaker | wellknown | icebreaker"],
    ["isn't, isn’t, isnt", "isnt isnt isnt"],
    ["the women's hut; fisherman's", "the woman hut fisherman"],
    ["O'Brien", "o brien | obrien"],
    ["LH1234, LH-1234", "lh 1234 lh 1234"],
    ["C++ C# .NET AT&T R&B", "cplusplus csharp dotnet atandt randb"],
    ["a net. Net", "a net net"],
    ["3D, 25km and 25 km", "3 d 25 kilometer and 25 kilometer"],
    ["30 s, 5m; m, 100 mph", "30 second 5 meter m 100 mile per hour"],
    ["the U.S.A., a Ph.D. e.g. R & B", "the usa a phd eg randb"],
    ["to. I am", "to i be"],
    ["World War II, Dr Dec", "world war 2 doctor december"],
    ["noon or midnight", "12h00 or 0h00"],
    ["1,000; 12 000; 1.000.000", "1000 12000 1000000"],
    ["3.50 3,5 3.0", "3p5 3p5 3"],
    ["$300, 300 dollars, 15 €, €15", "300 dollar 300 dollars 15 euro 15 euro"],
    ["50% of 20 °C", "50 percent of 20 degree celsius"],
    ["-15 degrees, 10-15", "minus 15 degrees 10 15"],
    ["1st, first, 21st, twenty-first", "first first 21th 21th"],
    ["seven of the 1990's, 1990s", "7 of the 1990 1990"],
    ["5 pm, 5pm, 5 p.m., 17:00", "17h00 17h00 17h00 17h00"],
    ["9.30am, 12:05 am", "9h30 0h05"],
    ["1:23:45", "1 23 45"],
    ["3 May, 3rd of May, May 3rd", "3 may 3 may 3 may"],
    ["Sept 9, 2019-08-23", "9 september 23 august 2019"],
    ["it may rain at 3", "it may rain at 3"],
    ["об'їзд", "обозд"],
    ["圖書館", "图 书 馆"],
    ["서울에서 ｶﾒﾗ", "서 울 에 서 か め ら"],
  ])("of %s is %s", (text, expected) => {
    expect(form(text)).toBe(expected);
  });

  it.each([
    ["Alte Häuser stehen am Fluss", "de"],
    ["Pojken springer till skolan och ropar på sin mamma", "sv"],
    ["Elles chantaient devant la mairie", "fr"],
    ["El niño dibuja un barco en la playa", "es"],
    ["La nonna e il nipote", "it"],
    ["As casas do rio não são nossas", "pt"],
    ["Het paard loopt in de wei", "nl"],
    ["Le vélo est là", "fr"],
    ["The Le Mans race", "en"],
    ["Kissat nukkuvat uunin päällä", "fi"],
    ["A lovak a folyó mellett legelnek", "hu"],
    ["Câinii latră în fața casei", "ro"],
    ["Bahçedeki ağaçları budadık", "tr"],
    ["Ibu memasak rendang untuk Lebaran", "id"],
    ["Psy biegają po plaży", "pl"],
    ["Vlaky mají kvůli sněhu zpoždění", "cs"],
    ["Rio de Janeiro carnival at night", "en"],
    ["Beyoncé concert", "en"],
    ["a man on a red van", "en"],
    ["The house on the hill", "en"],
    ["東京", "en"],
  ])("is that of its language: %s", (text, language) => {
    expect(guessLanguage(text)).toBe(language);
  });

  it.each([
    ["de", "Häuser", "Haus"],
    ["de", "Mueller", "Müller"],
    ["de", "Lehrerinnen", "Lehrerin"],
    ["fr", "chevaux", "cheval"],
    ["fr", "boulangère", "boulanger"],
    ["fr", "eleves", "élève"],
    ["fr", "mangeait", "manger"],
    ["es", "voces", "voz"],
    ["es", "cantaron", "cantar"],
    ["it", "gatti", "gatto"],
    ["pt", "limões", "limão"],
    ["pt", "jornais", "jornal"],
    ["nl", "muizen", "muis"],
    ["en", "улицы", "улица"],
    ["en", "πόλεις", "πόλης"],
    ["en", "والمكتب", "مكتب"],
    ["en", "הספרים", "ספר"],
    ["en", "दीवारें", "दीवार"],
  ] as const)("has one stem in %s for %s and %s", (language, a, b) => {
    expect(wordForm(a, language).stem).toBe(wordForm(b, language).stem);
  });

  it.each([
    ["de", "aus", "Ausen"],
    ["fr", "dans", "danser"],
    ["es", "para", "parar"],
    ["en", "город", "гора"],
    ["en", "ον", "ο"],
  ] as const)("has other stems in %s for %s and %s", (language, a, b) => {
    expect(wordForm(a, language).stem).not.toBe(wordForm(b, language).stem);
  });

  it("has offsets in the text", () => {
    const text = "At 5 p.m. the fisherman's E-Mail";
    const { tokens, compounds } = normalForm(text, "en");
    const slices = [...tokens, ...compounds].map(({ start, end }) => text.slice(start, end));
    expect(slices).toEqual(["At", "5 p.m.", "the", "fisherman", "E", "Mail", "E-Mail"]);
  });
});

describe("words of one stem", () => {
  it.each([
    ["new", "news", true],
    ["universe", "university", true],
    ["universities", "universal", true],
    ["generators", "general", true],
    ["organisation", "organic", true],
    ["vaccination", "vaccinated", false],
    ["happiness", "happy", false],
    ["zorbling", "zorbled", false],
  ])("%s and %s are unrelated: %s", (a, b, unrelated) => {
    expect(areUnrelated(wordForm(a, "en"), wordForm(b, "en"))).toBe(unrelated);
  });
});
