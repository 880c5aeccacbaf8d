import type { ElementContent } from "hast";
import { childElements, findAll, findChild, textContent, type Element } from "../guard/xml.ts";
import { element } from "../html/tree.ts";

/* Headers, footers and dates of OpenDocument slides, what their masters show, and comments. */

const DECLARED = ["header", "footer", "date-time"] as const;

/** The paragraphs of a node, on one line. */
export const oneLine = (node: Element): string =>
  findAll(node, "text:p").map(textContent).join(" ").replace(/\s+/g, " ").trim();

/** Gives the headers, footers and fixed dates of a slide and of its page of notes. */
export const openOdpHeaders = (content: Element): ((page: Element) => string[]) => {
  const texts = new Map(
    DECLARED.flatMap((kind) =>
      findAll(content, `presentation:${kind}-decl`)
        // the others show the date of today
        .filter(({ attributes }) => attributes["presentation:source"] !== "current-date")
        .map((one) => [`${kind} ${one.attributes["presentation:name"] ?? ""}`, textContent(one).trim()] as const),
    ),
  );
  const used = ({ attributes }: Element): string[] =>
    DECLARED.flatMap((kind) => texts.get(`${kind} ${attributes[`presentation:use-${kind}-name`] ?? ""}`) ?? []);
  return (page) => {
    const notes = findChild(page, "presentation:notes");
    return [...used(page), ...(notes ? used(notes) : [])].filter((text) => text !== "");
  };
};

/** What the masters of these slides show on each of them. */
export const masterTexts = (styles: Element | undefined, pages: readonly Element[]): string[] => {
  const used = new Set(pages.map(({ attributes }) => attributes["draw:master-page-name"]));
  const masters = styles ? findAll(styles, "style:master-page") : [];
  return masters
    .filter(({ attributes }) => used.has(attributes["style:name"]))
    .flatMap(childElements)
    .filter(({ name, attributes }) => name !== "presentation:notes" && attributes["presentation:class"] === undefined)
    .map(oneLine);
};

export const isComment = ({ name }: Element): boolean => /^(?:office|officeooo):annotation$/.test(name);

/** The comments on a slide as a list; empty without any. */
export const odpComments = (page: Element): ElementContent[] => {
  const items = childElements(page)
    .filter(isComment)
    .map((one) => {
      const author = textContent(findChild(one, "dc:creator") ?? { ...one, children: [] }).trim();
      return element("li", [author === "" ? oneLine(one) : `${author}: ${oneLine(one)}`]);
    });
  return items.length === 0 ? [] : [element("p", ["Comments:"]), element("ul", items)];
};
