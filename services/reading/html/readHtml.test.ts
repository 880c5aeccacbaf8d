import { describe, expect, test } from "vitest";
import { UnreadableFile } from "../reader.ts";
import { htmlToMarkdown, readHtml } from "./readHtml.ts";

const read = async (html: string): Promise<string> => (await readHtml(Buffer.from(html)))[0] ?? "";

test("a list of commands (menu) is read as a list", async () => {
  expect((await readHtml(Buffer.from("<p>Text</p><menu><li>Copy</li><li>Paste</li></menu>")))[0]).toBe(
    "Text\n\n- Copy\n- Paste",
  );
});

describe("the content of a page", () => {
  const around = "<header><nav>Home</nav></header><aside>Ads</aside><footer>© 2024</footer>";

  test("is its main element", async () => {
    const page = `${around}<main><h1>Tide tables</h1><p>High water at noon.</p><nav>On this page</nav></main>`;
    expect(await read(page)).toBe("# Tide tables\n\nHigh water at noon.");
  });

  test("is the whole page if hardly anything else would remain", async () => {
    expect(await read("<nav>Only a menu</nav>")).toBe("Only a menu");
  });

  test("excludes scripts, styles and hidden parts", async () => {
    const hidden = "<p hidden>a</p><p style='display: none'>b</p><div aria-hidden=true>c</div><template>d</template>";
    expect(await read(`<style>p {}</style><script>x()</script>${hidden}<p>Seen.</p>`)).toBe("Seen.");
  });

  test("includes buttons that are the questions of its answers, but no others", async () => {
    const answers = [
      "<button aria-expanded=false>How long is the notice?</button><div><p>Three months.</p></div>",
      "<button class='accordion'>Who signs for it?</button><div><p>The harbour office.</p></div>",
    ];
    const others =
      "<button>Copy the address of this page</button><button aria-expanded=false aria-haspopup=true>Choose a language</button><button aria-expanded=false>Menu</button>";
    expect(await read(others + answers.join(""))).toBe(
      "How long is the notice?\n\nThree months.\n\nWho signs for it?\n\nThe harbour office.",
    );
  });

  test("keeps a page header with the title", async () => {
    expect(await read("<header><h1>Title</h1></header><p>Text.</p>")).toBe("# Title\n\nText.");
  });
});

describe("text", () => {
  test("has its entities decoded and its spaces normalized", async () => {
    expect(await read("<p>R&amp;D&nbsp;at\n  &lt;5&deg; co&shy;oper\u200Bates</p>")).toBe("R&D at <5° cooperates");
  });

  test("is not escaped needlessly", async () => {
    expect(await read("<p>file_name, me@lab.example, http://lab.example, AT&T</p>")).toBe(
      "file_name, me@lab.example, http://lab.example, AT&T",
    );
  });

  test("is escaped where it would become markup", async () => {
    expect(await read("<p># no heading</p><p>1. no item</p><p>*no* emphasis</p>")).toBe(
      "\\# no heading\n\n1\\. no item\n\n\\*no\\* emphasis",
    );
  });

  test("keeps powers apart from their base", async () => {
    expect(await read("<p>10<sup>5</sup> m, H<sub>2</sub>O, 1<sup>st</sup></p>")).toBe("10^5 m, H2O, 1st");
  });

  test("has emphasis only where Markdown allows it", async () => {
    expect(await read("<p>a<b> bold </b>b<i>, </i><b>x:</b>y <b>o</b><b>ne</b></p>")).toBe("a **bold** b, x:y **one**");
  });

  test("of a heading has no emphasis", async () => {
    expect(await read("<h2><b>Bold</b> <a href='#x'>title</a></h2>")).toBe("## Bold title");
  });
});

test("only absolute links are kept", async () => {
  const links = ["https://a.example", "mailto:a@b.example", "/local", "javascript:alert(1)", "#top"];
  expect(await read(links.map((href) => `<a href="${href}">t</a>`).join(" "))).toBe(
    "[t](https://a.example) [t](mailto:a@b.example) t t t",
  );
});

test("images become their description", async () => {
  expect(await read("<p>See <img src=a.png alt='two towers'><img src=b.png></p>")).toBe("See two towers");
});

test("the description of a picture is separated from the words beside it, unless it is an initial", async () => {
  const page = "<p><img alt='A lighthouse'>The quay<span><img alt='two boats'></span><img alt='a crane'>.</p>";
  expect(await read(page)).toBe("A lighthouse The quay two boats a crane.");
  expect(await read("<p><img alt='O'>nce upon a time (<img alt='a bell'>)</p>")).toBe("Once upon a time (a bell)");
});

test("lists keep their nesting and are tight", async () => {
  const list = "<ol start=3><li><p>three</p><ul><li>a</li><ul><li>b</li></ul></ul></li><li>four</li></ol>";
  expect(await read(list)).toBe("3. three\n   - a\n     - b\n4. four");
});

test("an item that begins with a deeper list keeps the numbers of both", async () => {
  const deeper = "<li><ol><li>a</li><li>b</li></ol></li>";
  expect(await read(`<ul>${deeper}<li>one</li></ul>`)).toBe("- 1. a\n  2. b\n- one");
  expect(await read(`<ol>${deeper}<li>one</li></ol>`)).toBe("1. 1. a\n   2. b\n2. one");
  const bullets = (word: string): string => `<li><ul><li>${word}</li></ul></li>`;
  expect(await read(`<ul>${bullets("a")}${bullets("b")}<li>one</li>${bullets("c")}</ul>`)).toBe(
    "- a\n- b\n- one\n  - c",
  );
});

test("a deeper list between items belongs to the item before, as do paragraphs and words", async () => {
  const deeper = "<ol><li>a</li><li>b</li></ol>";
  expect(await read(`<ol><li>one</li>${deeper}<li>two</li></ol>`)).toBe("1. one\n   1. a\n   2. b\n2. two");
  expect(await read("<ul><li>one</li>\n<ul><li>a</li></ul>\n<li>two</li></ul>")).toBe("- one\n  - a\n- two");
  expect(await read("<ul><li>one</li><p>note</p>more<br><li>two</li></ul>")).toBe("- one\n\n  note\n\n  more\n- two");
  expect(await read(`<ol type=a><li>one</li>${deeper}<li>two</li></ol>`)).toBe("- a. one\n  1. a\n  2. b\n- b. two");
  expect(await read("<ol><div><li>one</li></div><div><li>two</li></div></ol>")).toBe("1. one\n2. two");
});

test("a heading between items belongs to the item after it", async () => {
  expect(await read("<ul><li>one</li><h3>Part</h3><li>two</li></ul>")).toMatch(/^- one\n+- #+ Part\n+  two$/);
});

test("items keep their numbers after one without words", async () => {
  expect(await read("<ol><li>one</li><li></li><li>three</li></ol>")).toBe("1. one\n3. three");
  const bare = "<li><ol><li>a</li></ol></li>";
  expect(await read(`<ol start=4><li>four</li>${bare}<li>six</li></ol>`)).toBe("4. four\n   1. a\n6. six");
});

test("definitions become a list of terms", async () => {
  expect(await read("<dl><div><dt>Ebb</dt><dd>falling</dd></div><dt>Flood</dt><dd>rising</dd></dl>")).toBe(
    "- **Ebb**\n  - falling\n- **Flood**\n  - rising",
  );
});

test("terms that are headings begin items, as others do", async () => {
  const list = "<dl><dt><h3>Ebb</h3></dt><dd>falling</dd><dt><h3>Flood</h3></dt><dd>rising</dd></dl>";
  expect(await read(list)).toBe("- ### Ebb\n  - falling\n- ### Flood\n  - rising");
});

test("marks where a browser may break a word are not read", async () => {
  expect(await read("<p>harbour.<wbr>office.<wbr>Opening<wbr>Hours</p>")).toBe("harbour.office.OpeningHours");
});

test("code keeps its lines and its language", async () => {
  expect(await read("<pre><code class='language-js'>a = {\n  b: 1,\n}\n</code></pre>")).toBe(
    "```js\na = {\n  b: 1,\n}\n```",
  );
});

test("formulas become TeX", async () => {
  const fraction = "<math><mfrac><mi>a</mi><msup><mi>b</mi><mn>2</mn></msup></mfrac></math>";
  const annotated = "<math><mi>x</mi><annotation encoding='application/x-tex'>\\hat{x}</annotation></math>";
  expect(await read(`<p>${fraction} and ${annotated}</p>`)).toBe("$\\frac{a}{b^{2}}$ and $\\hat{x}$");
});

test("a formula that is nested deeply is read in one pass", async () => {
  expect(await read(`<p><math>${"<mrow><mi>x</mi>".repeat(200)}${"</mrow>".repeat(200)}</math></p>`)).toBe(
    `$${"x".repeat(200)}$`,
  );
});

test("brackets of older formulas are read", async () => {
  const call = "<mi>f</mi><mfenced><mi>x</mi><mi>y</mi></mfenced>";
  const range = "<mfenced open='[' close=']' separators=';'><mn>0</mn><mn>1</mn></mfenced>";
  expect(await read(`<p><math>${call}</math> in <math>${range}</math></p>`)).toBe("$f(x,y)$ in $[0;1]$");
});

test("footnotes move to the end, in any notation", async () => {
  const reference = "<p>Text<sup><a id=r1 href='#n1'>1</a></sup> goes on.</p>";
  const note = "<ol><li id=n1>The note. <a href='#r1'>↩</a></li></ol><p>Last.</p>";
  expect(await read(reference + note)).toBe("Text[^1] goes on.\n\nLast.\n\n[^1]: The note.");
});

test("XHTML may have empty elements that HTML does not have", async () => {
  const page = "<?xml version='1.0'?><html><head><title/></head><body><p>One <a id='x'/>two</p></body></html>";
  expect(await read(page)).toBe("One two");
});

test("a page that is nested a hundred thousand levels deep is refused", async () => {
  await expect(read("<div>".repeat(100_000))).rejects.toThrow(UnreadableFile);
});

test.each(["<b><i>", "<ul><li>", "<blockquote>", "<table><tr><td>a<td>"])(
  "a page with 100 nested %s is read",
  async (tags) => {
    expect(await read(`${tags.repeat(100)}end`)).toContain("end");
  },
);

test("links in parts of a picture are read", () => {
  const areas = '<area alt="North" href="https://a.example/n"><area href="/x"><area alt="South quay" href="/s">';
  expect(htmlToMarkdown(`<p>The harbour</p><img src="m.png" usemap="#m"><map name="m">${areas}</map>`)).toBe(
    "The harbour\n\n[North](https://a.example/n)  \nSouth quay",
  );
});

test("items keep the numbers that browsers show", async () => {
  const list = (attributes: string, ...items: string[]): string => `<ol ${attributes}>${items.join("")}</ol>`;
  expect(await read(list("", "<li>One", "<li value=7>Seven", "<li>Eight"))).toBe("1. One\n7. Seven\n8. Eight");
  expect(await read(list("reversed", "<li>Third", "<li>Second", "<li>First"))).toBe("3. Third\n2. Second\n1. First");
  expect(await read(list("start=-2", "<li>A", "<li value=-5>B"))).toBe("1. A\n2. B");
  expect(await read(`<table><tr><td>x<td>${list("start=4", "<li>Four", "<li value=9>Nine")}</table>`)).toContain(
    "4. Four<br>9. Nine",
  );
});

test("letters and Roman numbers of items stay as text, because other texts refer to them", async () => {
  const list = "<ol type=a start=2><li>rent<ol type=I><li>gas<li value=4><b>oil</b></ol><li>heat</ol>";
  expect(await read(list)).toBe("- b. rent\n  - I. gas\n  - IV. **oil**\n- c. heat");
  const styled = (style: string): string => `<ol type=i style='${style}' start=28><li><p>rent</ol>`;
  expect(await read(styled("margin: 0; list-style: inside upper-alpha"))).toBe("- AB. rent");
  expect(await read(styled("margin: 0"))).toBe("- xxviii. rent");
  expect(await read(styled("list-style-type: decimal"))).toBe("28. rent");
  expect(await read("<ol type=disc><li>rent</ol>")).toBe("1. rent");
});

test("letters of items are read also where an item begins with a heading, code or a table", async () => {
  expect(await read("<ol type=I><li><h3>Rent</h3><p>Monthly.</p><li><h3>Heat</h3></ol>")).toBe(
    "- ### I. Rent\n  Monthly.\n- ### II. Heat",
  );
  expect(await read("<ol type=a><li><pre>x = 1</pre><p>Result</p></ol>")).toMatch(/^- a\.\n\n  ```\n  x = 1\n  ```/);
  const table = "<table><tr><th>Rent<th>Heat<tr><td>9<td>8</table>";
  expect(await read(`<ol type=a><li>${table}</ol>`)).toMatch(/^- a\.\n+  \| Rent/);
});
