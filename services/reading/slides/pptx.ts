import { childElements, type Element } from "../guard/xml.ts";
import { openZip } from "../guard/zip.ts";
import { refuseProtected } from "../office/xmlParts.ts";
import { UnreadableFile, type Warn } from "../reader.ts";
import { countUnreadHeaders, ignoreWarnings, warnOfCount, warnOfPages } from "../warnings.ts";
import { readAuthors } from "./comments.ts";
import { readDesign } from "./design.ts";
import { addHeaders } from "./headers.ts";
import { descendantsNamed, findPath, childrenNamed, reference } from "./localNames.ts";
import { openParts, type Parts } from "./parts.ts";
import { memoize } from "./memoize.ts";
import { description } from "./shapes.ts";
import { slideMarkdown } from "./slide.ts";

const MAX_SLIDES = 5_000;
/** Relations to files of other programs, and to recordings. */
const EMBEDDED = new Set(["oleObject", "package", "video", "audio"]);

/** The ids of the files of a picture, which may have a second one in another format. */
const filesOf = (node: Element): string[] => [
  ...(reference(node, "embed") === "" ? [] : [reference(node, "embed")]),
  ...childElements(node).flatMap(filesOf),
];

/** Whether a slide has a picture without a description. */
const hasUnreadPicture = (parts: Parts, slide: string): boolean => {
  const images = [...parts.relations(slide)].filter(([, { kind }]) => kind === "image");
  if (images.length === 0) return false;
  const pictures = descendantsNamed(parts.xml(slide), "pic").filter((one) => description(one, "nvPicPr").length > 0);
  const described = new Set(pictures.flatMap(filesOf));
  return images.some(([id]) => !described.has(id));
};

/** Reads a presentation, one page per slide in display order. Throws UnreadableFile. */
export const readPptx = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  refuseProtected(bytes);
  const parts = openParts(openZip(bytes));
  const name = parts.related("", "officeDocument") ?? "ppt/presentation.xml";
  const presentation = parts.xml(name);
  if (!presentation) throw new UnreadableFile("The file is damaged, or no presentation.");
  const relations = parts.relations(name);
  const slides = childrenNamed(findPath(presentation, "sldIdLst"), "sldId").map((slide) => reference(slide, "id"));
  if (slides.length > MAX_SLIDES) throw new UnreadableFile("The presentation has too many slides.");
  const design = memoize((layout) => readDesign(parts, layout));
  const targets = slides.map((id) => relations.get(id)?.target ?? "");
  const authors = readAuthors(parts, name);
  const left = new Set<string>();
  const headers = targets.map((): string[] => []);
  const texts = targets.map((slide, index) => {
    const own = design(parts.related(slide, "slideLayout") ?? "");
    for (const text of own.drawn) left.add(text);
    return slideMarkdown(parts, slide, index + 1, { ...own, authors, headers: headers[index]! });
  });
  const numbers = (has: (slide: string, index: number) => boolean): number[] =>
    targets.flatMap((slide, index) => (has(slide, index) ? [index + 1] : []));
  const isEmpty = (index: number): boolean => texts[index]!.trim() === "";
  warnOfPages(
    warn,
    "page_without_text",
    numbers((_, index) => isEmpty(index)),
  );
  warnOfPages(
    warn,
    "images_without_text",
    numbers((slide, index) => !isEmpty(index) && hasUnreadPicture(parts, slide)),
  );
  warnOfPages(
    warn,
    "embedded_files_left_out",
    numbers((slide) => [...parts.relations(slide).values()].some(({ kind }) => EMBEDDED.has(kind))),
  );
  const whole = addHeaders(texts, headers, left);
  warnOfCount(
    warn,
    "headers_and_footers_left_out",
    countUnreadHeaders([...left], () => whole.join("\n")),
  );
  return whole;
};
