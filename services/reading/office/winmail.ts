import type { Email } from "postal-mime";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import type { Warn } from "../reader.ts";
import { writeFields } from "./mailFields.ts";
import type { OutlookItem } from "./outlookFile.ts";
import {
  appointmentFields,
  attachedFile,
  type OutlookContent,
  readBody,
  readOutlookItem,
  sortContent,
} from "./outlookMessage.ts";
import { openTnef } from "./tnef.ts";

/* Attachments named winmail.dat, in which Outlook packs the text and the files of an e-mail. */

type Part = Email["attachments"][number];

const isWinmail = ({ mimeType, filename }: Part): boolean =>
  /^application\/(?:vnd\.)?ms-tnef$/.test(mimeType) || /^winmail\.dat$/i.test(filename ?? "");

const toPart = (item: OutlookItem, isShown: boolean): Part => {
  const file = attachedFile(item);
  if (!isShown) return { ...file, disposition: "attachment" };
  const mimeType = file.mimeType.startsWith("image/") ? file.mimeType : "image/unknown";
  return { ...file, mimeType, disposition: "inline", related: true };
};

interface PackedMessage {
  item: OutlookItem;
  content: OutlookContent;
}

/** Maximum such attachments of an e-mail that are opened; Outlook sends one. */
const MAX_PACKED = 20;

/** Replaces such attachments by the files in them; one that cannot be opened stays. */
export const unpackWinmail = (attachments: readonly Part[]): { parts: Part[]; packed: PackedMessage[] } => {
  const packed: PackedMessage[] = [];
  const parts = attachments.flatMap((part) => {
    const { content: bytes } = part;
    if (!isWinmail(part) || typeof bytes === "string" || packed.length >= MAX_PACKED) return [part];
    const item = openTnef(new Uint8Array(bytes));
    if (!item) return [part];
    const content = sortContent(item);
    packed.push({ item, content });
    return [...content.pictures.map((one) => toPart(one, true)), ...content.files.map((one) => toPart(one, false))];
  });
  return { parts, packed };
};

/** Letters of a text that are looked for in another. */
const MAX_COMPARED = 2_000;

const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();

/**
 * The fields of an appointment, the text and the attached messages of a packed message, as paragraphs. The text is left out if `text`, that
 * of the e-mail around it, has it, as most have.
 */
export const readPacked = async ({ item, content }: PackedMessage, text: string, warn: Warn): Promise<string[]> => {
  const omitted: ReadingWarning[] = [];
  const body = await readBody(item, content.body, (warning) => omitted.push(warning));
  const repeats = letters(text).includes(letters(body).slice(0, MAX_COMPARED));
  if (!repeats) for (const warning of omitted) warn(warning);
  const paragraphs = [writeFields(appointmentFields(item)), repeats ? "" : body];
  for (const message of content.messages) paragraphs.push((await readOutlookItem(message, warn)).join("\n\n"));
  return paragraphs;
};
