import type { Element, Nodes } from "hast";
import { childNodes, isElement, textContent } from "./tree.ts";

/* Phonetic readings above words (`<ruby>`), as in Chinese and Japanese. Without brackets they would mix with the words. */

const isRuby = (node: Nodes | undefined): node is Element => isElement(node) && node.tagName === "ruby";

/** Readings, and the brackets around them for older browsers. */
const ANNOTATION = /^(?:rt|rtc|rp)$/;
const isAnnotation = (node: Nodes): node is Element => isElement(node) && ANNOTATION.test(node.tagName);

/** White space that only lays out the source: beside a reading, or with a line break. */
const isLayout = (node: Nodes, before: Nodes | undefined): boolean =>
  node.type === "text" &&
  node.value.trim() === "" &&
  (node.value.includes("\n") || before === undefined || isAnnotation(before));

const readingText = (node: Nodes): string => {
  if (isElement(node) && node.tagName === "rp") return "";
  return node.type === "text" ? node.value : childNodes(node).map(readingText).join("");
};

const readingsOf = (ruby: Element): string[] =>
  ruby.children
    .filter(isAnnotation)
    .map((one) => readingText(one).replace(/\s+/g, " ").trim())
    .filter((text) => text !== "");

const wordsOf = ({ children }: Element): Nodes[] =>
  children.filter((child, at) => !isAnnotation(child) && !isLayout(child, children[at - 1]));

const LATIN = /\p{Script=Latin}/u;

/** Words without a gap between them, followed by their readings: `漢字 (かんじ)`. A search finds the whole word. */
const writeReadings = (rubies: readonly Element[]): Nodes[] => {
  const words = rubies.flatMap(wordsOf);
  const readings = rubies.flatMap(readingsOf);
  if (readings.length === 0) return words;
  const gap = words.some((word) => textContent(word).trim() !== "") ? " " : "";
  const spoken = readings.join(readings.some((one) => LATIN.test(one)) ? " " : "");
  return [...words, { type: "text", value: `${gap}(${spoken})` }];
};

/** Puts the readings of words in brackets behind them, in place. */
export const bracketReadings = (node: Nodes): void => {
  if (!("children" in node)) return;
  const children = childNodes(node);
  for (const child of children) bracketReadings(child);
  if (!children.some(isRuby)) return;
  const written: Nodes[] = [];
  let open: Element[] = [];
  const close = (): void => {
    for (const one of writeReadings(open)) written.push(one);
    open = [];
  };
  for (const child of children) {
    if (isRuby(child)) open.push(child);
    else {
      close();
      written.push(child);
    }
  }
  close();
  node.children = written as typeof node.children;
};
