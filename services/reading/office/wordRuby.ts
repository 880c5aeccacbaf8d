import { childElements, findAll, findChild, textContent, type Element } from "../guard/xml.ts";
import { makeElement, makeRun, makeValue } from "./wordXml.ts";

/* Phonetic readings above words, in a form that the converter reads. Their styles are among KNOWN_STYLES in docx.ts. */

const withStyle = (run: Element, style: string): Element => {
  const properties = findChild(run, "w:rPr");
  const others = properties ? childElements(properties).filter(({ name }) => name !== "w:rStyle") : [];
  const content = run.children.filter((child) => child !== properties);
  return { ...run, children: [makeElement("w:rPr", [makeValue("w:rStyle", style), ...others]), ...content] };
};

/** Runs with their reading above them. */
export const makeReading = (runs: readonly Element[], reading: string): Element[] => [
  ...runs.map((run) => (run.name === "w:r" ? withStyle(run, "Known-run-ruby") : run)),
  withStyle(makeRun(reading), "Known-run-reading"),
];

/** The words of a `w:ruby`, with their reading. */
export const rewriteRuby = (element: Element): Element[] => {
  const words = childElements(findChild(element, "w:rubyBase") ?? makeElement("w:rubyBase"));
  const spoken = findChild(element, "w:rt");
  const reading = spoken ? findAll(spoken, "w:t").map(textContent).join("").trim() : "";
  return reading === "" ? words : makeReading(words, reading);
};
