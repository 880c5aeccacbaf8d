import type { Element as Html } from "hast";
import { childElements, findAll, findChild, parseXml, textContent, type Element } from "../guard/xml.ts";
import type { Zip } from "../guard/zip.ts";
import { readObject } from "../office/odtObjects.ts";
import { cleanDescription } from "../office/descriptions.ts";
import { element } from "../html/tree.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import type { Warn } from "../reader.ts";
import { warnOfCount } from "../warnings.ts";
import { controlText } from "./controls.ts";
import { countOpenChoices, odsControls } from "./odsControls.ts";

/** Characters of a file whose drawings are read: its elements take ten times as much memory. */
const MAX_LENGTH = 20_000_000;
/** Elements that contain text. */
const SHAPES =
  "text-box custom-shape rect ellipse circle line polyline polygon regular-polygon path connector measure caption"
    .split(" ")
    .map((name) => `draw:${name}`);
const DRAWN = new RegExp(`<(?:${SHAPES.join("|")}|draw:object|draw:image|draw:control)\\b`, "g");

const EMPTY: Element = { name: "", attributes: {}, children: [] };

const paragraphsOf = (node: Element): string[] => findAll(node, "text:p").map(textContent);

/** The formulas and the charts of a sheet. */
const objectsOn = (zip: Zip, table: Element): Html[] =>
  findAll(table, "draw:object").flatMap(({ attributes }) =>
    readObject(zip, attributes["xlink:href"] ?? "", { isOnSheet: true }),
  );

/** The description of a picture, a shape or a group, else its title. */
const descriptionOf = (node: Element): string =>
  ["svg:desc", "svg:title"]
    .map((name) => cleanDescription(textContent(findChild(node, name) ?? EMPTY)))
    .find((text) => text !== "") ?? "";

/** The descriptions of pictures. Adds the parts of these pictures to `described`. */
const pictureTexts = (table: Element, described: Set<string>): string[] =>
  findAll(table, "draw:frame").flatMap((frame) => {
    const image = findAll(frame, "draw:image")[0];
    const text = image ? descriptionOf(frame) : "";
    if (image && text !== "") described.add(image.attributes["xlink:href"] ?? "");
    return [text];
  });

/** Groups of shapes, also those in other groups. */
const groupsIn = (node: Element): Element[] =>
  childElements(node).flatMap((child) => [...(child.name === "draw:g" ? [child] : []), ...groupsIn(child)]);

/** The text of a shape, else its description. */
const shapeTexts = (shape: Element): string[] => {
  const texts = paragraphsOf(shape);
  return texts.some((text) => text.trim() !== "") ? texts : [descriptionOf(shape)];
};

const drawnTexts = (table: Element, described: Set<string>): string[] => [
  ...groupsIn(table).map(descriptionOf),
  ...pictureTexts(table, described),
  ...SHAPES.flatMap((name) => findAll(table, name)).flatMap(shapeTexts),
  ...odsControls(table).map(controlText),
];

/**
 * Gives what is drawn on a sheet of an ODS, by the sheet's name: texts of boxes and shapes, controls of forms, texts of charts, formulas,
 * descriptions of pictures (whose parts are added to `described`); "" without any. `xml`: the content of the file.
 */
export const openOdsDrawings = (
  zip: Zip,
  xml: string,
  { warn, described }: { warn: Warn; described: Set<string> },
): ((sheet: string) => string) => {
  warnOfCount(warn, "embedded_files_left_out", xml.match(/<draw:object-ole\b/g)?.length ?? 0);
  const drawn = xml.match(DRAWN)?.length ?? 0;
  const isTooLong = xml.length > MAX_LENGTH;
  if (isTooLong) warnOfCount(warn, "drawings_left_out", drawn);
  const tables = drawn > 0 && !isTooLong ? findAll(parseXml(xml), "table:table") : [];
  warnOfCount(
    warn,
    "form_fields_left_out",
    tables.reduce((sum, table) => sum + countOpenChoices(table), 0),
  );
  return (wanted) => {
    const table = tables.find(({ attributes }) => attributes["table:name"] === wanted);
    if (!table) return "";
    const texts = drawnTexts(table, described).filter((text) => text.trim() !== "");
    const children = [...texts.map((text) => element("p", [text])), ...objectsOn(zip, table)];
    return toMarkdown({ type: "root", children });
  };
};
