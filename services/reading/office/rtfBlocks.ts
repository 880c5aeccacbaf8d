import { NOTE } from "../html/notes.ts";
import { element } from "../html/tree.ts";
import { merged } from "./flow.ts";
import { meaningOf } from "./meaning.ts";
import { type Group, newPart, type Reading } from "./rtfReading.ts";

const closeParagraph = ({ state, styles, part }: Reading, inTable: boolean): void => {
  const runs = merged(part.runs);
  const style = styles.get(`s${state.paragraph.style}`) ?? "";
  const meaning = meaningOf(state.paragraph, style, part.label, runs);
  part.body.endParagraph(meaning && { ...meaning, runs }, inTable);
  part.runs = [];
  part.label = "";
};

export const endParagraph = (reading: Reading): void => closeParagraph(reading, reading.state.paragraph.inTable);

export const endCell = (reading: Reading): void => {
  if (reading.part.runs.length > 0) closeParagraph(reading, true);
  reading.part.runs = [];
  reading.part.label = "";
  reading.part.body.endCell();
};

/** A note interrupts the paragraph that refers to it, until its group ends. */
export const startNote = (reading: Reading): void => {
  const group = reading.groups.at(-1);
  if (!group || reading.state.place !== "text") return;
  const id = String(reading.notes.length + 1);
  const note = element(NOTE, [], { id });
  reading.notes.push(note);
  reading.part.runs.push({ text: "", note: id });
  group.outer = reading.part;
  reading.part = newPart(note);
};

const endNote = (reading: Reading, outer: Group["outer"]): void => {
  if (!outer) return;
  endParagraph(reading);
  const { note, body } = reading.part;
  if (note) note.children = body.finish();
  reading.part = outer;
};

export const endGroup = (reading: Reading): void => {
  const group = reading.groups.pop();
  if (!group) return;
  endNote(reading, group.outer);
  reading.state = group.state;
};
