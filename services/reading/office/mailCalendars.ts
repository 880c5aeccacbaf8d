import type { Email } from "postal-mime";
import { normalizeText } from "../html/text.ts";
import { decodeText } from "../text/charset.ts";
import { escapePlain } from "../text/plain.ts";
import { type CalendarEvent, readCalendar } from "./calendar.ts";
import { oneLine, writeFields } from "./mailFields.ts";

type Part = Email["attachments"][number];

/** Maximum calendars of an e-mail that are read; an invitation contains one, mostly twice. */
const MAX_CALENDARS = 20;
/** Maximum characters of the e-mail that are searched for descriptions. */
const MAX_SEARCHED = 100_000;

const isCalendar = ({ mimeType, filename }: Part): boolean =>
  mimeType === "text/calendar" || mimeType === "application/ics" || /\.ics$/i.test(filename ?? "");

const writeEvent = ({ fields, description }: CalendarEvent, mailText: string): string[] => {
  const repeats = description === "" || mailText.includes(oneLine(description));
  return [writeFields(fields), ...(repeats ? [] : [escapePlain(normalizeText(description))])];
};

export interface MailCalendars {
  /** Their events, as paragraphs. */
  paragraphs: string[];
  /** The parts that were read completely. */
  read: ReadonlySet<Part>;
}

/** Reads the calendars of an e-mail. `text`: its text, which often contains the description of an event. */
export const readCalendars = (attachments: readonly Part[], text: string): MailCalendars => {
  const mailText = oneLine(text.slice(0, MAX_SEARCHED));
  const written = new Set<string>();
  const read = new Set<Part>();
  for (const part of attachments.filter(isCalendar).slice(0, MAX_CALENDARS)) {
    const { content } = part;
    const source = typeof content === "string" ? content : decodeText(new Uint8Array(content));
    const { events, isIncomplete } = readCalendar(source);
    if (!isIncomplete) read.add(part);
    // an invitation is often attached again as a file, for programs that do not show invitations
    for (const event of events) written.add(writeEvent(event, mailText).join("\n\n"));
  }
  return { paragraphs: [...written], read };
};
