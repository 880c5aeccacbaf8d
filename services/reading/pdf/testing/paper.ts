import { type Font, line, pdfOf, show, widthOf } from "./build.ts";

/* A paper in two columns, as publishers set it: a title across both, hyphenation, running heads, a footnote, a table. */

const WORDS =
  `the measured response of every station follows a common pattern although individual readings differ considerably
between seasons and instruments because calibration was repeated whenever temperature changed by several degrees within one
observation period which means that comparison across different laboratories requires additional normalization before any
statistical interpretation becomes possible and reproducible`.split(/\s+/);

/** A pseudo-random generator, the same for the same seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * sides);
  };
}

const sentence = (roll: (sides: number) => number): string => {
  const words = Array.from({ length: 9 + roll(9) }, () => WORDS[roll(WORDS.length)]!);
  const text = words.join(" ");
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
};

/** The lines of a paragraph; long words are hyphenated. */
function wrap(text: string, size: number, width: number): string[] {
  const lines: string[] = [];
  let open = "";
  for (const word of text.split(" ")) {
    const longer = open === "" ? word : `${open} ${word}`;
    if (widthOf(longer, size) <= width) open = longer;
    else {
      const half = Math.floor(word.length / 2);
      const head = `${open} ${word.slice(0, half)}-`;
      const parts = /^[a-z]{9,}$/.test(word) && widthOf(head, size) <= width;
      lines.push(parts ? head : open);
      open = parts ? word.slice(half) : word;
    }
  }
  return [...lines, open];
}

interface Piece {
  markdown: string;
  height: number;
  draw(x: number, y: number): string;
}

const COLUMN = 240;

const prose = (text: string, size = 10, font: Font = "body", mark = ""): Piece[] =>
  wrap(text, size, COLUMN).map((row, index) => ({
    markdown: index === 0 ? `${mark}${text}` : "",
    height: size * 1.2,
    draw: (x, y) => show(x + (index === 0 && mark === "" ? 12 : 0), y, size, row, font),
  }));

const space = (height: number): Piece => ({ markdown: "", height, draw: () => "" });

const ROWS = [
  ["Station", "Height", "Readings"],
  ["North ridge", "1,204", "318"],
  ["Lake shore", "395", "1,022"],
  ["Old quarry", "611", "87"],
];

/** A table with rules above, below and under the header only. */
const table: Piece = {
  markdown: [ROWS[0], ["---", "---", "---"], ...ROWS.slice(1)].map((row) => `| ${row!.join(" | ")} |`).join("\n"),
  height: 80,
  draw: (x, y) =>
    [
      ...ROWS.flatMap((row, index) =>
        row.map((cell, column) => show(x + 8 + column * 85, y - index * 14 - 8, 9, cell)),
      ),
      ...[4, -12, -55].map((down) => line(x, y + down, x + COLUMN, y + down)),
    ].join("\n"),
};

export interface Paper {
  pdf: Buffer;
  /** The expected result. */
  markdown: string;
}

/** Three pages, the same for the same seed. */
export function twoColumnPaper(seed: number): Paper {
  const roll = dice(seed);
  const paragraph = (): Piece[] => prose(Array.from({ length: 4 }, () => sentence(roll)).join(" "));
  const section = (title: string, size = 12, level = "## "): Piece[] => [
    space(8),
    ...prose(title, size, "bold", level),
    space(3),
  ];
  const flow = [
    ...section("Abstract"),
    ...paragraph(),
    ...["1 Introduction", "2 Stations and instruments", "3 Results", "4 Discussion"].flatMap((title, index) => [
      ...section(title),
      ...Array.from({ length: 3 }, paragraph).flat(),
      ...section(`${index + 1}.1 Details of part ${"ABCD"[index]!}`, 10.5, "### "),
      ...(index === 1 ? [table] : []),
      ...Array.from({ length: 3 }, paragraph).flat(),
    ]),
  ];
  const title = `Seasonal patterns in mountain observations, part ${seed}`;
  const pages: string[] = [];
  let drawn: string[] = [
    show((612 - widthOf(title, 18)) / 2, 720, 18, title, "bold"),
    show(250, 698, 11, "A. Writer, B. Author"),
  ];
  const markdown = [`# ${title}`, "A. Writer, B. Author"];
  let [column, y] = [0, 660];
  const note = "1 The stations are listed in the appendix of the report.";
  for (const piece of flow) {
    if (y - piece.height < (pages.length === 0 && column === 0 ? 95 : 72)) {
      if (pages.length === 0 && column === 0) drawn.push(show(54, 76, 8, note));
      column++;
      y = pages.length === 0 ? 660 : 740;
    }
    if (column === 2) {
      pages.push(drawn.join("\n"));
      if (pages.length === 1) markdown.push(note);
      [drawn, column, y] = [[], 0, 740];
    }
    drawn.push(piece.draw(column === 0 ? 54 : 318, y));
    y -= piece.height;
    if (piece.markdown !== "") markdown.push(piece.markdown);
  }
  pages.push(drawn.join("\n"));
  const furniture = (page: string, index: number): string =>
    [page, show(54, 765, 9, "Journal of Examples, volume 7"), show(302, 40, 9, String(index + 12))].join("\n");
  return { pdf: pdfOf(pages.map(furniture)), markdown: markdown.join("\n\n") };
}
