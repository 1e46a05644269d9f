import { describe, expect, it } from "vitest";
import {
  escapeMarkdown,
  linkMarkers,
  toPlainText,
  toSafeMarkdown,
} from "../../../src/answer/markdown.ts";

describe("sanitised Markdown", () => {
  it.each([
    ["A **dog** [1] and `code` [2].", "A **dog** [1] and `code` [2]."],
    ["[a dog](https://evil.example/?q=1) [1]", "a dog [1]"],
    ["[x](javascript:alert(1)) [y](<data:x> 'a title') [z]( u \"t\" )", "x y z"],
    ["[a [b] c](u)", "a [b] c"],
    ["a ![x](https://evil.example/?q=secret) b ![](u)", "a  b "],
    ["[![x](https://evil.example/p)](https://evil.example/l)", ""],
    ["[1](https://evil.example) [\\[2\\]](u)", "[1] [2]"],
    ["[text][ref], [text][], ![alt][ref], [1][2]", "text, text, , [1][2]"],
    ["a\n[ref]: https://evil.example 'title'\nb", "a\n\nb"],
    ["[1]:\nhttps://evil.example", ""],
    ["[Ann]: hello there [1]", "[Ann] : hello there [1]"],
    ["<img src=x onerror=alert(1)>a<b>b</b><!-- c\nd -->", "ab"],
    ["<scr<b>ipt>alert(1)</scr</b>ipt>", "alert(1)"],
    ["<img src=x", "< img src=x"],
    [
      "<https://a.example/b> <javascript:x> <ann@a.example>",
      "a.example/b javascript:x ann@a.example",
    ],
    [
      "https://a.example/?q=1 www.a.example ftp://a //a.example",
      "a.example/?q=1 a.example a a.example",
    ],
    ["hthttps://tps://a wwwww.w.a", "a wwwww.w.a"],
    ["[a](b [c](d\n\ne) f", "[a] (b [c] (d\n\ne) f"],
    ["`[a](u)` `![x](u)` `<b>`", "`a` `` ``"],
    ["3 < 5, a <3, 1 > 0", "3 < 5, a <3, 1 > 0"],
    ["Wow![1]", "Wow! [1]"],
  ])("of %j is %j", (markdown, safe) => {
    expect(toSafeMarkdown(markdown)).toBe(safe);
    expect(toSafeMarkdown(safe)).toBe(safe);
  });

  it("is safe if its parts were sanitised separately", () => {
    const parts = [
      "See ![x",
      " y](https://evil.example/p) [1]",
      "\n[1]:",
      "\nhttps://evil.example",
      " <img",
      " src=x>",
    ];
    const safe = parts.map(toSafeMarkdown).join("");
    expect(safe).toBe("See ! [x y] (evil.example/p) [1]\n[1] :\nevil.example < img src=x>");
  });
});

describe("plain text", () => {
  it.each([
    ["# A title #\n\n## Another", "A title\n\nAnother"],
    ["**bold** *it* ***both*** __b__ _i_ ~~no~~", "bold it both b i no"],
    ["**a *b* c** *a **b** c*", "a b c a b c"],
    ["**open [1] and *open [2]", "open [1] and open [2]"],
    ["snake_case 2 * 3 a*b C# __init__", "snake_case 2 * 3 a*b C# init"],
    ["- a [1]\n* b\n  + c\n• d\n1. e", "a [1]\nb\nc\nd\n1. e"],
    ["> quoted\n>> twice", "quoted\ntwice"],
    ["| When | What |\n| 0:42 | a *dog* [1] |", "When, What\n0:42, a dog [1]"],
    ["`a*b*` and ``c`d`` and `open", "a*b* and c`d and open"],
    ["[text](javascript:x) ![x](u)<br>[1](u) <b>b</b>", "text [1] b"],
    ["https://a.example/b_c_d", "a.example/b_c_d"],
    [
      "a &amp; b &quot;c&quot; &#8211; &#x1F600; &nbsp;&hellip; &nope; &#0;",
      'a & b "c" – 😀 \u00A0… &nope; \uFFFD',
    ],
    ["&lt;img src=x&gt; &amp;lt;", "< img src=x> &lt;"],
    [String.raw`\*a\* \# \[1\] \\ \a`, String.raw`*a* # [1] \ \a`],
    [" and *so* on [2]", " and so on [2]"],
    ["\n\n- *next* [1]", "\n\nnext [1]"],
    ["", ""],
  ])("of %j is %j", (markdown, plain) => {
    expect(toPlainText(markdown)).toBe(plain);
  });
});

describe("linked citation markers", () => {
  const urlOf = (marker: number) => (marker === 9 ? null : `/v/${marker}?t=1`);

  it.each([
    ["a [1][2].", "a [[1]](/v/1?t=1)[[2]](/v/2?t=1)."],
    ["a [9] [2024] [x]", "a [9] [2024] [x]"],
    ["`a[1]` ``b`[1]`` [1]", "`a[1]` ``b`[1]`` [[1]](/v/1?t=1)"],
    [String.raw`\[1\] \[1] [1](u)`, String.raw`\[1\] \[1] [1](u)`],
    ["[[1]](/v/1?t=1)", "[[1]](/v/1?t=1)"],
    ["a ` b [1]", "a ` b [[1]](/v/1?t=1)"],
  ])("in %j are %j", (markdown, linked) => {
    expect(linkMarkers(markdown, urlOf)).toBe(linked);
  });

  it("escape every character of a URL that could end the link", () => {
    const linked = linkMarkers("[1]", () => 'https://a.example/x y)(<"é\\`*|\n?a=1&b#t=0,5;z');
    expect(linked).toBe(
      String.raw`[[1]](https://a.example/x%20y%29%28%3C%22%C3%A9%5C%60%2A%7C%0A?a=1&b#t=0,5%3Bz)`,
    );
  });

  it("become plain markers when sanitised", () => {
    expect(toSafeMarkdown(linkMarkers("a [1][2]", urlOf))).toBe("a [1][2]");
  });
});

describe("escaped Markdown", () => {
  it.each([
    [
      "# 1 *a* [1] <b> `c` | ~d~ &amp; x_y!",
      String.raw`\# 1 \*a\* \[1\] \<b\> \`c\` \| \~d\~ \&amp; x\_y\!`,
    ],
    ["- a\n1. b\n2) c\n=== d", "\\- a\n1\\. b\n2\\) c\n\\=== d"],
    [
      "https://a.example www.b.example mailto:c //d",
      String.raw`https\://a.example www\.b.example mailto\:c \//d`,
    ],
    ["well-known 3.5 + 4", "well-known 3.5 + 4"],
  ])("of %j is %j", (text, escaped) => {
    expect(escapeMarkdown(text)).toBe(escaped);
    expect(linkMarkers(escaped, () => "/")).toBe(escaped);
  });
});
