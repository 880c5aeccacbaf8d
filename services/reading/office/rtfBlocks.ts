import { NOTE } from "../html/notes.ts";
import { element } from "../html/tree.ts";
import { cleanDescription } from "./descriptions.ts";
import { fieldLabel, fieldReading } from "./fieldLabels.ts";
import { mergeRuns } from "./paragraphs.ts";
import { classifyParagraph, withLabel } from "./paragraphRole.ts";
import { type Group, newPart, newShape, type RtfReader } from "./rtfReaderState.ts";
import { DEFAULT_PARAGRAPH } from "./rtfState.ts";
import { closeMath, finishEquation } from "./rtfMath.ts";
import { addPicture, addText, DESCRIPTION } from "./rtfText.ts";

/** Tables around the paragraph. */
const depthOf = ({ state: { paragraph } }: RtfReader): number => Math.max(paragraph.depth, paragraph.inTable ? 1 : 0);

const closeParagraph = ({ state, styles, part }: RtfReader, depth: number): void => {
  const runs = mergeRuns(part.runs);
  const style = styles.get(`s${state.paragraph.style}`) ?? "";
  const role = classifyParagraph(state.paragraph, style, part.label, runs);
  part.body.endParagraph(role && withLabel(role, part.label.trim(), runs), depth);
  part.runs = [];
  part.label = "";
};

export const endParagraph = (reading: RtfReader): void => closeParagraph(reading, depthOf(reading));

const endCellAt = (reading: RtfReader, depth: number): void => {
  if (reading.part.runs.length > 0) closeParagraph(reading, depth);
  reading.part.runs = [];
  reading.part.label = "";
  reading.part.body.endCell(depth);
};

export const endCell = (reading: RtfReader): void => endCellAt(reading, 1);

export const endRow = ({ part, row }: RtfReader): void => part.body.endRow(row.plans, row.header, 1);

const nestedDepth = (reading: RtfReader): number => Math.max(depthOf(reading), 2);

export const endNestedCell = (reading: RtfReader): void => endCellAt(reading, nestedDepth(reading));

/** The description of a nested row follows its cells, in a separate group. */
export const startNestedRow = (reading: RtfReader): void => {
  reading.outerRow = reading.row;
};

export const endNestedRow = (reading: RtfReader): void => {
  reading.part.body.endRow(reading.row.plans, reading.row.header, nestedDepth(reading));
  reading.row = reading.outerRow;
};

/** A note interrupts the paragraph that refers to it until the note's group ends. */
export const startNote = (reading: RtfReader): void => {
  const group = reading.groups.at(-1);
  if (!group || reading.state.destination !== "text") return;
  const id = String(reading.notes.length + 1);
  const note = element(NOTE, [], { id });
  reading.notes.push(note);
  reading.part.runs.push({ text: "", note: id });
  group.outer = reading.part;
  reading.part = newPart(note);
};

/** The text of a shape is not part of the paragraph in which the shape is anchored. */
export const startBox = (reading: RtfReader): void => {
  const group = reading.groups.at(-1);
  if (!group || reading.state.destination !== "text") return;
  group.outer = reading.part;
  reading.part = newPart();
  reading.state = { ...reading.state, paragraph: DEFAULT_PARAGRAPH };
};

const endPart = (reading: RtfReader, outer: Group["outer"]): void => {
  if (!outer) return;
  endParagraph(reading);
  const { note, body } = reading.part;
  const blocks = body.finish();
  if (note) note.children = blocks;
  else {
    outer.body.addBlocks(blocks);
    reading.shape.hasText ||= blocks.length > 0;
  }
  reading.part = outer;
};

export const startProperty = (reading: RtfReader): void => {
  reading.shape.property = "";
  reading.shape.text = "";
};

/** Texts of shapes are read before the paragraph in which the shape is anchored. */
const addShapeText = ({ part }: RtfReader, text: string): void => {
  if (text !== "") part.body.addBlocks([element("p", [text])]);
};

const endProperty = (reading: RtfReader): void => {
  const { shape } = reading;
  const text = shape.text.trim();
  if (shape.property === DESCRIPTION) shape.description = cleanDescription(text);
  else {
    addShapeText(reading, text);
    shape.hasText ||= text !== "";
  }
};

const openShape = (reading: RtfReader): void => {
  const group = reading.groups.at(-1);
  if (!group) return;
  group.outerShape = reading.shape;
  reading.shape = newShape();
};

/** A shape in another one is part of a group, whose description is read before its parts. */
export const startShape = (reading: RtfReader): void => {
  addShapeText(reading, reading.shape.description);
  reading.shape.description = "";
  openShape(reading);
};

export const startPicture = (reading: RtfReader): void => {
  openShape(reading);
  reading.shape.pictures = 1;
};

/** The description of a picture is part of its line, unless the picture fills a shape; that of a shape without text is a paragraph. */
const endShape = (reading: RtfReader, outer: Group["outerShape"], isPicture: boolean): void => {
  if (!outer) return;
  const { description, hasText, pictures } = reading.shape;
  reading.shape = outer;
  if (isPicture && reading.state.destination === "value") {
    outer.pictures += pictures;
    outer.description ||= description;
  } else if (description === "" || hasText) reading.pictures += pictures;
  else if (isPicture) addPicture(reading, description);
  else addShapeText(reading, description);
};

/** Whether the group with the instruction of a field ends. */
const endsInstruction = ({ state }: RtfReader, group: Group): boolean =>
  state.destination === "address" && group.state.destination === "text";

/** An equation is part of its line, as TeX. */
const endMath = ({ math, groups, part }: RtfReader, group: Group): void => {
  closeMath(math, groups.length);
  if (group.state.destination === "math") return;
  const tex = finishEquation(math);
  if (group.state.destination === "text" && tex !== "") part.runs.push({ text: tex, isMath: true });
};

export const endGroup = (reading: RtfReader): void => {
  const group = reading.groups.pop();
  if (!group) return;
  endPart(reading, group.outer);
  if (reading.state.destination === "value" && group.state.destination !== "value") endProperty(reading);
  if (reading.state.destination === "math") endMath(reading, group);
  const instruction = endsInstruction(reading, group) ? group.state.field.href : "";
  const isPicture = reading.state.destination === "picture";
  reading.state = group.state;
  endShape(reading, group.outerShape, isPicture);
  const label = fieldLabel(instruction);
  if (label !== "") addText(reading, label, fieldReading(instruction) || undefined);
};
