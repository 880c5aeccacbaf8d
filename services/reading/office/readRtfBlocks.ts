import type { ElementContent } from "hast";
import { UnreadableFile } from "../reader.ts";
import { endGroup, endParagraph } from "./rtfBlocks.ts";
import { newReader, type RtfReader } from "./rtfReaderState.ts";
import { type Destination, SKIPPED_DESTINATIONS, DESTINATIONS, READ_STARRED } from "./rtfState.ts";
import { openMath } from "./rtfMath.ts";
import { addBytes, flushBytes } from "./rtfText.ts";
import { rtfTokens } from "./rtfTokens.ts";
import { applyControlWord } from "./rtfControlWords.ts";

/** Nesting of groups; no program writes deeper ones. */
const MAX_GROUPS = 4_000;

const startGroup = (reading: RtfReader): void => {
  reading.groups.push({ state: reading.state });
  if (reading.groups.length > MAX_GROUPS) throw new UnreadableFile("The file is nested too deeply.");
};

const findDestination = (outer: Destination, name: string, hasStar: boolean): Destination | undefined => {
  const known = Object.hasOwn(DESTINATIONS, name) ? DESTINATIONS[name] : undefined;
  if (known === "copy") return known;
  const isSkipped = outer === "skip" || SKIPPED_DESTINATIONS.has(name) || (hasStar && !READ_STARRED.has(name));
  return isSkipped ? "skip" : known;
};

/** The first word of a group names the destination of its text. A star before it marks a group that older programs may skip. */
const enterDestination = (reading: RtfReader, name: string, hasStar: boolean): void => {
  const { state } = reading;
  if (state.destination === "copy" || state.destination === "styles") return;
  // pictures that are left out, such as those of headers
  if (state.destination === "skip" && name === "pict") reading.pictures += 1;
  const destination = findDestination(state.destination, name, hasStar);
  if (destination) reading.state = { ...state, destination };
  if (reading.state.destination === "math") openMath(reading.math, name, reading.groups.length - 1);
};

interface RtfText {
  blocks: ElementContent[];
  /** Number of omitted symbols of unknown fonts. */
  unknownSigns: number;
  /** Number of omitted hidden passages. */
  hiddenTexts: number;
  /** Number of pictures without a description. */
  pictures: number;
}

/** Reads RTF, given as one character per byte, as HTML blocks. Throws UnreadableFile: nested too deeply. */
export const readRtfBlocks = (source: string): RtfText => {
  const reading = newReader();
  let isFirst = false;
  let hasStar = false;
  for (const token of rtfTokens(source)) {
    if (token.kind === "bytes") {
      addBytes(reading, token.bytes);
      isFirst = false;
      continue;
    }
    flushBytes(reading);
    if (token.kind === "word" && token.name === "*") {
      hasStar = true;
      continue;
    }
    if (token.kind === "open") {
      reading.skipCount = 0;
      startGroup(reading);
    } else if (token.kind === "close") {
      reading.skipCount = 0;
      endGroup(reading);
    } else {
      if (isFirst) enterDestination(reading, token.name, hasStar);
      applyControlWord(reading, token.name, token.value);
    }
    isFirst = token.kind === "open";
    hasStar = false;
  }
  flushBytes(reading);
  // a truncated file leaves groups open
  while (reading.groups.length > 0) endGroup(reading);
  endParagraph(reading);
  const { part, notes, unknownSigns, hiddenTexts, pictures } = reading;
  return { blocks: [...part.body.finish(), ...notes], unknownSigns, hiddenTexts, pictures };
};
