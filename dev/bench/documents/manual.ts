import { createDice, createNames, money } from "../../../services/reading/testing/tables/random.ts";
import { randomLines } from "./report.ts";

/** A manual as Markdown and as a web page: headings, paragraphs, lists and tables. */
export interface Manual {
  markdown: string;
  html: string;
}

const sentence = (words: string): string => `${words[0]!.toUpperCase()}${words.slice(1)}.`;

const section = (title: string, seed: number): Manual => {
  const dice = createDice(seed);
  const names = createNames(dice);
  const prose = randomLines(seed, 4).map(sentence).join(" ");
  const items = Array.from({ length: dice.between(3, 5) }, () => names(3));
  const isNumbered = dice.chance(0.5);
  const header = ["Part", "Stock", "Price"];
  const rows = Array.from({ length: dice.between(3, 8) }, () => [
    names(),
    String(dice.between(1, 900)),
    money(dice.between(100, 90_000) / 100),
  ]);
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const row = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
  const list = isNumbered ? "ol" : "ul";
  return {
    markdown: [
      `## ${title}`,
      prose,
      items.map((item, n) => `${isNumbered ? `${n + 1}.` : "-"} ${item}`).join("\n"),
      [line(header), line(["---", "---", "---"]), ...rows.map(line)].join("\n"),
    ].join("\n\n"),
    html: [
      `<h2>${title}</h2><p>${prose}</p>`,
      `<${list}>${items.map((item) => `<li>${item}</li>`).join("")}</${list}>`,
      `<table border="1"><thead>${row(header, "th")}</thead>`,
      `<tbody>${rows.map((cells) => row(cells, "td")).join("")}</tbody></table>`,
    ].join("\n"),
  };
};

/** The same for the same seed. */
export const makeManual = (seed: number): Manual => {
  const title = `Manual number ${seed}`;
  const sections = ["Storage", "Delivery", "Repair"].map((name, n) => section(name, 10 * seed + n));
  const body = sections.map(({ html }) => html).join("\n");
  return {
    markdown: [`# ${title}`, ...sections.map(({ markdown }) => markdown)].join("\n\n"),
    html: `<!doctype html><html><head><meta charset="utf-8"></head><body><h1>${title}</h1>\n${body}</body></html>`,
  };
};
