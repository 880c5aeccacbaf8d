import { utils, type DenseWorkSheet } from "@e965/xlsx";
import { textContent, type Element } from "../guard/xml.ts";
import { childNamed, childrenNamed } from "../slides/localNames.ts";
import { escapePlain } from "../text/plain.ts";
import type { WorkbookParts } from "./workbookParts.ts";

/* Comments on cells. Those of XLSX are read from their parts: the library does not decode discussions and the names of authors. */

interface Comment {
  /** The cell's name, as `C2`. */
  cell: string;
  author: string;
  text: string;
}

/** `C2 (Ann): Net or gross?` */
const toLine = ({ cell, author, text }: Comment): string => {
  const own = text.startsWith(`${author}:`) ? text.slice(author.length + 1) : text;
  return `${cell}${author === "" ? "" : ` (${author})`}: ${own.replace(/\s+/g, " ").trim()}`;
};

/** Comments as a list below their sheet; "" if there are none. */
const commentList = (comments: readonly Comment[]): string =>
  comments.length === 0 ? "" : ["Comments:", "", ...comments.map((one) => `- ${escapePlain(toLine(one))}`)].join("\n");

/** The comments that the library has read of a sheet. */
export const libraryComments = (sheet: DenseWorkSheet | undefined): string => {
  const found: Comment[] = [];
  sheet?.["!data"]?.forEach((cells, r) =>
    cells?.forEach((cell, c) => {
      for (const { a: author = "", t: text = "" } of cell?.c ?? [])
        found.push({ cell: utils.encode_cell({ r, c }), author, text });
    }),
  );
  return commentList(found);
};

/** The author of the copy of a discussion for programs that do not know discussions. */
const COPY = /^tc=/;

/** The text of the runs, without the phonetic readings of East Asian words. */
const textOf = (text: Element | undefined): string => {
  const runs = childrenNamed(text, "r");
  return (runs.length > 0 ? runs : text ? [text] : [])
    .flatMap((run) => childrenNamed(run, "t"))
    .map(textContent)
    .join("");
};

const plainComments = (root: Element | undefined): Comment[] => {
  const authors = childrenNamed(childNamed(root, "authors"), "author").map(textContent);
  return childrenNamed(childNamed(root, "commentList"), "comment").flatMap((comment) => {
    const author = (authors[Number(comment.attributes["authorId"])] ?? "").trim();
    const cell = comment.attributes["ref"] ?? "";
    return COPY.test(author) ? [] : [{ cell, author, text: textOf(childNamed(comment, "text")) }];
  });
};

const discussion = (root: Element | undefined, people: ReadonlyMap<string, string>): Comment[] =>
  childrenNamed(root, "threadedComment").map((comment) => ({
    cell: comment.attributes["ref"] ?? "",
    author: people.get(comment.attributes["personId"] ?? "") ?? "",
    text: textContent(childNamed(comment, "text") ?? comment),
  }));

const byCell = (one: Comment, other: Comment): number => {
  const [a, b] = [utils.decode_cell(one.cell), utils.decode_cell(other.cell)];
  return a.r - b.r || a.c - b.c;
};

/** Gives the comments on the cells of a sheet as a list, by the sheet's name. */
export const openComments = (parts: WorkbookParts): ((sheet: string) => string) => {
  const persons = parts.related(parts.workbook, "person");
  const listed = persons === undefined ? [] : childrenNamed(parts.xml(persons), "person");
  const people = new Map(
    listed.map(({ attributes }) => [attributes["id"] ?? "", (attributes["displayName"] ?? "").trim()]),
  );
  // a part belongs to one sheet; otherwise a hostile file could repeat one thousands of times
  const read = new Set<string>();
  return (sheet) => {
    const relations = [...parts.relations(parts.sheetPart(sheet) ?? "").values()];
    const comments = relations.flatMap(({ kind, target }) => {
      if (read.has(target)) return [];
      read.add(target);
      if (kind === "comments") return plainComments(parts.xml(target));
      return kind === "threadedComment" ? discussion(parts.xml(target), people) : [];
    });
    return commentList(comments.filter(({ text }) => text.trim() !== "").toSorted(byCell));
  };
};
