import type { ElementContent } from "hast";
import { UnreadableFile } from "../reader.ts";
import { endGroup, endParagraph } from "./rtfBlocks.ts";
import { newReading, type Reading } from "./rtfReading.ts";
import { noText, places, starred } from "./rtfState.ts";
import { addBytes, decodeKept } from "./rtfText.ts";
import { rtfTokens } from "./rtfTokens.ts";
import { obey } from "./rtfWords.ts";

/** Groups nested deeper are written by no program. */
const MAX_GROUPS = 4_000;

const startGroup = (reading: Reading): void => {
  reading.groups.push({ state: reading.state });
  if (reading.groups.length > MAX_GROUPS) throw new UnreadableFile("The file is nested too deeply.");
};

/** The first word of a group says where its text goes; a star before it, that older programs may pass it over. */
const enter = (reading: Reading, name: string, star: boolean): void => {
  const { state } = reading;
  if (state.place === "skip" || state.place === "styles") return;
  const skipped = noText.has(name) || (star && !starred.has(name));
  const place = skipped ? "skip" : Object.hasOwn(places, name) ? places[name] : undefined;
  if (place) reading.state = { ...state, place };
};

/** Reads RTF, given as one character for each byte, as blocks of HTML. Throws UnreadableFile: nested too deeply. */
export const readRtfBlocks = (source: string): ElementContent[] => {
  const reading = newReading();
  let first = false;
  let star = false;
  for (const token of rtfTokens(source)) {
    if (token.kind === "bytes") {
      addBytes(reading, token.bytes);
      first = false;
      continue;
    }
    decodeKept(reading);
    if (token.kind === "word" && token.name === "*") {
      star = true;
      continue;
    }
    if (token.kind === "open") {
      reading.standIns = 0;
      startGroup(reading);
    } else if (token.kind === "close") {
      reading.standIns = 0;
      endGroup(reading);
    } else {
      if (first) enter(reading, token.name, star);
      obey(reading, token.name, token.value);
    }
    first = token.kind === "open";
    star = false;
  }
  decodeKept(reading);
  // A file that ends too early ends all that it began.
  while (reading.groups.length > 0) endGroup(reading);
  endParagraph(reading);
  return [...reading.part.body.finish(), ...reading.notes];
};
