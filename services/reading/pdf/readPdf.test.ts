import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { readPdf } from "./readPdf.ts";
import { writePdf, line, objectsOf, pdfOf, show } from "./testing/build.ts";
import { twoColumnPaper } from "./testing/paper.ts";
import { headingScore, readingScore, score, tableScore } from "../testing/score.ts";

const sample = (name: string): Promise<Buffer> => readFile(new URL(`../../../test/files/pdf/${name}`, import.meta.url));

const read = async (...pages: string[][]): Promise<string> =>
  (await readPdf(pdfOf(pages.map((page) => page.join("\n"))))).join("\n\n=\n\n");

const LOREM = "Every paragraph has a few words so that the page has a body size";

describe("a PDF with known content", () => {
  it.each([1, 2, 3])("is read in order, with its tables and headings, from two columns (%i)", async (seed) => {
    const paper = twoColumnPaper(seed);
    const pages = await readPdf(paper.pdf);
    const text = pages.join("\n\n");
    expect(pages).toHaveLength(3);
    expect(readingScore(paper.markdown, text)).toBeGreaterThan(0.98);
    expect(tableScore(paper.markdown, text)).toBe(1);
    expect(headingScore(paper.markdown, text)).toBeGreaterThan(0.95);
    expect(text).not.toMatch(/Journal of Examples|\p{Ll}- \p{Ll}/u);
  });

  it.each(["handbook.pdf", "handbook-tagged.pdf"])(
    "is read in order, with its tables, headings, links, code and lists, from %s",
    async (name) => {
      const truth = (await sample("handbook.md")).toString();
      const text = (await readPdf(await sample(name))).join("\n\n");
      expect(score(truth, text)).toBeGreaterThan(0.98);
      expect(text).toContain("[guide for bookings](https://example.org/bookings)");
      expect(text).toContain("```\ntill stop --force\ntill start --port 8080\n```");
      expect(text).toContain("2. Look for a free slot of the right length.\n3. Read");
    },
  );

  it("is not modified by the reader", async () => {
    const bytes = await sample("handbook.pdf");
    const before = Buffer.from(bytes);
    await readPdf(bytes);
    expect(bytes.equals(before)).toBe(true);
  });
});

describe("a table", () => {
  const cells = [
    ["Name", "Amount"],
    ["a | b", "1"],
    ["a longer name", "2"],
  ];
  const drawn = cells.flatMap((row, index) =>
    row.map((cell, column) => show(80 + column * 120, 685 - index * 20, 10, cell)),
  );
  const grid = [0, 1, 2, 3].map((row) => line(72, 700 - row * 20, 312, 700 - row * 20));
  const walls = [72, 192, 312].map((x) => line(x, 700, x, 640));

  it("is found by the lines around its cells, and its pipes are escaped", async () => {
    const text = await read([show(72, 740, 10, LOREM), ...drawn, ...grid, ...walls]);
    expect(text).toBe(`${LOREM}\n\n| Name | Amount |\n| --- | --- |\n| a \\| b | 1 |\n| a longer name | 2 |`);
  });

  it("gets an empty cell where a cell spans two columns", async () => {
    const spanning = [
      ...grid.slice(0, 2),
      ...grid.slice(2),
      line(72, 700, 72, 640),
      line(312, 700, 312, 640),
      line(192, 680, 192, 640),
    ];
    const text = await read([
      show(72, 740, 10, LOREM),
      show(150, 685, 10, "All of them"),
      ...drawn.slice(2),
      ...spanning,
    ]);
    expect(text).toContain("| All of them |  |\n| --- | --- |\n| a \\| b | 1 |");
  });

  it("needs no lines if its columns are aligned", async () => {
    const rows = ["Mon 12 7.5", "Tue 9 6.25", "Wed 31 8.0", "Thu 4 1.75"].map((row) => row.split(" "));
    const text = await read([
      show(72, 740, 10, LOREM),
      ...rows.flatMap((row, index) => row.map((cell, column) => show(72 + column * 90, 700 - index * 14, 10, cell))),
    ]);
    expect(text).toContain("| Mon | 12 | 7.5 |\n| --- | --- | --- |\n| Tue | 9 | 6.25 |");
  });
});

describe("short bands of two columns", () => {
  it("are read one after the other, each below its heading", async () => {
    const names = ["one", "two", "three"];
    const drawn = names.flatMap((name, band) => {
      const y = 720 - band * 130;
      const side = (x: number, from: number): string[] =>
        Array.from({ length: 6 }, (_, n) =>
          show(x, y - 24 - n * 13, 10, `${name} ${from + n} of the words that fill a line of it`),
        );
      return [show(72, y, 14, `Heading ${name}`, "bold"), ...side(72, 10), ...side(320, 16)];
    });
    const text = await read(drawn);
    const found = text.match(/Heading \w+|\w+ \d\d(?= of)/g);
    const numbers = Array.from({ length: 12 }, (_, n) => n + 10);
    expect(found).toEqual(names.flatMap((name) => [`Heading ${name}`, ...numbers.map((n) => `${name} ${n}`)]));
  });
});

describe("a drop cap", () => {
  it("joins its word", async () => {
    const lines = [
      "nce the lighthouse had a keeper who knew",
      "every reef by its name, and he told the",
      "children of the village where it was.",
    ];
    const text = await read([
      show(72, 674, 46, "O"),
      ...lines.map((words, n) => show(110, 700 - n * 13, 10, words)),
      ...["and the bell was never rung at night in the", "winter, when the ice was on the water."].map((words, n) =>
        show(72, 661 - n * 13, 10, words),
      ),
    ]);
    expect(text).toContain("Once the lighthouse had a keeper who knew every reef");
    expect(text).not.toMatch(/\bO\b/);
  });
});

describe("columns that are not a table", () => {
  it("are read one after the other, as in an index with page numbers", async () => {
    const entries = Array.from({ length: 24 }, (_, n) => [`entry_number_${n + 1}`, String(n + 40)] as const);
    const drawn = entries.flatMap(([name, page], n) => {
      const [x, y] = [n < 12 ? 72 : 330, 700 - (n % 12) * 14 - (n % 12 > 5 ? 14 : 0)];
      return [show(x, y, 10, name), show(x + 80, y, 10, ". ".repeat(18).trim()), show(x + 190, y, 10, page)];
    });
    const text = await read([show(72, 740, 10, LOREM), ...drawn]);
    const places = entries.map(([name]) => text.indexOf(`${name} `));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});

describe("text", () => {
  it("is joined into paragraphs, and hyphenated words are joined", async () => {
    const text = await read([
      show(72, 700, 10, "The committee came to an unani-"),
      show(72, 688, 10, "mous decision on the long-term plan."),
      show(72, 660, 10, "A new paragraph stands apart."),
    ]);
    expect(text).toBe(
      "The committee came to an unanimous decision on the long-term plan.\n\nA new paragraph stands apart.",
    );
  });

  it("keeps superscript numbers apart from the word before", async () => {
    const text = await read([
      show(72, 700, 10, "As was shown before"),
      show(164, 704, 6, "12"),
      show(175, 700, 10, "it works."),
    ]);
    expect(text).toBe("As was shown before¹² it works.");
  });

  it("has no running heads and page numbers", async () => {
    const page = (number: number, text: string): string[] => [
      show(72, 760, 9, "Annual report of the club"),
      show(72, 700, 10, text),
      show(300, 30, 9, `Page ${number} of 3`),
    ];
    const text = await read(
      page(1, "One is first and alone."),
      page(2, "Two comes after it."),
      page(3, "Three is the last."),
    );
    expect(text).toBe("One is first and alone.\n\n=\n\nTwo comes after it.\n\n=\n\nThree is the last.");
  });

  it("that stands out is a heading, with the level of its size and number", async () => {
    const text = await read([
      show(72, 740, 18, "Guide to the house", "bold"),
      show(72, 700, 13, "1 Rooms", "bold"),
      show(72, 680, 10, LOREM),
      show(72, 650, 11, "1.1 Kitchen", "bold"),
      show(72, 630, 10, `${LOREM}.`),
      show(72, 600, 13, "2 Garden", "bold"),
      show(72, 580, 10, LOREM),
    ]);
    expect(text.match(/^#.*$/gm)).toEqual(["# Guide to the house", "## 1 Rooms", "### 1.1 Kitchen", "## 2 Garden"]);
  });

  it("of a list is nested by its indent", async () => {
    const text = await read([
      show(72, 740, 10, `${LOREM}:`),
      show(72, 720, 10, "\u0095 apples"),
      show(90, 706, 10, "\u0095 red ones that do not keep for very long when they"),
      show(99, 694, 10, "lie in a warm room"),
      show(72, 680, 10, "\u0095 pears"),
    ]);
    expect(text).toContain(
      "- apples\n   - red ones that do not keep for very long when they lie in a warm room\n- pears",
    );
  });

  it("that looks like markup is escaped", async () => {
    const text = await read([show(72, 700, 10, "# not a heading, <b>not bold</b> and *not* slanted")]);
    expect(text).toBe("\\# not a heading, \\<b>not bold\\</b> and \\*not\\* slanted");
  });

  it("that is rotated is read", async () => {
    const turned = ["Sideways text is quite", "long on this page"].map(
      (words, index) => `BT /body 10 Tf 0 1 -1 0 ${100 + index * 12} 72 Tm (${words}) Tj ET`,
    );
    expect(await read(turned)).toBe("Sideways text is quite long on this page");
  });

  it("includes form fields, but no passwords", async () => {
    const field = (y: number, entries: string): string =>
      `<</Type/Annot/Subtype/Widget/FT/Tx/T(f${y})/Rect[150 ${y} 300 ${y + 14}]/DA(/body 10 Tf)${entries}>>`;
    const objects = objectsOf([[show(72, 700, 10, "Name:"), show(72, 660, 10, "Secret:")].join("\n")]);
    objects[0] = "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[6 0 R 7 0 R]>>>>";
    objects[3] = String(objects[3]).replace("/Parent", "/Annots[6 0 R 7 0 R]/Parent");
    const fields = [field(697, "/V(Ada Lovelace)"), field(657, "/Ff 8192/V(hidden)")];
    expect(await readPdf(writePdf([...objects, ...fields]))).toEqual(["Name: Ada Lovelace\n\nSecret:"]);
  });

  it("of an empty page is an empty string", async () => {
    expect(await readPdf(pdfOf([show(72, 700, 10, LOREM), ""]))).toEqual([LOREM, ""]);
  });
});

describe("a warning names", () => {
  const warningsOf = async (bytes: Buffer): Promise<ReadingWarning[]> => {
    const warnings: ReadingWarning[] = [];
    await readPdf(bytes, (warning) => warnings.push(warning));
    return warnings;
  };

  it("pages without text, including stamped ones", async () => {
    const pages = [show(72, 700, 10, LOREM), "", show(300, 30, 9, "3"), show(72, 700, 10, `${LOREM}.`)];
    expect(await warningsOf(pdfOf(pages))).toEqual([{ code: "page_without_text", pages: [2, 3] }]);
  });

  it("pages that are damaged", async () => {
    const objects = objectsOf([show(72, 700, 10, LOREM), show(72, 700, 10, LOREM)]);
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    objects[5] = String(objects[5]).replace("3 0 R", `${objects.length + 1} 0 R`);
    const resources = `<</Font<</body<</Type/Font/Subtype/Type1/BaseFont/Helvetica/X ${deep}>>>>>>`;
    expect(await warningsOf(writePdf([...objects, resources]))).toEqual([{ code: "page_damaged", pages: [2] }]);
  });

  it("pages whose font does not say which letters it shows", async () => {
    const objects = objectsOf([
      show(72, 700, 10, LOREM),
      `BT /F 10 Tf 72 700 Td <${"0024000300250026".repeat(10)}> Tj ET`,
    ]);
    const font =
      "<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[<</Type/Font/Subtype/CIDFontType2/BaseFont/X/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor<</Type/FontDescriptor/FontName/X/Flags 4>>>>]>>";
    objects[2] = String(objects[2]).replace("/Font<<", `/Font<</F ${font}`);
    expect(await warningsOf(writePdf(objects))).toEqual([{ code: "symbols_instead_of_words", pages: [2] }]);
  });

  it("no page of a file that is read completely", async () => {
    expect(await warningsOf(await sample("handbook.pdf"))).toEqual([]);
  });
});
