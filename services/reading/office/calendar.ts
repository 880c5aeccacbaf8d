import { DAY_MS } from "#events/units.ts";
import { type CalendarProperty, readProperty, readText, unfoldLines } from "./calendarLines.ts";

/* The events and tasks of a calendar (RFC 5545), as in an invitation. Alarms and time zone rules are left out. */

/** Maximum characters of a calendar that are read; an invitation has some thousands. */
const MAX_LENGTH = 2_000_000;
/** Maximum events of a calendar that are read. */
const MAX_EVENTS = 500;
/** Maximum attendees of an event that are named; the text counts the others. */
const MAX_ATTENDEES = 200;

const KINDS: Readonly<Record<string, string>> = { VEVENT: "Event", VTODO: "Task", VJOURNAL: "Note" };

export interface CalendarEvent {
  /** Labels and values for display, in reading order. */
  fields: [name: string, value: string][];
  /** The description; "" without one. */
  description: string;
}

export interface Calendar {
  events: CalendarEvent[];
  /** The calendar is damaged, has no events, has more than are read, or contains files. */
  isIncomplete: boolean;
}

const TIME = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?$/;

/** `2026-03-02 10:00 (Europe/Berlin)`, or only a day; an invalid time stays unchanged. */
const formatTime = ({ value, parameters }: CalendarProperty): string =>
  value
    .split(",")
    .map((one) => {
      const [, year, month, day, hour, minute, utc] = TIME.exec(one.trim()) ?? [];
      if (year === undefined) return one;
      const date = `${year}-${month}-${day}`;
      if (hour === undefined) return date;
      const zone = utc ? "UTC" : parameters.get("TZID");
      return `${date} ${hour}:${minute}${zone ? ` (${zone})` : ""}`;
    })
    .join(", ");

/** The end. For full days the format stores the day after the event, but people name the last day. */
const formatEnd = (property: CalendarProperty): string => {
  const time = formatTime(property);
  const end = /^\d{4}-\d\d-\d\d$/.test(time) ? Date.parse(time) - DAY_MS : Number.NaN;
  return Number.isNaN(end) ? time : new Date(end).toISOString().slice(0, 10);
};

/** A list of texts with commas between them. */
const formatList = ({ value }: CalendarProperty): string =>
  value
    .split(/(?<!\\),/)
    .map((one) => readText(one).trim())
    .filter(Boolean)
    .join(", ");

const formatPerson = ({ value, parameters }: CalendarProperty): string => {
  const address = value.replace(/^mailto:/i, "");
  const name = parameters.get("CN") ?? "";
  const state = (parameters.get("PARTSTAT") ?? "").toLowerCase();
  const person = name === "" || name === address ? address : `${name} <${address}>`;
  return state === "" || state === "needs-action" ? person : `${person} (${state})`;
};

const formatPeople = (people: readonly CalendarProperty[]): string => {
  const named = people.slice(0, MAX_ATTENDEES).map(formatPerson).join(", ");
  return people.length > MAX_ATTENDEES ? `${named} and ${people.length - MAX_ATTENDEES} more` : named;
};

/** A file in the calendar itself, which is not read. */
const isInlineFile = ({ name, parameters }: CalendarProperty): boolean =>
  name === "ATTACH" && (parameters.get("VALUE")?.toUpperCase() === "BINARY" || parameters.has("ENCODING"));

/** `plan.pdf (https://a.example/plan)`; "" for another part of the e-mail. */
const formatAttachment = (property: CalendarProperty): string => {
  const { value, parameters } = property;
  const name = parameters.get("FILENAME") ?? parameters.get("X-FILENAME") ?? "";
  if (isInlineFile(property) || /^cid:/i.test(value)) return name;
  return name === "" ? value : `${name} (${value})`;
};

/** `Video call (https://a.example/room)`. */
const formatConference = ({ value, parameters }: CalendarProperty): string => {
  const label = parameters.get("LABEL") ?? "";
  return label === "" ? value : `${label} (${value})`;
};

const toEvent = (kind: string, method: string, properties: readonly CalendarProperty[]): CalendarEvent => {
  const byName = Map.groupBy(properties, ({ name }) => name);
  const show = (name: string, format: (property: CalendarProperty) => string): string =>
    (byName.get(name) ?? []).map(format).filter(Boolean).join(", ");
  const text = (name: string): string => show(name, ({ value }) => readText(value));
  const [start, end] = [show("DTSTART", formatTime), show("DTEND", formatEnd)];
  const status = method === "CANCEL" ? "cancelled" : text("STATUS").toLowerCase();
  const fields: CalendarEvent["fields"] = [
    [kind, text("SUMMARY") || "without a title"],
    ["Status", status === "confirmed" ? "" : status],
    ["Start", start],
    ["End", end === start ? "" : end],
    ["Duration", text("DURATION")],
    ["Due", show("DUE", formatTime)],
    ["Repeats", text("RRULE")],
    ["Also on", show("RDATE", formatTime)],
    ["Except on", show("EXDATE", formatTime)],
    ["In place of", show("RECURRENCE-ID", formatTime)],
    ["Place", text("LOCATION")],
    ["Resources", show("RESOURCES", formatList)],
    ["Address", text("URL")],
    ["Conference", show("CONFERENCE", formatConference)],
    ["Organizer", show("ORGANIZER", formatPerson)],
    ["Attendees", formatPeople(byName.get("ATTENDEE") ?? [])],
    ["Contact", text("CONTACT")],
    ["Categories", show("CATEGORIES", formatList)],
    ["Attachments", show("ATTACH", formatAttachment)],
    ["Comment", text("COMMENT")],
  ];
  return { fields: fields.filter(([, value]) => value.trim() !== ""), description: text("DESCRIPTION").trim() };
};

/** Reads a calendar; of a damaged one, as much as possible. */
export const readCalendar = (whole: string): Calendar => {
  const events: CalendarEvent[] = [];
  const open: { kind: string; properties: CalendarProperty[] }[] = [];
  let isIncomplete = whole.length > MAX_LENGTH;
  let method = "";
  for (const line of unfoldLines(whole.slice(0, MAX_LENGTH))) {
    const property = readProperty(line);
    const value = property?.value.trim().toUpperCase() ?? "";
    if (property?.name === "BEGIN") open.push({ kind: value, properties: [] });
    else if (property?.name === "END") {
      const closed = open.pop();
      const kind = KINDS[closed?.kind ?? ""];
      if (closed?.kind !== value || (kind && events.length >= MAX_EVENTS)) isIncomplete = true;
      else if (kind) events.push(toEvent(kind, method, closed.properties));
    } else if (property?.name === "METHOD" && open.length === 1) method = value;
    else if (property) {
      // alarms contain sounds
      if (isInlineFile(property) && KINDS[open.at(-1)?.kind ?? ""]) isIncomplete = true;
      open.at(-1)?.properties.push(property);
    } else isIncomplete = true;
  }
  return { events, isIncomplete: isIncomplete || open.length > 0 || events.length === 0 };
};
