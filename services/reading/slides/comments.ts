import type { ElementContent } from "hast";
import { textContent, type Element } from "../guard/xml.ts";
import { element } from "../html/tree.ts";
import { childNamed, childrenNamed, descendantsNamed, findPath, localName } from "./localNames.ts";
import type { Parts } from "./parts.ts";

/* Comments on slides, of the older and of the newer kind, whose replies stand within them. */

/** The names of who commented, by their id. */
export const readAuthors = (parts: Parts, presentation: string): ReadonlyMap<string, string> => {
  const lists = ["commentAuthors", "authors"].map((kind) => parts.xml(parts.related(presentation, kind) ?? ""));
  const authors = lists.flatMap((list) => [...childrenNamed(list, "cmAuthor"), ...childrenNamed(list, "author")]);
  return new Map(authors.map(({ attributes }) => [attributes["id"] ?? "", attributes["name"] ?? ""]));
};

const textOf = (comment: Element): string => {
  const plain = childNamed(comment, "text");
  const paragraphs = childrenNamed(childNamed(comment, "txBody"), "p");
  const lines = paragraphs.map((paragraph) => descendantsNamed(paragraph, "t").map(textContent).join(""));
  return (plain ? textContent(plain) : lines.join(" ")).replace(/\s+/g, " ").trim();
};

/** A comment and its replies, in order. */
const withReplies = (comment: Element): Element[] => [
  comment,
  ...childrenNamed(findPath(comment, "replyLst"), "reply"),
];

/** The comments on a slide as a list; empty without any. */
export const slideComments = (parts: Parts, slide: string, authors: ReadonlyMap<string, string>): ElementContent[] => {
  const root = parts.xml(parts.related(slide, "comments") ?? "");
  const comments = root && localName(root) === "cmLst" ? childrenNamed(root, "cm").flatMap(withReplies) : [];
  const items = comments.flatMap((comment) => {
    const text = textOf(comment);
    const author = authors.get(comment.attributes["authorId"] ?? "") ?? "";
    return text === "" ? [] : [element("li", [author === "" ? text : `${author}: ${text}`])];
  });
  return items.length === 0 ? [] : [element("p", ["Comments:"]), element("ul", items)];
};
